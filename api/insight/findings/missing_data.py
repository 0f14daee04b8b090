"""Missing data: too few of the expected readings arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.insight.findings.model import Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import span

HOURS: Final = 24


class Memory(NamedTuple):
    """The latest hours' coverage, up to 24 (None before the first); for how many hours the uptime
    of 24 h has been below, or above, the limit; the start and end of the last hour below it; the
    start of the latest hour with a reading."""

    coverages: tuple[float, ...] | None = None
    below: int = 0
    above: int = 0
    first_ms: int = 0
    last_ms: int = 0
    row_ms: int = 0


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts = () if draft is None else (draft,)
    earlier = memory.coverages
    if earlier is None:  # the hour in which the device started to report
        return memory._replace(coverages=(), row_ms=hour.start_ms), drafts
    if hour.row is not None:
        memory = memory._replace(row_ms=hour.start_ms)
    if context.device.is_maintained(hour.start_ms, hour.end_ms):
        return memory, drafts
    limit = context.values["limit"] / 100 / context.factor
    coverage = _coverage(memory, hour, context)
    coverages = (*earlier[1 - HOURS :], coverage)
    if len(coverages) < HOURS:
        return memory._replace(coverages=coverages), drafts
    uptime = sum(coverages) / HOURS
    memory = _counted(memory, hour, coverages, limit, uptime)
    if draft is not None and draft.end_ms is None:
        if memory.above >= HOURS:
            return memory, (draft._replace(end_ms=memory.last_ms),)
        hours = draft.hours + 1
        return memory, (draft._replace(value=min(draft.value, 100 * uptime), hours=hours),)
    if memory.below < HOURS:
        return memory, drafts
    new = Draft(memory.first_ms, hour.end_ms, value=100 * uptime, usual=100 * limit, hours=HOURS)
    return memory, (*drafts, new)


def _coverage(memory: Memory, hour: Hour, context: Context) -> float:
    """An hour without a reading is whole for a device that reports less often, until its next
    reading is due."""
    if hour.row is not None:
        return min(hour.row.coverage, 1.0)
    cadence_ms = 1000 * context.device.cadence_s
    return float(HOUR_MS < cadence_ms >= hour.start_ms - memory.row_ms)


def _counted(
    memory: Memory, hour: Hour, coverages: tuple[float, ...], limit: float, uptime: float
) -> Memory:
    last = hour.end_ms if coverages[-1] < limit else memory.last_ms
    if uptime >= limit - 1e-12:
        return Memory(coverages, 0, memory.above + 1, memory.first_ms, last, memory.row_ms)
    first = memory.first_ms
    if not memory.below:
        back = next(i for i, coverage in enumerate(coverages) if coverage < limit)
        first = hour.end_ms - (HOURS - back) * HOUR_MS
    return Memory(coverages, memory.below + 1, 0, first, last, memory.row_ms)


def words(draft: Draft, tz: ZoneInfo) -> str:
    lead = "Uptime down to" if draft.end_ms is None else "Uptime was down to"
    return (
        f"{lead} {draft.value:.0f} % of a day's readings, {span(draft.start_ms, draft.end_ms, tz)}"
    )


KIND: Final = Kind(
    name="missing-data",
    label="Missing data",
    headline="readings are missing",
    caption="uptime of 24 h",
    against="limit",
    unit="%",
    severity="notice",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    settings=(Setting("limit", "Uptime of 24 h below", "%", 95, 1, 100),),
)
