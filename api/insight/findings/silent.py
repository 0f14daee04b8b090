"""Silent: no reading for longer than the device's cadence explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS, MINUTE_MS
from api.insight.findings.model import Context, Draft, Hour, Kind
from api.insight.findings.text import length, span


class Memory(NamedTuple):
    """The latest minute with a reading, as far as it is certain: ``sure_ms`` is the start of the
    hour up to whose end minutes were not read."""

    last_ms: int | None = None
    sure_ms: int | None = None


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts: list[Draft] = [] if draft is None else [draft]
    limit_ms = int(context.device.silent_after_ms * context.factor)
    row = hour.row
    if row is None:
        memory = _sure(memory, hour)
        return memory, _overdue(memory, drafts, hour.until_ms, limit_ms)
    reported_ms: list[int] = []
    if not _hardly_a_gap(memory, row.coverage, hour, context):
        memory = _sure(memory, hour)
        reported_ms = [minute.start_ms for minute in hour.minutes()]
    for at in reported_ms or [hour.start_ms]:
        drafts = _overdue(memory, drafts, at, limit_ms)
        if drafts and drafts[-1].end_ms is None:
            drafts[-1] = drafts[-1]._replace(end_ms=at)
        memory = Memory(at)
    if not reported_ms:  # without reading its minutes
        return Memory(hour.until_ms - 1, hour.start_ms), drafts
    return memory, _overdue(memory, drafts, hour.until_ms, limit_ms)


def _hardly_a_gap(memory: Memory, coverage: float, hour: Hour, context: Context) -> bool:
    """Whether too little is missing in the hour for a silence to begin or end in it: at least half
    of a silence as long as the limit lies in one of two hours."""
    if hour.until_ms < hour.end_ms or memory.last_ms is None:
        return False
    half_ms = context.device.silent_after_ms / 2 - context.device.reading_ms
    near = hour.start_ms - memory.last_ms <= max(2 * context.device.reading_ms, 2 * MINUTE_MS)
    return near and (1 - coverage) * HOUR_MS < half_ms


def _sure(memory: Memory, hour: Hour) -> Memory:
    """Looks up the latest minute, where its hour was handled without its minutes before."""
    if memory.sure_ms is None:
        return memory
    minutes = hour.readings.minutes(memory.sure_ms, memory.sure_ms + HOUR_MS)
    return Memory(minutes[-1].start_ms if minutes else memory.last_ms)


def _overdue(memory: Memory, drafts: list[Draft], now_ms: int, limit_ms: int) -> list[Draft]:
    """Opens a finding from the latest minute on, once the limit has passed."""
    if memory.last_ms is None or now_ms - memory.last_ms < limit_ms + MINUTE_MS:
        return drafts
    hours = (now_ms - memory.last_ms) / HOUR_MS
    if drafts and drafts[-1].end_ms is None:
        return [*drafts[:-1], drafts[-1]._replace(value=hours, hours=int(hours))]
    opened = memory.last_ms + limit_ms + MINUTE_MS
    return [*drafts, Draft(memory.last_ms, opened, value=hours, hours=int(hours))]


def words(draft: Draft, tz: ZoneInfo) -> str:
    """Describes how long it has lasted by the clock, not by the latest evaluation."""
    when = span(draft.start_ms, draft.end_ms, tz)
    if draft.end_ms is None:
        return f"No reading {when}"
    return f"No reading for {length(draft.end_ms - draft.start_ms)}, {when}"


KIND: Final = Kind(
    name="silent",
    label="Silent",
    headline="no reading for {length}",
    caption="without a reading",
    unit="h",
    severity="warning",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    limit="No reading for three reporting intervals, at least 15 min",
    live=True,
)
