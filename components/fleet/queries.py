"""The view of the wall, in its address and in the browser's query, and the devices that it shows.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from api.catalog import INSIGHT_LIMIT, MAX_IDS
from api.client import Client, DeviceStatus, StatusPage, StatusPart
from api.errors import NotOffered
from api.insight.findings import KIND_BY_NAME
from api.metering.status import STATE_NAMES
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, Span
from components.concurrent_queries import ServiceAccess
from components.status_queries import SERVICE_NAMES, STATE_BY_NAME, bare_page
from components.units import Units, usual_units, write_units
from components.url_state import text_param, units_param, zone_param

# --- The view ------------------------------------------------------------------------------------


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


# --- Devices with their status -------------------------------------------------------------------


# --- Devices with their status -------------------------------------------------------------------

PAGE_PARTS: Final[Sequence[StatusPart]] = (
    "finding",
    "line",
    "strip",
    "notes",
    "summary",
    "groups",
)
TILE_PARTS: Final[Sequence[StatusPart]] = ("line", "strip", "notes")


def status_page(client: Client, view: FleetView, number: int) -> StatusPage:
    """That page with all data of the wall, by one request. Raises NotOffered if the server has no
    status."""
    offset = (number - 1) * PAGE_SIZE
    return _statuses(
        client, view, limit=PAGE_SIZE, offset=offset, ids=view.held, include=PAGE_PARTS
    )


def every_device(client: Client, view: FleetView) -> Iterator[DeviceStatus]:
    """All devices of a view, whatever its page, each with its worst finding."""
    limit, offset = INSIGHT_LIMIT.maximum or PAGE_SIZE, 0
    while True:
        page = _statuses(client, view, limit=limit, offset=offset, include=("finding",))
        yield from page.rows
        offset += limit
        if offset >= page.count or not page.rows:
            return


def tiles_of_embed(client: Client, ids: Sequence[str], view: FleetView) -> Sequence[DeviceStatus]:
    """The devices in this order, inactive ones too, without those outside the scope."""
    page = client.statuses(
        states=STATE_NAMES, limit=len(ids), ids=ids, include=TILE_PARTS, window=view.span
    )
    return page.rows


def _statuses(
    client: Client,
    view: FleetView,
    *,
    limit: int,
    offset: int,
    ids: Sequence[str] = (),
    include: Sequence[StatusPart] = (),
) -> StatusPage:
    sort = SORTS[view.sort]
    return client.statuses(
        search=view.search,
        states=[SERVICE_NAMES[name] for name in sorted(view.statuses)],
        group=view.group,
        kind=view.kind,
        order_by=sort.column + (view.span.name if sort.windowed else ""),
        descending=sort.descending,
        limit=limit,
        offset=offset,
        ids=ids,
        include=include,
        window=view.span,
    )


BARE_FOR_MS: Final = 60_000  # before such a server is asked for a status again


class FleetPage(NamedTuple):
    """``number`` of ``pages``: a page beyond the last is the last. ``bare``: the server has no
    status, so there are no totals and no filters."""

    statuses: StatusPage
    number: int
    pages: int
    bare: bool = False

    @property
    def first(self) -> int:
        return (self.number - 1) * PAGE_SIZE + 1 if self.statuses.count else 0

    @property
    def last(self) -> int:
        return min(self.number * PAGE_SIZE, self.statuses.count)


def fleet_page(access: ServiceAccess, view: FleetView, now_ms: int) -> FleetPage:
    """Raises a WeirError if the service fails."""
    key = (access.principal, "bare-service")
    if now_ms - (access.cache.get(key) or 0) >= BARE_FOR_MS:
        try:
            statuses = status_page(access.client, view, view.page)
            number = min(view.page, _page_count(statuses.count))
            if number < view.page:
                statuses = status_page(access.client, view, number)
        except NotOffered:
            access.cache.put(key, now_ms)
        else:
            return FleetPage(statuses, number, _page_count(statuses.count))
    statuses = bare_page(
        access.client,
        now_ms,
        search=view.search,
        limit=PAGE_SIZE,
        offset=(view.page - 1) * PAGE_SIZE,
        span=view.span,
    )
    return FleetPage(statuses, view.page, _page_count(statuses.count), bare=True)


def _page_count(count: int) -> int:
    return max(1, -(-count // PAGE_SIZE))
