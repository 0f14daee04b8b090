"""Asks the service for a page of devices: one question a refresh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from api.catalog import INSIGHT_LIMIT
from api.client import Client, DeviceStatus, StatusPage, StatusPart
from api.errors import NotOffered
from api.metering.status import State
from components.fleet.bare_service import bare_page
from components.fleet.queries import Desk
from components.fleet.states import SERVICE_NAMES
from components.fleet.url_state import PAGE_SIZE, SORTS, FleetView

PARTS: Final[Sequence[StatusPart]] = ("finding", "line", "strip", "summary", "groups")
TILE_PARTS: Final[Sequence[StatusPart]] = ("line", "strip")
BARE_FOR_MS: Final = 60_000
EVERY_STATE: Final = tuple(state.value for state in State)


class FleetPage(NamedTuple):
    """``number`` of ``pages``: a page beyond the last shows the last. ``bare``: the server keeps no
    status, so that there is neither a summary nor a filter."""

    found: StatusPage
    number: int
    pages: int
    bare: bool = False

    @property
    def first(self) -> int:
        return (self.number - 1) * PAGE_SIZE + 1 if self.found.count else 0

    @property
    def last(self) -> int:
        return min(self.number * PAGE_SIZE, self.found.count)


def fleet_page(desk: Desk, view: FleetView, now_ms: int) -> FleetPage:
    """Raises a WeirError where the service can't answer."""
    key = (desk.principal, "bare-service")
    if now_ms - (desk.memory.local(key) or 0) >= BARE_FOR_MS:
        try:
            return _page(desk.client, view, view.page)
        except NotOffered:
            desk.memory.keep(key, now_ms)
    found = bare_page(desk.client, view, now_ms)
    return FleetPage(found, view.page, _pages(found.count), bare=True)


def _page(client: Client, view: FleetView, number: int) -> FleetPage:
    found = _ask(
        client,
        view,
        limit=PAGE_SIZE,
        offset=(number - 1) * PAGE_SIZE,
        ids=view.held,
        include=PARTS,
    )
    pages = _pages(found.count)
    return FleetPage(found, number, pages) if number <= pages else _page(client, view, pages)


def _pages(count: int) -> int:
    return max(1, -(-count // PAGE_SIZE))


def _ask(
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


def every_device(client: Client, view: FleetView) -> Iterator[DeviceStatus]:
    """All that a view is of, whatever the page, each with its worst finding."""
    limit, offset = INSIGHT_LIMIT.maximum or PAGE_SIZE, 0
    while True:
        found = _ask(client, view, limit=limit, offset=offset, include=("finding",))
        yield from found.rows
        offset += limit
        if offset >= found.count or not found.rows:
            return


def tiles_of_embed(client: Client, ids: Sequence[str], view: FleetView) -> Sequence[DeviceStatus]:
    """These devices in this order, inactive ones as well; those out of the scope are left out."""
    found = client.statuses(
        states=EVERY_STATE, limit=len(ids), ids=ids, include=TILE_PARTS, window=view.span
    )
    return found.rows
