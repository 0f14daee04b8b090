"""Unusual day: a day's volume is far from what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import HOUR_MS
from api.insight.findings.model import Context, Day, Draft, Kind, Setting
from api.insight.findings.text import date, number
from api.metering.profile import DAYS, HOURS, Floats, Stored
from api.metering.uptime import LEAST_COVERAGE

HISTORY_DAYS: Final = 21
QUANTILE: Final = 0.98
CONTINUES_MS: Final = 48 * HOUR_MS


def step(
    memory: tuple[()], draft: Draft | None, day: Day, context: Context
) -> tuple[tuple[()], Sequence[Draft]]:
    drafts = () if draft is None else (draft,)
    result = _off(day, context)
    if result is None:
        if draft is not None and draft.end_ms is None:
            return memory, (draft._replace(end_ms=day.start_ms),)
        return memory, drafts
    total, usual = result
    off = total - usual
    hours = (day.end_ms - day.start_ms) // HOUR_MS
    if draft is not None and _continues(draft, day, off):
        days = (draft.extra or 1) + 1
        return memory, (
            draft._replace(
                end_ms=None,
                value=draft.value + off,
                usual=(draft.usual or 0) + usual,
                gallons=(draft.gallons or 0) + total,
                hours=draft.hours + hours,
                extra=days,
            ),
        )
    closed = (d._replace(end_ms=day.start_ms) if d.end_ms is None else d for d in drafts)
    new = Draft(
        day.start_ms, day.end_ms, value=off, usual=usual, gallons=total, hours=hours, extra=1
    )
    return memory, (*closed, new)


def _continues(draft: Draft, day: Day, off: float) -> bool:
    """Whether this is another day within 48 h that differs in the same direction."""
    recent = draft.end_ms is None or day.start_ms <= draft.end_ms + CONTINUES_MS
    return recent and (draft.value > 0) == (off > 0)


def _off(day: Day, context: Context) -> tuple[float, float] | None:
    """Returns (gallons, usual gallons) of an unusual day; None for any other."""
    if (day.volumes == day.volumes).sum() < LEAST_COVERAGE * HOURS:
        return None
    if day.today.usual.district_like:
        return _off_forecast(day, context)
    return _off_weeks(day, context)


def _off_forecast(day: Day, context: Context) -> tuple[float, float] | None:
    usual = day.today.usual
    expected = day.today.expected
    both = (day.volumes == day.volumes) & (expected == expected)
    if usual.days < HISTORY_DAYS or both.sum() < LEAST_COVERAGE * HOURS:
        return None
    burst = context.drafts.get("burst")
    if (
        burst is not None
        and burst.start_ms < day.end_ms
        and (burst.end_ms or day.end_ms) > (day.start_ms)
    ):
        return None
    total, forecast = float(day.volumes[both].sum()), float(expected[both].sum())
    limit = max(
        context.values["sigmas"] * usual.day_sigma, context.values["least_share"] / 100 * forecast
    )
    return (total, forecast) if abs(total - forecast) > limit * context.factor else None


def _off_weeks(day: Day, context: Context) -> tuple[float, float] | None:
    totals = day_totals(day.history.volumes[-DAYS:])
    if len(totals) < HISTORY_DAYS:
        return None
    total = float(np.nansum(day.volumes))
    usual = float(np.median(totals))
    high = float(np.quantile(totals, QUANTILE))
    limit = max(context.values["times_high"] * high, context.values["times_usual"] * usual)
    return (total, usual) if total > limit * context.factor else None


def day_totals(rows: Floats | Stored) -> Floats:
    """Returns the gallons of the days with hardly any gap."""
    present = rows == rows
    whole = present.sum(axis=1) >= LEAST_COVERAGE * HOURS
    return np.where(present, rows, 0.0)[whole].sum(axis=1, dtype=np.float64)


def words(draft: Draft, tz: ZoneInfo) -> str:
    days = round(draft.extra or 1)
    side = "above" if draft.value > 0 else "below"
    share = f" ({abs(draft.value) / draft.usual:.0%})" if draft.usual else ""
    on = "on" if days == 1 else f"on {days} days from"
    gallons = number(abs(draft.value))
    return f"{gallons} gal {side} usual{share} {on} {date(draft.start_ms, tz)}"


KIND: Final = Kind(
    name="unusual-day",
    label="Unusual day",
    noun=True,
    headline="unlike its usual days",
    caption="against usual",
    difference=True,
    unit="gal",
    severity="notice",
    memory=lambda: (),
    step=step,
    sees=(Day,),
    words=words,
    settings=(
        Setting("sigmas", "Districts: off by", "σ", 4, 1, 100),
        Setting("least_share", "Districts: and by, of the usual", "%", 20, 1, 1000),
        Setting("times_high", "Others: above the 98th percentile", "×", 1.5, 1, 100),
        Setting("times_usual", "Others: and above the median", "×", 3, 1, 100),
    ),
    per_day=lambda draft: draft.value / (draft.extra or 1) if draft.value > 0 else None,
    masks=True,
)
