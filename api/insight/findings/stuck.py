"""Stuck: the meter repeats the same volume, hour after hour."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.insight.findings.model import Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import count, number, span
from api.metering.uptime import LEAST_COVERAGE

HOURS: Final = 12
SAME: Final = 1e-9  # sums of the same readings may differ in the last digit


class Memory(NamedTuple):
    gallons: float = 0.0
    hours: int = 0
    since_ms: int = 0


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    row = hour.row
    drafts = () if draft is None else (draft,)
    if row is None or row.gallons is None or row.coverage < LEAST_COVERAGE:
        return memory, drafts
    same = memory.hours and isclose(row.gallons, memory.gallons, rel_tol=SAME)
    if not same:
        closed = [d._replace(end_ms=hour.start_ms) if d.end_ms is None else d for d in drafts]
        return Memory(row.gallons, int(row.gallons != 0), hour.start_ms), closed
    memory = memory._replace(hours=memory.hours + 1)
    if draft is not None and draft.end_ms is None:
        return memory, (draft._replace(value=float(memory.hours), hours=memory.hours),)
    if memory.hours < context.values["hours"] * context.factor:
        return memory, drafts
    new = Draft(
        memory.since_ms,
        hour.end_ms,
        value=float(memory.hours),
        hours=memory.hours,
        extra=memory.gallons,
    )
    return memory, (*drafts, new)


def words(draft: Draft, tz: ZoneInfo) -> str:
    return (
        f"The same {number(draft.extra or 0)} gal in each of {count(draft.value, 'hour')}, "
        f"{span(draft.start_ms, draft.end_ms, tz)}"
    )


KIND: Final = Kind(
    name="stuck",
    label="Stuck",
    headline="the same volume every hour",
    caption="the same volume",
    unit="h",
    severity="warning",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    settings=(Setting("hours", "The same volume in", "h", HOURS, 3, 1000),),
    masks=True,
)
