"""A device's readings beside earlier ones, or beside another device's, bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY,
    FLOW_AMOUNT,
    FLOW_RATE,
    MINUTE_MS,
    Aggregate,
    Metric,
    Resolution,
)
from api.domain.calendar import calendar_rows
from api.insight.expectations import cadence_of
from api.metering import uptime
from api.metering.comparison import Pairing, Shift, other_day, pairings
from api.metering.usage import LEAST_DIFFERENCE_GAL, change
from api.store.base import Device, Scope, Span, Store
from api.timez import (
    bucket_starts,
    ceil_to,
    day_start,
    floor_to,
    local_ordinal,
    source_of,
)

MOST_BUCKETS: Final = 10_000
MOST_COUNTED: Final = 1_500
LEAST_DAY_MS: Final = 23 * 60 * MINUTE_MS
_TOTAL: Final = Aggregate("total", FLOW_AMOUNT)


class Value(NamedTuple):
    """``level`` is the metric's mean in the bucket; ``gallons`` its volume."""

    start_ms: int
    level: float | None
    gallons: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """``coverage``: the share of buckets with a reading, of the size that uptime counts."""

    gallons: float | None
    coverage: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """``others``: start of a bucket → the value that it is compared with."""

    own: Side
    other: Side
    others: Mapping[int, Value]

    @property
    def difference(self) -> float | None:
        """In gallons; None where either side lacks data, or the difference is below a gallon."""
        if self.own.gallons is None or self.other.gallons is None:
            return None
        if not uptime.comparable(self.own.coverage, self.other.coverage):
            return None
        found = self.own.gallons - self.other.gallons
        return found if abs(found) >= LEAST_DIFFERENCE_GAL else None

    @property
    def percent(self) -> float | None:
        if self.difference is None or not self.own.gallons or not self.other.gallons:
            return None
        return change(self.own.gallons, self.other.gallons)


@dataclass(frozen=True, slots=True)
class Question:
    """Buckets of ``resolution`` that start from ``from_ms`` to ``to_ms`` (inclusive), with the
    means of ``metric``, on the wall clock of ``tz``. What is later than ``until_ms`` hasn't been
    yet."""

    from_ms: int
    to_ms: int
    resolution: Resolution
    tz: ZoneInfo
    until_ms: int
    metric: Metric = FLOW_RATE

    @property
    def end_ms(self) -> int:
        return min(self.to_ms + 1, max(self.from_ms, self.until_ms))


def with_earlier(
    store: Store, scope: Scope, device: Device, shift: Shift, asked: Question
) -> Comparison:
    pairs = pairings(asked.tz, shift, asked.from_ms, asked.end_ms)
    if asked.resolution.calendar:
        others = dict(_calendar(store, device, shift, asked))
    else:
        whole = pairings(asked.tz, shift, *_buckets_of(asked))
        others = _joined(v for pair in whole for v in _paired(store, device, pair, asked))
    return _compared(store, scope, device, device, pairs, asked, others)


def with_device(
    store: Store, scope: Scope, device: Device, other: Device, asked: Question
) -> Comparison:
    """At the same instants."""
    if asked.resolution.calendar:
        days = _days(store, other, asked, asked.from_ms, asked.end_ms)
        others = {value.start_ms: value for value in days}
    else:
        pair = Pairing(*_buckets_of(asked), 0)
        others = _joined(_paired(store, other, pair, asked))
    pairs = [Pairing(asked.from_ms, asked.end_ms, 0)]
    return _compared(store, scope, device, other, pairs, asked, others)


def _buckets_of(asked: Question) -> tuple[int, int]:
    """[from, to) of the whole buckets; the one under way at the end too."""
    length = asked.resolution.fixed_ms
    first = ceil_to(asked.from_ms, length)
    return first, max(first, ceil_to(asked.end_ms, length))


def _joined(found: Iterable[tuple[int, Value]]) -> dict[int, Value]:
    """By bucket; of one that a change of the clock cuts its parts together."""
    made: dict[int, Value] = {}
    for start, value in found:
        made[start] = value if start not in made else _added(made[start], value)
    return made


def _added(one: Value, other: Value) -> Value:
    gallons = [v for v in (one.gallons, other.gallons) if v is not None]
    levels = [v for v in (one.level, other.level) if v is not None]
    return Value(
        min(one.start_ms, other.start_ms),
        sum(levels) / len(levels) if levels else None,
        sum(gallons) if gallons else None,
    )


def _compared(
    store: Store,
    scope: Scope,
    device: Device,
    other: Device,
    pairs: list[Pairing],
    asked: Question,
    others: Mapping[int, Value],
) -> Comparison:
    length_ms = asked.end_ms - asked.from_ms
    resolution = _counted_in(store, scope, device, length_ms)
    theirs = resolution if other is device else _counted_in(store, scope, other, length_ms)
    spans = [(p.from_ms - p.delta_ms, p.to_ms - p.delta_ms) for p in pairs]
    own = _side(store, device, resolution, [(asked.from_ms, asked.end_ms)], length_ms)
    return Comparison(own, _side(store, other, theirs, spans, length_ms), others)


