"""Compares a device's readings with earlier ones, or with another device's, bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final
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


Value = tuple[int, float | None, float | None]
"""(start in ms, the metric's mean in the bucket, its gallons). A plain tuple: a chart has
thousands."""


@dataclass(frozen=True, slots=True)
class Side:
    """``coverage``: the share of buckets with a reading, of the bucket length that uptime
    counts."""

    gallons: float | None
    coverage: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """``others`` maps a bucket's start to the value that it is compared with."""

    own: Side
    other: Side
    others: Mapping[int, Value]

    @property
    def difference(self) -> float | None:
        """Returns gallons; None where either side lacks data, or the difference is below a
        gallon."""
        if self.own.gallons is None or self.other.gallons is None:
            return None
        if not uptime.comparable(self.own.coverage, self.other.coverage):
            return None
        gallons = self.own.gallons - self.other.gallons
        return gallons if abs(gallons) >= LEAST_DIFFERENCE_GAL else None

    @property
    def percent(self) -> float | None:
        if self.difference is None or not self.own.gallons or not self.other.gallons:
            return None
        return change(self.own.gallons, self.other.gallons)


@dataclass(frozen=True, slots=True)
class Question:
    """Buckets of ``resolution`` that start from ``from_ms`` to ``to_ms`` (inclusive), with the
    means of ``metric``, on the wall clock of ``tz``. Buckets after ``until_ms`` are in the
    future."""

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
    store: Store, scope: Scope, device: Device, shift: Shift, question: Question
) -> Comparison:
    pairs = pairings(question.tz, shift, question.from_ms, question.end_ms)
    if question.resolution.calendar:
        others = dict(_calendar(store, device, shift, question))
    else:
        whole = pairings(question.tz, shift, *_buckets_of(question))
        others = _of_buckets(store, device, whole, question)
    return _compared(store, scope, device, device, pairs, question, others)


def with_device(
    store: Store, scope: Scope, device: Device, other: Device, question: Question
) -> Comparison:
    """Compares two devices at the same instants."""
    if question.resolution.calendar:
        days = _days(store, other, question, question.from_ms, question.end_ms)
        others = {value[0]: value for value in days}
    else:
        pair = Pairing(*_buckets_of(question), 0)
        others = _of_buckets(store, other, [pair], question)
    pairs = [Pairing(question.from_ms, question.end_ms, 0)]
    return _compared(store, scope, device, other, pairs, question, others)


def _buckets_of(question: Question) -> tuple[int, int]:
    """Returns [from, to) of the whole buckets, including a current one at the end."""
    length = question.resolution.fixed_ms
    first = ceil_to(question.from_ms, length)
    return first, max(first, ceil_to(question.end_ms, length))


def _compared(
    store: Store,
    scope: Scope,
    device: Device,
    other: Device,
    pairs: list[Pairing],
    question: Question,
    others: Mapping[int, Value],
) -> Comparison:
    length_ms = question.end_ms - question.from_ms
    resolution = _counted_in(store, scope, device, length_ms)
    theirs = resolution if other is device else _counted_in(store, scope, other, length_ms)
    spans = [(p.from_ms - p.delta_ms, p.to_ms - p.delta_ms) for p in pairs]
    own = _side(store, device, resolution, [(question.from_ms, question.end_ms)], length_ms)
    return Comparison(own, _side(store, other, theirs, spans, length_ms), others)


def _counted_in(store: Store, scope: Scope, device: Device, length_ms: int) -> Resolution:
    """Returns the resolution whose buckets uptime counts; hours where these would be thousands."""
    resolution = uptime.resolution_for(cadence_of(store, scope, device))
    return resolution if length_ms <= MOST_COUNTED * resolution.fixed_ms else COARSEST_STORED


