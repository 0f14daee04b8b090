"""The latest values of many devices in one query, against the rows of each device."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import (
    COARSEST_STORED,
    HOUR_MS,
    MAX_IDS,
    MINUTE_MS,
    ONE_MINUTE,
    QUALITY,
    RAW,
    STORED,
    Aggregate,
    Resolution,
)
from api.store.base import Device, LatestQuery, LatestResult, Span, Store
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.recomputed import column
from tests.tables import cases

resolutions_or_none = st.one_of(st.none(), st.sampled_from(STORED))
questions = st.builds(
    LatestQuery,
    strategies.spans,
    resolutions_or_none,
    st.one_of(st.none(), strategies.resolutions),
    st.booleans(),
)


def one_by_one(store: Store, device: Device, question: LatestQuery) -> LatestResult:
    """The same result from the device's rows, without the query."""

    def rows(resolution: Resolution) -> list[Any]:
        return store.rows(device, resolution, question.span, limit=100_000)

    result = LatestResult()
    if question.uptime is not None:
        result = result._replace(observed=len(rows(question.uptime)))
    if question.quality is not None:
        ends = [
            [
                row[column(question.quality, Aggregate(end, QUALITY))]
                for row in rows(question.quality)
            ]
            for end in ("min", "max")
        ]
        low, high = ([value for value in values if value is not None] for values in ends)
        result = result._replace(
            quality_min=min(low, default=None), quality_max=max(high, default=None)
        )
    if question.last and (raw := rows(RAW)):
        result = result._replace(last=raw[-1])
    return result


@settings(max_examples=25, deadline=None)
@given(fleet=st.lists(strategies.readings, min_size=1, max_size=3), question=questions)
def test_latest_equals_the_rows_of_each_device(
    store: Store, fleet: list[Any], question: LatestQuery
) -> None:
    devices = new_meters(store, len(fleet))
    for device, pairs in zip(devices, fleet, strict=True):
        store.write([(device.key, instant, *values) for instant, values in pairs])
    result = store.latest(devices, question)
    assert result == {device.key: one_by_one(store, device, question) for device in devices}


@cases(
    ("from_ms", "to_ms"),
    [
        (0, 24 * HOUR_MS - 1),
        (1, 24 * HOUR_MS),
        (25 * MINUTE_MS + 1, 26 * MINUTE_MS),
        (30 * MINUTE_MS, 90 * MINUTE_MS),
        (59 * MINUTE_MS + 30_000, 3 * HOUR_MS + 10),
        (10 * HOUR_MS + 5, 10 * HOUR_MS + 5),
    ],
)
def test_windows_may_start_and_end_within_hours(store: Store, from_ms: int, to_ms: int) -> None:
    """Devices that stopped early, late, in the first partial hour or never reported."""
    devices = new_meters(store, 5)
    for device, rows in zip(devices, (1440, 30, 61, 90, 0), strict=True):
        store.write(steady(device, rows, start_ms=NOON_MS + 123))
    question = LatestQuery(
        Span(NOON_MS + from_ms, NOON_MS + to_ms), ONE_MINUTE, COARSEST_STORED, True
    )
    result = store.latest(devices, question)
    assert result == {device.key: one_by_one(store, device, question) for device in devices}


def test_of_events_at_one_instant_the_last_stored_counts(store: Store) -> None:
    (device,) = new_meters(store, 1)
    for rate in (7.0, 9.0, 8.0):
        store.write([reading(device, NOON_MS, flow_rate=rate)])
    last = store.latest([device], LatestQuery(Span(), last=True))[device.key].last
    assert last is not None
    assert last[:2] == (NOON_MS, 8.0)


def test_the_largest_request_is_one_statement(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = new_meters(store, MAX_IDS)
    store.write([row for device in devices for row in steady(device, 5, seed=device.key)])
    statements: list[Any] = []
    fetch = store.fetch  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(store, "fetch", lambda query: (statements.append(query), fetch(query))[1])
    question = LatestQuery(Span(NOON_MS, NOON_MS + HOUR_MS), ONE_MINUTE, COARSEST_STORED, True)
    result = store.latest(devices, question)
    assert len(statements) == 1
    assert result == {device.key: one_by_one(store, device, question) for device in devices}
    assert {entry.observed for entry in result.values()} == {5}


def test_an_empty_request_has_an_empty_result(store: Store) -> None:
    devices = new_meters(store, 2)
    assert store.latest([], LatestQuery(Span(), ONE_MINUTE, last=True)) == {}
    empty = {device.key: LatestResult() for device in devices}
    assert store.latest(devices, LatestQuery(Span())) == empty
    backwards = LatestQuery(Span(NOON_MS, NOON_MS - 1), ONE_MINUTE, COARSEST_STORED, True)
    assert store.latest(devices * 2, backwards) == empty
