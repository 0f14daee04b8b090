"""Uptime: the share of expected buckets with a reading."""

from __future__ import annotations

from typing import Final

from api.catalog import STORED, Resolution
from api.metering.cadence import Cadence
from api.metering.windows import Window
from api.timez import bucket_starts, floor_to

UPTIME_LIMIT: Final = 0.95
LEAST_COVERAGE: Final = 0.9  # coverage below which a span's sum is neither compared nor trained on


def resolution_for(cadence: Cadence) -> Resolution:
    """Returns the finest resolution whose buckets a healthy device fills: the smallest at least as
    long as its cadence, or the coarsest."""
    return next((r for r in STORED if r.fixed_ms >= cadence.expected_ms), STORED[-1])


def closed_buckets(
    observed: int, last_seen_ms: int | None, resolution: Resolution, due: Window | None, now_ms: int
) -> tuple[int, int]:
    """Returns (observed, expected) of the closed buckets, from a count that ends now.

    Such a count includes the current bucket, which holds a reading if and only if the last reading
    lies in it. Without that bucket, the result equals a count of a window up to its start.
    """
    if due is None:
        return 0, 0
    expected = bucket_starts(due.from_ms, due.to_ms, resolution.fixed_ms)
    edge = floor_to(now_ms, resolution.fixed_ms)
    under_way = last_seen_ms is not None and last_seen_ms >= edge
    return min(expected, max(0, observed - under_way)), expected


def share(observed: int, expected: int) -> float | None:
    """Returns observed ÷ expected, at most 1; None if no bucket was expected."""
    return min(observed, expected) / expected if expected else None


def is_low(observed: int, expected: int) -> bool:
    ratio = share(observed, expected)
    return ratio is not None and ratio < UPTIME_LIMIT


def comparable(*coverages: float) -> bool:
    """Whether spans with these shares of readings can be compared."""
    return all(coverage >= LEAST_COVERAGE for coverage in coverages)
