"""Planned maintenance: when it takes place, and which buckets it removes from uptime."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from api.timez import bucket_starts, ceil_to, floor_to

Span = tuple[int, int]
"""[start, end) in epoch ms."""


class Repeat(StrEnum):
    ONCE = ""
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"


class Plan(NamedTuple):
    """The span [from_ms, to_ms) and its repeats that start no later than ``until_ms``. Repeats have
    the same local time of day in ``tz``. Where a month lacks that day, its last day is used."""

    from_ms: int
    to_ms: int
    repeat: Repeat
    until_ms: int | None
    tz: ZoneInfo


def occurrences(plan: Plan, low_ms: int, high_ms: int) -> list[Span]:
    """Returns the occurrences that overlap [low_ms, high_ms), ascending and uncut."""
    length = plan.to_ms - plan.from_ms
    spans: list[Span] = []
    for start in _all_starts(plan):
        if start >= high_ms:
            break
        if start + length > low_ms:
            spans.append((start, start + length))
    return spans


@lru_cache(maxsize=1_000)
def _all_starts(plan: Plan) -> tuple[int, ...]:
    return tuple(_starts(plan))


def _starts(plan: Plan) -> Iterator[int]:
    yield plan.from_ms
    if plan.repeat is Repeat.ONCE or plan.until_ms is None:
        return
    first = datetime.fromtimestamp(plan.from_ms / 1000, plan.tz).replace(tzinfo=None)
    number = 0
    while True:
        number += 1
        local = _shifted(first, plan.repeat, number)
        start = round(local.replace(tzinfo=plan.tz).timestamp() * 1000)
        if start > plan.until_ms:
            return
        yield start


def _shifted(first: datetime, repeat: Repeat, number: int) -> datetime:
    if repeat is Repeat.MONTHLY:
        year, month = divmod(first.year * 12 + first.month - 1 + number, 12)
        day = min(first.day, monthrange(year, month + 1)[1])
        return first.replace(year=year, month=month + 1, day=day)
    return first + timedelta(days=number * (7 if repeat is Repeat.WEEKLY else 1))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Merges overlapping and adjacent spans; ascending."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def excused(spans: Sequence[Span], from_ms: int, to_ms: int, length_ms: int) -> list[Span]:
    """Returns the maintenance within a window as spans of whole buckets.

    A bucket that overlaps a span is neither expected nor counted. The window runs from its first
    bucket's start to 1 ms before the end of its last bucket.
    """
    first, end = ceil_to(from_ms, length_ms), to_ms + 1
    whole = merged((floor_to(start, length_ms), ceil_to(stop, length_ms)) for start, stop in spans)
    cut = ((max(start, first), min(stop, end)) for start, stop in whole)
    return [(start, stop) for start, stop in cut if start < stop]


def bucket_count(spans: Sequence[Span], length_ms: int) -> int:
    """Returns the number of buckets in spans of whole buckets."""
    return sum(bucket_starts(start, stop - 1, length_ms) for start, stop in spans)
