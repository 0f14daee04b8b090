"""No use: for days nothing flows in a meter that was in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import DAY_MS, HOUR_MS
from api.insight.findings.model import Context, Day, Draft, Hour, Kind, Setting
from api.insight.findings.text import count, span

LOOKED_BACK_MS: Final = 90 * DAY_MS
USED_DAYS: Final = 28
TIMES_LONGEST: Final = 2
LEAST_PRESENT: Final = 0.8
SHORTEST_RUN_MS: Final = 12 * HOUR_MS


class Memory(NamedTuple):
    """Since when nothing flowed, in how many hours with readings, and the usage per day before
    (gallons, None until a finished day gives it). ``runs``: earlier ones, as (end, length)."""

    since_ms: int | None = None
    observed_hours: int = 0
    used: float | None = None
    runs: tuple[tuple[int, int], ...] = ()


def step(
    memory: Memory, draft: Draft | None, event: Hour | Day, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts = () if draft is None else (draft,)
    if isinstance(event, Day):
        return _with_use(memory, event), drafts
    gallons = event.gallons
    if gallons is None:
        return memory, drafts
    if gallons > 0:
        return _used(memory, drafts, event)
    if memory.since_ms is None:
        memory = memory._replace(since_ms=event.start_ms, observed_hours=0, used=None)
    memory = memory._replace(observed_hours=memory.observed_hours + 1)
    since_ms = event.start_ms if memory.since_ms is None else memory.since_ms
    length = event.end_ms - since_ms
    if draft is not None and draft.end_ms is None:
        grown = draft._replace(value=length / DAY_MS, hours=length // HOUR_MS)
        return memory, (grown,)
    if not _long(memory, length, event.end_ms, context):
        return memory, drafts
    return memory, (
        *drafts,
        Draft(
            since_ms,
            event.end_ms,
            value=length / DAY_MS,
            usual=memory.used,
            hours=length // HOUR_MS,
        ),
    )


def _used(memory: Memory, drafts: Sequence[Draft], hour: Hour) -> tuple[Memory, Sequence[Draft]]:
    if memory.since_ms is None:
        return memory, drafts
    length = hour.start_ms - memory.since_ms
    runs = memory.runs
    if length >= SHORTEST_RUN_MS:
        horizon = hour.start_ms - LOOKED_BACK_MS
        runs = (*(run for run in runs if run[0] > horizon), (hour.start_ms, length))
    closed = [d._replace(end_ms=hour.start_ms) if d.end_ms is None else d for d in drafts]
    return Memory(runs=runs), closed


def _long(memory: Memory, length: int, now_ms: int, context: Context) -> bool:
    if memory.used is None or memory.used <= context.values["least_use"]:
        return False
    least = context.values["least_days"] * context.factor * DAY_MS
    if length < least or memory.observed_hours * HOUR_MS < LEAST_PRESENT * length:
        return False
    horizon = now_ms - LOOKED_BACK_MS
    longest = max((run for end, run in memory.runs if end > horizon), default=0)
    return length >= TIMES_LONGEST * longest


def _with_use(memory: Memory, day: Day) -> Memory:
    """Adds the usage before, from the first day that ended since the flow stopped."""
    if memory.since_ms is None or memory.used is not None:
        return memory
    since = (day.end_ms - memory.since_ms) // DAY_MS  # whole days that already had no use
    rows = np.concatenate([day.history.volumes, day.volumes[None, :].astype(np.float32)])
    before = rows[: len(rows) - since][-USED_DAYS:]
    present = before[before == before]
    if not len(present):
        return memory
    return memory._replace(used=float(present.mean(dtype=np.float64)) * 24)


def words(draft: Draft, tz: ZoneInfo) -> str:
    usual = f" (usually {draft.usual:,.0f} gal a day)" if draft.usual else ""
    return (
        f"No use for {count(draft.value, 'day')}{usual}, {span(draft.start_ms, draft.end_ms, tz)}"
    )


KIND: Final = Kind(
    name="no-use",
    label="No use",
    headline="{length} without use",
    caption="without use",
    unit="days",
    severity="notice",
    memory=Memory,
    step=step,
    sees=(Hour, Day),
    words=words,
    settings=(
        Setting("least_days", "Nothing for", "days", 7, 1, 365),
        Setting("least_use", "Only above a use of", "gal/day", 10, 0, 1e6),
    ),
    masks=True,
)
