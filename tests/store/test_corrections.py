"""Corrections: a span's readings, late ones too, count as something else until it is revoked."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import HOUR_MS, METRICS, MINUTE_MS, RAW
from api.errors import UserError
from api.store.base import (
    Annotation,
    AnnotationKind,
    AuditEntry,
    AuditQuery,
    Device,
    ReadingRow,
    Span,
    Store,
)
from api.store.open import open_store
from api.store.query import Query
from api.store.tables import READING_ORIGINAL, TIME_SERIES, UNDATED
from api.timez import now_ms
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.strategies import readings

_numbers = count(1)
FLOW = ("flow_rate", "flow_amount")
EVERY = tuple(metric.name for metric in METRICS)


def correction(
    device: Device,
    from_ms: int,
    to_ms: int,
    factor: float | None = None,
    metrics: tuple[str, ...] = EVERY,
) -> Annotation:
    number = next(_numbers)
    return Annotation(
        f"c-{number:06}", device.organization_id, AnnotationKind.CORRECTION, device.key, None,
        from_ms, to_ms, "wrong", number, "key_1", metrics=metrics, factor=factor,
    )  # fmt: skip


def revoked(made: Annotation) -> Annotation:
    return replace(made, ended_ms=now_ms(), ended_by="key_2", end_reason="it was right")


def statuses(made: Annotation) -> AuditEntry:
    return AuditEntry(
        now_ms(), made.organization_id, "key_1", "correction", "create", made.id, reason="wrong"
    )


def contents(store: Any) -> dict[str, list[Any]]:
    """The whole time series, bit by bit."""
    return {
        table.name: store.fetch(Query(f"SELECT * FROM {table.name} ORDER BY device_id, ts"))
        for table in TIME_SERIES
        if table is not UNDATED
    }


def values(store: Store, device: Device) -> list[tuple[float | None, ...]]:
    return [row[1:] for row in store.rows(device, RAW, Span(), limit=1000)]


@pytest.fixture
def meter(store: Store) -> Device:
    (device,) = new_meters(store, 1)
    store.write(
        [
            reading(device, NOON_MS + n * MINUTE_MS, flow_rate=2.0, flow_amount=4.0, quality=90.0)
            for n in range(10)
        ]
    )
    return device


def test_an_excluded_span_counts_nothing_and_its_rows_stay(store: Store, meter: Device) -> None:
    made = correction(meter, NOON_MS + 2 * MINUTE_MS, NOON_MS + 4 * MINUTE_MS)
    assert store.correct(made, [statuses(made)]) == (2, 2)
    assert store.count(meter, RAW, Span()) == 10
    rows = values(store, meter)
    assert rows[2] == rows[3] == (None,) * len(METRICS)
    assert rows[1][2] == rows[4][2] == 4.0
    (piece,) = store.pieces(meter, RAW, Span(), [NOON_MS, NOON_MS + HOUR_MS])
    assert 32.0 in piece.values
    assert [o.ts for o in store.originals(meter, Span(), 10)] == [
        made.from_ms,
        made.to_ms - MINUTE_MS,
    ]  # type: ignore[operator]
    assert store.originals(meter, Span(), 10)[0].values[2] == 4.0
    assert store.verify().wrong == 0
    assert [e.subject for e in store.audit(AuditQuery(text=made.id))] == [made.id]
    assert store.corrections_of([meter.key]) == {meter.key: [made]}
    assert store.due_of([meter.key])[0].from_ms <= made.from_ms


def test_a_scaled_span_counts_by_its_factor(store: Store, meter: Device) -> None:
    made = correction(meter, NOON_MS, NOON_MS + MINUTE_MS, 0.5, FLOW)
    store.correct(made, [])
    assert values(store, meter)[0][:4] == (1.0, None, 2.0, 90.0)
    assert store.verify().wrong == 0


def test_corrections_are_applied_in_order_and_revoked_in_any(store: Store, meter: Device) -> None:
    before = contents(store)
    first = correction(meter, NOON_MS, NOON_MS + 5 * MINUTE_MS, 0.1, FLOW)
    second = correction(meter, NOON_MS + 3 * MINUTE_MS, NOON_MS + 8 * MINUTE_MS, 3.0, FLOW)
    store.correct(first, [])
    store.correct(second, [])
    assert [row[2] for row in values(store, meter)] == pytest.approx(
        [0.4, 0.4, 0.4, 1.2, 1.2, 12.0, 12.0, 12.0, 4.0, 4.0]
    )
    store.revoke_correction(revoked(first), [])
    assert [row[2] for row in values(store, meter)] == [4.0] * 3 + [12.0] * 5 + [4.0] * 2
    store.revoke_correction(revoked(second), [])
    assert contents(store) == before
    assert store.corrections_of([meter.key]) == {}


def test_late_and_repeated_readings_of_a_corrected_span(store: Store, meter: Device) -> None:
    store.correct(correction(meter, NOON_MS, NOON_MS + 5 * MINUTE_MS, 0.5, FLOW), [])
    again = reading(meter, NOON_MS, flow_rate=2.0, flow_amount=4.0, quality=90.0)
    assert store.write([again]).repeated == 1
    late = reading(meter, NOON_MS + 30_000, flow_amount=8.0)
    outside = reading(meter, NOON_MS + 20 * MINUTE_MS, flow_amount=8.0)
    assert store.write([late, outside]).stored == 2
    amounts = {row[0]: row[3] for row in store.rows(meter, RAW, Span(), limit=20)}
    assert (amounts[late[1]], amounts[outside[1]]) == (4.0, 8.0)
    assert store.write([late, outside]).repeated == 2
    assert store.verify().wrong == 0


def test_an_overflowing_correction_changes_nothing(store: Store, meter: Device) -> None:
    store.write([reading(meter, NOON_MS + HOUR_MS, flow_rate=1e299)])
    before = contents(store)
    made = correction(meter, NOON_MS, NOON_MS + 2 * HOUR_MS, 1e6, FLOW)
    with pytest.raises(UserError, match="more than a number"):
        store.correct(made, [statuses(made)])
    assert contents(store) == before
    assert store.corrections_of([meter.key]) == {}
    assert store.count_audit(AuditQuery(text=made.id)) == 0


def test_pruned_readings_cannot_be_corrected(empty_store: Store) -> None:
    store, (meter,) = empty_store, new_meters(empty_store, 1)
    store.write(steady(meter, 3) + steady(meter, 3, start_ms=NOON_MS + 48 * HOUR_MS))
    made = correction(meter, NOON_MS, NOON_MS + HOUR_MS)
    store.correct(made, [])
    store.prune(NOON_MS + 24 * HOUR_MS)
    assert store.originals(meter, Span(), 10) == []
    with pytest.raises(UserError, match="pruned"):
        store.revoke_correction(revoked(made), [])
    with pytest.raises(UserError, match="pruned"):
        store.correct(correction(meter, NOON_MS, NOON_MS + 30 * HOUR_MS), [])


# --- Any corrections, any order ------------------------------------------------------------------

_starts = st.integers(0, 180).map(lambda n: NOON_MS + n * MINUTE_MS)
_effects = st.tuples(
    _starts,
    st.integers(1, 90),
    st.sampled_from((None, 0.0, -1.0, 0.1, 2.5)),
    st.sampled_from((FLOW, EVERY, ("quality",))),
)


@pytest.fixture(scope="module")
def file_store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("corrections") / "weir.sqlite"
    store = open_store(f"sqlite:///{path}")
    store.upgrade()
    yield store
    store.close()


@settings(max_examples=25)
@given(
    rows=readings, late=readings, effects=st.lists(_effects, min_size=1, max_size=4), data=st.data()
)
def test_revoking_restores_every_rollup_to_the_last_bit(
    file_store: Any, rows: Any, late: Any, effects: Any, data: st.DataObject
) -> None:
    """After any corrections and readings: as if there had been no correction."""
    one, other = new_meters(file_store, 2)

    def of(device: Device, drawn: Any) -> list[ReadingRow]:
        return [(device.key, at, *given) for at, given in drawn]

    file_store.write(of(one, rows))
    made = [
        correction(one, start, start + minutes * MINUTE_MS, factor, metrics)
        for start, minutes, factor, metrics in effects
    ]
    for each in made:
        file_store.correct(each, [])
    file_store.write(of(one, late))
    for each in data.draw(st.permutations(made)):
        file_store.revoke_correction(revoked(each), [])
    file_store.write(of(other, rows))
    file_store.write(of(other, late))
    assert _series(file_store, one) == _series(file_store, other)
    count_query = f"SELECT COUNT(*) FROM {READING_ORIGINAL.name} WHERE device_id = {one.key}"
    assert file_store.fetch(Query(count_query)) == [(0,)]


def _series(store: Any, device: Device) -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = {}
    for table in TIME_SERIES:
        rest = ", ".join(name for name in table.names if name != "device_id")
        where = f"WHERE device_id = {device.key} ORDER BY {', '.join(table.key)}"
        results[table.name] = store.fetch(Query(f"SELECT {rest} FROM {table.name} {where}"))
    return results
