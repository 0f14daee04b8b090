"""Queries of the embeds page: embeds, their tokens, and the devices that the form offers; and the
form's values, from a page's view, and checked into a definition or a list of problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self
from zoneinfo import ZoneInfo

from api.catalog import (
    CHARTS,
    DEVICE_ZONE,
    EMBED_COMPARISONS,
    EMBED_THEMES,
    EMBED_VIEW_BY_NAME,
    MAX_IDS,
)
from api.client import Embed, EmbedDefinition, EmbedToken, Fixed, Rolling
from api.errors import BadRequest, Conflict, Forbidden
from api.metering.windows import SPANS
from api.timez import DAY_MS, day_start, local_ordinal, offset_ms, stamp, zone_names, zone_or_utc
from components import session
from components.concurrent_queries import current_access
from components.controls import failure
from components.directory_queries import Directory, Meter, directory
from components.fleet.queries import read_fleet_view
from components.ranges import DEFAULT_PRESET, PRESETS, Window, custom_range, read_wall
from components.units import read_units, usual_units
from components.url_state import SHOWN, read_text, read_texts, read_view

# --- The form's values ---------------------------------------------------------------------------


FIXED: Final = "fixed"
ENDS: Final = (("", "Never"), ("30", "In 30 days"), ("365", "In a year"), ("on", "On a date"))
USUAL_LAST: Final = str(DEFAULT_PRESET.length_ms // 1000)


@dataclass(frozen=True, slots=True)
class Draft:
    """The texts of the fields. ``window``: a length in seconds, or FIXED. ``first`` and ``last``:
    local time in ``zone``; "" is the device's own zone. ``ends``: one of ENDS."""

    title: str = ""
    view: str = "chart"
    metric: str = CHARTS[0]
    devices: tuple[str, ...] = ()
    window: str = USUAL_LAST
    first: str = ""
    last: str = ""
    zone: str = ""
    units: str = field(default_factory=lambda: usual_units().name)
    theme: str = EMBED_THEMES[0]
    controls: tuple[str, ...] = ()
    compare: str = ""
    notes: tuple[str, ...] = ()  # holds SHOWN if they are shown
    origins: str = ""
    ends: str = ""
    ends_on: str = ""

    @classmethod
    def of(cls, texts: Mapping[str, Any], lists: Mapping[str, Any]) -> Self:
        """From the fields of the browser's form, where an empty one may be None. Raises BadRequest
        for values that the form can't send."""
        fields: dict[str, Any] = {name: read_text(value) for name, value in texts.items()}
        fields.update({name: read_texts(value) for name, value in lists.items()})
        draft = cls(**fields)
        read_view_name(draft.view)
        return draft


def read_view_name(value: Any) -> str:
    name = read_text(value)
    if name not in EMBED_VIEW_BY_NAME:
        raise BadRequest("Unknown view.")
    return name


