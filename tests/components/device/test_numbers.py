"""A device's KPIs against a recount of the readings."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from zoneinfo import ZoneInfo

import pytest

from api.catalog import HOUR_MS, MINUTE_MS, RAW, RESOLUTION_BY_NAME
from api.metering import hourly_profile as profile_rule
from api.metering import night_flow, windows
from api.timez import DAY_MS, ceil_to, day_start, from_datetime, local_ordinal, zone
from components import queries
from components.device import volume_cards
from components.queries import pages
from components.ranges import Window
from tests.components.device.service import Bench, Reading, bench
from tests.tables import cases
from tests.world import ms

NOW = ms("2026-11-20T17:23:45Z")
STEP_MS = 7 * MINUTE_MS
ZONES = ["America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"]
NIGHTS = (night_flow.FROM_HOUR, night_flow.TO_HOUR)


@pytest.fixture(scope="module")
def readings() -> list[Reading]:
    """Nine weeks, including the weekend that New York's clocks go back, with gaps."""
    dice = random.Random(23)
    rows: list[Reading] = []
    for at in range(NOW - 63 * DAY_MS, NOW, STEP_MS):
        if dice.random() < 0.05 or NOW - 30 * DAY_MS < at < NOW - 29 * DAY_MS:
            continue
        rate = round(dice.uniform(0, 9), 3)
        rows.append((at + dice.randrange(60_000), rate, round(rate * 7, 4)))
    return rows


@pytest.fixture(scope="module")
def filled(readings: list[Reading], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("numbers")) as made:
        made.write(readings)
        yield made


def wall(at_ms: int, tz: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, tz)


# --- Quality -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "least", "most"),
    [
        ("10:17", "15:00", 12.0, 99.0),  # the worst minute lies in the hour that the window cuts
        ("10:21", "15:00", 90.0, 99.0),
        ("10:00", "10:20", 90.0, 90.0),  # rows after the window aren't counted
        ("11:00", "14:40", 90.0, 90.0),
        ("11:00", "14:41", 90.0, 99.0),
        ("10:20", "10:21", 12.0, 12.0),
        ("16:00", "18:00", None, None),
    ],
)
def test_the_quality_of_a_window_counts_the_minutes_at_its_edges(
    tmp_path: Path, start: str, end: str, least: float | None, most: float | None
) -> None:
    day = "2026-11-20T{}Z"
    with bench(tmp_path) as made:
        ten = ms(day.format("10:00"))
        usual = [(at, 1.0, 1.0) for at in range(ten, ten + 6 * HOUR_MS, MINUTE_MS)]
        odd = {ms(day.format("10:20")): 12.0, ms(day.format("14:40")): 99.0}
        made.write([row for row in usual if row[0] not in odd])
        for at, quality in odd.items():
            made.write([(at, 1.0, 1.0)], quality)
        window = Window(ms(day.format(start)), ms(day.format(end)) - 1)
        assert queries.quality_range(made.client, made.device_id, window) == (least, most)


# --- Volumes -------------------------------------------------------------------------------------


@cases("start", ["2026-11-13T17:23Z", "2026-11-01T05:00Z", "2026-11-19T22:59Z"])
@cases("length_ms", [7 * DAY_MS, DAY_MS, 95 * MINUTE_MS, 20 * MINUTE_MS])
def test_a_volume_is_exact_to_the_minute(
    filled: Bench, readings: list[Reading], start: str, length_ms: int
) -> None:
    window = windows.whole_minutes(Window(ms(start), ms(start) + length_ms - 1), NOW)
    counted = [g for at, _, g in readings if window.from_ms <= at <= window.to_ms]
    result = queries.window_gallons(filled.client, filled.device_id, window)
    assert result == pytest.approx(sum(counted)) if counted else result is None


def test_no_readings_give_no_volume(filled: Bench) -> None:
    hole = Window(NOW - 29 * DAY_MS - 20 * HOUR_MS, NOW - 29 * DAY_MS - 2 * HOUR_MS)
    assert queries.window_gallons(filled.client, filled.device_id, hole) is None


