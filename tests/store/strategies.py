"""Hypothesis strategies for readings, spans and conditions: few instants, so that they collide."""

from __future__ import annotations

from hypothesis import strategies as st

from api.catalog import AGGREGATES, METRICS, OPERATORS, RAW, STORED, Resolution
from api.store.base import Condition, Span
from tests.store.fleet import NOON_MS

SECONDS = 3 * 3600
ODD_MS = (0, 0, 0, 1, 999)

instants = st.builds(
    lambda second, odd: NOON_MS + second * 1000 + odd,
    st.one_of(
        st.integers(0, SECONDS),
        st.sampled_from(range(0, SECONDS, 300)),
        st.sampled_from((0, 59, 60, 61, 3599, 3600, 3601)),
    ),
    st.sampled_from(ODD_MS),
)
numbers = st.one_of(
    st.sampled_from((0.0, 1.0, -1.0, 0.1)),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)
values = st.tuples(*(st.one_of(st.none(), numbers) for _ in METRICS))
readings = st.lists(st.tuples(instants, values), max_size=40)
"""(instant, values) pairs, for any device."""

bounds = st.one_of(st.none(), instants)
spans = st.builds(Span, bounds, bounds)
resolutions = st.sampled_from((RAW, *STORED))


def conditions(resolution: Resolution) -> st.SearchStrategy[tuple[Condition, ...]]:
    columns = st.sampled_from(METRICS if resolution is RAW else AGGREGATES)
    one = st.builds(Condition, columns, st.sampled_from(sorted(OPERATORS.values())), numbers)
    return st.lists(one, max_size=2).map(tuple)
