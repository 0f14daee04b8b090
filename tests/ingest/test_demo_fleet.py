"""The demo fleet: its meters, and their readings as a pure function of meter and time."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import DAY_MS, HOUR_MS, METRICS, MINUTE_MS
from api.commands.device_file import check
from api.ingest.batch import Columns
from api.ingest.demo.faults import FLOW_FAULTS, LEAK_GPM
from api.ingest.demo.fleet import (
    ABOUT_ROWS,
    FLEET,
    HISTORY_MS,
    ORGANIZATION_ID,
    SILENT_MS,
    Character,
    Condition,
    Pattern,
    device,
    sub_meters,
)
from api.ingest.demo.meter import OUTAGE_MS, TAKEN_OUT_MS, last_instant, readings
from api.timez import offset_ms, zone
from tests.tables import cases

ORIGIN = 1_773_316_800_123  # 2026-03-12T12:00Z: four days after the clocks changed in America
START = ORIGIN - HISTORY_MS
FLOW_RATE, FLOW_DURATION, FLOW_AMOUNT, QUALITY = range(4)


def whole(one: Character) -> Columns:
    return readings(one, 1, ORIGIN, START, last_instant(one, ORIGIN, ORIGIN))


def of_condition(condition: Condition) -> Character:
    (one,) = [one for one in FLEET if one.meter.condition is condition]
    return one


def of_pattern(pattern: Pattern) -> Character:
    return next(
        one
        for one in FLEET
        if (one.meter.pattern, one.meter.condition) == (pattern, Condition.HEALTHY)
    )


def local_hours(one: Character, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Local hour and weekday (Monday is 0) of each reading, computed one by one."""
    tz = zone(one.meter.site.time_zone)
    local = np.array([t + offset_ms(tz, t) for t in columns.instants.tolist()])
    return local // HOUR_MS % 24, (local // DAY_MS + 3) % 7


# --- Its meters ----------------------------------------------------------------------------------


def test_sixty_meters_of_all_kinds_in_several_zones() -> None:
    assert len(FLEET) == 60
    assert len({one.meter.site.time_zone for one in FLEET}) >= 5
    assert {one.meter.cadence_s for one in FLEET} == {10, 60, 300, 900}
    assert {one.meter.pattern for one in FLEET} == set(Pattern)
    conditions = Counter(one.meter.condition for one in FLEET)
    assert all(
        conditions[condition] == 1 for condition in Condition if condition is not Condition.HEALTHY
    )
    for name in ("serial", "id", "network_id"):
        assert len({getattr(one, name) for one in FLEET}) == 60


def test_every_meter_is_a_device_that_an_import_would_take() -> None:
    entries = [device(one, ORIGIN) for one in FLEET]
    texts = [{"serialNumber": e.serial_number, "groups": e.groups, **e.fields} for e in entries]
    for entry in texts:
        entry["groups"] = list(entry["groups"])
    result = check(texts, ORGANIZATION_ID)
    assert (result.devices, result.warnings) == (entries, [])
    for entry in entries:
        assert re.fullmatch(r"FM-\d{5}", entry.serial_number)
        assert re.fullmatch(r"[0-9A-F]{16}", entry.fields["networkUniqueIdentifier"])
        assert UUID(entry.fields["id"])
    assert [e.fields["category"] for e in entries].count("Gateway") == 1
    assert [e.fields["active"] for e in entries].count(False) == 1


def test_its_history_has_about_the_rows_of_the_progress_bar() -> None:
    rows = sum(
        len(
            readings(
                one, 1, ORIGIN, ORIGIN - one.meter.history_ms, last_instant(one, ORIGIN, ORIGIN)
            )
        )
        for one in FLEET
    )
    assert abs(rows - ABOUT_ROWS) < 0.05 * ABOUT_ROWS


# --- Its readings --------------------------------------------------------------------------------