def _side(
    store: Store,
    device: Device,
    resolution: Resolution,
    spans: list[tuple[int, int]],
    length_ms: int,
) -> Side:
    """Returns the exact volume of these spans, and how much of ``length_ms`` they cover."""
    inclusive = [(start, end - 1) for start, end in spans if start < end]
    observed = sum(store.count(device, resolution, Span(*span)) for span in inclusive)
    expected = max(1, length_ms // resolution.fixed_ms)
    return Side(store.gallons_in(device, inclusive), uptime.share(observed, expected) or 0.0)


# --- Buckets of a fixed length -------------------------------------------------------------------


def _of_buckets(
    store: Store, device: Device, pairs: Sequence[Pairing], question: Question
) -> dict[int, Value]:
    """Returns start of a bucket → the value that it is compared with. A clock change almost never
    cuts a bucket; the rows are then used as they are, since a chart has thousands of them."""
    by_start: dict[int, Value] = {}
    for pair in pairs:
        if pair.to_ms <= pair.from_ms:
            continue
        if any(edge % question.resolution.fixed_ms for edge in pair):
            for start, value in _cut_buckets(store, device, pair, question):
                by_start[start] = _added(by_start[start], value) if start in by_start else value
        else:
            delta = pair.delta_ms
            span = Span(pair.from_ms - delta, pair.to_ms - delta - 1)
            by_start |= {row[0] + delta: row for row in _rows(store, device, question, span)}
    return by_start


def _added(one: Value, other: Value) -> Value:
    """Adds two parts of one bucket."""
    gallons = [v for v in (one[2], other[2]) if v is not None]
    levels = [v for v in (one[1], other[1]) if v is not None]
    return (
        min(one[0], other[0]),
        sum(levels) / len(levels) if levels else None,
        sum(gallons) if gallons else None,
    )


def _cut_buckets(
    store: Store, device: Device, pair: Pairing, question: Question
) -> Iterator[tuple[int, Value]]:
    """Yields (start of the bucket, the part of it that the pair compares with)."""
    length, delta = question.resolution.fixed_ms, pair.delta_ms
    cuts = range(floor_to(pair.from_ms, length) + length, pair.to_ms, length)
    edges = [at - delta for at in (pair.from_ms, *cuts, pair.to_ms)]
    pieces = store.pieces(device, source_of(*edges), Span(edges[0], edges[-1] - 1), edges)
    level = AGGREGATES.index(Aggregate("avg", question.metric))
    for piece in pieces:
        total, value = piece.values[AGGREGATES.index(_TOTAL)], piece.values[level]
        if question.metric is FLOW_RATE and total is not None:
            value = total * MINUTE_MS / length
        yield floor_to(piece.start_ms + delta, length), (piece.start_ms, value, total)


def _rows(store: Store, device: Device, question: Question, span: Span) -> list[Value]:
    metrics = (
        (question.metric,) if question.metric is FLOW_AMOUNT else (question.metric, FLOW_AMOUNT)
    )
    columns = question.resolution.columns_of(metrics)
    values = itemgetter(0, columns.index(f"avg_{question.metric.name}"), columns.index(_TOTAL.name))
    rows = store.rows(device, question.resolution, span, limit=MOST_BUCKETS, metrics=metrics)
    return list(map(values, rows))


# --- Days and months -----------------------------------------------------------------------------


def _calendar(
    store: Store, device: Device, shift: Shift, question: Question
) -> Iterator[tuple[int, Value]]:
    """Compares a day with its counterpart, and a month with the month before or that of the year
    before. A month has no counterpart for a shift of a day or a week."""
    if question.resolution is not DAY:
        return
    tz = question.tz
    days = range(local_ordinal(tz, question.from_ms), local_ordinal(tz, question.end_ms - 1) + 1)
    pairs = {day: other for day in days if (other := other_day(day, shift)) is not None}
    if not pairs:
        return
    low, high = day_start(tz, min(pairs.values())), day_start(tz, max(pairs.values()) + 1)
    by_day = {local_ordinal(tz, v[0]): v for v in _days(store, device, question, low, high)}
    for day, other in pairs.items():
        if other in by_day:
            yield day_start(tz, day), by_day[other]


def _days(
    store: Store, device: Device, question: Question, from_ms: int, to_ms: int
) -> Iterator[Value]:
    rows = calendar_rows(
        store, device, question.resolution, Span(from_ms, to_ms - 1), (), question.tz
    )
    level, total = (
        1 + AGGREGATES.index(each) for each in (Aggregate("avg", question.metric), _TOTAL)
    )
    return ((row[0], row[level], row[total]) for row in rows)


def buckets(question: Question) -> int:
    """Returns how many buckets the response may hold."""
    length = question.resolution.length_ms or LEAST_DAY_MS
    return bucket_starts(question.from_ms, question.to_ms, length)
