"""A measured value below its limit, or approaching it. Shared by quality, signal and frost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import HOUR_MS
from api.insight.findings.model import Context, Day, Draft, Hour, HourRow, Step
from api.insight.findings.text import count, number, span
from api.metering.profile import MAD_TO_SIGMA

DAYS: Final = 28
LEAST_DAYS: Final = 20
AHEAD_DAYS: Final = 30.0
GONE_DAYS: Final = 45.0  # a line that crosses the limit later than this is no warning
OVER_MS: Final = 24 * HOUR_MS
LEAST_DROP: Final = 2.0  # of the scatter around the line


class Memory(NamedTuple):
    """The values of the latest days (None: none); of today's hours the sum (or lowest value) and
    the count; the end of the last hour below the limit; and whether the trend leads below it."""

    days: tuple[float | None, ...] = ()
    today: float = 0.0
    hours: int = 0
    below_ms: int | None = None
    days_left: float | None = None


def step_of(value_of: Callable[[HourRow], float | None], *, lowest: bool) -> Step:
    """Returns the rule for one value of an hour's row. A day's value is the mean or, with
    ``lowest``, the minimum."""

    def step(
        memory: Memory, draft: Draft | None, event: Hour | Day, context: Context
    ) -> tuple[Memory, Sequence[Draft]]:
        if isinstance(event, Day):
            return _day(memory, draft, event, context, lowest=lowest)
        value = None if event.row is None else value_of(event.row)
        if value is None:
            return memory, () if draft is None else (draft,)
        return _hour(memory, draft, event, context, value, lowest=lowest)

    return step


def limit_of(context: Context) -> float:
    """Returns the limit: a raised threshold lowers it by the same factor."""
    limit = context.values["limit"]
    return limit - (context.factor - 1) * 0.1 * max(abs(limit), 1.0)


def _hour(
    memory: Memory,
    draft: Draft | None,
    hour: Hour,
    context: Context,
    value: float,
    *,
    lowest: bool,
) -> tuple[Memory, Sequence[Draft]]:
    today = value if not memory.hours else min(memory.today, value)
    if not lowest:
        today = memory.today + value
    memory = memory._replace(today=today, hours=memory.hours + 1)
    drafts = () if draft is None else (draft,)
    live = draft is not None and draft.end_ms is None
    if value < limit_of(context):
        memory = memory._replace(below_ms=hour.end_ms)
        if live and draft is not None:
            return memory, (draft._replace(value=min(value, draft.value), extra=None),)
        return memory, (
            *drafts,
            Draft(hour.start_ms, hour.end_ms, value=value, usual=limit_of(context)),
        )
    heading = memory.days_left is not None
    over = memory.below_ms is None or hour.end_ms - memory.below_ms >= OVER_MS
    if live and draft is not None and over and not heading:
        end = max(memory.below_ms or 0, draft.start_ms) or hour.start_ms
        return memory._replace(below_ms=None), (draft._replace(end_ms=end),)
    return memory, drafts


def _day(
    memory: Memory, draft: Draft | None, day: Day, context: Context, *, lowest: bool
) -> tuple[Memory, Sequence[Draft]]:
    value: float | None = None
    if memory.hours:
        value = memory.today if lowest else memory.today / memory.hours
    days = (*memory.days[1 - DAYS :], value)
    memory = memory._replace(days=days, today=0.0, hours=0)
    drafts = () if draft is None else (draft,)
    live = draft is not None and draft.end_ms is None
    limit = limit_of(context)
    left = days_left(days, limit)
    left = left if left is not None and left <= (GONE_DAYS if live else AHEAD_DAYS) else None
    memory = memory._replace(days_left=left)
    if left is None or value is None:
        if live and draft is not None and draft.extra is not None and memory.below_ms is None:
            return memory, (draft._replace(end_ms=day.end_ms),)
        return memory, drafts
    if not live:
        return memory, (
            *drafts,
            Draft(day.start_ms, day.end_ms, value=value, usual=limit, extra=left),
        )
    assert draft is not None
    if draft.extra is None:  # it is below already
        return memory, drafts
    return memory, (draft._replace(value=value, extra=left),)


def days_left(days: Sequence[float | None], limit: float) -> float | None:
    """Returns in how many days the Theil–Sen line of these days falls to the limit; None where it
    doesn't, or where the fall is smaller than the scatter."""
    at = np.array([i for i, value in enumerate(days) if value is not None], float)
    values = np.array([value for value in days if value is not None], float)
    if len(values) < LEAST_DAYS:
        return None
    low, high = np.triu_indices(len(values), 1)
    slope = float(np.median((values[high] - values[low]) / (at[high] - at[low])))
    if slope >= 0:
        return None
    level = float(np.median(values - slope * at))
    scatter = MAD_TO_SIGMA * float(np.median(np.abs(values - level - slope * at)))
    if -slope * DAYS < LEAST_DROP * scatter:
        return None
    now = level + slope * (len(days) - 1)
    return max((now - limit) / -slope, 0.0)


def words_of(noun: str, unit: str) -> Callable[[Draft, ZoneInfo], str]:
    def words(draft: Draft, tz: ZoneInfo) -> str:
        limit = f"{number(draft.usual or 0)} {unit}"
        if draft.extra is not None:
            left = count(max(draft.extra, 0.0), "day")
            return f"{noun} {number(draft.value)} {unit}, falls below {limit} in about {left}"
        lead = f"{noun} down to {number(draft.value)} {unit}, limit {limit}"
        return f"{lead}, {span(draft.start_ms, draft.end_ms, tz)}"

    return words
