"""The lowest flow of a night for the evaluator, from minutes or else from hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.catalog import HOUR_MS, MINUTE_MS
from api.insight.findings.model import HourRow, Minute, Readings
from api.metering.night_flow import LEAST_PRESENT


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
            return _of_minutes(minutes, from_ms, to_ms, reading_ms)
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


def _of_minutes(
    minutes: Sequence[Minute], from_ms: int, to_ms: int, reading_ms: int
) -> float | None:
    """Moves the window by the minute. A minute covers the time since the reading before."""
    rates = [(minute.start_ms, minute.rate) for minute in minutes if minute.rate is not None]
    flows: list[float] = []
    low = high = 0
    total = 0.0
    for start in range(from_ms, to_ms - HOUR_MS + 1, MINUTE_MS):
        while high < len(rates) and rates[high][0] < start + HOUR_MS:
            total += rates[high][1]
            high += 1
        while low < high and rates[low][0] < start:
            total -= rates[low][1]
            low += 1
        if (high - low) * reading_ms >= LEAST_PRESENT * HOUR_MS:
            flows.append(total / (high - low))
    return min(flows, default=None)
