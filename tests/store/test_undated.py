"""Readings without a timestamp: marked when stored, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import DAY_MS, HOUR_MS
from api.store.base import Clockless, Device, Span, Store
from api.store.tables import UNDATED
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading
from tests.store.test_writing import assert_true_to
from tests.tables import cases

ALL = Span()


def take(store: Store, meter: Device, *instants_ms: int, value: float = 1.0) -> None:
    rows = [reading(meter, at, flow_rate=value) for at in instants_ms]
    store.add(rows, undated=[row[:2] for row in rows])


@settings(max_examples=25, deadline=None)
@given(parts=st.lists(st.tuples(strategies.readings, st.booleans()), max_size=4))
def test_new_readings_without_a_timestamp_are_marked(
    store: Store, parts: list[tuple[list[tuple[int, tuple[float | None, ...]]], bool]]
) -> None:
    """Against a plain recount, with repeats and shared instants."""
    (meter,) = new_meters(store, 1)
    seen, marked = set[tuple[object, ...]](), set[int]()
    written = []
    for drawn, undated in parts:
        rows = [(meter.key, at, *values) for at, values in drawn]
        written += rows
        store.add(rows, undated={row[:2] for row in rows} if undated else ())
        marked |= {row[1] for row in rows if undated and row not in seen}
        seen |= set(rows)
    assert store.undated(meter, ALL) == sorted(marked)
    assert_true_to(store, meter, written, 1e6)


def test_a_redelivery_changes_nothing_and_dated_readings_stay_dated(store: Store) -> None:
    (meter,) = new_meters(store, 1)
    store.write([reading(meter, NOON_MS, flow_rate=1.0)])
    for _ in range(2):
        take(store, meter, NOON_MS, NOON_MS + 1)
        assert store.undated(meter, ALL) == [NOON_MS + 1]


@cases(
    ("span", "results"),
    [
        (Span(), [0, 1, 5]),
        (Span(NOON_MS + 1, None), [1, 5]),
        (Span(None, NOON_MS + 1), [0, 1]),
        (Span(NOON_MS + 2, NOON_MS + 4), []),
    ],
)
def test_a_span_has_only_its_own_devices_marks(
    store: Store, span: Span, results: list[int]
) -> None:
    meter, other = new_meters(store, 2)
    take(store, meter, NOON_MS, NOON_MS + 1, NOON_MS + 5)
    take(store, other, NOON_MS + 3)
    assert [at - NOON_MS for at in store.undated(meter, span)] == results


def test_devices_without_a_clock_are_listed_most_readings_first(empty_store: Store) -> None:
    first, second, dated = new_meters(empty_store, 3)
    take(empty_store, first, NOON_MS)
    take(empty_store, second, NOON_MS, NOON_MS + HOUR_MS)
    empty_store.write([reading(dated, NOON_MS, flow_rate=1.0)])
    assert empty_store.clockless(first.organization_id) == empty_store.clockless() == [
        Clockless(second.organization_id, second.serial_number, 2, NOON_MS, NOON_MS + HOUR_MS),
        Clockless(first.organization_id, first.serial_number, 1, NOON_MS, NOON_MS),
    ]  # fmt: skip
    assert empty_store.clockless("another") == []


def test_a_mark_is_deleted_with_its_reading(empty_store: Store) -> None:
    (meter,) = new_meters(empty_store, 1)
    instants = [NOON_MS, NOON_MS + DAY_MS, NOON_MS + 2 * DAY_MS]
    take(empty_store, meter, *instants)
    assert empty_store.prune(NOON_MS + DAY_MS) == 1
    assert empty_store.undated(meter, ALL) == instants[1:]
    take(empty_store, meter, NOON_MS + 1)  # before the retention limit: refused
    assert empty_store.undated(meter, ALL) == instants[1:]
    assert empty_store.verify().wrong == 0


def test_dated_readings_cost_no_further_statement(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement more for a batch."""
    (meter,) = new_meters(store, 1)
    texts: list[str] = []
    monkeypatch.setattr("api.store.sql.ingest.save_undated", lambda *_: texts.append(UNDATED.name))
    store.add([reading(meter, NOON_MS, flow_rate=1.0)], undated=())
    store.write([reading(meter, NOON_MS + 1, flow_rate=1.0)])
    assert texts == []
