"""The lowest flow of a night for the evaluator, from minutes or else from hours."""

from __future__ import annotations

from collections.abc import Mapping

from api.catalog import HOUR_MS
from api.insight.findings.model import HourRow, Readings
from api.metering.night_flow import LEAST_PRESENT, lowest_mean_rate
from api.metering.windows import Window


def lowest_flow(
    readings: Readings,
    rows: Mapping[int, HourRow],
    from_ms: int,
    to_ms: int,
    reading_ms: int,
) -> float | None:
    """Returns the lowest mean over an hour of the night, in gal/min; None where no hour has 80 % of
    its readings. Uses hours for a device that reports hourly, or where no minutes are stored."""
    if reading_ms < HOUR_MS:
        minutes = readings.minutes(from_ms, to_ms)
        if minutes:
            rates = [(each.start_ms, each.rate) for each in minutes if each.rate is not None]
            return lowest_mean_rate(rates, Window(from_ms, to_ms), reading_ms)
    first = -(-from_ms // HOUR_MS) * HOUR_MS
    starts = range(first, to_ms - HOUR_MS + 1, HOUR_MS)
    flows = [
        row.gallons / 60
        for start in starts
        if (row := rows.get(start)) is not None
        and row.gallons is not None
        and row.coverage >= LEAST_PRESENT
    ]
    return min(flows, default=None)
