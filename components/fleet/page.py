"""A page of devices: with their status, or from a server that keeps none."""

from __future__ import annotations

from typing import Final, NamedTuple

from api.client import StatusPage
from api.errors import NotOffered
from components.fleet.queries import Desk, status_page
from components.fleet.url_state import PAGE_SIZE, FleetView
from components.readings_only_queries import bare_page

BARE_FOR_MS: Final = 60_000  # until such a server is asked for a status again


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
            found = status_page(desk.client, view, view.page)
            number = min(view.page, _pages(found.count))
            if number < view.page:
                found = status_page(desk.client, view, number)
        except NotOffered:
            desk.memory.keep(key, now_ms)
        else:
            return FleetPage(found, number, _pages(found.count))
    found = bare_page(
        desk.client,
        now_ms,
        search=view.search,
        limit=PAGE_SIZE,
        offset=(view.page - 1) * PAGE_SIZE,
        span=view.span,
    )
    return FleetPage(found, view.page, _pages(found.count), bare=True)


def _pages(count: int) -> int:
    return max(1, -(-count // PAGE_SIZE))