def windows(view: str) -> list[tuple[str, str]]:
    """The windows of a view: (value, label)."""
    if not EMBED_VIEW_BY_NAME[view].metric:
        return [(str(span.length_ms // 1000), span.label) for span in SPANS]
    rolling = [(str(preset.length_ms // 1000), preset.label) for preset in PRESETS]
    return [*rolling, (FIXED, "Fixed")]


def allowed_window(view: str, window: str) -> str:
    """The chosen window if the view has it, otherwise the default."""
    return window if window in dict(windows(view)) else USUAL_LAST


ZoneOf = Callable[[str], ZoneInfo]


def read_prefill(params: Mapping[str, Any], zone_of: ZoneOf) -> Draft:
    """From an address: ``view``, ``device`` (several separated by commas), and the parameters of
    the device or fleet page. ``zone_of``: a device's own zone by its id."""
    name = params.get("view")
    view = name if isinstance(name, str) and name in EMBED_VIEW_BY_NAME else Draft().view
    text = params.get("device")
    devices = tuple(id for id in text.split(",") if id) if isinstance(text, str) else ()
    devices = devices[: EMBED_VIEW_BY_NAME[view].most_devices]
    return _charts(params, devices, zone_of) if view == "chart" else _walls(params, view, devices)


def _walls(params: Mapping[str, Any], view: str, devices: tuple[str, ...]) -> Draft:
    seen = read_fleet_view(params)
    return Draft(
        view=view,
        devices=devices[:MAX_IDS],
        window=str(seen.span.length_ms // 1000),
        zone=seen.zone or "",
        units=seen.units.name,
    )


def _charts(params: Mapping[str, Any], devices: tuple[str, ...], zone_of: ZoneOf) -> Draft:
    seen = read_view(params)
    window = seen.window or seen.custom
    first = last = ""
    if window is not None and devices:
        tz = custom_zone(seen.zone or "", devices, zone_of)
        first, last = _wall_texts(window, tz)
    return Draft(
        devices=devices,
        metric=seen.tab.name if seen.tab else Draft().metric,
        compare=seen.compare if seen.compare in EMBED_COMPARISONS else "",
        window=FIXED if first else str(seen.preset.length_ms // 1000),
        first=first,
        last=last,
        zone=seen.zone or "",
        units=seen.units.name,
    )


def _wall_texts(window: Window, tz: ZoneInfo) -> tuple[str, str]:
    first, last = (
        stamp(at + offset_ms(tz, at))[:16].replace("T", " ")
        for at in (window.from_ms, window.to_ms + 1)
    )
    return first, last


def custom_zone(zone: str, devices: tuple[str, ...], zone_of: ZoneOf) -> ZoneInfo:
    """The zone of a fixed window's times: the chosen one, otherwise the first device's own."""
    return zone_or_utc(zone) if zone or not devices else zone_of(devices[0])


@dataclass(slots=True)
class Read:
    """``definition`` is None if there are ``problems``, which are by field."""

    definition: EmbedDefinition | None = None
    problems: dict[str, str] = field(default_factory=dict[str, str])


def read_draft(draft: Draft, zone_of: ZoneOf, now_ms: int) -> Read:
    """Checks what only this page can; the service checks the rest."""
    read = Read()
    if not draft.devices:
        read.problems["devices"] = "Choose a device." if _single(draft) else "Choose devices."
    if draft.zone and draft.zone not in zone_names():
        read.problems["zone"] = f"Unknown time zone: {draft.zone[:60]!r}."
        return read
    tz = custom_zone(draft.zone, draft.devices, zone_of)
    window = _window(draft, tz, read)
    expires_ms = _expires(draft, tz, now_ms, read)
    if read.problems or window is None:
        return read
    read.definition = EmbedDefinition(
        view=draft.view,
        devices=draft.devices,
        metric=draft.metric if EMBED_VIEW_BY_NAME[draft.view].metric else None,
        origins=tuple(draft.origins.split()),
        window=window,
        zone=draft.zone or DEVICE_ZONE,
        units=read_units(draft.units).name,
        theme=draft.theme,
        controls=draft.controls,
        notes=SHOWN in draft.notes,
        compare=draft.compare if EMBED_VIEW_BY_NAME[draft.view].metric else "",
        title=draft.title,
        expires_ms=expires_ms,
    )
    return read


def _single(draft: Draft) -> bool:
    return EMBED_VIEW_BY_NAME[draft.view].most_devices == 1


def _window(draft: Draft, tz: ZoneInfo, read: Read) -> Rolling | Fixed | None:
    if draft.window != FIXED:
        return Rolling(int(allowed_window(draft.view, draft.window)))
    ends = {"first": draft.first.strip(), "last": draft.last.strip()}
    result = custom_range({**ends, "first_fold": "0", "last_fold": "0"}, tz)
    if result.problems:
        read.problems["window"] = " ".join(result.problems)
        return None
    window = read_view({"range": result.range}).custom
    return None if window is None else Fixed(window.from_ms, window.to_ms)


def _expires(draft: Draft, tz: ZoneInfo, now_ms: int, read: Read) -> int | None:
    if draft.ends != "on":
        valid = draft.ends and draft.ends in dict(ENDS)
        return now_ms + int(draft.ends) * DAY_MS if valid else None
    wall = read_wall(f"{draft.ends_on.strip()} 00:00")
    if wall is None:
        read.problems["expires"] = "Enter a date such as 2027-03-31."
        return None
    ordinal = local_ordinal(zone_or_utc("UTC"), wall)
    ends_ms = day_start(tz, ordinal + 1)
    if ends_ms <= now_ms:
        read.problems["expires"] = "That date has passed."
    return ends_ms


# --- Queries -------------------------------------------------------------------------------------


MOST: Final = 12  # offered at a time; a search narrows them
LONGEST_SEARCH: Final = 100


class Server(NamedTuple):
    """``site``: the public address of the server of the embeds. ``is_own``: it is this one."""

    site: str
    is_own: bool


def server() -> Server:
    site = session.current_client().site
    return Server(site or session.own_site(), not site)


def embeds() -> tuple[Embed, ...]:
    """Newest first. Raises NotOffered if the server has no embeds."""
    return session.current_client().embeds()


def create(definition: EmbedDefinition) -> Embed:
    return session.current_client().create_embed(definition)


def revoke(embed_id: str) -> None:
    session.current_client().revoke_embed(embed_id)


def link_token(embed: Embed) -> tuple[EmbedToken | None, str]:
    """The token of an active embed's link, or the reason why there is none ("" for an ended
    embed)."""
    if embed.state != "active":
        return None, ""
    try:
        return session.current_client().mint_embed_token(embed.id), ""
    except (
        Conflict,
        Forbidden,
    ) as error:  # it ended just now, or the credential lacks the permission
        return None, failure(error)


def devices(now_ms: int) -> Directory:
    """The active devices in the reader's scope."""
    return directory(current_access(), now_ms)


# --- The devices of the form ---------------------------------------------------------------------


def offered(
    meters: Sequence[Meter], chosen: Sequence[str], search: str
) -> tuple[list[tuple[str, str]], int]:
    """(id, label) of the chosen devices, then of the first ones that match the search; and how many
    more match."""
    by_id = {meter.id: meter for meter in meters}
    wanted = " ".join(search[:LONGEST_SEARCH].split()).casefold()
    matching = [meter for meter in meters if wanted in meter.sought and meter.id not in chosen]
    matching.sort(key=lambda meter: (meter.label.casefold(), meter.serial))
    options = [(id, _label(by_id[id]) if id in by_id else id) for id in chosen]
    options += [(meter.id, _label(meter)) for meter in matching[:MOST]]
    return options, len(matching) - len(matching[:MOST])


def _label(meter: Meter) -> str:
    return meter.label if meter.label == meter.serial else f"{meter.label} · {meter.serial}"


def within_limit(view: str, chosen: Sequence[str]) -> list[str]:
    """The chosen devices within the view's limit: the last ones chosen."""
    return list(chosen)[-EMBED_VIEW_BY_NAME[view].most_devices :]


def labels(by_id: Mapping[str, Meter]) -> dict[str, str]:
    return {id: meter.label for id, meter in by_id.items()}
