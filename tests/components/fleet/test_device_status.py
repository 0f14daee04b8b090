"""What one answer tells of a device."""

from __future__ import annotations

from api.catalog import FLOW_RATE, RESOLUTION_BY_NAME
from api.client import LatestEntry
from api.metering.cadence import Cadence
from api.metering.windows import DEFAULT_SPAN, latest_buckets
from components.fleet.device_status import learnt
from tests.components.fleet.meters import MINUTE, NOW

FIVE = RESOLUTION_BY_NAME["5min"]


def test_an_entry_without_readings() -> None:
    told = learnt(
        LatestEntry("m", "s", "n", uptime_actual=0),
        cadence=Cadence(MINUTE),
        resolution=FIVE,
        window=latest_buckets(DEFAULT_SPAN, FIVE, None, NOW),
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
        cadence=Cadence(300_000),
        resolution=FIVE,
        window=latest_buckets(DEFAULT_SPAN, FIVE, None, NOW),
        now_ms=NOW,
    )
    assert (told.seen_ms, told.uptime, told.flow) == (NOW - 9, 1.0, 0.0)
    assert (told.quality_min, told.quality_max, told.bucket_ms) == (3.0, 4.0, 300_000)
