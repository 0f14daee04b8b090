"""Rows prepared for drawing: positions, runs and gaps. Nothing is ever drawn, averaged or filled
across a gap."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import DAY, MONTH, QUALITY, RAW, Metric, Resolution
from api.client import Series
from api.metering.cadence import Cadence
from api.metering.gaps import breaks, gaps, patience_ms
from api.metering.install_date import install_date
from api.metering.windows import Window
from api.timez import day_edges, month_edges
from components.units import Scale

SIGNIFICANT_DIGITS: Final = 5
MANY: Final = 100  # number of values from which numpy rounds faster
LEAST_DECIMALS: Final = 6

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of one series that show a metric.

    ``starts_ms`` and ``ends_ms`` (exclusive; equal for raw rows) are each row's span; ``middle``
    its average, or its total if the metric is totalled; ``low`` and ``high`` its extremes (equal to
    middle for raw rows and totals), all in ``unit``. ``runs`` are ranges of rows without a gap;
    ``gaps`` the spans of the window without a row.
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
    """``cadence_ms``: the device's cadence, None to estimate it from the rows. ``until_ms``: up to
    where missing rows are a gap (now, since the future isn't one)."""
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


def with_spread(made: Frame, spread: Sequence[Window]) -> Frame:
    """The frame with each span over which a register's volume is spread (after, up to) as one gap,
    if there are gaps in it; the line is drawn through, since the rows in it have one flow."""

    def is_inside(from_ms: int, to_ms: int) -> bool:
        return any(span.from_ms <= from_ms and to_ms <= span.to_ms for span in spread)

    outside = [gap for gap in made.gaps if not is_inside(*gap)]
    if len(outside) == len(made.gaps):
        return made
    silent = [s for s in spread if any(s.from_ms <= g.from_ms < s.to_ms for g in made.gaps)]
    runs: list[range] = []
    for run in made.runs:
        before = runs[-1] if runs else None
        if before and is_inside(made.starts_ms[before[-1]], made.starts_ms[run.start]):
            runs[-1] = range(before.start, run.stop)
        else:
            runs.append(run)
    return replace(made, runs=runs, gaps=sorted([*outside, *silent]))


def in_scale(made: Frame, scale: Scale) -> Frame:
    """The frame's values in another unit; the series keeps the catalog's unit."""
    if scale.factor == 1 and not scale.offset:
        return replace(made, unit=scale.unit)
    middle = _scaled(made.middle, scale)
    alone = made.low is made.middle
    low, high = (middle if alone else _scaled(v, scale) for v in (made.low, made.high))
    return replace(made, unit=scale.unit, middle=middle, low=low, high=high)


def _scaled(values: Values, scale: Scale) -> Values:
    return [None if v is None else scale.of(v) for v in values]


def within(made: Frame, window: Window) -> Frame:
    """The rows and gaps of a frame that overlap the window."""
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
    """The end of each row's span: after a fixed length, or at the next local midnight or month."""
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
    # If a server cuts days in another zone than requested, each row extends to the next edge.
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
    """Ranges of consecutive rows that have a value and no gap between them."""
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
    """Values rounded to a hundred-thousandth of the largest, finer than a screen shows, and to a
    millionth at least, so that small values beside it can still be read."""
    if not largest or not math.isfinite(largest):
        return list(values)
    digits = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(largest)))
    digits = max(digits, LEAST_DECIMALS)
    listed = list(values)
    if len(listed) < MANY or None in listed:
        return [None if v is None else round(v, digits) for v in listed]
    return np.round(np.array(listed, np.float64), digits).tolist()


def largest(*columns: Values) -> float:
    """The largest magnitude in these columns; 0 if they are empty."""
    return max((abs(v) for values in columns for v in values if v is not None), default=0.0)


# --- Causes of gaps and poor spans ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cause:
    """``word``: shown to the reader. ``mark``: the pattern it is drawn in, so that it doesn't
    depend on colour."""

    name: str
    word: str
    mark: str = ""
    silent: bool = True


NO_DATA: Final = Cause("no data", "no data")
LOW_QUALITY: Final = Cause("low quality", "below the quality limit", "/", silent=False)
NOT_INSTALLED: Final = Cause("not installed", "not installed yet", ".")
INACTIVE: Final = Cause("inactive", "inactive", "x")
SPREAD: Final = Cause("spread", "spread over", "-", silent=False)  # a register's gap, with water
CAUSES: Final = (NO_DATA, LOW_QUALITY, NOT_INSTALLED, INACTIVE)


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A span [from, to) and its cause."""

    window: Window
    cause: Cause


@dataclass(frozen=True, slots=True)
class Life:
    """A device's lifetime, which explains gaps, and the limit below which its quality is poor."""

    quality_limit: float
    installed_on_ms: int | None = None
    active: bool = True


def marked_spans(frame: Frame, life: Life) -> list[MarkedSpan]:
    """All gaps and poor spans in the frame's window, in order of time."""
    silent = (each for gap in frame.gaps for each in _gap_spans(gap, frame, life))
    return sorted((*silent, *_poor_spans(frame, life.quality_limit)), key=lambda s: s.window)


def _gap_spans(gap: Window, frame: Frame, life: Life) -> Iterator[MarkedSpan]:
    """A gap with its cause; split at the installation, if no reading is older. A gap after the last
    reading of an inactive device is expected."""
    first = frame.starts_ms[0] if frame.starts_ms else None
    installed = install_date(life.installed_on_ms, first)
    before = clipped(gap, Window(gap.from_ms, installed)) if installed is not None else None
    if before is not None:
        yield MarkedSpan(before, NOT_INSTALLED)
        gap = Window(before.to_ms, gap.to_ms)
    if gap.to_ms > gap.from_ms:
        last = not frame.starts_ms or gap.from_ms >= frame.starts_ms[-1]
        yield MarkedSpan(gap, INACTIVE if last and not life.active else NO_DATA)


def _poor_spans(frame: Frame, limit: float) -> Iterator[MarkedSpan]:
    """Spans of consecutive rows whose worst quality is below the limit. A reading counts up to the
    next one of its run."""
    raw = frame.resolution is RAW
    worst = frame.series.values(QUALITY.name if raw else f"min_{QUALITY.name}")
    first: int | None = None
    end = 0
    for start, stop, value in zip(frame.starts_ms, _held_to(frame), worst, strict=True):
        low = value is not None and value < limit
        if first is not None and (not low or start > end):
            yield MarkedSpan(Window(first, end), LOW_QUALITY)
            first = None
        if low:
            first, end = start if first is None else first, stop
    if first is not None:
        yield MarkedSpan(Window(first, max(end, first + 1)), LOW_QUALITY)


def _held_to(frame: Frame) -> list[int]:
    if frame.resolution is not RAW:
        return frame.ends_ms
    following = [*frame.starts_ms[1:], *frame.starts_ms[-1:]]
    breaks = {run[-1] for run in frame.runs}
    return [
        start if index in breaks else following[index]
        for index, start in enumerate(frame.starts_ms)
    ]


def total_ms(marked_spans: Iterable[MarkedSpan], *, silent: bool) -> int:
    return sum(s.window.to_ms - s.window.from_ms for s in marked_spans if s.cause.silent is silent)
