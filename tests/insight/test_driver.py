"""Findings depend on the readings alone, not on their order, lateness, repetition or batches."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.insight.findings import Device, Finding, HourRow, State, evaluate
from api.insight.findings.driver import BEFORE_MS
from api.timez import zone
from tests.insight.series import (
    DAY_MS,
    HOUR_MS,
    HOURLY,
    START,
    Series,
    changed,
    district,
    hours,
    household,
    minutes,
    run,
)
from tests.tables import cases

ROME = Device(zone("Europe/Rome"), 3600, price=0.01)


class Store:
    """A minimal store: the state as bytes, and the findings by (kind, opened_ms)."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.series = Series()
        self.state: bytes | None = None
        self.findings: dict[tuple[str, int], Finding] = {}

    def arrive(self, rows: list[HourRow]) -> None:
        for row in rows:
            self.series.by_hour[row.start_ms] = row
        touched = min(row.start_ms for row in rows)
        state = None if self.state is None else State.load(self.state)
        result = evaluate(self.device, {}, state, self.series, touched_ms=touched)
        new = {(each.kind, each.opened_ms): each for each in result.findings}
        retracted = [
            name for name in self.findings if name[1] >= result.since_ms and name not in new
        ]
        for name in retracted:
            del self.findings[name]
        self.findings |= new
        assert result.state is not None
        self.state = result.state.dump()


def troubled(days: int, seed: int) -> Series:
    """A series with leaks, pauses, stuck and backward flow, and missing hours."""
    dice = random.Random(seed)
    gallons: list[float | None] = list(
        household(days, seed=seed) if seed % 2 else district(days, seed=seed)
    )
    for _ in range(5):
        start, length = dice.randrange(len(gallons)), dice.randrange(2, 60)
        change = dice.choice(
            [
                lambda value: value + 400,
                lambda value: None,
                lambda value: 0.0,
                lambda value: 7.5,
                lambda value: -value,
            ]
        )
        gallons = changed(gallons, start, start + length, change)
    return hours(gallons, START + dice.randrange(48) * HOUR_MS)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_any_batches_give_the_findings_of_one_run(seed: int, data: st.DataObject) -> None:
    device = ROME if seed % 3 else HOURLY
    series = troubled(26, seed)
    rows = [series.by_hour[at] for at in sorted(series.by_hour)]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows) - 1), max_size=6)))
    batches = [rows[low:high] for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    late = data.draw(st.lists(st.integers(0, len(batches) - 1), max_size=2))
    for index in late:  # a part of a batch arrives after the next one, or again
        part = batches[index][:: data.draw(st.integers(2, 5))]
        batches.insert(data.draw(st.integers(index, len(batches))), part)
        if data.draw(st.booleans()):
            first = batches.index(part) if batches.index(part) < index else index
            batches[first] = [row for row in batches[first] if row not in part] or part
    store = Store(device)
    for batch in data.draw(st.permutations(batches)) if seed % 5 == 0 else batches:
        store.arrive(batch)
    expected = run(series, device)
    assert store.findings == {(f.kind, f.opened_ms): f for f in expected.findings}
    assert expected.state is not None
    assert store.state is not None
    assert State.load(store.state).carried == expected.state.carried


def test_hour_by_hour_gives_the_same_findings() -> None:
    series = hours(changed(district(26), 560, 610, lambda value: value + 600))
    store = Store(ROME)
    for at in sorted(series.by_hour):
        store.arrive([series.by_hour[at]])
    expected = run(series, ROME)
    assert store.findings == {(f.kind, f.opened_ms): f for f in expected.findings}
    assert any(each.kind == "burst" for each in expected.findings)


def test_a_late_hour_retracts_a_wrong_finding() -> None:
    leaking = hours(changed(household(20), 300, 400, lambda value: value + 5))
    pause = leaking.by_hour.pop(START + 310 * HOUR_MS)
    store = Store(HOURLY)
    store.arrive(list(leaking.by_hour.values()))
    before = {kind for kind, _ in store.findings}
    store.arrive([replace_gallons(pause, 0.0)])
    after = [each for each in store.findings.values() if each.kind == "continuous-flow"]
    assert "continuous-flow" in before
    assert [(each.start_ms - START) // HOUR_MS for each in after] == [311]


def replace_gallons(row: HourRow, gallons: float) -> HourRow:
    return row._replace(gallons=gallons)


@cases(
    ("late_days", "rereads"),
    [(0, True), (1, True), (7, True), (12, False)],
)
def test_late_readings_are_evaluated_from_their_day_on(late_days: int, rereads: bool) -> None:
    state = run(hours(district(70))).state
    assert state is not None
    touched = state.carried.next_ms - late_days * DAY_MS
    before = state.before(touched)
    assert (before is not None) == rereads
    if before is not None:
        assert touched - 2 * DAY_MS < before.carried.next_ms - BEFORE_MS <= touched


def test_a_state_takes_some_kilobytes() -> None:
    state = run(hours(district(70))).state
    assert state is not None
    assert len(state.dump()) < 12_000


@pytest.mark.parametrize("data", [b"", b"\x00" * 40, b"\x09" * 9000])
def test_a_state_of_another_version_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a"):
        State.load(data)


def test_no_readings_give_no_findings() -> None:
    result = run(Series())
    assert result.state is None
    assert result.findings == ()


@pytest.mark.parametrize("name", ["Europe/Rome", "Australia/Lord_Howe", "Asia/Kolkata"])
def test_days_with_a_change_of_clocks_are_evaluated(name: str) -> None:
    start = START + 75 * DAY_MS  # over the end of March
    series = hours(district(30), start)
    result = run(series, Device(zone(name), 3600))
    assert not [each for each in result.findings if each.kind != "silent"]


def test_minutes_in_any_batches_give_the_same_findings() -> None:
    rates = [0.5 if 300 <= n < 700 else -0.4 if 900 <= n < 930 else 0.0 for n in range(2880)]
    whole = minutes(rates)
    device = Device(HOURLY.zone, 60, max_rate=0.4)
    expected = {(f.kind, f.opened_ms): f for f in run(whole, device).findings}
    assert {"high-flow", "backwards"} <= {kind for kind, _ in expected}
    state, results = None, {}
    for cut in range(100, 2881, 139):
        part = minutes(rates[:cut])
        touched = START + (cut - 139) * 60_000
        result = evaluate(device, {}, state, part, touched_ms=touched)
        new = {(f.kind, f.opened_ms): f for f in result.findings}
        results = {n: f for n, f in results.items() if n[1] < result.since_ms or n in new} | new
        assert result.state is not None
        state = State.load(result.state.dump())
    result = evaluate(device, {}, state, whole, touched_ms=START)
    new = {(f.kind, f.opened_ms): f for f in result.findings}
    assert new == expected
    assert results.keys() == expected.keys()
