"""Rows at one resolution: columns, bounds, pages, timestamps and filters, against a walk over the
raw rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api import timez
from tests import truth
from tests.tables import cases
from tests.world import LONE, METER, OLD, QUIET, TWIN, World, ms

STORED = ("1min", "5min", "10min", "1hour")
RESOLUTIONS = ("raw", *STORED, "day", "month", "total")

RAW_COLUMNS = (
    "recorded_at", "flow_rate", "flow_duration", "flow_amount", "quality", "signal_strength",
    "network_rssi", "onboard_temperature",
)  # fmt: skip
AGGREGATED_COLUMNS = (
    "avg_flow_rate", "avg_flow_amount", "avg_quality", "avg_signal_strength", "avg_network_rssi",
    "avg_onboard_temperature",
    "min_flow_rate", "min_quality", "min_signal_strength", "min_network_rssi",
    "min_onboard_temperature",
    "max_flow_rate", "max_quality", "max_signal_strength", "max_network_rssi",
    "max_onboard_temperature",
    "total_flow_amount",
)  # fmt: skip
STAMP = {
    "raw": "recorded_at", "1min": "bucket_1min", "5min": "bucket_5min", "10min": "bucket_10min",
    "1hour": "bucket_1hour", "day": "bucket", "month": "bucket",
}  # fmt: skip


def datapoints(world: World, id: str, resolution: str, **query: Any) -> Any:
    return world.json(f"/flow/datapoints/{id}", {"resolution": resolution, **query})


def span(from_text: str | None, to_text: str | None) -> dict[str, str]:
    ends = {"from": from_text, "to": to_text}
    return {name: text for name, text in ends.items() if text is not None}


def expected(
    world: World, id: str, resolution: str, from_ms: int | None = None, to_ms: int | None = None
) -> list[truth.Row]:
    rows, inside = world.readings.get(id, []), truth.bounds(from_ms, to_ms)
    if resolution == "raw":
        return truth.raw(rows, inside)
    return truth.buckets(rows, resolution, inside)


@cases("resolution", RESOLUTIONS)
def test_a_row_has_exactly_its_columns(world: World, resolution: str) -> None:
    rows = datapoints(world, METER, resolution)["data"]
    columns = RAW_COLUMNS if resolution == "raw" else AGGREGATED_COLUMNS
    if resolution in STAMP and resolution != "raw":
        columns = (STAMP[resolution], *columns)
    assert {tuple(row) for row in rows} == {columns}


@cases("resolution", RESOLUTIONS)
def test_the_envelope(world: World, resolution: str) -> None:
    reply = datapoints(world, METER, resolution, limit="7", offset="2", timezone="Asia/Kolkata")
    total = resolution == "total"
    assert {name: reply[name] for name in reply if name != "data"} == {
        "resolution": resolution,
        "timezone": "Asia/Kolkata",
        "limit": 1 if total else 7,
        "offset": 0 if total else 2,
    }
    assert datapoints(world, METER, resolution)["timezone"] is None


@cases("resolution", RESOLUTIONS)
def test_count_returns_only_resolution_and_count(world: World, resolution: str) -> None:
    whole = datapoints(world, METER, resolution, limit="10000")["data"]
    counted = datapoints(world, METER, resolution, count="true", limit="1", offset="5")
    assert counted == {"resolution": resolution, "count": len(whole)}
    assert "count" not in datapoints(world, METER, resolution, count="false")


SPANS = {
    "everything": (None, None),
    "from inside a bucket": ("2026-03-08T00:20:00Z", "2026-03-08T05:40:00Z"),
    "open to the right": ("2026-11-01T03:33:33.333Z", None),
    "open to the left": (None, "2026-03-07T00:00:00Z"),
    "one instant that is a bucket's start": ("2026-03-08T05:00:00Z", "2026-03-08T05:00:00Z"),
    "a hole": ("2026-05-01", "2026-06-01"),
}


@cases("resolution", ["raw", *STORED])
@cases(("from_text", "to_text"), SPANS.values())
def test_bounds_are_inclusive_on_the_row_s_own_instant(
    world: World, resolution: str, from_text: str | None, to_text: str | None
) -> None:
    ends = [None if t is None else timez.parse_instant(t) for t in (from_text, to_text)]
    owed = expected(world, METER, resolution, *ends)
    reply = datapoints(world, METER, resolution, limit="10000", **span(from_text, to_text))
    truth.assert_same(reply["data"], truth.shown(owed, STAMP[resolution]))


@cases("id", [TWIN, LONE, OLD, QUIET])
@cases("resolution", ["raw", *STORED])
def test_each_device_has_its_own_rows_at_every_cadence(
    world: World, id: str, resolution: str
) -> None:
    reply = datapoints(world, id, resolution, limit="10000")
    truth.assert_same(
        reply["data"], truth.shown(expected(world, id, resolution), STAMP[resolution])
    )


def test_two_events_at_one_instant_are_two_rows(world: World) -> None:
    noon = "2026-03-08T12:00:00.000Z"
    rows = datapoints(world, TWIN, "raw", **{"from": noon, "to": noon})["data"]
    assert [(row["recorded_at"], row["flow_rate"]) for row in rows[-2:]] == [(noon, 1), (noon, 2)]


@cases("resolution", ["raw", *STORED, "day", "month"])
def test_pages_together_have_every_row(world: World, resolution: str) -> None:
    whole = datapoints(world, METER, resolution, limit="10000")["data"]
    step = max(1, len(whole) // 3)
    pages = [
        datapoints(world, METER, resolution, limit=str(step), offset=str(offset))["data"]
        for offset in range(0, len(whole) + step, step)
    ]
    assert [row for page in pages for row in page] == whole
    assert pages[-1] == [] or len(pages[-1]) < step


@cases("resolution", ["raw", *STORED, "day", "month"])
@cases("offset", ["1000000", "1e18", "9" * 40])
def test_a_page_beyond_the_end_is_empty(world: World, resolution: str, offset: str) -> None:
    assert datapoints(world, METER, resolution, offset=offset)["data"] == []


@cases("zone", ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"])
@cases("resolution", ["raw", *STORED])
def test_timestamps_are_local_with_offset_in_a_zone(
    world: World, resolution: str, zone: str
) -> None:
    owed = truth.shown(expected(world, METER, resolution), STAMP[resolution], timez.zone(zone))
    reply = datapoints(world, METER, resolution, limit="10000", timezone=zone)
    truth.assert_same(reply["data"], owed)


# --- Filters -------------------------------------------------------------------------------------

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}
RAW_FIELDS = {
    "flowRate": "flow_rate", "flowAmount": "flow_amount", "flowDuration": "flow_duration",
    "quality": "quality", "signalStrength": "signal_strength", "networkRssi": "network_rssi",
    "onboardTemperature": "onboard_temperature",
}  # fmt: skip
AGGREGATED_FIELDS = {
    "flowRate": "avg_flow_rate", "flowAmount": "avg_flow_amount", "quality": "avg_quality",
    "signalStrength": "avg_signal_strength", "networkRssi": "avg_network_rssi",
    "onboardTemperature": "avg_onboard_temperature",
    "minFlowRate": "min_flow_rate", "maxFlowRate": "max_flow_rate", "minQuality": "min_quality",
    "maxQuality": "max_quality", "minSignalStrength": "min_signal_strength",
    "maxSignalStrength": "max_signal_strength", "minNetworkRssi": "min_network_rssi",
    "maxNetworkRssi": "max_network_rssi", "minOnboardTemperature": "min_onboard_temperature",
    "maxOnboardTemperature": "max_onboard_temperature",
}  # fmt: skip


def keeps(column: str, operator: str, value: float) -> truth.Keep:
    """A null never matches, whatever the operator."""
    return lambda row: row[column] is not None and COMPARE[operator](row[column], value)


@cases("operator", COMPARE)
@cases(
    ("resolution", "field", "column"),
    [("raw", *pair) for pair in RAW_FIELDS.items()]
    + [("1hour", *pair) for pair in AGGREGATED_FIELDS.items()]
    + [("5min", "flowRate", "avg_flow_rate"), ("1min", "maxQuality", "max_quality")],
)
def test_a_filter_keeps_matching_rows(
    world: World, resolution: str, field: str, column: str, operator: str
) -> None:
    rows = expected(world, METER, resolution)
    present = sorted(row[column] for row in rows if row[column] is not None)
    value = (
        present[len(present) // 2] if resolution == "raw" else round(present[len(present) // 2], 2)
    )
    owed = [row for row in rows if keeps(column, operator, value)(row)]
    query = {"filter": f"{field}:{operator}:{value!r}", "limit": "10000"}
    reply = datapoints(world, METER, resolution, **query)
    truth.assert_same(reply["data"], truth.shown(owed, STAMP[resolution]))
    counted = datapoints(world, METER, resolution, count="true", **query)
    assert counted["count"] == len(owed)


def test_filters_are_combined_by_and_before_paging(world: World) -> None:
    owed = [
        row
        for row in expected(world, METER, "raw")
        if keeps("flow_rate", "gt", 50)(row) and keeps("quality", "lte", 50)(row)
    ]
    filters = ["flowRate:gt:50", "quality:lte:50"]
    reply = datapoints(world, METER, "raw", filter=filters, limit="10", offset="5")
    truth.assert_same(reply["data"], truth.shown(owed[5:15], "recorded_at"))


# --- Total ---------------------------------------------------------------------------------------

TOTALS = {  # span → the source that the interface prescribes
    "open": (None, None, "1hour"),
    "open to the right": ("2026-03-08T00:20:00Z", None, "1hour"),
    "open to the left": (None, "2026-03-08T05:40:00Z", "1hour"),
    "00:20 to 05:40 covers 300 minutes": ("2026-03-08T00:20:00Z", "2026-03-08T05:40:00Z", "1hour"),
    "to on a bucket's start": ("2026-03-08T00:00:00Z", "2026-03-08T05:00:00Z", "1hour"),
    "exactly an hour": ("2026-03-08T00:20:00Z", "2026-03-08T01:20:00Z", "1hour"),
    "a moment less": ("2026-03-08T00:20:00Z", "2026-03-08T01:19:59.999Z", "10min"),
    "exactly ten minutes": ("2026-03-08T00:03:00Z", "2026-03-08T00:13:00Z", "10min"),
    "under ten minutes": ("2026-03-08T00:03:00Z", "2026-03-08T00:12:59Z", "5min"),
    "under five minutes": ("2026-03-08T00:00:30Z", "2026-03-08T00:05:29.999Z", "1min"),
    "exactly a minute": ("2026-03-08T00:00:30Z", "2026-03-08T00:01:30Z", "1min"),
    "under a minute": ("2026-03-08T00:00:30Z", "2026-03-08T00:01:29.999Z", "raw"),
    "no time at all": ("2026-03-08T00:00:30Z", "2026-03-08T00:00:30Z", "raw"),
    "a hole": ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "1hour"),
}


@cases("id", [METER, LONE, QUIET])
@cases(("from_text", "to_text", "source"), TOTALS.values())
def test_total_is_one_row_from_the_coarsest_source_that_fits(
    world: World, id: str, from_text: str | None, to_text: str | None, source: str
) -> None:
    ends = [None if t is None else timez.parse_instant(t) for t in (from_text, to_text)]
    owed = truth.totals(world.readings.get(id, []), source, *ends)
    reply = datapoints(world, id, "total", **span(from_text, to_text))
    truth.assert_same(reply["data"], [owed])


def test_total_of_raw_divides_by_the_range(world: World) -> None:
    at = world.readings[LONE][0][1]
    ends = {"from": timez.stamp(at, fraction=True), "to": timez.stamp(at + 30_000, fraction=True)}
    owed = truth.totals(world.readings[LONE], "raw", at, at + 30_000)
    assert owed["avg_flow_rate"] == pytest.approx(owed["total_flow_amount"] * 2)
    truth.assert_same(datapoints(world, LONE, "total", **ends)["data"], [owed])


def test_total_of_nothing_is_nulls_not_zeros(world: World) -> None:
    (row,) = datapoints(world, QUIET, "total")["data"]
    assert set(row.values()) == {None}
    assert datapoints(world, QUIET, "total", count="true")["count"] == 1


@cases(
    ("from_text", "to_text", "source", "field", "column"),
    [
        (None, None, "1hour", "flowRate", "avg_flow_rate"),
        ("2026-03-08T00:20:00Z", None, "1hour", "maxFlowRate", "max_flow_rate"),
        ("2026-03-08T00:00:00Z", "2026-03-08T00:30:00Z", "10min", "minQuality", "min_quality"),
        ("2026-03-08T12:00:00Z", "2026-03-08T12:00:50Z", "raw", "maxFlowRate", "flow_rate"),
        ("2026-03-08T12:00:00Z", "2026-03-08T12:00:50Z", "raw", "flowAmount", "flow_amount"),
    ],
)
def test_a_filter_on_total_selects_source_rows(
    world: World, from_text: str | None, to_text: str | None, source: str, field: str, column: str
) -> None:
    ends = [None if t is None else timez.parse_instant(t) for t in (from_text, to_text)]
    rows = world.readings[LONE if source == "raw" else METER]
    id = LONE if source == "raw" else METER
    owed = truth.totals(rows, source, ends[0], ends[1], keeps(column, "gt", 4.5))
    query = {"filter": f"{field}:gt:4.5", **span(from_text, to_text)}
    truth.assert_same(datapoints(world, id, "total", **query)["data"], [owed])


def test_the_test_data_has_the_cases_that_these_tests_need(world: World) -> None:
    rows = expected(world, METER, "raw", ms("2026-03-08T00:00Z"), ms("2026-03-09T00:00Z"))
    assert len(rows) > 80
    assert any(row["flow_amount"] < 0 for row in rows)
    assert any(row["flow_rate"] is None for row in rows)
