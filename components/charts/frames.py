"""Rows prepared for drawing: their positions, runs and gaps. Nothing is ever drawn, averaged or
filled across a gap."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import DAY, MONTH, RAW, Metric, Resolution
from api.client import Series
from api.metering.cadence import Cadence
from api.metering.gaps import breaks, gaps, patience_ms
from api.metering.windows import Window
from api.timez import day_edges, month_edges
from components.units import Scale

SIGNIFICANT_DIGITS: Final = 5
LEAST_DECIMALS: Final = 6

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of one series that show a metric.

    ``starts_ms`` and ``ends_ms`` (exclusive; equal for raw rows) are each row's span; ``middle``
    its average, or its total where the metric is totalled, ``low`` and ``high`` its extremes (the
    same as middle for raw rows and totals), all in ``unit``. ``runs`` are the stretches of rows
    without a break; ``gaps`` the spans of the window without a row.
    """

    series: Series
    metric: Metric
    window: Window
    starts_ms: list[int]
    ends_ms: list[int]
    middle: Values
    low: Values
    high: Values
    runs: list[range]
    gaps: list[Window]
    unit: str

    def __len__(self) -> int:
        return len(self.starts_ms)

    @property
    def resolution(self) -> Resolution:
        return self.series.resolution


def frame(
    series: Series,
    metric: Metric,
    window: Window,
    *,
    tz: ZoneInfo,
    cadence_ms: int | None = None,
    until_ms: int | None = None,
) -> Frame:
    """``cadence_ms`` is how often the device reports, estimated from the rows where it is None;
    ``until_ms`` is where the window's emptiness stops to count (now: the future is no gap)."""
    starts = list(series.times_ms)
    ends = bucket_ends(starts, series.resolution, tz)
    middle, low, high = _columns(series, metric)
    cadence = Cadence(cadence_ms) if cadence_ms else None
    patience = patience_ms(starts, series.resolution, cadence)
    broken = breaks(starts, ends, patience)
    end = window.to_ms if until_ms is None else min(window.to_ms, until_ms)
    return Frame(
        series=series,
        metric=metric,
        window=window,
        starts_ms=starts,
        ends_ms=ends,
        middle=middle,
        low=low,
        high=high,
        runs=_runs(middle, broken),
        gaps=gaps(starts, ends, broken, Window(window.from_ms, end), patience),
        unit=metric.unit,
    )


def in_scale(made: Frame, scale: Scale) -> Frame:
    """The frame's values in another unit; the series keeps the catalog's."""
    if scale.factor == 1 and not scale.offset:
        return replace(made, unit=scale.unit)
    middle = _scaled(made.middle, scale)
    alone = made.low is made.middle
    low, high = (middle if alone else _scaled(v, scale) for v in (made.low, made.high))
    return replace(made, unit=scale.unit, middle=middle, low=low, high=high)


def _scaled(values: Values, scale: Scale) -> Values:
    return [None if v is None else scale.of(v) for v in values]


def within(made: Frame, window: Window) -> Frame:
    """Only what meets the window, of a frame that reaches further."""
    first = bisect_right(made.ends_ms, window.from_ms)
    if made.resolution is RAW:
        first = bisect_left(made.starts_ms, window.from_ms)
    last = bisect_right(made.starts_ms, window.to_ms)
    cut = slice(first, max(first, last))
    series = replace(
        made.series,
        times_ms=made.series.times_ms[cut],
        columns={name: column[cut] for name, column in made.series.columns.items()},
    )
    middle = made.middle[cut]
    alone = made.low is made.middle
    runs = [range(max(r.start, cut.start), min(r.stop, cut.stop)) for r in made.runs]
    return replace(
        made,
        series=series,
        window=window,
        starts_ms=made.starts_ms[cut],
        ends_ms=made.ends_ms[cut],
        middle=middle,
        low=middle if alone else made.low[cut],
        high=middle if alone else made.high[cut],
        runs=[range(r.start - first, r.stop - first) for r in runs if r],
        gaps=[g for g in (clipped(gap, window) for gap in made.gaps) if g is not None],
    )


def clipped(gap: Window, window: Window) -> Window | None:
    """The part of a span [from, to) that lies in the window."""
    first, last = max(gap.from_ms, window.from_ms), min(gap.to_ms, window.to_ms)
    return Window(first, last) if first < last else None


def bucket_ends(starts: Sequence[int], resolution: Resolution, tz: ZoneInfo) -> list[int]:
    """Where each row's span ends: a fixed length on, at the next local midnight or month."""
    if resolution is RAW:
        return list(starts)
    if resolution.length_ms is not None:
        return [start + resolution.length_ms for start in starts]
    if not starts:
        return []
    if resolution not in (DAY, MONTH):
        raise ValueError(f"{resolution.name} rows have no span")
    edges = (day_edges if resolution is DAY else month_edges)(tz, starts[0], starts[-1])
    following = dict(pairwise(edges))
    # A server that cuts its days in another zone than asked: each row up to the next edge.
    return [following.get(s) or next(edge for edge in edges if edge > s) for s in starts]


def _columns(series: Series, metric: Metric) -> tuple[Values, Values, Values]:
    if series.resolution is RAW:
        plain = series.values(metric.name)
        return plain, plain, plain
    if metric.totalled:
        totals = series.values(f"total_{metric.name}")
        return totals, totals, totals
    middle = series.values(f"avg_{metric.name}")
    low, high = (series.columns.get(f"{f}_{metric.name}") or middle for f in ("min", "max"))
    return middle, low, high


def _runs(values: Values, broken: Sequence[bool]) -> list[range]:
    """Stretches of rows that have a value and no break between them."""
    runs: list[range] = []
    first: int | None = None
    for index, value in enumerate(values):
        if value is None:
            if first is not None:
                runs.append(range(first, index))
            first = None
            continue
        first = index if first is None else first
        if index < len(broken) and broken[index]:
            runs.append(range(first, index + 1))
            first = None
    if first is not None:
        runs.append(range(first, len(values)))
    return runs


def rounded(values: Iterable[float | None], largest: float) -> list[float | None]:
    """Values to a hundred-thousandth of the largest, finer than a screen can show, and to a
    millionth at least, so that small ones beside it can still be written."""
    if not largest or not math.isfinite(largest):
        return list(values)
    digits = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(largest)))
    digits = max(digits, LEAST_DECIMALS)
    return [None if v is None else round(v, digits) for v in values]


def largest(*columns: Values) -> float:
    """The largest magnitude in these columns; 0 where there is none."""
    return max((abs(v) for values in columns for v in values if v is not None), default=0.0)
