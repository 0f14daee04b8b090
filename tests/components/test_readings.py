"""The requests that a chart sends to the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from api.catalog import DAY, MONTH, RESOLUTION_BY_NAME, Resolution
from api.client import Client, Device, DevicePage, Latest, LatestEntry, Series
from api.errors import NotFound
from api.timez import DAY_MS, zone
from components.queries import (
    DeviceLookup,
    find_device,
    flow_series,
    last_seen_ms,
    usual_interval_s,
)
from components.ranges import Window
from tests.tables import cases
from tests.world import ms

ROME = zone("Europe/Rome")
END = ms("2026-11-20T12:00Z")


class Recorder:
    """A service with ``hours`` hourly rows everywhere, which records its requests."""

    def __init__(
        self,
        hours: int = 0,
        devices: tuple[Device, ...] = (),
        readings_ms: Sequence[int] = (),
    ) -> None:
        self.hours, self.devices_, self.readings_ms = hours, devices, readings_ms
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def count(self, _: str, resolution: Resolution, **fields: Any) -> int:
        self.requests.append(("count", fields))
        return self.hours

    def adaptive(self, _: str, **fields: Any) -> Series:
        self.requests.append(("adaptive", fields))
        return Series(RESOLUTION_BY_NAME["1hour"], [], {})

    def datapoints(self, _: str, resolution: Resolution, **fields: Any) -> Series:
        self.requests.append((resolution.name, fields))
        return Series(resolution, list(self.readings_ms), {})

    def latest(self, identifiers: list[str], *_: Any, **fields: Any) -> Latest:
        results = [
            LatestEntry(d.id, d.serial_number, d.network_unique_identifier, last_seen_ms=END)
            for d in self.devices_
            if identifiers[0] in (d.id, d.serial_number)
        ]
        return Latest(fields["from_ms"], fields["to_ms"], None, None, 0, tuple(results[:1]))

    def devices(self, *, serial_number: str, **fields: Any) -> DevicePage:
        self.requests.append(("devices", fields))
        results = tuple(d for d in self.devices_ if d.serial_number == serial_number)
        return DevicePage(results, len(results))


def requests(hours: int, length_ms: int, width_px: int = 1_310) -> list[tuple[str, dict[str, Any]]]:
    recorder = Recorder(hours)
    window = Window(END - length_ms, END - 1)
    flow_series(cast(Client, recorder), "d", window, width_px, ROME)
    return recorder.requests


def names(questions: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [name for name, _ in questions]


@cases("length_ms", [3_600_000, DAY_MS, 30 * DAY_MS, 116 * DAY_MS])
def test_a_window_that_fits_in_hours_is_one_request(length_ms: int) -> None:
    assert names(requests(0, length_ms)) == ["adaptive"]


def test_the_budget_follows_the_width() -> None:
    assert requests(0, DAY_MS, 1_310)[0][1]["max_datapoints"] == 2_800
    assert requests(0, DAY_MS, 284)[0][1]["max_datapoints"] == 600


@cases(
    ("hours", "days", "width_px", "questions", "budget"),
    [
        (240, 365, 1_310, ["count", "adaptive"], 2_800),  # reported in a few hours of the year
        (2_801, 365, 1_310, ["count", "adaptive"], 2_801),  # a little more than the budget
        (4_000, 365, 1_310, ["count", "adaptive"], 4_000),
        (4_001, 365, 1_310, ["count", "day"], None),
        (720, 30, 284, ["count", "adaptive"], 720),  # a month on a phone
        (8_760, 365, 284, ["count", "day"], None),
        (40_000, 5 * 365, 1_310, ["count", "month"], None),
    ],
)
def test_long_windows(
    hours: int, days: int, width_px: int, questions: list[str], budget: int | None
) -> None:
    result = requests(hours, days * DAY_MS, width_px)
    assert names(result) == questions
    assert result[-1][1].get("max_datapoints") == budget


@pytest.mark.parametrize(("days", "resolution"), [(365, DAY), (2_000, MONTH)])
def test_days_and_months_are_requested_complete_and_in_the_zone(
    days: int, resolution: Resolution
) -> None:
    name, result = requests(50_000, days * DAY_MS)[-1]
    assert name == resolution.name
    assert result["timezone"] == "Europe/Rome"
    assert result["from_ms"] <= END - days * DAY_MS
    assert result["to_ms"] >= END - 1
    assert (result["to_ms"] + 1) % 3_600_000 == 0


# --- Finding a device ----------------------------------------------------------------------------


def device(id: str, serial: str, interval: float | None = None) -> Device:
    config = {"reportingInterval": interval} if interval else {}
    return Device(id, serial, "n", "EndDevice", "l", "m", "UTC", True, None, None, config=config)


def test_a_device_is_chosen_among_those_of_its_serial_number() -> None:
    """Serial numbers are unique among active devices only."""
    recorder = Recorder(devices=(device("b", "S"), device("a", "S")))
    result = find_device(cast(Client, recorder), "a", END)
    assert (result.device.id, result.last_seen_ms) == ("a", END)
    assert recorder.requests == [("devices", {"active": "true"})]
    assert result.active


def test_an_unknown_serial_number_has_no_device() -> None:
    recorder = Recorder(devices=(device("a", "S"),))
    with pytest.raises(NotFound):
        find_device(cast(Client, recorder), "z", END)
    assert last_seen_ms(cast(Client, recorder), "z", END) is None


@cases(
    ("configured", "readings_ms", "interval_s"),
    [
        (20.0, [], 20.0),
        (None, range(END - DAY_MS, END, 58_000), 60.0),
        (None, range(END - DAY_MS, END, 900_000), 900.0),
        (None, [], None),
    ],
)
def test_how_often_a_device_reports(
    configured: float | None, readings_ms: Sequence[int], interval_s: float | None
) -> None:
    recorder = Recorder(readings_ms=readings_ms)
    result = DeviceLookup(device("a", "S", configured), END)
    assert usual_interval_s(cast(Client, recorder), result) == interval_s
    never = DeviceLookup(device("a", "S", configured), None)
    assert usual_interval_s(cast(Client, recorder), never) == configured