@given(
    one=st.sampled_from(FLEET),
    start=st.integers(START, ORIGIN),
    lengths=st.lists(st.integers(0, 5 * HOUR_MS), min_size=1, max_size=4),
)
def test_a_span_in_pieces_has_the_same_readings(
    one: Character, start: int, lengths: list[int]
) -> None:
    cuts = np.cumsum([start, *lengths]).tolist()
    pieces = [readings(one, 5, ORIGIN, a, b).rows() for a, b in pairwise(cuts)]
    assert [row for piece in pieces for row in piece] == readings(
        one, 5, ORIGIN, cuts[0], cuts[-1]
    ).rows()


@cases("one", FLEET)
def test_readings_are_plausible_and_consistent(one: Character) -> None:
    columns = readings(one, 5, ORIGIN, ORIGIN - 8 * DAY_MS, ORIGIN - 5 * DAY_MS)
    if one.meter.condition in (Condition.NEVER_SEEN, Condition.INACTIVE):
        assert len(columns) == 0
        return
    assert (np.diff(columns.instants) > 0).all()
    rate, duration, amount, quality, signal, rssi, celsius = columns.values
    assert len(columns.values) == len(METRICS)
    if one.meter.pattern is Pattern.NONE:
        assert np.isnan(columns.values[:3]).all()
    else:
        assert rate.min() >= 0
        used = one.meter.condition is not Condition.NO_USE
        assert rate.max() > 0.3 * one.meter.rate if used else rate.max() == 0
        np.testing.assert_allclose(amount, rate * duration / 60, rtol=1e-12, atol=1e-12)
        pulses = amount * one.pulses_per_gallon
        np.testing.assert_allclose(pulses, np.rint(pulses), atol=1e-6)
    assert (quality.min() >= 0) & (quality.max() <= 100)
    assert (rssi.min() > -125) & (rssi.max() < -55)
    weakest = -135 if one.meter.condition is Condition.WEAK_SIGNAL else -110
    assert (signal.min() > weakest) & (signal.max() < -40)
    assert (celsius.min() > -20) & (celsius.max() < 50)
    assert quality.std() > 0
    assert celsius.std() > 0


