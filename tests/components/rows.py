"""Series for tests of charts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from api.catalog import RESOLUTION_BY_NAME, Resolution
from api.client import Series
from tests.world import ms

NOON = ms("2026-11-16T12:00Z")


def buckets(
    name: str, starts_ms: Sequence[int], flow: Sequence[float | None], *, reach: float = 0.5
) -> Series:
    """Aggregated rows; minimum and maximum lie ``reach`` around each average."""
    low = [None if v is None else v - reach for v in flow]
    high = [None if v is None else v + reach for v in flow]
    total = [None if v is None else v * 10 for v in flow]
    columns = {
        "avg_flow_rate": list(flow),
        "min_flow_rate": low,
        "max_flow_rate": high,
        "total_flow_amount": total,
    }
    return Series(RESOLUTION_BY_NAME[name], list(starts_ms), columns, len(starts_ms))


def raw(starts_ms: Sequence[int], flow: Sequence[float | None]) -> Series:
    return Series(RESOLUTION_BY_NAME["raw"], list(starts_ms), {"flow_rate": list(flow)})


FLOWS = st.one_of(
    st.none(), st.floats(-1e6, 1e6, allow_nan=False), st.floats(0, 30).map(lambda v: round(v, 3))
)


@st.composite
def holey_series(draw: st.DrawFn) -> Series:
    """Rows of any stored resolution, with gaps, nulls and jumps."""
    resolution: Resolution = RESOLUTION_BY_NAME[
        draw(st.sampled_from(["1min", "5min", "10min", "1hour"]))
    ]
    steps = draw(st.lists(st.sampled_from([1, 1, 1, 1, 2, 3, 40]), min_size=0, max_size=60))
    starts = [NOON]
    for step in steps:
        starts.append(starts[-1] + step * resolution.fixed_ms)
    flow = draw(st.lists(FLOWS, min_size=len(starts), max_size=len(starts)))
    return buckets(resolution.name, starts, flow)


__all__ = ["NOON", "buckets", "holey_series", "ms", "raw"]
