"""Which installation dates the wall and a device's page use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.catalog import EARLIEST_READING_MS
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, floor_to
from components.concurrent_queries import Deadline, ReplyCache, ServiceAccess
from components.device.kpi_cards import identity
from components.directory_queries import (
    INSTALL_DATE_FRESH_MS,
    Meter,
    read_meter,
    without_disproved_dates,
)
from components.queries import find_device
from tests.components.device.service import Bench, bench
from tests.pages.elements import text
from tests.world import ms

LONG_AGO = ms("2013-03-12T10:00:00Z")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Bench]:
    """A device created now without an installation date: its date is now."""
    with bench(tmp_path) as each:
        yield each


@pytest.fixture
def access(made: Bench) -> ServiceAccess:
    return ServiceAccess(made.client, ReplyCache())


def listed(made: Bench) -> Meter:
    return read_meter(made.client.devices().devices[0])


def installed_ms(meter: Meter) -> int:
    assert meter.installed_on_ms is not None
    return meter.installed_on_ms


def looked_into(access: ServiceAccess, meter: Meter, since_ms: int, now_ms: int) -> int | None:
    return without_disproved_dates(access, [meter], since_ms, Deadline(30), now_ms)[
        0
    ].installed_on_ms


@pytest.mark.parametrize(
    ("before_ms", "result"),
    [(None, True), (-DAY_MS, True), (0, True), (1, False), (DAY_MS, False)],
)
def test_a_devices_page_names_the_date_unless_a_reading_is_from_before_its_hour(
    made: Bench, before_ms: int | None, result: bool
) -> None:
    at = installed_ms(listed(made))
    if before_ms is not None:
        made.write([(floor_to(at, HOUR_MS) - before_ms, 1.0, 1.0)])
    device = find_device(made.client, "B-1", at + 2 * DAY_MS).device
    assert device.installed_on_ms == (at if result else None)
    assert ("installed " in text(identity(device, place="/devices"))) is result
    since = EARLIEST_READING_MS
    assert looked_into(ServiceAccess(made.client, ReplyCache()), listed(made), since, at) == (
        device.installed_on_ms
    )


def test_late_readings_from_before_the_date_are_noticed(made: Bench, access: ServiceAccess) -> None:
    meter = listed(made)
    at = installed_ms(meter)
    assert looked_into(access, meter, at - MINUTE_MS, at) == at
    made.write([(LONG_AGO, 1.0, 1.0)])
    assert looked_into(access, meter, at - MINUTE_MS, at + INSTALL_DATE_FRESH_MS - 1) == at
    assert looked_into(access, meter, at - MINUTE_MS, at + INSTALL_DATE_FRESH_MS) is None


def test_dates_outside_the_window_are_not_checked(made: Bench, access: ServiceAccess) -> None:
    made.write([(LONG_AGO, 1.0, 1.0)])
    meter = listed(made)
    assert looked_into(access, meter, installed_ms(meter), installed_ms(meter) + 1) is not None
