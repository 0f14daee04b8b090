"""Registers in the store: the readings derived from them, in any order of arrival."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from threading import Thread
from typing import Any

import pytest

from api.catalog import COARSEST_STORED, DAY_MS, HOUR_MS, MINUTE_MS, RAW
from api.ingest.submission import RowResult, Submission
from api.ingest.writer import Writer
from api.store.base import (
    Annotation,
    AnnotationKind,
    RegisterRow,
    Span,
    Store,
)
from tests.store.fleet import NOON_MS, new_meters, reading
from tests.store.registers import (
    QUARTER_MS,
    assert_sound,
    at,
    configured,
    meter_with,
    quarters,
    readings_of,
    volumes,
    whole,
)
from tests.tables import cases


def test_a_register_becomes_a_reading_with_its_other_values(store: Store) -> None:
    meter = meter_with(store, registerUnit="l")
    rows = [at(meter, 0, 0.0), at(meter, QUARTER_MS, 3785.411784, quality=80.0)]
    added = store.add([], registers=rows)
    assert list(added.registers) == rows
    assert readings_of(store, meter) == [
        (NOON_MS, *[None] * 7),
        (NOON_MS + QUARTER_MS, 1000 / 15, 900.0, 1000.0, 80.0, None, None, None),
    ]
    assert added.registers[rows[1]] == (meter.key, *readings_of(store, meter)[1])
    assert store.add([], registers=rows) == ([], {})
    assert_sound(store, meter)


@cases(
    ("config", "values", "owed"),
    [
        ({}, (10, 12, 12, 17), [None, 2, 0, 5]),
        ({"registerDigits": 4}, (9_998, 9_999, 4), [None, 1, 5]),
        ({}, (9_998, 9_999, 4, 6), [None, 1, None, 2]),
        (
            {"meterExchanges": [{"at": "2026-03-08T12:20:00Z", "last": 21, "first": 1}]},
            (10, 20, 3, 4), [None, 10, 3, 1],
        ),
        ({"litresPerPulse": 3.785411784}, (1, 3), [None, 2]),
    ],
)  # fmt: skip
def test_volumes_follow_the_settings(
    store: Store, config: dict[str, Any], values: Sequence[float], owed: list[float | None]
) -> None:
    before, after = meter_with(store, **config), meter_with(store)
    store.write([], registers=quarters(before, *values))
    store.write([], registers=quarters(after, *values))
    assert volumes(store, before) == owed
    after = configured(store, after, **config)  # a changed setting derives them again
    assert volumes(store, after) == owed
    assert_sound(store, after)


def test_a_late_register_corrects_its_neighbours_and_every_rollup(store: Store) -> None:
    meter = meter_with(store)
    store.write([], registers=[at(meter, 0, 0.0), at(meter, 6 * HOUR_MS, 60.0)])
    hours = store.rows(meter, COARSEST_STORED, Span(), limit=10)
    assert [row[-1] for row in hours] == [10.0] * 6 + [0.0]
    written = store.write([], registers=[at(meter, 2 * HOUR_MS, 50.0)])
    assert written == (1, 0, 0)
    hours = store.rows(meter, COARSEST_STORED, Span(), limit=10)
    assert [row[-1] for row in hours] == [25, 25, 2.5, 2.5, 2.5, 2.5, 0]
    late = [at(meter, n * QUARTER_MS, 2.5 * n) for n in range(1, 24)]
    store.write([], registers=late)  # now nothing is spread: rows in between are deleted
    assert len(readings_of(store, meter)) == 25
    assert_sound(store, meter)
    assert store.verify().wrong == 0


@pytest.mark.parametrize("days", [(1,), (1, 3), (0.5, 2, 4)])
def test_registers_of_several_days_divide_the_gap_that_they_come_into(
    store: Store, days: Sequence[float]
) -> None:
    late, whole_at_once = meter_with(store), meter_with(store)
    ends = [(0, 100.0), (6 * DAY_MS, 700.0)]
    within = [(round(day * DAY_MS), 100 + 90 * day) for day in days]
    store.write([], registers=[at(late, *each) for each in ends])
    store.write([], registers=[at(late, *each) for each in within])
    store.write([], registers=[at(whole_at_once, *each) for each in ends + within])
    assert volumes(store, late) == volumes(store, whole_at_once)
    assert_sound(store, late)


def test_plain_readings_and_registers_coexist(store: Store) -> None:
    meter = meter_with(store)
    plain = reading(meter, NOON_MS + QUARTER_MS, flow_amount=3.0)
    store.write([plain], registers=quarters(meter, 1, 2))
    assert store.write([plain], registers=quarters(meter, 1, 2)) == (0, 3, 0)
    assert volumes(store, meter) == [None, 1.0, 3.0]
    assert_sound(store, meter)


def test_the_larger_of_two_registers_at_an_instant_counts(store: Store) -> None:
    meter = meter_with(store)
    one, other = at(meter, QUARTER_MS, 5.0), at(meter, QUARTER_MS, 5.5)
    store.write([], registers=[at(meter, 0, 1.0), one])
    assert store.write([], registers=[other, one]) == (1, 1, 0)
    assert volumes(store, meter) == [None, 4.5]


def test_registers_are_listed_with_their_flags(store: Store) -> None:
    meter = meter_with(store, registerUnit="m3", registerOffset=100, registerDigits=3)
    ms = (0, QUARTER_MS, 3 * HOUR_MS, 3 * HOUR_MS + QUARTER_MS)
    rows = [at(meter, each, value) for each, value in zip(ms, (998, 2, 4, 3), strict=True)]
    store.write([], registers=[*rows, at(meter, 4 * HOUR_MS, 7000, unit="l")])
    listed = store.registers(meter, Span(), limit=10)
    assert [(each.register, each.unit, each.flags) for each in listed] == [
        (1098.0, "m3", ()),
        (102.0, "m3", ("rollover",)),
        (104.0, "m3", ("spread",)),
        (103.0, "m3", ("back",)),
        (7000.0, "l", ()),
    ]
    assert listed[1].gallons == pytest.approx(4 * 264.172052)
    assert listed[1].from_ms == NOON_MS
    assert [each.ts for each in store.register_falls(meter, 0)] == [listed[3].ts]
    assert listed[3].fall == pytest.approx(264.172052)
    assert store.registers(meter, Span(), limit=2, offset=1) == listed[1:3]
    assert store.registers(meter, Span(), limit=1, newest_first=True) == listed[4:]
    assert store.registers(meter, Span(listed[3].ts, listed[3].ts), limit=9) == listed[3:4]
    assert store.count_registers(meter, Span(listed[1].ts, None)) == 4


@cases(
    ("config", "span", "expected"),
    [
        ({}, Span(), [(1, 3), (4, 1_000)]),
        ({}, Span(NOON_MS + 5 * HOUR_MS + 1, NOON_MS + 5 * HOUR_MS + 2), [(4, 7)]),
        ({}, Span(NOON_MS, NOON_MS + HOUR_MS - 1), []),
        ({"registerGap": "end"}, Span(), []),
    ],
)
def test_the_gaps_with_a_spread_volume_are_listed(
    store: Store, config: dict[str, Any], span: Span, expected: list[tuple[int, int]]
) -> None:
    """The last register went back: its gap has no volume. Adjacent gaps are one."""
    meter = meter_with(store, **config)
    hours = (0, 0.5, 1, 3, 4, 7, 200, 1_000, 1_001, 1_004)
    rows = [at(meter, round(each * HOUR_MS), 10.0 + each) for each in hours]
    store.write([], registers=[*rows[:-1], rows[-1]._replace(value=5.0)])
    assert store.spread_spans(meter, span) == [
        (NOON_MS + after * HOUR_MS, NOON_MS + up_to * HOUR_MS) for after, up_to in expected
    ]


def test_a_chart_marks_undated_readings_and_gaps_of_registers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device with neither takes one statement."""
    plain, meter = new_meters(store, 2)
    row = reading(meter, NOON_MS + 1, flow_rate=1.0)
    rows = [at(meter, 0, 1.0), at(meter, 3 * HOUR_MS, 2.0)]
    store.add([row], registers=rows, undated=[row[:2]])
    store.write([reading(plain, NOON_MS, flow_rate=1.0)])
    queries: list[object] = []
    fetch = store.fetch  # type: ignore[attr-defined]
    monkeypatch.setattr(store, "fetch", lambda query: (queries.append(query), fetch(query))[1])
    assert store.chart_marks(plain, RAW, Span()) == ([], [])
    assert len(queries) == 1
    gaps = [(NOON_MS, NOON_MS + 3 * HOUR_MS)]
    assert store.chart_marks(meter, RAW, Span()) == ([NOON_MS + 1], gaps)
    assert store.chart_marks(meter, COARSEST_STORED, Span()) == ([], gaps)


