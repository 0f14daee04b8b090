"""Cadences of many devices: from the service if it has them, else from a request per device."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from api.catalog import MAX_IDS
from api.client import Client
from api.errors import NotOffered
from api.metering.cadence import Cadence
from components.concurrent_queries import Deadline, ReplyCache, ServiceAccess
from components.directory_queries import cadences
from tests.components.fleet.meters import meter

NOW_MS = 1_795_000_000_000
MANY = 120


class Service:
    """A service with the cadences of all devices or, as a bare server of the interface, none."""

    principal, width = "ann", 1

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare
        self.requests: list[int] = []

    def statuses(self, *, ids: Sequence[str], **_: Any) -> Any:
        if self._bare:
            raise NotOffered("no status here")
        self.requests.append(len(ids))
        rows = [
            SimpleNamespace(device=SimpleNamespace(id=id), cadence_s=60.0, event_driven=False)
            for id in ids
        ]
        return SimpleNamespace(rows=rows)

    def datapoints(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(times_ms=[NOW_MS - n * 300_000 for n in range(9, 0, -1)])


def first_cadences(service: Service, patience_s: float = 30.0) -> dict[str, Cadence]:
    access = ServiceAccess(cast(Client, service), ReplyCache())
    meters = [meter(id=f"d{n}", cadence_ms=None) for n in range(MANY)]
    first = cadences(access, meters, Deadline(patience_s), NOW_MS)
    service.requests.append(0)
    assert cadences(access, meters, Deadline(patience_s), NOW_MS + 1) == first
    return first


def test_the_services_cadences_are_read_fifty_at_a_time_and_cached() -> None:
    service = Service()
    assert set(first_cadences(service).values()) == {Cadence(60_000)}
    assert service.requests == [MAX_IDS, MAX_IDS, MANY - 2 * MAX_IDS, 0]


def test_without_a_status_cadences_are_estimated_device_by_device() -> None:
    assert set(first_cadences(Service(bare=True)).values()) == {Cadence(300_000)}


def test_devices_beyond_the_deadline_are_left_out() -> None:
    assert first_cadences(Service(bare=True), 0.0) == {}
