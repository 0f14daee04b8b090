"""Texts that describe an embed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.catalog import DEVICE_ZONE, EMBED_VIEW_BY_NAME
from api.client import Embed, EmbedDefinition, Rolling
from api.timez import DAY_MS
from components import formatting
from components.clock import Clock, known_zone
from components.units import UNITS_BY_NAME
from components.url_state import TAB_BY_NAME

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Standing:
    """A state in shape, word and colour (``data-state`` of the stylesheet)."""

    mark: str
    word: str
    colour: str
    why: str = ""


STANDINGS: Final = {
    "active": Standing("●", "Active", "reporting"),
    "expired": Standing("▲", "Expired", "degraded", "It has expired."),
    "revoked": Standing("■", "Revoked", "nodata", "It was revoked. This can’t be undone."),
    "stopped": Standing(
        "○",
        "Stopped",
        "silent",
        "The key that created it, or its organization, is no longer active.",
    ),
}
_UNKNOWN: Final = Standing("○", "Unknown", "nodata")


def standing(embed: Embed) -> Standing:
    return STANDINGS.get(embed.state, _UNKNOWN)


def name(embed: Embed, labels: Labels) -> str:
    """Its title, else what it shows."""
    return embed.definition.title or subject(embed.definition, labels)


def subject(said: EmbedDefinition, labels: Labels) -> str:
    if len(said.devices) == 1:
        return labels.get(said.devices[0], said.devices[0])
    return f"{formatting.whole(len(said.devices))} devices"


def view(said: EmbedDefinition) -> str:
    label = EMBED_VIEW_BY_NAME[said.view].label if said.view in EMBED_VIEW_BY_NAME else said.view
    tab = TAB_BY_NAME.get(said.metric or "")
    return f"{label} of {tab.label.lower()}" if tab else label


def window(said: EmbedDefinition) -> str:
    shown = said.window
    if isinstance(shown, Rolling):
        return f"last {length(shown.last_s)}"
    tz = known_zone(said.zone)
    clock = Clock(tz, shown.from_ms, shown.to_ms)
    ends = (formatting.moment(at, clock) for at in (shown.from_ms, shown.to_ms))
    return f"{' – '.join(ends)} {tz.key}"


def length(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600)):
        if seconds % size == 0 and seconds > size:
            return f"{formatting.whole(seconds // size)} {unit}"
    return formatting.duration(seconds * 1000)


def line(embed: Embed, labels: Labels) -> str:
    """A list's second line."""
    said = embed.definition
    parts = [view(said), window(said), sites(said)]
    if said.title:
        parts.insert(1, subject(said, labels))
    return " · ".join(parts)


def sites(said: EmbedDefinition) -> str:
    count = len(said.origins)
    return {0: "this site only", 1: _host(said.origins[0]) if count else ""}.get(
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
    return formatting.date_of(at_ms, Clock(known_zone("UTC"), at_ms, at_ms + DAY_MS))


def facts(embed: Embed, labels: Labels, now_ms: int) -> list[tuple[str, str]]:
    said = embed.definition
    units = UNITS_BY_NAME.get(said.units)
    return [
        ("Shows", f"{view(said)}, {window(said)}"),
        ("Devices", _devices(said.devices, labels)),
        ("Sites", ", ".join(said.origins) or "this site only"),
        ("Zone", "each device’s own" if said.zone == DEVICE_ZONE else said.zone),
        ("Units", units.label if units else said.units),
        ("Theme", "the viewer’s system setting" if said.theme == "system" else said.theme),
        ("Viewers may change", ", ".join(said.controls) or "nothing"),
        ("Expires", "No expiry" if _endless(embed) else ends(embed, now_ms)),
        ("Created", f"{date(embed.created_ms)} by {embed.created_by}"),
    ]


def _devices(ids: Sequence[str], labels: Labels) -> str:
    shown = [labels.get(id, id) for id in ids[:6]]
    more = len(ids) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
