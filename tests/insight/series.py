"""A meter's readings in memory, and the findings from them in a short form for tests."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.insight.findings import (
    Device,
    Evaluation,
    Finding,
    HourRow,
    Minute,
    RegisterFall,
    Settings,
    State,
    evaluate,
)
from api.timez import parse_instant, stamp, zone

START = parse_instant("2026-01-05T00:00:00Z")  # a Monday
UTC = zone("UTC")
HOURLY = Device(UTC, 3600)


@dataclass(slots=True)
class Series:
    """`api.insight.findings.Readings`: hours by start, and minutes if a test sets them."""

    by_hour: dict[int, HourRow] = field(default_factory=dict)
    by_minute: dict[int, float | None] = field(default_factory=dict)
    falls: list[RegisterFall] = field(default_factory=list)

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        return [self.by_hour[at] for at in sorted(self.by_hour) if from_ms is None or at >= from_ms]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        if not self.by_minute:
            return [
                Minute(at, None if row.gallons is None else row.gallons / 60)
                for at, row in sorted(self.by_hour.items())
                if from_ms <= at < to_ms
            ]
        held = range(-(-from_ms // MINUTE_MS) * MINUTE_MS, to_ms, MINUTE_MS)
        return [Minute(at, self.by_minute[at]) for at in held if at in self.by_minute]

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]:
        return [one for one in self.falls if from_ms <= one.recorded_at_ms < to_ms]


def hours(gallons: Iterable[float | None], start_ms: int = START) -> Series:
    """Consecutive hours; None is an hour without readings."""
    rows = {}
    for index, value in enumerate(gallons):
        if value is not None:
            at = start_ms + index * HOUR_MS
            rows[at] = HourRow(at, value, 1.0, value / 60, value / 60)
    return Series(rows)


def minutes(rates: Iterable[float | None], start_ms: int = START) -> Series:
    """Consecutive minutes, and the hours that they make."""
    series = Series()
    for index, rate in enumerate(rates):
        if rate is not None:
            series.by_minute[start_ms + index * MINUTE_MS] = rate
    starts = sorted({at - at % HOUR_MS for at in series.by_minute})
    for at in starts:
        messages = [
            series.by_minute[at + n * MINUTE_MS] or 0.0
            for n in range(60)
            if at + n * MINUTE_MS in series.by_minute
        ]
        series.by_hour[at] = HourRow(
            at, sum(messages), len(messages) / 60, min(messages), max(messages)
        )
    return series


def district(days: int, *, mean: float = 1000.0, noise: float = 0.03, seed: int = 1) -> list[float]:
    """Hours of a district main: a daily wave with noise."""
    dice = random.Random(seed)
    return [
        mean * (1 - 0.5 * math.cos((hour % 24 - 3) / 24 * 2 * math.pi)) * dice.gauss(1, noise)
        for hour in range(24 * days)
    ]


def household(days: int, *, seed: int = 1) -> list[float]:
    """Hours of a home: no use at night, 10 to 20 gal an hour by day."""
    dice = random.Random(seed)
    return [
        0.0 if hour % 24 < 6 or dice.random() < 0.2 else dice.uniform(10, 20)
        for hour in range(24 * days)
    ]


def changed(
    gallons: Sequence[float | None],
    from_h: int,
    to_h: int,
    change: Callable[[float], float | None],
) -> list[float | None]:
    return [
        change(value) if from_h <= hour < to_h and value is not None else value
        for hour, value in enumerate(gallons)
    ]


def run(
    series: Series,
    device: Device = HOURLY,
    settings: Settings | None = None,
    now_ms: int | None = None,
) -> Evaluation:
    return evaluate(device, settings or {}, None, series, now_ms=now_ms)


def of(kind: str, result: Evaluation) -> list[Finding]:
    results = [each for each in result.findings if each.kind == kind]
    return sorted(results, key=lambda each: each.start_ms)


def at(finding: Finding) -> tuple[float, float | None, float]:
    """(start, end, opened), in hours from START."""
    end = None if finding.end_ms is None else (finding.end_ms - START) / HOUR_MS
    return (finding.start_ms - START) / HOUR_MS, end, (finding.opened_ms - START) / HOUR_MS


def only(results: Sequence[Finding]) -> Finding:
    assert len(results) == 1, [f"{each.kind} {stamp(each.start_ms)}" for each in results]
    return results[0]


__all__ = [
    "DAY_MS",
    "HOUR_MS",
    "MINUTE_MS",
    "START",
    "Series",
    "State",
    "at",
    "changed",
    "district",
    "hours",
    "household",
    "minutes",
    "of",
    "only",
    "run",
]
