"""The usual profile of a device: hourly volume by local day type and local hour.

The state is a `History`: the hourly volumes of the last local days, and the errors of the forecasts
made for each day at its start. Each local night adds a row, and `usual` computes that night's table
from the rows, so that no night reads weeks of readings again.

Day types 0 to 6 are Monday to Sunday; a holiday counts as Sunday. An hour has no weight if it has a
gap or lies in a span that isn't used for training (a finding, maintenance or a correction).

A row has 24 wall-clock hours. The hour skipped in spring is missing; the hour repeated in autumn
holds the mean of both.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from api.catalog import HOUR_MS
from api.metering.uptime import LEAST_COVERAGE
from api.timez import EPOCH_DAY, day_start, offset_ms

Floats = NDArray[np.float64]
Stored = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Span = tuple[int, int]

HOURS: Final = 24
DAY_TYPES: Final = 7
HOLIDAY: Final = 6
DAYS: Final = 56  # days of the profile
ERROR_DAYS: Final = 42
REWIND_DAYS: Final = 8  # nights that late readings may take back without reading everything again
ROWS: Final = DAYS + REWIND_DAYS
ERROR_ROWS: Final = ERROR_DAYS + REWIND_DAYS
HALF_LIFE_DAYS: Final = 10.0
OTHER_WORKING_DAY: Final = 0.5
LEAST_SIGMA: Final = 0.03  # share of the mean hourly volume
MAD_TO_SIGMA: Final = 1.4826
LEVEL_WEIGHT: Final = 0.7
LEVEL_HALF_LIFE_DAYS: Final = 3.0
LEVEL_DAYS: Final = 2
DISTRICT_FLOWING: Final = 0.95
DISTRICT_GALLONS: Final = 100.0  # an hour

_HEADER: Final = struct.Struct("<BI")  # version, the day after the last row
_VERSION: Final = 1
_AGES: Final = np.arange(DAYS, 0, -1)
_AGE_WEIGHTS: Final[Floats] = 0.5 ** (_AGES / HALF_LIFE_DAYS)
_COLUMNS: Final = np.arange(HOURS)
_TYPE_COLUMN: Final = np.arange(DAY_TYPES)[:, None]


def day_types(first: int, count: int, holidays: Collection[int]) -> Ints:
    """The day types of ``count`` local days from the proleptic ordinal ``first`` on."""
    days = np.arange(first, first + count)
    types = (days - 1) % 7  # ordinal 1 is a Monday
    for index in range(count) if holidays else ():
        if first + index in holidays:
            types[index] = HOLIDAY
    return types


def _rounded(values: Floats | Stored) -> Stored:
    """Rounds to the 16-bit floats that are stored (0.4 %), so that a state read back equals the
    state written."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    finite = (bits & 0x7F800000) != 0x7F800000
    rounded = np.where(finite, bits + 0x7FFF + ((bits >> 16) & 1), 0x7FC00000) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32)


def _packed(values: Stored) -> bytes:
    return (values.view(np.uint32) >> 16).astype("<u2").tobytes()


def _unpacked(data: bytes, rows: int) -> Stored:
    bits = np.frombuffer(data, "<u2").astype(np.uint32) << 16
    return bits.view(np.float32).reshape(rows, HOURS)


def _empty(rows: int) -> Stored:
    return np.full((rows, HOURS), np.nan, np.float32)