def _counted_in(store: Store, scope: Scope, device: Device, length_ms: int) -> Resolution:
    """The buckets that uptime counts; hours where these would be thousands."""
    found = uptime.resolution_for(cadence_of(store, scope, device))
    return found if length_ms <= MOST_COUNTED * found.fixed_ms else COARSEST_STORED


def _side(
    store: Store,
    device: Device,
    resolution: Resolution,
    spans: list[tuple[int, int]],
    length_ms: int,
) -> Side:
    """The exact volume of these spans, and how much of ``length_ms`` they cover."""
    gallons: list[float] = []
    heard = 0
    for start, end in spans:
        for low, high in _cut(start, end):
            piece = store.pieces(device, source_of(low, high), Span(low, high - 1), [low, high])
            values = (each.values[AGGREGATES.index(_TOTAL)] for each in piece)
            gallons += [value for value in values if value is not None]
        heard += store.count(device, resolution, Span(start, end - 1))
    expected = max(1, length_ms // resolution.fixed_ms)
    return Side(sum(gallons) if gallons else None, min(1.0, heard / expected))


def _cut(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Into whole hours and what is left at both ends, so that few rows are read."""
    hour = 60 * MINUTE_MS
    first, last = ceil_to(start, hour), floor_to(end, hour)
    if first >= last:
        yield from [(start, end)] if start < end else []
        return
    yield from ((low, high) for low, high in ((start, first), (first, last), (last, end))
                if low < high)  # fmt: skip


# --- Buckets of a fixed length -------------------------------------------------------------------


def _paired(
    store: Store, device: Device, pair: Pairing, asked: Question
) -> Iterator[tuple[int, Value]]:
    """(start of the bucket, what it is compared with)."""
    length, delta = asked.resolution.fixed_ms, pair.delta_ms
    if pair.to_ms <= pair.from_ms:
        return
    if not any(edge % length for edge in pair):
        span = Span(pair.from_ms - delta, pair.to_ms - delta - 1)
        for value in _rows(store, device, asked, span):
            yield value.start_ms + delta, value
        return
    cuts = range(floor_to(pair.from_ms, length) + length, pair.to_ms, length)
    edges = [at - delta for at in (pair.from_ms, *cuts, pair.to_ms)]
    found = store.pieces(device, source_of(*edges), Span(edges[0], edges[-1] - 1), edges)
    level = AGGREGATES.index(Aggregate("avg", asked.metric))
    for piece in found:
        total, value = piece.values[AGGREGATES.index(_TOTAL)], piece.values[level]
        if asked.metric is FLOW_RATE and total is not None:
            value = total * MINUTE_MS / length
        bucket = floor_to(piece.start_ms + delta, length)
        yield bucket, Value(piece.start_ms, value, total)


def _rows(store: Store, device: Device, asked: Question, span: Span) -> Iterator[Value]:
    metrics = tuple({asked.metric, FLOW_AMOUNT})
    columns = asked.resolution.columns_of(metrics)
    level = columns.index(f"avg_{asked.metric.name}")
    total = columns.index(_TOTAL.name)
    rows = store.rows(device, asked.resolution, span, limit=MOST_BUCKETS, metrics=metrics)
    return (Value(row[0], row[level], row[total]) for row in rows)


# --- Days and months -----------------------------------------------------------------------------


def _calendar(
    store: Store, device: Device, shift: Shift, asked: Question
) -> Iterator[tuple[int, Value]]:
    """A day beside the day that it is compared with; a month beside that of the month or the year
    before, and beside nothing for a day or a week."""
    if asked.resolution is not DAY:
        return
    tz = asked.tz
    days = range(local_ordinal(tz, asked.from_ms), local_ordinal(tz, asked.end_ms - 1) + 1)
    pairs = {day: other for day in days if (other := other_day(day, shift)) is not None}
    if not pairs:
        return
    low, high = day_start(tz, min(pairs.values())), day_start(tz, max(pairs.values()) + 1)
    by_day = {local_ordinal(tz, v.start_ms): v for v in _days(store, device, asked, low, high)}
    for day, other in pairs.items():
        if other in by_day:
            yield day_start(tz, day), by_day[other]


def _days(
    store: Store, device: Device, asked: Question, from_ms: int, to_ms: int
) -> Iterator[Value]:
    rows = calendar_rows(store, device, asked.resolution, Span(from_ms, to_ms - 1), (), asked.tz)
    level, total = (1 + AGGREGATES.index(each) for each in (Aggregate("avg", asked.metric), _TOTAL))
    return (Value(row[0], row[level], row[total]) for row in rows)


def buckets(asked: Question) -> int:
    """How many the answer may hold."""
    length = asked.resolution.length_ms or LEAST_DAY_MS
    return bucket_starts(asked.from_ms, asked.to_ms, length)
