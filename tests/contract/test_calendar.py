"""Days and months in zones with odd offsets, against a walk over the raw rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from api import timez
from tests import truth
from tests.contract.test_datapoints import datapoints, keeps, span
from tests.tables import cases
from tests.world import METER, OLD, TWIN, World

ZONES = {  # zone → the source of days whose edges lie off the hour, or of all days
    "UTC": "1hour",
    "America/New_York": "1hour",
    "America/Santiago": "1hour",  # a day that starts at 01:00
    "Asia/Kolkata": "10min",  # +05:30
    "Australia/Lord_Howe": "10min",  # +10:30 in winter; in summer, +11:00, it is on the hour
    "Asia/Kathmandu": "5min",  # +05:45
    "Pacific/Chatham": "5min",  # +12:45 and +13:45
    "Pacific/Kiritimati": "1hour",  # +14:00
}
SPANS = {
    "open": (None, None),
    "cut inside a day": ("2026-03-07T10:20:00Z", "2026-03-09T15:40:00Z"),
    "open to the right": ("2026-09-05T12:00:00Z", None),
    "open to the left": (None, "2026-03-09T03:15:00Z"),
    "to inside a bucket": ("2026-03-08T00:00:00Z", "2026-03-08T06:01:00Z"),
    "one instant": ("2026-11-01T05:00:00Z", "2026-11-01T05:00:00Z"),
    "a hole": ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"),
}


def ends(*texts: str | None) -> list[int | None]:
    return [None if text is None else timez.parse_instant(text) for text in texts]


def owed_by_source(
    readings: list[Any], unit: str, zone: str, bounds: list[int | None], **more: Any
) -> list[truth.Row]:
    """Each day or month from hours if it begins and ends on the hour, else from the finer rows of
    its zone. Each day's own edges decide, not the range."""
    tz = timez.zone(zone)
    made = {
        source: {
            row["t"]: row for row in truth.calendar(readings, unit, tz, source, *bounds, **more)
        }
        for source in ("1hour", ZONES[zone])
    }
    starts = sorted({start for rows in made.values() for start in rows})
    chosen = (made["1hour" if on_the_hour(unit, tz, t) else ZONES[zone]].get(t) for t in starts)
    return [row for row in chosen if row is not None]


def on_the_hour(unit: str, tz: ZoneInfo, start_ms: int) -> bool:
    first = truth.instant(start_ms).astimezone(tz).date()
    after = (
        first + timedelta(days=1) if unit == "day" else (first + timedelta(days=32)).replace(day=1)
    )
    edges = (start_ms, truth.first_instant(unit, tz, after))
    return not any(edge % 3_600_000 for edge in edges)


@cases("unit", ["day", "month"])
@cases("zone", ZONES)
@cases(("from_text", "to_text"), SPANS.values())
def test_local_days_and_months_are_exact(
    world: World, unit: str, zone: str, from_text: str | None, to_text: str | None
) -> None:
    owed = owed_by_source(world.readings[METER], unit, zone, ends(from_text, to_text))
    reply = datapoints(world, METER, unit, timezone=zone, limit="10000", **span(from_text, to_text))
    truth.assert_same(reply["data"], truth.shown(owed, "bucket", timez.zone(zone)))


@cases("unit", ["day", "month"])
@cases("filters", [{}, {"filter": "flowRate:gt:20"}])
def test_a_day_is_the_same_in_every_range(world: World, unit: str, filters: dict[str, str]) -> None:
    """Lord Howe's offset is off the hour from April: a range that ends before then, and one
    after."""
    fields = {"timezone": "Australia/Lord_Howe", "from": "2026-02-28T13:00:00Z", **filters}
    short = datapoints(world, METER, unit, **fields, to="2026-03-31T12:59:59Z")["data"]
    long = datapoints(world, METER, unit, **fields, to="2026-06-30T00:00:00Z")["data"]
    assert short
    assert long[: len(short)] == short


@cases("unit", ["day", "month"])
@cases(
    ("from_text", "to_text"),
    [
        (None, None),
        (None, "2011-12-31T03:15:00Z"),
        ("2011-12-29T10:20:00Z", "2011-12-31T15:40:00Z"),
        ("2011-12-30T11:00:00Z", None),
    ],
)
def test_a_day_that_the_zone_skipped(
    world: World, unit: str, from_text: str | None, to_text: str | None
) -> None:
    tz, bounds = timez.zone("Pacific/Apia"), ends(from_text, to_text)
    owed = truth.calendar(world.readings[OLD], unit, tz, "1hour", *bounds)
    reply = datapoints(world, OLD, unit, timezone=tz.key, **span(from_text, to_text))
    truth.assert_same(reply["data"], truth.shown(owed, "bucket", tz))


