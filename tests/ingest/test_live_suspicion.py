"""Suspicious readings of live sources are stored, reported, and withdrawn when a device changes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from api.catalog import DAY_MS, HOUR_MS
from api.ingest.announcer import Stored
from api.ingest.batch import Batch, Columns, blank
from api.ingest.live_suspicion import REGISTER_LIKE, TOO_LARGE, LiveSuspicions
from api.ingest.submission import Submission
from api.ingest.suspicion import Suspicions
from api.ingest.writer import Writer
from api.store.base import Device, NewDevice, RegisterRow, Store
from api.timez import now_ms
from tests.store.fleet import NOON_MS, new_meters, reading
from tests.tables import cases

NONE = np.empty(0, np.int64)


class Watch:
    """A watch whose clock is set by hand, called as after commits of one reading each."""

    def __init__(self, store: Store) -> None:
        self.at_ms = now_ms() + HOUR_MS  # after the device was made
        self.live = LiveSuspicions(store, lambda: self.at_ms / 1000, lambda: self.at_ms)

    def sees(self, meter: Device, at_ms: int, **values: float) -> None:
        self.at_ms += 5_000
        self.live([Stored("acme", meter.id, reading(meter, NOON_MS + at_ms, **values))])


def reasons(store: Store) -> list[tuple[str, str]]:
    return [(each.device, each.reason) for each in store.suspicions("acme")]


@cases(
    ("amounts", "step_ms", "expected"),
    [
        ([100.0 + n for n in range(25)], HOUR_MS, True),
        ([100.0 + n for n in range(25)], HOUR_MS // 4, False),  # a morning
        ([100.0 + n for n in range(23)], 2 * HOUR_MS, False),  # too few to tell
        ([3.0] * 40, HOUR_MS, False),  # a meter at rest
        ([float(n % 12) for n in range(60)], HOUR_MS, False),  # water of every day
    ],
)
def test_amounts_that_only_rise_for_a_day_look_like_a_register(
    sqlite_store: Store, amounts: list[float], step_ms: int, expected: bool
) -> None:
    meter, other = new_meters(sqlite_store, 2)
    watch = Watch(sqlite_store)
    for place, amount in enumerate(amounts):
        watch.sees(meter, place * step_ms, flow_amount=amount)
        watch.sees(other, place * step_ms, flow_amount=float(place % 2))
        watch.sees(meter, -HOUR_MS, flow_amount=1e9)  # late: it has no say
    seen = [
        each
        for each in reasons(sqlite_store)
        if each[0] in (meter.serial_number, other.serial_number)
    ]
    assert seen == [(meter.serial_number, REGISTER_LIKE)] * expected
    assert sqlite_store.refusals("acme") == []


@cases(
    ("config", "flow", "expected"),
    [
        ({"meterSize": "DN 15"}, 20.5, "20.5 gal/min; at most 20.0 gal/min for its size"),
        ({"meterSize": "DN 15"}, 19.0, ""),
        ({}, 41.0, "41.0 gal/min; at most 4.0 gal/min in the 90 days before"),
        ({}, 39.0, ""),
    ],
)
def test_a_flow_beyond_the_size_or_ten_times_the_largest_is_reported(
    sqlite_store: Store, config: dict[str, Any], flow: float, expected: str
) -> None:
    (meter,) = new_meters(sqlite_store, 1)
    sqlite_store.import_devices("acme", [NewDevice(meter.serial_number, {"config": config})])
    later = reading(meter, NOON_MS, flow_rate=flow)
    sqlite_store.write([reading(meter, NOON_MS - DAY_MS, flow_rate=4.0), later])
    watch = Watch(sqlite_store)
    watch.sees(meter, 0, flow_rate=flow)
    samples = {each.device: each.sample for each in sqlite_store.suspicions("acme")}
    assert samples.get(meter.serial_number, "") == expected


@cases(
    ("config", "registers", "expected"),
    [
        (
            {"meterSize": "DN 15"},
            [0, 1_000, 2_230],
            "20.5 gal/min; at most 20.0 gal/min for its",
        ),
        ({"meterSize": "DN 15"}, [0, 1_000, 2_140], ""),
        ({}, [0, 1_000, 3_460], "41.0 gal/min; at most 4.0 gal/min in the 90 days before"),
        ({}, [0, 1_000, 3_340], ""),
        ({"meterSize": "DN 15", "registerUnit": "l"}, [0, 100, 5_100], "22.0 gal/min; at most"),
        ({"meterSize": "DN 15", "registerDigits": 5}, [99_000, 99_500, 100], ""),
        ({"meterSize": "DN 15"}, [500_000, 0, 100], ""),  # a fall is no flow
    ],
)
def test_flows_derived_from_the_registers_of_a_file_are_checked(
    sqlite_store: Store, config: dict[str, Any], registers: list[float], expected: str
) -> None:
    """The first step begins at a register that was stored before."""
    (meter,) = new_meters(sqlite_store, 1)
    sqlite_store.import_devices("acme", [NewDevice(meter.serial_number, {"config": config})])
    sqlite_store.write([reading(meter, NOON_MS - DAY_MS, flow_rate=4.0)])
    rows = [
        RegisterRow(meter.key, NOON_MS + place * HOUR_MS, value)
        for place, value in enumerate(registers)
    ]
    sqlite_store.write([], registers=rows)
    suspicions = Suspicions()
    suspicions.add(Batch(Columns(NONE, NONE, blank(0)), 2, registers=(*rows[1:],)))
    samples = [each.sample for each in suspicions.suspects(sqlite_store)]
    assert [sample[: len(expected)] for sample in samples] == [expected] * bool(expected)


def test_a_batch_of_registers_is_the_same_in_another_process() -> None:
    plain = [RegisterRow(n % 3, n, n / 7, "m3") for n in range(50)]
    others = [plain[0]._replace(unit="", quality=3.0), RegisterRow(1, 1, -0.0, "l", None, -90.5)]
    for registers in ((), plain, [*plain, *others]):
        none = Columns(NONE, NONE, blank(0))
        sent = Batch(none, 9, consumed=3, registers=(*registers,), empty=4)
        seen = pickle.loads(pickle.dumps(sent))
        in_order = sorted(sent.registers, key=lambda row: row[:2])
        assert repr(seen.registers) == repr((*in_order,))
        assert all(type(row) is RegisterRow for row in seen.registers)
        assert (seen.read, seen.consumed, seen.refused_rows, seen.empty) == (9, 3, (), 4)
        assert sorted(seen.register_bounds()) == sorted(
            (key, min(instants), max(instants))
            for key in {row.device for row in registers}
            if (instants := [row.ts for row in registers if row.device == key])
        )


def test_a_change_of_the_device_withdraws_its_reports(sqlite_store: Store) -> None:
    store = sqlite_store
    (meter,) = new_meters(store, 1)
    serial = meter.serial_number
    small, large = ({"config": {"meterSize": size}} for size in ("DN 15", "DN 50"))
    store.import_devices("acme", [NewDevice(serial, small)])
    live = LiveSuspicions(store)
    writer = Writer(store, [live])
    row = reading(meter, NOON_MS, flow_rate=100.0)
    writer.submit(Submission("acme", "mqtt", [row])).result(30)
    writer.close()
    assert (serial, TOO_LARGE) in reasons(store)
    store.import_devices("acme", [NewDevice(serial, large)])
    assert (serial, TOO_LARGE) not in reasons(store)


def test_the_last_flow_before_a_silence_is_checked_too(sqlite_store: Store) -> None:
    watched, last = new_meters(sqlite_store, 2)
    for meter in (watched, last):
        small = {"config": {"meterSize": "DN 15"}}
        sqlite_store.import_devices("acme", [NewDevice(meter.serial_number, small)])
    writer = Writer(sqlite_store, [LiveSuspicions(sqlite_store)])
    for meter in (watched, last):  # the second one comes too soon after a check
        row = reading(meter, NOON_MS, flow_rate=100.0)
        writer.submit(Submission("acme", "mqtt", [row])).result(30)
    writer.close()
    assert {serial for serial, _ in reasons(sqlite_store)} == {
        watched.serial_number,
        last.serial_number,
    }
