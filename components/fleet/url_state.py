"""The view of the wall, in its address and in the browser's query.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from api.catalog import MAX_IDS
from api.insight.findings import KIND_BY_NAME
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, Span
from components.fleet.device_status import STATE_BY_NAME
from components.units import Units, usual_units, write_units
from components.url_state import text_param, units_param, zone_param

PAGE_SIZE: Final = MAX_IDS
LAST_PAGE: Final = 1_000_000
LONGEST_SEARCH: Final = 100


class Sort(NamedTuple):
    """``column``: the service's name for it; with ``windowed`` followed by the view's window, as in
    uptime7d."""

    label: str
    column: str
    descending: bool = False
    windowed: bool = False


SORTS: Final = {
    "worst": Sort("what matters first", "worst"),
    "finding": Sort("findings", "finding"),
    "label": Sort("label", "label"),
    "seen": Sort("last seen", "lastSeen"),
    "uptime": Sort("uptime", "uptime", windowed=True),
    "quality": Sort("quality", "quality", windowed=True),
    "flow": Sort("flow", "flow", descending=True),
    "volume": Sort("volume today", "volumeToday", descending=True),
}
DEFAULT_SORT: Final = "worst"


@dataclass(frozen=True, slots=True)
class FleetView:
    """Empty ``statuses`` and ``kind`` filter nothing. ``zone`` None: each device's own. ``held``:
    devices to show again in this order, since the reader is using the wall. ``drawn``: the marks of
    the sparklines that the browser shows (`Spark.mark`), by device id."""

    span: Span = DEFAULT_SPAN
    search: str = ""
    statuses: frozenset[str] = frozenset()
    group: str = ""
    kind: str = ""
    sort: str = DEFAULT_SORT
    page: int = 1
    zone: str | None = None
    units: Units = field(default_factory=usual_units)
    held: tuple[str, ...] = ()
    drawn: Mapping[str, str] = field(default_factory=dict[str, str])


def read_fleet_view(params: Mapping[str, Any]) -> FleetView:
    """From the query of an address or from the browser."""
    sort, kind = text_param(params, "sort"), text_param(params, "finding")
    return FleetView(
        span=SPAN_BY_NAME.get(text_param(params, "window"), DEFAULT_SPAN),
        search=" ".join(text_param(params, "q", LONGEST_SEARCH).split()),
        statuses=frozenset(text_param(params, "status").split(",")) & STATE_BY_NAME.keys(),
        group=text_param(params, "group", LONGEST_SEARCH),
        kind=kind if kind in KIND_BY_NAME else "",
        sort=sort if sort in SORTS else DEFAULT_SORT,
        page=_page(params.get("page")),
        zone=zone_param(params),
        units=units_param(params),
        held=_held(params.get("held")),
        drawn=_drawn(params.get("drawn")),
    )


def write_fleet_view(view: FleetView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    usual = FleetView()
    statuses = ",".join(name for name in STATE_BY_NAME if name in view.statuses)
    return {
        "window": view.span.name if view.span is not usual.span else None,
        "q": view.search or None,
        "status": statuses or None,
        "group": view.group or None,
        "finding": view.kind or None,
        "sort": view.sort if view.sort != usual.sort else None,
        "page": str(view.page) if view.page != usual.page else None,
        "zone": view.zone,
        "units": write_units(view.units),
    }


def _page(value: Any) -> int:
    text = str(value) if type(value) in (int, str) else ""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return 1
    return max(1, min(int(text), LAST_PAGE))


def _drawn(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > PAGE_SIZE:
        return {}
    return {id: mark for id, mark in value.items() if isinstance(mark, str)}


def _held(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(id for id in value[:PAGE_SIZE] if isinstance(id, str))