@cases("unit", ["day", "month"])
def test_without_a_timezone_days_are_utc(world: World, unit: str) -> None:
    owed = truth.calendar(world.readings[METER], unit, timez.zone("UTC"), "1hour")
    truth.assert_same(datapoints(world, METER, unit)["data"], truth.shown(owed, "bucket"))


STAMPS = [
    ("America/New_York", "2026-03-08", ["2026-03-08T00:00:00-05:00"]),
    ("America/New_York", "2026-03-09", ["2026-03-09T00:00:00-04:00"]),
    ("America/New_York", "2026-11-01", ["2026-11-01T00:00:00-04:00"]),
    ("America/New_York", "2026-11-02", ["2026-11-02T00:00:00-05:00"]),
    ("America/Santiago", "2026-09-06", ["2026-09-06T01:00:00-03:00"]),
    ("Pacific/Apia", "2011-12-29", ["2011-12-29T00:00:00-10:00"]),
    ("Pacific/Apia", "2011-12-30", []),
    ("Pacific/Apia", "2011-12-31", ["2011-12-31T00:00:00+14:00"]),
    ("Australia/Lord_Howe", "2026-04-05", ["2026-04-05T00:00:00+11:00"]),
    ("Asia/Kathmandu", "2026-03-08", ["2026-03-08T00:00:00+05:45"]),
]


@cases(("zone", "day", "owed"), STAMPS)
def test_a_day_is_stamped_with_its_first_instant(
    world: World, zone: str, day: str, owed: list[str]
) -> None:
    device = OLD if zone == "Pacific/Apia" else METER
    rows = datapoints(world, device, "day", timezone=zone)["data"]
    assert [row["bucket"] for row in rows if row["bucket"].startswith(day)] == owed


@cases(("day", "minutes"), [("2026-03-07", 1440), ("2026-03-08", 1380), ("2026-11-01", 1500)])
def test_a_day_has_exactly_its_own_minutes(world: World, day: str, minutes: int) -> None:
    rows = datapoints(world, METER, "day", timezone="America/New_York")["data"]
    (row,) = [row for row in rows if row["bucket"].startswith(day)]
    assert row["total_flow_amount"] / row["avg_flow_rate"] == pytest.approx(minutes)


@cases("zone", ZONES)
def test_days_and_months_add_up_to_the_total(world: World, zone: str) -> None:
    (total,) = datapoints(world, METER, "total")["data"]
    for unit in ("day", "month"):
        rows = datapoints(world, METER, unit, timezone=zone, limit="10000")["data"]
        amounts = sum(row["total_flow_amount"] for row in rows)
        assert amounts == pytest.approx(total["total_flow_amount"])
        assert min(row["min_flow_rate"] for row in rows) == total["min_flow_rate"]
        assert max(row["max_flow_rate"] for row in rows) == total["max_flow_rate"]


FILTERS: list[tuple[str, str, str]] = [
    ("UTC", "flowRate:gt:50", "avg_flow_rate"),
    ("America/New_York", "minFlowRate:gt:10", "min_flow_rate"),
    ("Asia/Kolkata", "flowRate:lt:60", "avg_flow_rate"),
]


@pytest.mark.parametrize("unit", ["day", "month"])
@pytest.mark.parametrize(("zone", "text", "column"), FILTERS)
def test_a_filter_selects_source_rows_before_they_are_regrouped(
    world: World, unit: str, zone: str, text: str, column: str
) -> None:
    _, operator, value = text.split(":")
    tz, keep = timez.zone(zone), keeps(column, operator, float(value))
    owed = owed_by_source(world.readings[METER], unit, zone, [None, None], keep=keep)
    query: dict[str, Any] = {"filter": text, "timezone": zone, "limit": "10000"}
    reply = datapoints(world, METER, unit, **query)
    truth.assert_same(reply["data"], truth.shown(owed, "bucket", tz))
    assert datapoints(world, METER, unit, count="true", **query)["count"] == len(owed)


def test_a_bucket_is_in_the_range_if_its_start_is(world: World) -> None:
    """All of its readings may follow ``to``: the hour of 05:00 is in a range that ends at 05:00."""
    at = "2026-03-08T06:00:00Z"  # the first hour of the twin device
    rows = datapoints(world, TWIN, "day", **{"from": at, "to": at})["data"]
    hour = datapoints(world, TWIN, "1hour", **{"from": at, "to": at})["data"]
    assert [row["total_flow_amount"] for row in rows] == [hour[0]["total_flow_amount"]]
    assert rows[0]["avg_flow_rate"] == pytest.approx(rows[0]["total_flow_amount"] / 60)
