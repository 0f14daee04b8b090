"""Uptime: which buckets count."""

from __future__ import annotations

from itertools import product

from api.catalog import RESOLUTION_BY_NAME
from api.metering.cadence import Cadence
from api.metering.uptime import closed_buckets, comparable, is_low, resolution_for, share
from api.metering.windows import DEFAULT_SPAN, latest_buckets
from tests.tables import cases
from tests.world import ms

NOW = ms("2026-11-20T18:07:23.400Z")
DAY = 86_400_000
FIVE = RESOLUTION_BY_NAME["5min"]


@cases(("missing", "late"), list(product((0, 1, 100), (True, False))))
def test_the_current_bucket_counts_on_neither_side(missing: int, late: bool) -> None:
    """Recounted from instants, for a window up to the bucket's start."""
    window = latest_buckets(DEFAULT_SPAN, FIVE, None, NOW)
    assert window is not None
    starts = range(window.from_ms, NOW, FIVE.fixed_ms)
    readings = [start + 1000 for start in starts[missing:]]
    readings = readings[:-1] if late else readings
    closed = [at for at in readings if at <= window.to_ms]
    result = closed_buckets(len(readings), readings[-1], FIVE, window, NOW)
    assert result == (len(closed), 288)


def test_observed_buckets_never_exceed_expected_ones() -> None:
    window = latest_buckets(DEFAULT_SPAN, FIVE, None, NOW)
    assert closed_buckets(9999, NOW - DAY, FIVE, window, NOW) == (288, 288)
    assert closed_buckets(9999, NOW - DAY, FIVE, None, NOW) == (0, 0)


@cases(
    ("observed", "expected", "result", "low"),
    [
        (1440, 1440, 1.0, False),
        (1368, 1440, 0.95, False),
        (1367, 1440, 1367 / 1440, True),
        (1500, 1440, 1.0, False),
        (0, 0, None, False),  # nothing was expected
    ],
)
def test_share(observed: int, expected: int, result: float | None, low: bool) -> None:
    assert share(observed, expected) == result
    assert is_low(observed, expected) is low


def test_an_event_driven_meters_uptime_counts_hours() -> None:
    assert resolution_for(Cadence(60_000, event_driven=True)).name == "1hour"


def test_spans_are_compared_from_nine_tenths_of_coverage() -> None:
    assert comparable(0.9, 1.0)
    assert not comparable(0.899, 1.0)
