"""Properties of registers: any order and split gives the same readings, and their sum is exact."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import COARSEST_STORED, DAY_MS
from api.metering.register import PARTS_A_GALLON, settings_of
from api.store import batch, register_rows
from api.store.base import (
    RegisterRow,
    Span,
    Store,
)
from tests.store.fleet import NOON_MS
from tests.store.registers import (
    QUARTER_MS,
    assert_sound,
    at,
    meter_with,
    volumes,
    whole,
)

_instants = st.one_of(
    st.integers(0, 40).map(lambda n: n * QUARTER_MS),
    st.integers(0, 4 * DAY_MS),
    st.integers(0, 20).map(lambda n: n * (DAY_MS // 2)),
)
_values = st.one_of(st.integers(0, 12_000).map(float), st.floats(0, 1e6, width=32))
_registers = st.lists(st.tuples(_instants, _values), min_size=1, max_size=14)
_configs = st.sampled_from(
    [
        {},
        {"registerUnit": "m3", "registerDigits": 4},
        {"registerGap": "end"},
        {"meterExchanges": [{"at": "2026-03-08T18:00:00Z", "last": 500, "first": 3}]},
    ]
)


@settings(max_examples=25)
@given(drawn=_registers, config=_configs, seed=st.integers(0, 2**32))
def test_any_order_batches_and_repeats_give_the_same(
    store: Store, drawn: list[tuple[int, float]], config: dict[str, Any], seed: int
) -> None:
    together, split = meter_with(store, **config), meter_with(store, **config)
    store.write([], registers=[at(together, *each) for each in drawn])
    rng = random.Random(seed)
    rows = [at(split, *each) for each in drawn]
    rows += rng.sample(rows, len(rows) // 2)
    rng.shuffle(rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batch, "ALONE_FROM", rng.choice((1, batch.ALONE_FROM)))
        while rows:
            size = rng.randint(1, len(rows))
            store.write([], registers=rows[:size])
            del rows[:size]
    assert whole(store, split) == whole(store, together)
    assert_sound(store, split)


@settings(max_examples=50)
@given(
    drawn=st.dictionaries(_instants, _values | st.floats(-1e15, 1e15), max_size=40),
    config=_configs,
    units=st.lists(st.sampled_from(["", "", "l", "m3"]), min_size=1, max_size=3),
)
def test_deriving_by_columns_and_one_by_one_is_the_same_to_the_bit(
    drawn: dict[int, float], config: dict[str, Any], units: list[str]
) -> None:
    rows = [
        RegisterRow(7, NOON_MS + ms, value, units[place % len(units)], signal_strength=-80.0)
        for place, (ms, value) in enumerate(sorted(drawn.items()))
    ]
    of_device = settings_of(config, interval_s=900)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(register_rows, "FEW", 1)
        by_columns = register_rows.readings(rows, of_device)
        patched.setattr(register_rows, "FEW", 1_000)
        assert by_columns == register_rows.readings(rows, of_device)


@settings(max_examples=25)
@given(drawn=st.dictionaries(_instants, _values, min_size=2, max_size=30))
def test_the_sum_of_volumes_is_the_last_register_minus_the_first(
    store: Store, drawn: dict[int, float]
) -> None:
    meter = meter_with(store)
    values = sorted(drawn.values())
    rows = [at(meter, ms, value) for ms, value in zip(sorted(drawn), values, strict=True)]
    store.write([], registers=rows)
    first, last = (round(value * PARTS_A_GALLON) for value in (values[0], values[-1]))
    owed = (last - first) / PARTS_A_GALLON
    assert sum(each or 0.0 for each in volumes(store, meter)) == owed
    hours = store.rows(meter, COARSEST_STORED, Span(), limit=10_000)
    assert sum(row[-1] or 0.0 for row in hours) == owed
