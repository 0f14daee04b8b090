"""Cadences of many devices: the service's own estimates come before a question a device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from api.client import Client
from api.errors import NotOffered
from api.metering.cadence import Cadence
from components.fleet.cadence import PAGE, cadences
from components.fleet.queries import Deadline, Desk
from components.fleet.shared_cache import Memory
from tests.components.fleet.meters import meter

NOW_MS = 1_795_000_000_000
MANY = 2_500


class Service:
    """Keeps the cadences of ``MANY`` devices, or, as a bare server of the interface, none."""

    principal, width = "ann", 1

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare
        self.pages: list[int] = []

    def statuses(self, *, order_by: str, limit: int, offset: int) -> Any:
        if self._bare:
            raise NotOffered("no status here")
        self.pages.append(offset)
        rows = [
            SimpleNamespace(device=SimpleNamespace(id=f"d{n}"), cadence_s=60.0, event_driven=False)
            for n in range(offset, min(offset + limit, MANY))
        ]
        return SimpleNamespace(count=MANY, rows=rows)


def known_after(service: Service, refreshes: int) -> list[int]:
    """How many cadences are known after each refresh that has no time left to measure any."""
    desk = Desk(cast(Client, service), Memory())
    meters = [meter(id=f"d{n}", cadence_ms=None) for n in range(MANY)]
    found = [cadences(desk, meters, Deadline(0.0), NOW_MS + n) for n in range(refreshes)]
    assert all(each == Cadence(60_000) for each in found[-1].values())
    return [len(each) for each in found]


def test_a_page_of_estimates_comes_with_each_refresh_until_all_are_known() -> None:
    service = Service()
    assert known_after(service, 4) == [PAGE, 2 * PAGE, MANY, MANY]
    assert service.pages == [0, PAGE, 2 * PAGE]


def test_a_server_without_status_is_measured_device_by_device() -> None:
    assert known_after(Service(bare=True), 2) == [0, 0]
