"""Continuous flow: water that never stops, the sign of a leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.insight.findings.model import Context, Draft, Hour, Kind, Setting, is_open
from api.insight.findings.text import number, span
from api.metering.profile import DISTRICT_GALLONS

HOURS: Final = 24
LONGEST_MS: Final = 30 * HOUR_MS  # span in which these hours must lie
CONTINUES_MS: Final = 24 * HOUR_MS


class Memory(NamedTuple):
    """The latest hours with readings, up to 24, none below the limit: (start, gallons).
    ``earlier``: the hours of earlier runs in the open finding; ``run_ms``: the start of this
    run."""

    hours: tuple[tuple[int, float], ...] = ()
    earlier: int = 0
    run_ms: int = 0


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    drafts = () if draft is None else (draft,)
    gallons = hour.gallons
    if gallons is None:
        return memory, drafts
    if gallons < context.values["limit"] * context.factor:
        if draft is not None and draft.end_ms is None:
            return Memory(), (_grown(memory, draft, hour.start_ms)._replace(end_ms=hour.start_ms),)
        return (memory if not memory.hours else Memory()), drafts
    latest = (*memory.hours[1 - HOURS :], (hour.start_ms, gallons))
    memory = memory._replace(hours=latest)
    if draft is not None and draft.end_ms is None:
        lowest = min(draft.value, gallons)
        return memory, (_grown(memory, draft._replace(value=lowest), hour.end_ms),)
    start = latest[0][0]
    if len(latest) < HOURS or hour.end_ms - start > LONGEST_MS or _district_like(latest, hour):
        return memory, drafts
    lowest = min(gallons for _, gallons in latest)
    if draft is not None and draft.end_ms is not None and start <= draft.end_ms + CONTINUES_MS:
        memory = memory._replace(run_ms=start, earlier=draft.hours)
        again = draft._replace(end_ms=None, value=min(lowest, draft.value))
        return memory, (_grown(memory, again, hour.end_ms),)
    memory = memory._replace(run_ms=start, earlier=0)
    new = Draft(start, hour.end_ms, value=lowest)
    return memory, (*drafts, _grown(memory, new, hour.end_ms))


def _grown(memory: Memory, draft: Draft, end_ms: int) -> Draft:
    """Extends the draft up to ``end_ms``: the lowest hour so far, applied to each hour from start
    to end."""
    hours = memory.earlier + (end_ms - memory.run_ms) // HOUR_MS
    return draft._replace(hours=hours, gallons=draft.value * hours)


def _district_like(latest: tuple[tuple[int, float], ...], hour: Hour) -> bool:
    """Decides by these hours while no night is known yet."""
    district_like = hour.today().usual.district_like
    if district_like is not None:
        return district_like
    ranked = sorted(gallons for _, gallons in latest)
    return (ranked[HOURS // 2 - 1] + ranked[HOURS // 2]) / 2 > DISTRICT_GALLONS


def words(draft: Draft, tz: ZoneInfo) -> str:
    verb = "Has not dropped" if is_open(draft) else "Did not drop"
    return f"{verb} below {number(draft.value)} gal/h {span(draft.start_ms, draft.end_ms, tz)}"


KIND: Final = Kind(
    name="continuous-flow",
    label="Leak",
    noun=True,
    headline="{length} without a stop",
    caption="it never drops below",
    bound="at least",
    unit="gal/h",
    severity="warning",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    settings=(Setting("limit", "Least flow that counts", "gal/h", 1, 0.001, 1e6),),
    loss=True,
    per_day=lambda draft: draft.value * 24,
    masks=True,
)
