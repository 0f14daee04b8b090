"""Texts that describe an embed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.catalog import DEVICE_ZONE, EMBED_VIEW_BY_NAME
from api.client import Embed, EmbedDefinition, Rolling
from api.timez import DAY_MS, zone_or_utc
from components import formatting
from components.formatting import Clock
from components.units import UNITS_BY_NAME
from components.url_state import COMPARISONS, TAB_BY_NAME

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EmbedState:
    """A state as a shape, a word and a colour (``data-state`` in the stylesheet)."""

    mark: str
    word: str
    colour: str
    why: str = ""


STATES: Final = {
    "active": EmbedState("●", "Active", "reporting"),
    "expired": EmbedState("▲", "Expired", "degraded", "It has expired."),
    "revoked": EmbedState("■", "Revoked", "nodata", "It was revoked. This can’t be undone."),
    "stopped": EmbedState(
        "○",
        "Stopped",
        "silent",
        "The key that created it, or its organization, is no longer active.",
    ),
}
_UNKNOWN: Final = EmbedState("○", "Unknown", "nodata")


def state(embed: Embed) -> EmbedState:
    return STATES.get(embed.state, _UNKNOWN)


def name(embed: Embed, labels: Labels) -> str:
    """The embed's title, otherwise its devices."""
    return embed.definition.title or subject(embed.definition, labels)


def subject(definition: EmbedDefinition, labels: Labels) -> str:
    if len(definition.devices) == 1:
        return labels.get(definition.devices[0], definition.devices[0])
    return f"{formatting.whole(len(definition.devices))} devices"


def view(definition: EmbedDefinition) -> str:
    label = (
        EMBED_VIEW_BY_NAME[definition.view].label
        if definition.view in EMBED_VIEW_BY_NAME
        else definition.view
    )
    tab = TAB_BY_NAME.get(definition.metric or "")
    return f"{label} of {tab.label.lower()}" if tab else label


def window(definition: EmbedDefinition) -> str:
    chosen = definition.window
    if isinstance(chosen, Rolling):
        return f"last {length(chosen.last_s)}"
    tz = zone_or_utc(definition.zone)
    clock = Clock(tz, chosen.from_ms, chosen.to_ms)
    ends = (formatting.moment(at, clock) for at in (chosen.from_ms, chosen.to_ms))
    return f"{' – '.join(ends)} {tz.key}"


def length(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600)):
        if seconds % size == 0 and seconds > size:
            return f"{formatting.whole(seconds // size)} {unit}"
    return formatting.duration(seconds * 1000)


def line(embed: Embed, labels: Labels) -> str:
    """The second line of a list's row."""
    definition = embed.definition
    parts = [view(definition), window(definition), sites(definition)]
    if definition.title:
        parts.insert(1, subject(definition, labels))
    return " · ".join(parts)


def sites(definition: EmbedDefinition) -> str:
    count = len(definition.origins)
    return {0: "this site only", 1: _host(definition.origins[0]) if count else ""}.get(
        count, f"{count} sites"
    )


def _host(origin: str) -> str:
    return origin.partition("://")[2]


def _endless(embed: Embed) -> bool:
    return embed.revoked_ms is None and embed.definition.expires_ms is None


def ends(embed: Embed, now_ms: int) -> str:
    if embed.revoked_ms is not None:
        return f"revoked {date(embed.revoked_ms)}"
    at = embed.definition.expires_ms
    if at is None:
        return "no expiry"
    return f"{'ended' if at <= now_ms else 'until'} {date(at - 1)}"


def date(at_ms: int) -> str:
    return formatting.date_of(at_ms, Clock(zone_or_utc("UTC"), at_ms, at_ms + DAY_MS))


def facts(embed: Embed, labels: Labels, now_ms: int) -> list[tuple[str, str]]:
    definition = embed.definition
    units = UNITS_BY_NAME.get(definition.units)
    return [
        ("Shows", f"{view(definition)}, {window(definition)}"),
        ("Devices", _devices(definition.devices, labels)),
        ("Sites", ", ".join(definition.origins) or "this site only"),
        ("Zone", "each device’s own" if definition.zone == DEVICE_ZONE else definition.zone),
        ("Units", units.label if units else definition.units),
        (
            "Theme",
            "the viewer’s system setting" if definition.theme == "system" else definition.theme,
        ),
        ("Viewers may change", ", ".join(definition.controls) or "nothing"),
        *(
            [("Compared with", COMPARISONS[definition.compare].lower())]
            if definition.compare in COMPARISONS
            else []
        ),
        ("Notes and maintenance", "shown" if definition.notes else "not shown"),
        ("Expires", "No expiry" if _endless(embed) else ends(embed, now_ms)),
        ("Created", f"{date(embed.created_ms)} by {embed.created_by}"),
    ]


def _devices(ids: Sequence[str], labels: Labels) -> str:
    named = [labels.get(id, id) for id in ids[:6]]
    more = len(ids) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