def test_a_deleted_spans_volume_is_that_of_the_gap(store: Store) -> None:
    meter = meter_with(store)
    store.write([], registers=[at(meter, n * QUARTER_MS, float(n)) for n in range(17)])
    store.delete_readings(meter, NOON_MS + HOUR_MS, NOON_MS + 3 * HOUR_MS, [])
    assert store.count_registers(meter, Span()) == 9
    assert sum(each or 0 for each in volumes(store, meter)) == 16.0
    assert_sound(store, meter)
    store.delete_readings(meter, NOON_MS, NOON_MS + 24 * HOUR_MS, [])
    assert whole(store, meter) == [[]] * 6


def test_a_correction_applies_to_readings_derived_again(store: Store) -> None:
    meter = meter_with(store)
    store.write([], registers=quarters(meter, 0, 4, 8, 20))
    store.correct(
        Annotation(
            f"c-{meter.key}", "acme", AnnotationKind.CORRECTION, meter.key, None,
            NOON_MS + QUARTER_MS, NOON_MS + 3 * QUARTER_MS, "why", 1, "key_1",
            metrics=("flow_amount",), factor=0.5,
        ),
        [],
    )  # fmt: skip
    assert volumes(store, meter) == [None, 2.0, 2.0, 12.0]
    store.write([], registers=[at(meter, QUARTER_MS + 1000, 7.0)])
    assert volumes(store, meter) == [None, 2.0, 1.5, 0.5, 12.0]
    assert_sound(store, meter)


