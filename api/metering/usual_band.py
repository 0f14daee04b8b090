"""The usual volume of past and coming hours: the median, and the band that holds eight days in ten.

Each local day is computed only from the weeks before it, with the data there was at its start. A
coming day is computed from the weeks before the last reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from api.catalog import HOUR_MS
from api.metering.profile import (
    DAYS,
    HOURS,
    Bools,
    Floats,
    Ints,
    Span,
    day_types,
    day_weights,
    untrained,
)
from api.timez import EPOCH_DAY, ceil_to, day_start, local_ordinal, offsets

LEAST_DAYS: Final = 21  # days with a volume among the DAYS before that a usual day needs
SHARES: Final = (0.1, 0.5, 0.9)


class UsualHour(NamedTuple):
    """Gallons in the hour from ``bucket_start_ms`` on. Eight days in ten lie between low and
    high."""

    bucket_start_ms: int
    volume: float
    low: float
    high: float


def usual_hours(
    hours: Iterable[tuple[int, float]],
    from_ms: int,
    to_ms: int,
    tz: ZoneInfo,
    *,
    holidays: Collection[int] = (),
    spans: Sequence[Span] = (),
) -> list[UsualHour]:
    """Returns the hours that start from ``from_ms`` to ``to_ms`` (inclusive).

    ``hours`` are (start in ms, gallons) of hours with enough coverage, for the range and the DAYS
    days before it. Hours in ``spans`` aren't used for training.
    """
    if to_ms < from_ms:
        return []
    first, last = local_ordinal(tz, from_ms), local_ordinal(tz, to_ms)
    count = last - first + 1
    rows = _rows(hours, first - DAYS, count + DAYS - 1, tz)
    bands = _cached_bands(rows.tobytes(), first, count, tz, frozenset(holidays), tuple(spans))
    starts = np.arange(ceil_to(from_ms, HOUR_MS), to_ms + 1, HOUR_MS)
    days, columns = np.divmod(_wall_hours(starts, tz) - (first - EPOCH_DAY) * HOURS, HOURS)
    low, middle, high = bands[:, np.clip(days, 0, count - 1), columns]
    has_band = middle == middle
    return list(map(UsualHour, *(each[has_band].tolist() for each in (starts, middle, low, high))))


def _rows(hours: Iterable[tuple[int, float]], first: int, count: int, tz: ZoneInfo) -> Floats:
    """Returns volumes by local day and hour, in the form of `profile.day_row`; NaN where there is
    none."""
    each = list(hours)
    starts = np.array([start for start, _ in each], np.int64)
    gallons = np.array([volume for _, volume in each], np.float64)
    cells = _wall_hours(starts, tz) - (first - EPOCH_DAY) * HOURS
    inside = (cells >= 0) & (cells < count * HOURS)
    size = count * HOURS
    sums = np.bincount(cells[inside], gallons[inside], size)
    counts = np.bincount(cells[inside], minlength=size)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means.reshape(count, HOURS)


def _wall_hours(starts: Ints, tz: ZoneInfo) -> Ints:
    """Returns wall-clock hours since 1970 at these instants."""
    if not len(starts):
        return starts
    changes = offsets(tz, int(starts.min()), int(starts.max()))
    places = np.searchsorted([at for at, _ in changes], starts, side="right") - 1
    return (starts + np.array([offset for _, offset in changes], np.int64)[places]) // HOUR_MS


@lru_cache(maxsize=64)  # about 40 kB for each month
def _cached_bands(
    rows: bytes,
    first: int,
    count: int,
    tz: ZoneInfo,
    holidays: frozenset[int],
    spans: tuple[Span, ...],
) -> Floats:
    """Caches the bands: a chart that is refreshed or zoomed has the same days all day, since today
    isn't used for training yet."""
    days = np.frombuffer(rows, np.float64).reshape(-1, HOURS)
    bands = _bands(days, first, count, tz, holidays, spans)
    bands.flags.writeable = False
    return bands


def _bands(
    rows: Floats,
    first: int,
    count: int,
    tz: ZoneInfo,
    holidays: Collection[int],
    spans: Sequence[Span],
) -> Floats:
    """Returns the quantiles as SHARES × days × 24 hours; NaN where too few days have values.
    Computes all days at once: a chart may show a hundred."""
    before = sliding_window_view(rows, DAYS, axis=0)[:count]  # days × 24 × DAYS
    enough = (before == before).any(axis=1).sum(axis=1) >= LEAST_DAYS
    trained, weights = before, np.empty((count, DAYS))
    for index in range(count):
        day = first + index
        weights[index] = _weights(day, holidays)
        silenced = _silenced(day, tz, spans) if spans else None
        if silenced is not None:
            trained = before.copy() if trained is before else trained
            trained[index][silenced.T] = np.nan
    quantiles = _quantiles(trained, weights)
    quantiles[:, ~enough] = np.nan
    return quantiles


def _weights(day: int, holidays: Collection[int]) -> Floats:
    types = day_types(day - DAYS, DAYS, holidays)
    own = int(day_types(day, 1, holidays)[0])
    return day_weights(types.tobytes())[own]


def _silenced(day: int, tz: ZoneInfo, spans: Sequence[Span]) -> Bools | None:
    """Marks the hours that weren't used for training when the day began."""
    now_ms = day_start(tz, day)
    return untrained(day, tz, [(start, min(end, now_ms)) for start, end in spans if start < now_ms])


def _quantiles(columns: Floats, weights: Floats) -> Floats:
    """Returns SHARES × days × 24 quantiles from days × 24 × DAYS values (the lower of two); NaN
    where no row has weight."""
    order = np.argsort(columns, axis=2)
    ranked = np.take_along_axis(columns, order, axis=2)
    of_rows = np.take_along_axis(np.broadcast_to(weights[:, None], columns.shape), order, axis=2)
    sums = np.cumsum(np.where(ranked == ranked, of_rows, 0.0), axis=2)
    totals = sums[:, :, -1:]
    places = [(sums >= share * totals).argmax(axis=2)[:, :, None] for share in SHARES]
    quantiles = [np.take_along_axis(ranked, place, axis=2) for place in places]
    return np.array([np.where(totals > 0, each, np.nan)[:, :, 0] for each in quantiles])