def test_coverage_counts_buckets(filled: Bench, readings: list[Reading]) -> None:
    hours = RESOLUTION_BY_NAME["1hour"]
    window = Window(NOW // HOUR_MS * HOUR_MS - 40 * DAY_MS, NOW // HOUR_MS * HOUR_MS - 1)
    messages = {at // HOUR_MS for at, *_ in readings if window.from_ms <= at <= window.to_ms}
    share = queries.coverage(filled.client, filled.device_id, hours, window)
    assert share == pytest.approx(len(messages) / (40 * 24))


@cases("cut_ms", [0, 1, 20 * MINUTE_MS, HOUR_MS - 1])
def test_a_past_window_cut_inside_an_hour_counts_the_hours_that_start_in_it(
    filled: Bench, readings: list[Reading], cut_ms: int
) -> None:
    hours, now_hour = RESOLUTION_BY_NAME["1hour"], NOW // HOUR_MS * HOUR_MS
    window = Window(now_hour - 12 * DAY_MS, now_hour - 2 * DAY_MS + cut_ms)
    due = windows.due_buckets(window, hours, None, NOW)
    assert due is not None
    entry = filled.client.latest(
        [filled.device_id],
        ["uptime"],
        from_ms=due.from_ms,
        to_ms=due.to_ms,
        uptime_resolution=hours,
    ).entries[0]
    starts = range(window.from_ms, window.to_ms + 1, HOUR_MS)
    messages = {at // HOUR_MS * HOUR_MS for at, *_ in readings} & set(starts)
    assert (entry.uptime_actual, entry.uptime_expected) == (len(messages), len(starts))


# --- Days ----------------------------------------------------------------------------------------


@cases("name", ZONES)
def test_days_are_the_zones(filled: Bench, readings: list[Reading], name: str) -> None:
    tz = zone(name)
    by_date: defaultdict[str, float] = defaultdict(float)
    for at, _, gallons in readings:
        by_date[wall(at, tz).date().isoformat()] += gallons
    result = dict(queries.volume_days(filled.client, filled.device_id, tz, NOW, volume_cards.DAYS))
    results = volume_cards.days(result, tz, NOW)
    assert len(results) == volume_cards.DAYS
    for day in results:
        date = wall(day.window.from_ms, tz)
        assert (date.hour, date.minute) == (0, 0)
        assert day.gallons == pytest.approx(by_date[date.date().isoformat()])
        assert day.under_way == (date.date() == wall(NOW, tz).date())


@cases(
    ("name", "now", "odd"),
    [
        ("America/New_York", "2026-11-20T17:00Z", {"Sun 1 Nov 2026": "25 h"}),
        ("America/New_York", "2026-03-20T17:00Z", {"Sun 8 Mar 2026": "23 h"}),
        ("Australia/Lord_Howe", "2026-04-20T17:00Z", {"Sun 5 Apr 2026": "24.5 h"}),
        ("Asia/Kolkata", "2026-11-20T17:00Z", {}),
    ],
)
def test_days_of_another_length_say_so(name: str, now: str, odd: dict[str, str]) -> None:
    result = volume_cards.days({}, zone(name), ms(now))
    assert {day.name: day.odd_hours for day in result if day.odd_hours} == odd


def test_a_day_that_a_zone_skipped_is_left_out() -> None:
    result = volume_cards.days({}, zone("Pacific/Apia"), ms("2012-01-10T00:00Z"))
    assert len(result) == volume_cards.DAYS - 1
    assert "Fri 30 Dec 2011" not in [day.name for day in result]


# --- The week by hours ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZONES)
def test_the_week_by_hours(filled: Bench, readings: list[Reading], name: str) -> None:
    """Gallons over all minutes of the local hours with readings, up to the current hour."""
    tz = zone(name)
    now = wall(NOW, tz)
    minutes: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for at in range(NOW - NOW % MINUTE_MS - 58 * DAY_MS, NOW + HOUR_MS, MINUTE_MS):
        minutes[_hour(wall(at, tz))] += 1
    gallons: defaultdict[tuple[int, int], float] = defaultdict(float)
    messages: defaultdict[tuple[int, int], set[tuple[object, ...]]] = defaultdict(set)
    for at, _, amount in readings:
        local = wall(at, tz)
        if now.toordinal() - local.toordinal() <= 56 and _hour(local) != _hour(now):
            gallons[local.weekday(), local.hour] += amount
            messages[local.weekday(), local.hour].add(_hour(local))
    week = queries.weekly_profile(filled.client, filled.device_id, tz, NOW)
    for day in range(7):
        for hour in range(24):
            length = sum(minutes[each] for each in messages[day, hour])
            assert week[day][hour] == pytest.approx(gallons[day, hour] / length), (day, hour)


def _hour(local: datetime) -> tuple[object, ...]:
    """One hour of local time; tells the two apart on the day that clocks go back."""
    return local.date(), local.hour, local.utcoffset()


@pytest.mark.parametrize("name", [*ZONES, "UTC"])
@pytest.mark.parametrize("minutes", [1, 6, 15, 60])
def test_a_steady_flow_is_exact_in_every_zone_at_every_cadence(
    tmp_path_factory: pytest.TempPathFactory, name: str, minutes: int
) -> None:
    """Also in a zone whose hours are read from rows shorter than the cadence, and in the current
    hour. The window has no change of clocks."""
    step, now = minutes * MINUTE_MS, ms("2026-08-20T17:23:45Z")
    first = ceil_to(day_start(zone(name), local_ordinal(zone(name), now) - 15), step)
    rows = [(at, 2.0, 2.0 * minutes) for at in range(first, now, step)]
    with bench(tmp_path_factory.mktemp("steady")) as made:
        made.write(rows)
        week = queries.weekly_profile(made.client, made.device_id, zone(name), now)
    assert {round(flow, 6) for flow in volume_cards.flows(week)} == {2.0}


@pytest.mark.parametrize(
    ("name", "resolution"),
    [("America/New_York", "1hour"), ("Asia/Kolkata", "10min"), ("Asia/Kathmandu", "5min")],
)
def test_no_bucket_lies_in_two_local_hours(name: str, resolution: str) -> None:
    tz = zone(name)
    assert profile_rule.resolution_of(tz, profile_rule.window_of(tz, NOW)).name == resolution


def test_hours_without_readings_are_unknown_not_zero() -> None:
    assert profile_rule.week([], zone("UTC"), Window(0, NOW)) == [[None] * 24] * 7


# --- Nights --------------------------------------------------------------------------------------


@cases("name", ZONES)
@cases("now", ["2026-11-20T17:23Z", "2026-03-09T12:00Z", "2026-11-02T12:00Z"])
def test_nights_run_from_two_to_four_local_time(name: str, now: str) -> None:
    tz = zone(name)
    result = night_flow.nights(tz, ms(now))
    assert len(result) >= night_flow.NIGHTS - 1
    assert result[0].to_ms <= ms(now)
    for each in result:
        minutes = [
            wall(at, tz)
            for at in range(each.from_ms - HOUR_MS, each.to_ms + HOUR_MS, 5 * MINUTE_MS)
        ]
        inside = [m for m in minutes if NIGHTS[0] <= m.hour < NIGHTS[1] and _in(each, m)]
        assert len(inside) == (each.to_ms - each.from_ms) / (5 * MINUTE_MS)
        assert wall(each.to_ms, tz).hour == NIGHTS[1]


def _in(window: Window, moment: datetime) -> bool:
    return window.from_ms <= from_datetime(moment) < window.to_ms


def test_the_night_that_clocks_go_forward_is_an_hour_shorter() -> None:
    result = night_flow.nights(zone("America/New_York"), ms("2026-03-08T18:00Z"))
    assert result[0] == (ms("2026-03-08T07:00Z"), ms("2026-03-08T09:00Z"))


@pytest.mark.parametrize("name", ["America/New_York", "Asia/Kathmandu"])
def test_night_flow_is_the_lowest_hour_of_the_last_night(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """Recounted from one reading a minute, so that every bucket has as many."""
    tz, dice = zone(name), random.Random(5)
    result = night_flow.nights(tz, NOW)
    rows: list[Reading] = []
    for each in result:
        for at in range(each.from_ms - HOUR_MS, each.to_ms + HOUR_MS, MINUTE_MS):
            rate = round(dice.uniform(0, 2), 3)
            rows.append((at, rate, rate))
    flows = []
    for each in result:
        inside = [(at, g) for at, _, g in rows if each.from_ms <= at < each.to_ms]
        step = night_flow.resolution_for([e for n in result for e in n], MINUTE_MS).fixed_ms
        hours = range(each.from_ms, each.to_ms - HOUR_MS + 1, step)
        flows.append(min(sum(g for at, g in inside if s <= at < s + HOUR_MS) / 60 for s in hours))
    with bench(tmp_path_factory.mktemp("night")) as made:
        made.write(rows)
        message = queries.night_flow_of(made.client, made.device_id, tz, MINUTE_MS, NOW)
    assert message.last == pytest.approx(flows[0])
    assert message.usual == pytest.approx(median(flows[1:]))


@pytest.mark.parametrize(("missing", "is_known"), [(0, True), (2, True), (3, False)])
def test_an_hour_counts_if_it_has_eight_tenths_of_its_readings(
    missing: int, is_known: bool
) -> None:
    start, step = ms("2026-11-20T02:00Z"), 5 * MINUTE_MS
    amounts_ = {start + n * step: 5.0 for n in range(12) if n >= missing}
    flow = night_flow.lowest_mean(amounts_, Window(start, start + HOUR_MS), step, MINUTE_MS)
    assert flow == (pytest.approx(1.0) if is_known else None)


@cases(
    ("name", "cadence_ms", "resolution"),
    [
        ("America/New_York", MINUTE_MS, "10min"),
        ("Asia/Kathmandu", MINUTE_MS, "5min"),
        ("America/New_York", 15 * MINUTE_MS, "1hour"),
        ("Asia/Kolkata", 15 * MINUTE_MS, "10min"),  # hours would not align with its nights
    ],
)
def test_the_resolution_that_nights_are_read_from(
    name: str, cadence_ms: int, resolution: str
) -> None:
    edges = [edge for each in night_flow.nights(zone(name), NOW) for edge in each]
    assert night_flow.resolution_for(edges, cadence_ms).name == resolution


@cases(
    ("name", "minutes", "needed"),
    [
        ("America/New_York", 15, None),  # read by the hour
        ("Asia/Kolkata", 15, 10),  # half past
        ("Asia/Kolkata", 12, None),
        ("Asia/Kolkata", 10, None),
        ("Asia/Kathmandu", 10, 5),  # a quarter to
        ("Asia/Kathmandu", 5, None),
        ("Asia/Kathmandu", 6, None),
        ("America/New_York", 120, None),
    ],
)
def test_a_healthy_device_has_a_night_flow_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, name: str, minutes: int, needed: int | None
) -> None:
    tz, step = zone(name), minutes * MINUTE_MS
    last = night_flow.nights(tz, NOW)[0]
    start = last.from_ms // step * step - 2 * step
    with bench(tmp_path_factory.mktemp("pace")) as made:
        made.write([(at, 1.0, float(minutes)) for at in range(start, last.to_ms, step)])
        result = queries.night_flow_of(made.client, made.device_id, tz, step, NOW)
    assert result.last == (None if needed else pytest.approx(1.0))
    assert result.too_seldom == (needed and (step, needed * MINUTE_MS))


# --- Pages of rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
def test_pages_hold_every_row_once(tmp_path_factory: pytest.TempPathFactory, limit: int) -> None:
    """Also if more readings share an instant than a page holds."""
    start = ms("2026-11-20T00:00Z")
    rows = [(start + n // 5 * 1000, float(n), 1.0) for n in range(31)]
    with bench(tmp_path_factory.mktemp("pages")) as made:
        made.write(rows)
        window = Window(start, start + DAY_MS)
        parts = pages(made.client, made.device_id, RAW, window, limit=limit)
        results = [rate for part in parts for rate in part.values("flow_rate")]
    assert results == [rate for _, rate, _ in rows]
