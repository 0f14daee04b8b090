"""Burst: a district's consumption suddenly rises above the usual, and stays there."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import DAY_MS, HOUR_MS
from api.insight.findings.model import NORMAL_FROM, Context, Draft, Hour, Kind, Setting
from api.insight.findings.text import number, span
from api.metering.uptime import LEAST_COVERAGE

HOURS: Final = 9
LIMIT: Final = 20.0
DRIFT: Final = 1.0
LEAST_Z: Final = -4.0
MOST_Z: Final = 6.0
CALM_HOURS: Final = 12
CALM_Z: Final = 1.0
NEW_USUAL_MS: Final = 7 * DAY_MS
HISTORY_DAYS: Final = 21


class Memory(NamedTuple):
    """``score`` and since when it is above zero, in ``present`` hours; ``excess`` of the latest
    hour; the number of calm hours, and since when."""

    score: float = 0.0
    present: int = 0
    since_ms: int = 0
    excess: tuple[float, ...] = ()
    calm: int = 0
    calm_ms: int = 0


def step(
    memory: Memory, draft: Draft | None, hour: Hour, context: Context
) -> tuple[Memory, Sequence[Draft]]:
    is_open = draft is not None and draft.end_ms is None
    drafts = () if draft is None else (draft,)
    if is_open and draft is not None and draft.opened_ms <= context.normal_from_ms < hour.end_ms:
        return Memory(), (draft._replace(end_ms=context.normal_from_ms, trains=True),)
    if is_open and draft is not None and hour.start_ms >= draft.opened_ms + NEW_USUAL_MS:
        return Memory(), (draft._replace(end_ms=hour.start_ms, trains=True),)
    result = _excess(hour)
    if result is None:
        return memory, drafts
    excess, sigma, mean = result
    if is_open and draft is not None:
        return _while_open(memory, draft, hour, excess, excess / sigma)
    memory = _scored(memory, hour, excess, excess / sigma / context.factor)
    if memory.score <= context.values["score"] or memory.present < HOURS:
        return memory, drafts
    rise = sum(memory.excess) / HOURS
    if rise <= context.values["least_share"] / 100 * mean or min(memory.excess) <= rise / 2:
        return memory, drafts
    hours = (hour.end_ms - memory.since_ms) // HOUR_MS
    usual = float(hour.today().expected.mean())
    new = Draft(
        memory.since_ms, hour.end_ms, value=rise, usual=usual, gallons=rise * hours, hours=hours
    )
    return memory._replace(calm=0, calm_ms=0), (*drafts, new)


def _excess(hour: Hour) -> tuple[float, float, float] | None:
    """Returns (gallons above the forecast, σ, mean gal/h); None where it is unknown."""
    row = hour.row
    if row is None or row.gallons is None or row.coverage < LEAST_COVERAGE:
        return None
    today = hour.today()
    if not today.usual.district_like or today.usual.days < HISTORY_DAYS:
        return None
    expected, sigma = float(today.expected[hour.hour]), float(today.usual.sigma[hour.hour])
    if isnan(expected) or isnan(sigma) or sigma <= 0:
        return None
    return row.gallons - expected, sigma, today.usual.mean


def _scored(memory: Memory, hour: Hour, excess: float, z: float) -> Memory:
    latest = (*memory.excess[1 - HOURS :], excess)
    score = memory.score + min(max(z, LEAST_Z), MOST_Z) - DRIFT
    if score <= 0:
        return Memory(excess=latest)
    since = memory.since_ms if memory.present else hour.start_ms
    return Memory(score, memory.present + 1, since, latest)


def _while_open(
    memory: Memory, draft: Draft, hour: Hour, excess: float, z: float
) -> tuple[Memory, Sequence[Draft]]:
    draft = draft._replace(gallons=(draft.gallons or 0) + max(excess, 0.0), hours=draft.hours + 1)
    if z >= CALM_Z:
        return memory._replace(calm=0), (draft,)
    since = memory.calm_ms if memory.calm else hour.start_ms
    memory = memory._replace(calm=memory.calm + 1, calm_ms=since)
    if memory.calm < CALM_HOURS:
        return memory, (draft,)
    return Memory(), (draft._replace(end_ms=since),)


def words(draft: Draft, tz: ZoneInfo) -> str:
    usual = f" ({draft.value / draft.usual:.0%})" if draft.usual else ""
    return (
        f"{number(draft.value)} gal/h above usual{usual} {span(draft.start_ms, draft.end_ms, tz)}"
    )


KIND: Final = Kind(
    name="burst",
    label="Burst",
    noun=True,
    headline="{length} above usual",
    caption="above usual",
    difference=True,
    unit="gal/h",
    severity="critical",
    memory=Memory,
    step=step,
    sees=(Hour,),
    words=words,
    settings=(
        Setting("score", "Sum of excess that opens it", "σ", LIMIT, 5, 1000),
        Setting("least_share", "Least rise, of the mean flow", "%", 15, 1, 1000),
        NORMAL_FROM,
    ),
    loss=True,
    per_day=lambda draft: draft.value * 24,
    masks=True,
)