@cases(
    "one",
    [one for one in FLEET if one.meter.condition is Condition.HEALTHY],
)
def test_a_healthy_meter_reports_in_nearly_every_bucket_of_its_cadence(one: Character) -> None:
    length_ms = max(one.meter.cadence_s, 60) * 1000
    columns = readings(one, 5, ORIGIN, START, START + 10 * DAY_MS)
    share = len(np.unique(columns.instants // length_ms)) / (10 * DAY_MS / length_ms)
    assert 0.985 < share <= 1


def test_ten_second_meters_report_every_ten_seconds() -> None:
    for one in (one for one in FLEET if one.meter.cadence_s == 10):
        steps = np.diff(readings(one, 5, ORIGIN, START, START + DAY_MS).instants)
        assert np.median(steps) == pytest.approx(10_000, abs=5)
        assert np.mean(np.abs(steps - 10_000) < 250) > 0.99


def test_event_driven_meters_report_draws_and_a_heartbeat() -> None:
    one = of_pattern(Pattern.EVENTS)
    rate, duration, *_ = whole(one).values
    assert 0.1 < np.mean(rate > 0) < 0.5
    assert set(duration[rate == 0]) == {0.0}
    assert duration[rate > 0].min() >= 8


def test_a_household_has_two_peaks_and_sleeps_in_at_weekends() -> None:
    one = next(o for o in FLEET if o.meter.label == "Mesa main")
    columns = whole(one)
    hours, weekdays = local_hours(one, columns)
    rate = columns.values[FLOW_RATE]

    def mean(hour: int, *, weekend: bool) -> float:
        return float(rate[(hours == hour) & ((weekdays >= 5) == weekend)].mean())

    assert mean(7, weekend=False) > 2 * mean(15, weekend=False) > 5 * mean(3, weekend=False)
    assert mean(19, weekend=False) > 2 * mean(15, weekend=False)
    assert mean(9, weekend=True) > 2 * mean(6, weekend=True)
    assert mean(9, weekend=False) < 0.5 * mean(7, weekend=False)


def test_an_office_rests_at_night_and_at_weekends() -> None:
    one = next(o for o in FLEET if o.meter.label == "Chemistry lab")
    columns = whole(one)
    hours, weekdays = local_hours(one, columns)
    rate = columns.values[FLOW_RATE]
    working = rate[(weekdays < 5) & (hours >= 10) & (hours < 16)].mean()
    assert rate[(weekdays >= 5) & (hours >= 10) & (hours < 16)].mean() < 0.2 * working
    assert rate[(hours < 5) | (hours >= 22)].mean() < 0.02 * working


def test_a_steady_draw_never_stops() -> None:
    rate = whole(of_pattern(Pattern.STEADY)).values[FLOW_RATE]
    assert rate.min() > 0.5 * rate.max()


def test_irrigation_runs_on_some_nights() -> None:
    one = of_pattern(Pattern.SCHEDULE)
    columns = whole(one)
    hours, _ = local_hours(one, columns)
    on = columns.values[FLOW_RATE] > 0
    assert set(hours[on].tolist()) == {3, 4, 5, 6}
    assert 0.02 < on.mean() < 0.1


# --- Its problems --------------------------------------------------------------------------------


def test_the_leaking_meter_has_had_flow_for_six_days() -> None:
    columns = whole(of_condition(Condition.LEAKING))
    rate = columns.values[FLOW_RATE]
    since = columns.instants >= ORIGIN - FLOW_FAULTS[Condition.LEAKING].from_ms
    assert rate[~since].min() < 0.1
    assert rate[since].min() >= 0.99 * LEAK_GPM


def test_the_silent_meter_last_reported_six_hours_ago() -> None:
    columns = whole(of_condition(Condition.SILENT))
    assert 0 < ORIGIN - SILENT_MS - columns.instants[-1] < 3 * MINUTE_MS


def test_the_degraded_meter_misses_minutes() -> None:
    one = of_condition(Condition.DEGRADED)
    assert 0.88 < len(whole(one)) / (HISTORY_MS / MINUTE_MS) < 0.95


def test_the_meter_of_low_quality_is_below_all_healthy_ones() -> None:
    low = whole(of_condition(Condition.LOW_QUALITY)).values[QUALITY]
    healthy = whole(of_pattern(Pattern.DOMESTIC)).values[QUALITY]
    assert low.max() < 70 < healthy.min()


def test_the_meter_with_an_outage_has_a_gap() -> None:
    columns = whole(of_condition(Condition.OUTAGE))
    start, end = (ORIGIN - before for before in OUTAGE_MS)
    inside = (columns.instants >= start) & (columns.instants < end)
    assert not inside.any()
    assert (columns.instants >= end).any()


def test_the_new_meter_has_no_readings_and_the_inactive_one_only_old_ones() -> None:
    assert len(whole(of_condition(Condition.NEVER_SEEN))) == 0
    inactive = whole(of_condition(Condition.INACTIVE))
    assert len(inactive) > 1000
    assert ORIGIN - TAKEN_OUT_MS - HOUR_MS < inactive.instants[-1] < ORIGIN - TAKEN_OUT_MS


def test_a_main_measures_what_its_sub_meters_do_and_a_little_more() -> None:
    main = next(each for each in FLEET if each.meter.label == "Lakeview main")
    below = sub_meters(main)
    assert {device(each, ORIGIN).fields["parent"] for each in below} == {main.serial}
    assert "parent" not in device(main, ORIGIN).fields
    inlet, *outlets = (
        float(np.sum(readings(each, 1, ORIGIN, ORIGIN - 3 * DAY_MS, ORIGIN).values[FLOW_AMOUNT]))
        for each in (main, *below)
    )
    assert 0.02 < (inlet - sum(outlets)) / inlet < 0.1