def test_pruning_keeps_the_register_from_which_the_next_is_derived(empty_store: Store) -> None:
    store, meter = empty_store, meter_with(empty_store)
    store.write([], registers=[at(meter, n * HOUR_MS, float(n)) for n in range(48)])
    store.prune(NOON_MS + 24 * HOUR_MS)
    assert store.count_registers(meter, Span()) == 25
    store.write([], registers=[at(meter, 24 * HOUR_MS + MINUTE_MS, 24.5)])
    assert volumes(store, meter)[:3] == [1.0, 0.5, 0.5]
    late = store.write([], registers=[at(meter, 20 * HOUR_MS + MINUTE_MS, 24.5)])
    assert late.too_old == 1
    assert store.derive_again(meter) == 0
    assert store.verify().wrong == 0


def test_deleting_a_device_deletes_its_registers(store: Store) -> None:
    meter = meter_with(store)
    store.write([], registers=quarters(meter, 1, 2))
    store.delete_device(meter, [])
    assert store.count_registers(meter, Span()) == 0


@cases("bad", [{"value": float("inf")}, {"value": 1e16}, {"value": 1.0, "unit": "barrel"}])
def test_an_invalid_register_refuses_the_whole_batch(store: Store, bad: dict[str, Any]) -> None:
    meter = meter_with(store)
    with pytest.raises(ValueError, match="a register"):
        store.write([], registers=[*quarters(meter, 1, 2), RegisterRow(meter.key, NOON_MS, **bad)])
    assert store.count_registers(meter, Span()) == 0


def test_a_register_a_week_late_changes_its_own_hour_only(store: Store) -> None:
    meter = meter_with(store)
    rows = [at(meter, n * QUARTER_MS, float(n * n)) for n in range(7 * 96)]
    late = rows.pop(50)
    store.write([], registers=rows)
    before = store.rows(meter, COARSEST_STORED, Span(), limit=1000)
    assert store.write([], registers=[late]) == (1, 0, 0)
    after = store.rows(meter, COARSEST_STORED, Span(), limit=1000)
    changed = [n for n, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert changed == [50 // 4]
    assert sum(row[-1] for row in after) == sum(row[-1] for row in before) == (7 * 96 - 1) ** 2
    assert store.due_of([meter.key])[0].from_ms <= late.ts


# --- Faults ---------------------------------------------------------------------------------------


def test_two_concurrent_sources_store_each_register_once(sqlite_store: Store) -> None:
    meter = meter_with(sqlite_store)
    rows = [at(meter, n * QUARTER_MS, float(n)) for n in range(240)]
    writer = Writer(sqlite_store)
    results: list[RowResult] = []

    def send(own: Sequence[RegisterRow]) -> None:
        for row in own:
            receipt = writer.submit(Submission("acme", "test", [row])).result(30)
            results.extend(receipt.row_results)

    sources = [Thread(target=send, args=(part,)) for part in (rows[::2], rows[1::2], rows[::3])]
    for source in sources:
        source.start()
    for source in sources:
        source.join()
    writer.close()
    assert results.count(RowResult.STORED) == 240
    assert results.count(RowResult.REPEATED) == 80
    assert volumes(sqlite_store, meter) == [None, *[1.0] * 239]
    assert_sound(sqlite_store, meter)


LATE_REGISTERS = """
import random, sys
from api.store.base import RegisterRow
from api.store.open import open_store

url, key, start_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store, steps = open_store(url), list(range(400))
random.Random(key).shuffle(steps)
for step in steps:
    store.write([], registers=[RegisterRow(key, start_ms + step * 900_000, float(step))])
    print(step, flush=True)
"""


def test_a_killed_writer_leaves_registers_and_readings_consistent(
    sqlite_store: Store, sqlite_url: str
) -> None:
    meter = meter_with(sqlite_store)
    command = [sys.executable, "-c", LATE_REGISTERS, sqlite_url, str(meter.key), str(NOON_MS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        confirmed = [int(child.stdout.readline()) for _ in range(60)]
        child.kill()
    stored = {each.ts for each in sqlite_store.registers(meter, Span(), limit=1000)}
    assert {NOON_MS + step * QUARTER_MS for step in confirmed} <= stored
    assert_sound(sqlite_store, meter)
    assert sqlite_store.verify().wrong == 0
