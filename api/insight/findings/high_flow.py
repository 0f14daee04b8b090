"""High flow: more than the meter is built for, for minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import MINUTE_MS
from api.insight.findings.minute_runs import Run, extended, remembered
from api.insight.findings.model import Context, Device, Draft, Hour, Kind, Setting
from api.insight.findings.text import number, span

TIMES_DURATION: Final = 2  # this long below the limit ends it


class Memory(NamedTuple):
    """The run at or above the limit, and the end of the last such minute."""

    run: Run | None = None
    last_ms: int = 0


def limit_of(device: Device, values: Mapping[str, float]) -> float | None:
    """Returns gal/min: the setting, else the limit of the meter's size."""
    return values["limit"] or device.max_rate


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    limit = limit_of(context.device, context.values)
    drafts: list[Draft] = [] if draft is None else [draft]
    row = hour.row
    if limit is None or row is None:
        return memory, drafts
    limit *= context.factor
    quiet = row.max_rate is not None and row.max_rate < limit
    if quiet and memory.run is None and (draft is None or draft.end_ms is not None):
        return memory, drafts
    duration_ms = int(context.values["duration"] * MINUTE_MS)
    earlier, last_ms = memory.run, memory.last_ms
    runs = extended(earlier, hour.minutes(), lambda rate: rate >= limit, context.device.reading_ms)
    for run, end_ms in runs:
        live = drafts[-1] if drafts and drafts[-1].end_ms is None else None
        if run is not None:
            last_ms = end_ms
            if live is not None:
                drafts[-1] = _grown(live, run)
            elif run.length_ms >= duration_ms:
                opened = run.start_ms + duration_ms
                new = Draft(run.start_ms, opened, value=run.peak, gallons=run.gallons)
                drafts.append(new._replace(extra=limit))
        elif live is not None and end_ms - last_ms >= TIMES_DURATION * duration_ms:
            drafts[-1] = live._replace(end_ms=last_ms)
    return Memory(runs[-1][0] if runs else earlier, last_ms), drafts


def _grown(draft: Draft, run: Run) -> Draft:
    gallons = run.gallons if run.start_ms == draft.start_ms else draft.gallons
    return draft._replace(value=max(draft.value, run.peak), gallons=gallons)


def words(draft: Draft, tz: ZoneInfo) -> str:
    limit = f", limit {number(draft.extra)}" if draft.extra else ""
    flow = f"Up to {number(draft.value)} gal/min{limit}"
    return f"{flow}, {span(draft.start_ms, draft.end_ms, tz)}"


KIND: Final = Kind(
    name="high-flow",
    label="High flow",
    headline="{length} of high flow",
    caption="at its peak",
    unit="gal/min",
    severity="critical",
    memory=remembered(Memory),
    step=step,
    sees=(Hour,),
    words=words,
    settings=(
        Setting("limit", "Flow (0: from the meter's size)", "gal/min", 0, 0, 1e6),
        Setting("duration", "For at least", "min", 10, 1, 1440),
    ),
    loss=True,
    masks=True,
    live=True,
    needs=lambda device, values: bool(limit_of(device, values)),
)
