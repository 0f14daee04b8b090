"""What one answer tells of a device."""

from __future__ import annotations

from itertools import product

import pytest

from api.catalog import FLOW_RATE, RESOLUTION_BY_NAME
from api.client import LatestEntry
from components.fleet.device_status import closed_buckets, learnt
from components.fleet.windows import DEFAULT_SPAN, uptime_window
from tests.components.fleet.meters import DAY, MINUTE, NOW

FIVE = RESOLUTION_BY_NAME["5min"]


@pytest.mark.parametrize(("missing", "late"), list(product((0, 1, 100), (True, False))))
def test_the_bucket_under_way_counts_on_neither_side(missing: int, late: bool) -> None:
    """Recounted from instants: what a window up to the bucket's edge would have said."""
    window = uptime_window(DEFAULT_SPAN, FIVE, 0, NOW)
    assert window is not None
    starts = range(window.from_ms, NOW, FIVE.fixed_ms)
    readings = [start + 1000 for start in starts[missing:]]
    readings = readings[:-1] if late else readings
    entry = LatestEntry("m", "s", "n", last_seen_ms=readings[-1], uptime_actual=len(readings))
    closed = [at for at in readings if at <= window.to_ms]
    assert closed_buckets(entry, FIVE, window, NOW) == (len(closed), 288)


def test_more_is_never_observed_than_expected() -> None:
    window = uptime_window(DEFAULT_SPAN, FIVE, 0, NOW)
    entry = LatestEntry("m", "s", "n", last_seen_ms=NOW - DAY, uptime_actual=9999)
    assert closed_buckets(entry, FIVE, window, NOW) == (288, 288)
    assert closed_buckets(entry, FIVE, None, NOW) == (0, 0)


def test_an_entry_without_readings() -> None:
    told = learnt(
        LatestEntry("m", "s", "n", uptime_actual=0),
        cadence_ms=MINUTE,
        resolution=FIVE,
        window=uptime_window(DEFAULT_SPAN, FIVE, 0, NOW),
        now_ms=NOW,
    )
    assert (told.seen_ms, told.uptime, told.flow) == (None, 0.0, None)


def test_an_entry_with_a_reading() -> None:
    entry = LatestEntry(
        "m", "s", "n", last_seen_ms=NOW - 9, uptime_actual=289, quality_min=3.0, quality_max=4.0,
        last_datapoint_ms=NOW - 9, last_datapoint={FLOW_RATE: 0.0},
    )  # fmt: skip
    told = learnt(
        entry,
        cadence_ms=300_000,
        resolution=FIVE,
        window=uptime_window(DEFAULT_SPAN, FIVE, 0, NOW),
        now_ms=NOW,
    )
    assert (told.seen_ms, told.uptime, told.flow) == (NOW - 9, 1.0, 0.0)
    assert (told.quality_min, told.quality_max, told.bucket_ms) == (3.0, 4.0, 300_000)
