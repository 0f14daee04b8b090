"""Counts, pages, bounds and groups, against slices and groups of the rows themselves."""

from __future__ import annotations

import operator
from bisect import bisect_right
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY_MS,
    FLOW_DURATION,
    FLOW_RATE,
    HOUR_MS,
    METRICS,
    MINUTE_MS,
    ONE_MINUTE,
    RAW,
    STORED,
    Aggregate,
    Resolution,
)
from api.store import series
from api.store.base import Condition, Device, Piece, Span, Store, Where
from api.store.sql.series import Closed, count_by_hours, cover
from api.store.tables import HOUR_COUNTER
from api.timez import day_edges, zone
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.recomputed import close, column, distinct, piece, rolled, within
from tests.tables import cases

PYTHON_OPERATORS = {
    "=": operator.eq, "<>": operator.ne, ">": operator.gt,
    ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip
READABLE = (RAW, *STORED)
quick = settings(max_examples=30, deadline=None)


def held(row: Any, resolution: Resolution, condition: Condition) -> bool:
    named = condition.column
    if resolution is RAW:
        metric = named.metric if isinstance(named, Aggregate) else named
        value = row[1 + METRICS.index(metric)]
    else:
        assert isinstance(named, Aggregate)
        value = row[column(resolution, named)]
    return value is not None and PYTHON_OPERATORS[condition.operator](value, condition.value)


def chosen(rows: list[Any], resolution: Resolution, span: Span, where: Where) -> list[Any]:
    matching = within(rows, span)
    return [row for row in matching if all(held(row, resolution, c) for c in where)]


def written(store: Store, pairs: list[Any]) -> Device:
    """A new device with drawn readings, and beside it one that must never be returned."""
    device, other = new_meters(store, 2)
    store.write([(device.key, instant, *values) for instant, values in pairs])
    store.write([reading(other, NOON_MS + 1800_000, flow_rate=9e9)])
    return device


@quick
@given(data=st.data(), pairs=strategies.readings, span=strategies.spans)
def test_counts_bounds_and_pages_equal_the_rows(
    store: Store, data: st.DataObject, pairs: list[Any], span: Span
) -> None:
    device = written(store, pairs)
    for resolution in READABLE:
        everything = store.rows(device, resolution, Span(), limit=10_000)
        where = data.draw(strategies.conditions(resolution))
        wanted = chosen(everything, resolution, span, where)
        assert store.rows(device, resolution, span, where, limit=10_000) == wanted
        assert store.count(device, resolution, span, where) == len(wanted)
        bounds = (wanted[0][0], wanted[-1][0]) if wanted else None
        assert store.bounds(device, resolution, span, where) == bounds


@quick
@given(
    pairs=strategies.readings,
    span=strategies.spans,
    resolution=strategies.resolutions,
    at_most=st.integers(1, 30),
)
def test_a_bounded_count_is_exact_below_its_bound(
    store: Store, pairs: list[Any], span: Span, resolution: Resolution, at_most: int
) -> None:
    device = written(store, pairs)
    exact = store.count(device, resolution, span)
    for where in ((), (Condition(METRICS[0] if resolution is RAW else AGGREGATES[0], ">", 0.0),)):
        exact = store.count(device, resolution, span, where)
        result = store.count(device, resolution, span, where, at_most=at_most)
        assert result == exact if exact < at_most else at_most <= result <= exact


@quick
@given(
    pairs=strategies.readings,
    resolution=strategies.resolutions,
    limit=st.integers(1, 50),
    offset=st.integers(0, 60),
    jump=st.sampled_from((1, 7, 10_000)),
)
def test_paging_is_slicing(
    store: Store, pairs: list[Any], resolution: Resolution, limit: int, offset: int, jump: int
) -> None:
    device = written(store, pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(series, "JUMP_FROM", jump)
        for span in (Span(), Span(NOON_MS + 61_000, NOON_MS + 2 * HOUR_MS + 5)):
            everything = store.rows(device, resolution, span, limit=10_000)
            page = store.rows(device, resolution, span, limit=limit, offset=offset)
            assert page == everything[offset : offset + limit]


@pytest.mark.parametrize("resolution", READABLE, ids=lambda r: r.name)
def test_a_distant_page_is_the_same_page(store: Store, resolution: Resolution) -> None:
    (device,) = new_meters(store, 1)
    length = resolution.length_ms or 7 * MINUTE_MS
    rows = steady(device, 6_500, step_ms=length, start_ms=NOON_MS + 1_234)
    store.write(rows)
    for span in (Span(), Span(NOON_MS + length + 1, NOON_MS + 6_400 * length - 77)):
        everything = store.rows(device, resolution, span, limit=10_000)
        for offset in (4_999, 5_000, 5_001, 6_000, len(everything) - 1, len(everything), 9_999):
            page = store.rows(device, resolution, span, limit=100, offset=offset)
            assert page == everything[offset : offset + 100], offset


@quick
@given(
    data=st.data(),
    pairs=strategies.readings,
    span=strategies.spans,
    source=strategies.resolutions,
    edges=st.lists(strategies.instants, min_size=2, max_size=8, unique=True).map(sorted),
)
def test_pieces_are_groups_of_the_rows(
    store: Store,
    data: st.DataObject,
    pairs: list[Any],
    span: Span,
    source: Resolution,
    edges: list[int],
) -> None:
    device = written(store, pairs)
    where = data.draw(strategies.conditions(source))
    rows = store.rows(device, source, span, where, limit=10_000)
    groups: dict[int, list[Any]] = {}
    for row in rows:
        if edges[0] <= row[0] < edges[-1]:
            groups.setdefault(edges[bisect_right(edges, row[0]) - 1], []).append(row)
    result = store.pieces(device, source, span, edges, where)
    assert [p.start_ms for p in result] == sorted(groups)
    for got in result:
        assert_piece(got, groups[got.start_ms], source)


def assert_piece(result: Piece, rows: list[Any], source: Resolution) -> None:
    assert (result.first_ms, result.last_ms) == (rows[0][0], rows[-1][0])
    for aggregate, got, want in zip(AGGREGATES, result.values, piece(rows, source), strict=True):
        if aggregate.name == f"avg_{FLOW_RATE.name}":
            assert got is None
        else:
            assert close(got, want, scale=40e6), aggregate


@cases("name", ["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_local_days_across_a_change_of_clocks_are_groups_of_the_rows(
    store: Store, name: str
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 6 * 96, step_ms=15 * MINUTE_MS, start_ms=NOON_MS - 3 * DAY_MS))
    span = Span(NOON_MS - 3 * DAY_MS + 5 * MINUTE_MS, NOON_MS + 3 * DAY_MS)
    edges = day_edges(zone(name), span.from_ms or 0, span.to_ms or 0)
    rows = store.rows(device, STORED[1], span, limit=10_000)
    result = store.pieces(device, STORED[1], span, edges)
    assert len(result) in (6, 7)
    for got in result:
        end = edges[edges.index(got.start_ms) + 1]
        assert_piece(got, [r for r in rows if got.start_ms <= r[0] < end], STORED[1])


@quick
@given(pairs=strategies.readings, resolution=st.sampled_from(STORED))
def test_stored_rows_equal_a_recount_of_raw_rows(
    store: Store, pairs: list[Any], resolution: Resolution
) -> None:
    device = written(store, pairs)
    raw = distinct([(device.key, instant, *values) for instant, values in pairs])
    wanted = rolled(raw, resolution)
    result = store.rows(device, resolution, Span(), limit=10_000)
    assert [row[0] for row in result] == [row[0] for row in wanted]
    for got, want in zip(result, wanted, strict=True):
        assert all(close(g, w, 40e6) for g, w in zip(got, want, strict=True))


def test_a_duration_is_not_a_column_of_a_rollup(store: Store) -> None:
    (device,) = new_meters(store, 1)
    with pytest.raises(ValueError, match="flow_duration"):
        store.count(device, ONE_MINUTE, Span(), (Condition(FLOW_DURATION, ">", 0.0),))


@cases("resolution", READABLE)
def test_a_device_without_readings_has_nothing(store: Store, resolution: Resolution) -> None:
    (device,) = new_meters(store, 1)
    assert store.rows(device, resolution, Span(), limit=10) == []
    assert store.count(device, resolution, Span()) == 0
    assert store.count(device, resolution, Span(), at_most=5) == 0
    assert store.bounds(device, resolution, Span()) is None
    assert store.pieces(device, resolution, Span(), [0, NOON_MS]) == []
    assert store.rows(device, resolution, Span(), limit=10, offset=50_000) == []


@given(
    low=st.integers(0, 10 * HOUR_MS),
    length=st.integers(0, 10 * HOUR_MS),
    finer=st.sampled_from([(RAW,), (STORED[-2], RAW), (ONE_MINUTE,)]),
)
def test_a_span_is_covered_by_whole_hours_and_edges_shorter_than_one(
    low: int, length: int, finer: tuple[Resolution, ...]
) -> None:
    """So a count over any span reads counters and less than two hours of rows."""
    ladder = (COARSEST_STORED, *finer)
    parts = cover(Closed(low, low + length), ladder)
    at, edges = low, 0
    for part in parts:
        assert part.starts.low == at
        step = part.resolution.fixed_ms if part.resolution is not ladder[-1] else 1
        assert part.resolution is ladder[-1] or at % step == part.starts.high % step == 0
        at = part.starts.high + step
        edges += at - part.starts.low if part.resolution is not COARSEST_STORED else 0
    assert at == low + length + 1
    assert edges < 2 * HOUR_MS


def test_a_count_over_hours_reads_the_counters(store: Store) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 2_000, step_ms=10_000))
    span = Span(NOON_MS + 1_000, NOON_MS + 5 * HOUR_MS + 1_000)
    query = count_by_hours(device.key, RAW, span, None)
    assert query is not None
    assert HOUR_COUNTER.name in query.sql
    assert store.count(device, RAW, span) == len(store.rows(device, RAW, span, limit=10_000))
    assert store.count(device, COARSEST_STORED, span) == 5
