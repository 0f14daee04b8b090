"""Any finite reading is stored, however large or small; a sum that overflows is null."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import (
    AGGREGATES,
    DAY_MS,
    FLOW_AMOUNT,
    MINUTE_MS,
    RAW,
    STORED,
    Aggregate,
    Resolution,
)
from api.store.base import Condition, Device, Progress, Span, Store
from tests.store.fleet import NOON_MS, new_meters, reading
from tests.store.test_maintenance import tamper
from tests.tables import cases

GREATEST = sys.float_info.max
SMALLEST = math.ulp(0.0)
SPAN = Span(NOON_MS, NOON_MS + DAY_MS - 1)


def take_in(store: Store, *amounts: tuple[int, float]) -> Device:
    """A new device with these readings (minute from noon, flow amount and quality)."""
    (device,) = new_meters(store, 1)
    rows = [
        reading(device, NOON_MS + minute * MINUTE_MS + n, flow_amount=amount, quality=amount)
        for n, (minute, amount) in enumerate(amounts)
    ]
    assert store.write(rows).stored == len(rows)
    raw = store.rows(device, RAW, SPAN, limit=100, metrics=[FLOW_AMOUNT])
    assert sorted(row[1] for row in raw) == sorted(amount for _, amount in amounts)
    return device


def column(store: Store, device: Device, resolution: Resolution, name: str) -> list[float | None]:
    rows = store.rows(device, resolution, SPAN, limit=1_000)
    return [row[1 + [a.name for a in AGGREGATES].index(name)] for row in rows]


def day(store: Store, device: Device, source: Resolution, name: str) -> float | None:
    (piece,) = store.pieces(device, source, SPAN, [NOON_MS, NOON_MS + DAY_MS])
    return piece.values[[a.name for a in AGGREGATES].index(name)]


def test_two_largest_values_in_a_minute_have_extremes_but_no_sum(store: Store) -> None:
    device = take_in(store, (0, 1.7e308), (0, GREATEST))
    for resolution in STORED:
        assert column(store, device, resolution, "total_flow_amount") == [None]
        assert column(store, device, resolution, "avg_quality") == [None]
        assert column(store, device, resolution, "min_quality") == [1.7e308]
        assert column(store, device, resolution, "max_quality") == [GREATEST]
    assert store.verify().wrong == 0


def test_hours_with_sums_may_give_a_day_without(store: Store) -> None:
    device = take_in(store, (0, 1.7e308), (60, 1.7e308))
    for resolution in STORED:
        assert column(store, device, resolution, "total_flow_amount") == [1.7e308] * 2
        assert day(store, device, resolution, "total_flow_amount") is None
        assert day(store, device, resolution, "max_quality") == 1.7e308
    assert day(store, device, RAW, "total_flow_amount") is None
    assert store.verify().wrong == 0


def test_an_overflowed_sum_makes_the_coarser_sum_null(store: Store) -> None:
    device = take_in(store, (0, 1.7e308), (0, 1.6e308))
    later = [reading(device, NOON_MS + m * MINUTE_MS, flow_amount=1.0) for m in (1, 61)]
    assert store.write(later).stored == 2
    assert column(store, device, STORED[0], "total_flow_amount") == [None, 1.0, 1.0]
    assert column(store, device, STORED[-1], "total_flow_amount") == [None, 1.0]
    assert day(store, device, STORED[-1], "total_flow_amount") is None
    assert store.verify().wrong == 0


def test_the_mean_of_distant_means_is_finite(store: Store) -> None:
    device = take_in(store, (0, 1e200), (60, -1e200), (120, 3e200))
    for source in (RAW, *STORED):
        assert day(store, device, source, "avg_quality") == pytest.approx(1e200, rel=1e-12)
        assert day(store, device, source, "total_flow_amount") == pytest.approx(3e200, rel=1e-12)


@cases("tiny", [SMALLEST, 1e-320, -1e-320, 1e-310, sys.float_info.min])
def test_the_smallest_values_are_stored_and_their_averages_may_be_zero(
    store: Store, tiny: float
) -> None:
    device = take_in(store, (0, tiny), (0, 0.0), (90, tiny))
    for resolution in STORED:
        assert column(store, device, resolution, "total_flow_amount") == [tiny, tiny]
        for average in column(store, device, resolution, "avg_quality"):
            assert average == pytest.approx(0, abs=1e-300)
        assert day(store, device, resolution, "avg_quality") == pytest.approx(0, abs=1e-300)
        average = Condition(Aggregate("avg", FLOW_AMOUNT), "<", 1.0)
        assert store.count(device, resolution, SPAN, (average,)) == 2
        assert store.bounds(device, resolution, SPAN, (average,)) is not None
    assert store.verify().wrong == 0


def test_an_overflowed_sum_matches_no_filter(store: Store) -> None:
    device = take_in(store, (0, GREATEST), (0, 1e308))
    for function in ("avg", "total"):
        above = Condition(Aggregate(function, FLOW_AMOUNT), ">", 0.0)
        assert store.count(device, STORED[-1], SPAN, (above,)) == 0


def test_a_file_with_extremes_is_imported_once(store: Store) -> None:
    (device,) = new_meters(store, 1)
    rows = [reading(device, NOON_MS + ms, flow_amount=GREATEST) for ms in (0, 1)]
    done = Progress("extremes", device.organization_id, position=2, complete=True)
    assert store.write(rows, progress=done).stored == 2
    assert store.write(rows).repeated == 2
    stored = store.progress("extremes", device.organization_id)
    assert stored is not None
    assert (stored.stored, stored.repeated, stored.complete) == (2, 0, True)


def test_errors_beside_extremes_are_repaired(empty_store: Store) -> None:
    device = take_in(empty_store, (0, GREATEST), (0, 1e308), (5, 1e-320), (70, 3.0), (70, 4.0))
    whole = empty_store.verify()
    assert whole.wrong == 0
    tamper(empty_store, "UPDATE rollup_1hour SET flow_amount_sum = 8 WHERE flow_amount_sum = 7")
    assert empty_store.verify(repair=True).wrong == 1
    assert column(empty_store, device, STORED[-1], "total_flow_amount") == [None, 7.0]
    assert empty_store.verify() == whole


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=20, deadline=None)
@given(amounts=st.lists(st.tuples(st.integers(0, 200), finite), min_size=1, max_size=8))
def test_any_finite_values_are_stored_read_and_verified(
    store: Store, amounts: list[tuple[int, float]]
) -> None:
    (device,) = new_meters(store, 1)
    rows = [
        reading(device, NOON_MS + at * MINUTE_MS + n, flow_amount=amount)
        for n, (at, amount) in enumerate(amounts)
    ]
    store.write(rows)
    exact: dict[int, list[Fraction]] = {}
    for at, amount in amounts:
        exact.setdefault(at // 60, []).append(Fraction(amount))
    hours = column(store, device, STORED[-1], "total_flow_amount")
    for hour, total in zip(sorted(exact), hours, strict=True):
        magnitude = sum(map(abs, exact[hour]))
        if total is not None:
            assert abs(Fraction(total) - sum(exact[hour])) <= magnitude / 10**12
        else:
            assert magnitude > Fraction(GREATEST)
    totals = [day(store, device, source, "total_flow_amount") for source in (RAW, *STORED)]
    assert all(total is None or math.isfinite(total) for total in totals)
    assert store.verify().wrong == 0