@dataclass(frozen=True, slots=True)
class History:
    """The days before the local day ``day`` (a proleptic ordinal), oldest first. ``volumes`` are in
    gal/h (ROWS × 24); ``errors`` are volume − forecast (ERROR_ROWS × 24); NaN means no value."""

    day: int
    volumes: Stored
    errors: Stored

    @classmethod
    def empty(cls, day: int) -> History:
        return cls(day, _empty(ROWS), _empty(ERROR_ROWS))

    @property
    def mean(self) -> float:
        """Returns the mean gal/h over the last DAYS days; 0 without any volume."""
        volumes = self.volumes[-DAYS:]
        present = volumes[volumes == volumes]
        return float(present.sum(dtype=np.float64)) / max(len(present), 1)

    def with_day(self, volumes: Floats, expected: Floats) -> History:
        """Adds the row of the day ``self.day``: its volumes, and the error against what was
        expected."""
        new = _rounded(np.array([volumes, volumes - expected]))
        return History(
            self.day + 1,
            np.concatenate([self.volumes[1:], new[:1]]),
            np.concatenate([self.errors[1:], new[1:]]),
        )

    def skipped_to(self, day: int) -> History:
        """Adds empty rows up to the day before ``day``."""
        count = day - self.day
        if count <= 0:
            return self
        volumes, errors = (
            np.concatenate([rows[min(count, len(rows)) :], _empty(min(count, len(rows)))])
            for rows in (self.volumes, self.errors)
        )
        return History(day, volumes, errors)

    def rewound_to(self, day: int) -> History:
        """Removes the rows of ``day`` and later. ``day`` is at most REWIND_DAYS back: until then
        all rows that `usual` needs are still stored."""
        count = self.day - day
        if not 0 <= count <= REWIND_DAYS:
            raise ValueError(f"the history of day {self.day} cannot go back to day {day}")
        volumes, errors = (
            np.concatenate([_empty(count), rows[: len(rows) - count]])
            for rows in (self.volumes, self.errors)
        )
        return History(day, volumes, errors)

    def dump(self) -> bytes:
        header = _HEADER.pack(_VERSION, self.day)
        return header + _packed(self.volumes) + _packed(self.errors)

    @classmethod
    def load(cls, data: bytes) -> History:
        """Reads the bytes of `dump`. Raises ValueError for any others."""
        split = _HEADER.size + ROWS * HOURS * 2
        if len(data) != split + ERROR_ROWS * HOURS * 2 or data[0] != _VERSION:
            raise ValueError("not a history of this version")
        _, day = _HEADER.unpack_from(data)
        return cls(
            day,
            _unpacked(data[_HEADER.size : split], ROWS),
            _unpacked(data[split:], ERROR_ROWS),
        )


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual on the local day ``day``, computed from the days before it.

    ``table``: gal/h, 7 day types × 24 hours. ``level``: how far the last 48 hours were above the
    table (0.1 = 10 %). ``sigma``: the spread of the one-day-ahead error by hour of day, gal/h (24).
    ``day_sigma``: the spread of a day's error, gallons. ``mean``: gal/h. ``days``: rows that hold
    any volume. ``district_like`` is None with fewer than 24 hours of data.
    """

    day: int
    table: Floats
    level: float
    sigma: Floats
    day_sigma: float
    mean: float
    days: int
    district_like: bool | None

    def expected(self, types: Sequence[int] | Ints) -> Floats:
        """Returns the expected gal/h of the local days from ``day`` on with these day types: days ×
        24."""
        leads = np.arange(len(types) * HOURS).reshape(-1, HOURS) / HOURS
        grown = 1 + LEVEL_WEIGHT * self.level * 0.5 ** (leads / LEVEL_HALF_LIFE_DAYS)
        return self.table[np.asarray(types, np.int64)] * grown


def usual(history: History, holidays: Collection[int], silenced: Bools | None = None) -> Usual:
    """Returns the profile of the day ``history.day``. ``silenced`` marks the hours that aren't used
    for training (DAYS × 24, from `untrained`)."""
    volumes = history.volumes[-DAYS:]
    errors = history.errors[-ERROR_DAYS:]
    trained = volumes
    if silenced is not None:
        trained = np.where(silenced, np.nan, volumes)
        errors = np.where(silenced[-ERROR_DAYS:], np.nan, errors)
    types = day_types(history.day - DAYS, DAYS, holidays)
    table = weighted_quantile(trained, types, 0.5)
    has_volume = volumes == volumes  # not NaN
    present, mean = volumes[has_volume], history.mean
    return Usual(
        day=history.day,
        table=table,
        level=_level(trained, table, types),
        sigma=np.maximum(MAD_TO_SIGMA * _median(np.abs(errors)), LEAST_SIGMA * abs(mean)),
        day_sigma=_day_sigma(errors),
        mean=mean,
        days=int(has_volume.any(axis=1).sum()),
        district_like=_district_like(present),
    )


def weighted_quantile(volumes: Stored, types: Ints, share: float) -> Floats:
    """Returns the weighted quantile of the DAYS rows for each day type and hour (the lower of two);
    NaN where no row has weight."""
    columns = np.ascontiguousarray(volumes.T)  # 24 × DAYS
    order = np.argsort(columns, axis=1)
    ranked = columns[_COLUMNS[:, None], order]
    weights = day_weights(types.tobytes()).take(order, axis=1)  # 7 × 24 × DAYS
    if np.isnan(ranked[:, -1]).any():
        weights *= ranked == ranked
    sums = np.cumsum(weights, axis=2)
    totals = sums[:, :, -1]
    place = (sums >= share * totals[:, :, None]).argmax(axis=2)
    return np.where(totals > 0, ranked[_COLUMNS[None, :], place], np.nan).astype(np.float64)


@lru_cache(maxsize=256)  # nearly all devices share a night's day types
def day_weights(types: bytes) -> Floats:
    """Returns the weights (7 × DAYS) of the rows for each day type."""
    of_row = np.frombuffer(types, np.int64)[None, :]
    working = (of_row < 5) & (_TYPE_COLUMN < 5)
    same = of_row == _TYPE_COLUMN
    return _AGE_WEIGHTS * np.where(same, 1.0, np.where(working, OTHER_WORKING_DAY, 0.0))


def _level(volumes: Stored, table: Floats, types: Ints) -> float:
    recent = volumes[-LEVEL_DAYS:].astype(np.float64)
    profile = table[types[-LEVEL_DAYS:]]
    both = (recent == recent) & (profile == profile)
    total = float(profile[both].sum())
    return float(recent[both].sum()) / total - 1 if total > 0 else 0.0


def _median(rows: Floats | Stored) -> Floats:
    """Returns each column's median (the mean of the two middle values); NaN for an empty column."""
    ranked = np.sort(rows.T, axis=1).astype(np.float64)  # NaN last
    count = len(rows)
    if not np.isnan(ranked[:, -1]).any():
        return (ranked[:, (count - 1) // 2] + ranked[:, count // 2]) / 2
    counts = count - np.isnan(ranked).sum(axis=1)
    low, high = np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, count - 1)
    return (ranked[_COLUMNS, low] + ranked[_COLUMNS, high]) / 2


def _day_sigma(errors: Floats | Stored) -> float:
    """Returns the spread of a day's error. Days with a gap are scaled up from the hours that they
    have."""
    missing = errors != errors
    counts = HOURS - missing.sum(axis=1)
    sums = np.where(missing, 0.0, errors).sum(axis=1)
    whole = counts >= LEAST_COVERAGE * HOURS
    off = np.sort(np.abs(sums[whole] * HOURS / counts[whole]))
    count = len(off)
    if not count:
        return float("nan")
    return MAD_TO_SIGMA * float(off[(count - 1) // 2] + off[count // 2]) / 2


def _district_like(present: Stored) -> bool | None:
    count = len(present)
    if count < HOURS:
        return None
    flowing = int(np.count_nonzero(present > 0))
    strong = int(np.count_nonzero(present > DISTRICT_GALLONS))
    return flowing > DISTRICT_FLOWING * count and 2 * strong > count


def untrained(day: int, tz: ZoneInfo, spans: Iterable[Span]) -> Bools | None:
    """Marks the hours of the DAYS local days before ``day`` that overlap a span of instants.
    Returns None where none does."""
    first = (day - DAYS - EPOCH_DAY) * HOURS
    silenced: Bools | None = None
    for from_ms, to_ms in spans:
        low = max((from_ms + offset_ms(tz, from_ms)) // HOUR_MS - first, 0)
        high = min(-(-(to_ms + offset_ms(tz, to_ms)) // HOUR_MS) - first, DAYS * HOURS)
        if low < high:
            if silenced is None:
                silenced = np.zeros(DAYS * HOURS, np.bool_)
            silenced[low:high] = True
    return None if silenced is None else silenced.reshape(DAYS, HOURS)


def day_row(day: int, tz: ZoneInfo, hours: Iterable[tuple[int, float]]) -> Floats:
    """Returns the row of a local day from its hours (start in ms, gallons)."""
    sums, counts = np.zeros(HOURS), np.zeros(HOURS)
    offset = offset_ms(tz, day_start(tz, day))
    later = offset_ms(tz, day_start(tz, day + 1) - 1)
    steady = offset == later
    for start_ms, gallons in hours:
        local = start_ms + (offset if steady else offset_ms(tz, start_ms))
        hour = local // HOUR_MS % HOURS
        sums[hour] += gallons
        counts[hour] += 1
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
