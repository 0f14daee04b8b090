"""Backwards: water flows in the wrong direction, or the meter is installed in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS, MINUTE_MS
from api.insight.findings.minute_runs import Run, extended, remembered
from api.insight.findings.model import Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import number, span

OVER_MS: Final = HOUR_MS


class Memory(NamedTuple):
    """The run of minutes with negative flow, and the end of the last one."""

    run: Run | None = None
    last_ms: int = 0


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts: list[Draft] = [] if draft is None else [draft]
    row = hour.row
    if row is None:
        return memory, drafts
    negative = (row.gallons or 0) < 0 or (row.min_rate or 0) < 0
    if not negative and memory.run is None and (draft is None or draft.end_ms is not None):
        return memory, drafts
    memory = _by_minutes(memory, drafts, hour, context)
    if row.gallons is not None and row.gallons <= -context.values["gallons"] * context.factor:
        memory = _by_hour(memory, drafts, hour, row.gallons)
    if drafts and drafts[-1].end_ms is None and hour.until_ms - memory.last_ms >= OVER_MS:
        drafts[-1] = drafts[-1]._replace(end_ms=memory.last_ms)
    return memory, drafts


def _by_minutes(memory: Memory, drafts: list[Draft], hour: Hour, context: Context) -> Memory:
    duration_ms = int(context.values["duration"] * context.factor * MINUTE_MS)
    earlier, last_ms = memory.run, memory.last_ms
    runs = extended(earlier, hour.minutes(), lambda rate: rate < 0, context.device.reading_ms)
    for run, end_ms in runs:
        live = drafts[-1] if drafts and drafts[-1].end_ms is None else None
        if live is not None and end_ms - last_ms > OVER_MS:
            drafts[-1], live = live._replace(end_ms=last_ms), None
        if run is None:
            continue
        if live is not None:
            added = (end_ms - max(last_ms, run.start_ms)) / max(run.length_ms, 1) * -run.gallons
            drafts[-1] = _grown(live, added)
        elif run.length_ms >= duration_ms:
            opened = run.start_ms + max(duration_ms, MINUTE_MS)
            drafts.append(Draft(run.start_ms, opened, value=-run.gallons, gallons=-run.gallons))
        last_ms = end_ms
    return Memory(runs[-1][0] if runs else earlier, last_ms)


def _by_hour(memory: Memory, drafts: list[Draft], hour: Hour, gallons: float) -> Memory:
    """Checks the net volume of the hour, also where minutes are no longer stored."""
    if memory.last_ms > hour.start_ms and drafts and drafts[-1].end_ms is None:
        return memory
    if drafts and drafts[-1].end_ms is None:
        drafts[-1] = _grown(drafts[-1], -gallons)
    elif not drafts or (drafts[-1].end_ms or 0) <= hour.start_ms:
        drafts.append(Draft(hour.start_ms, hour.end_ms, value=-gallons, gallons=-gallons))
    return memory._replace(last_ms=max(memory.last_ms, hour.end_ms))


def _grown(draft: Draft, gallons: float) -> Draft:
    return draft._replace(value=draft.value + gallons, gallons=(draft.gallons or 0) + gallons)


def words(draft: Draft, tz: ZoneInfo) -> str:
    return f"{number(draft.value)} gal flowed backwards {span(draft.start_ms, draft.end_ms, tz)}"


KIND: Final = Kind(
    name="backwards",
    label="Backwards",
    headline="water flows backwards",
    caption="backwards",
    unit="gal",
    severity="warning",
    memory=remembered(Memory),
    step=step,
    sees=(Hour,),
    words=words,
    settings=(
        Setting("duration", "Negative flow for", "min", 15, 1, 1440),
        Setting("gallons", "Or net in an hour", "gal", 1, 0.01, 1e6),
        Setting("major", "Critical from", "gal", 100, 0.01, 1e9),
    ),
    masks=True,
    live=True,
    major=lambda draft, values: draft.value >= values["major"],
)
