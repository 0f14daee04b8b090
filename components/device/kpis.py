"""The strip of numbers under a device's name, in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.timez import DAY_MS
from components import formatting
from components.clock import Clock
from components.device.chart_state import Shown
from components.device.continuous_flow import HOURS, Finding, Run
from components.device.night_flow import FROM_HOUR, TO_HOUR, NightFlow
from components.fleet.device_status import Known
from components.fleet.states import UPTIME_LIMIT
from components.fleet.totals import SIGNS, percent
from components.ranges import Window
from components.units import Units

LEAST_DIFFERENCE_GAL: Final = 1.0
LEAST_COVERAGE: Final = 0.9
LEAST_MONEY: Final = 0.01
RECENT_MS: Final = 30 * DAY_MS  # up to here "3 d ago" tells more than a date
_BUCKET_UNITS: Final = {"1min": "min", "1hour": "h"}


@dataclass(frozen=True, slots=True)
class Kpi:
    """One number. ``at`` is what the note says when it is pointed at; ``low``: a look is due;
    ``shows``: what the chart shows when the note is pressed."""

    label: str
    value: str
    note: str = ""
    at: str = ""
    low: bool = False
    shows: Window | None = None


def last_reading(known: Known, units: Units, tz: ZoneInfo, now_ms: int) -> Kpi:
    label, at = "Last reading", known.seen_ms
    if at is None:
        return Kpi(label, formatting.NOTHING, "never reported")
    clock = Clock(tz, at, at)
    told = (
        formatting.ago(at, now_ms)
        if now_ms - at < RECENT_MS
        else f"on {formatting.date_of(at, clock)}"
    )
    moment = formatting.moment(at, clock, seconds=True)
    if known.flow is None:
        return Kpi(label, formatting.NOTHING, f"without a flow rate · {told}", moment)
    return Kpi(label, f"{units.flow(known.flow)} {units.flow_unit}", told, moment)


def uptime(actual: int, expected: int, resolution: Resolution, shown: Shown) -> Kpi:
    label = f"Uptime, {shown.label}"
    if not expected:
        return Kpi(label, formatting.NOTHING, "nothing was due")
    share = min(actual, expected) / expected
    unit = _BUCKET_UNITS.get(resolution.name, f"× {resolution.label}")
    note = f"{formatting.whole(actual)} of {formatting.whole(expected)} {unit}"
    return Kpi(label, percent(share), note, low=share < UPTIME_LIMIT)


def quality(
    worst: float | None, best: float | None, mean: float | None, limit: float, shown: Shown
) -> Kpi:
    label = f"Quality, {shown.label}"
    if worst is None or best is None:
        return Kpi(label, formatting.NOTHING, "no readings with a quality")
    value = formatting.span(round(worst), round(best)).replace("–", " – ")
    low = worst < limit
    note = f"limit {formatting.number(limit)}" if low else ""
    note = " · ".join(p for p in (f"mean {mean:.0f}" if mean is not None else "", note) if p)
    return Kpi(label, value, note, low=low)


@dataclass(frozen=True, slots=True)
class Usage:
    """Gallons of a window and of the one before it, and how much of both was heard."""

    gallons: float | None
    before: float | None = None
    coverage: float = 0.0
    before_coverage: float = 0.0


def volume(usage: Usage, shown: Shown) -> Kpi:
    label = f"Volume, {shown.label}"
    if usage.gallons is None:
        return Kpi(label, formatting.NOTHING, "no readings with a volume")
    return Kpi(label, shown.units.volume(usage.gallons), _change(usage, shown))


def _change(usage: Usage, shown: Shown) -> str:
    """▼ 6% on the week before; nothing where either window was hardly heard."""
    now, before = usage.gallons, usage.before
    heard = min(usage.coverage, usage.before_coverage) >= LEAST_COVERAGE
    if now is None or before is None or not heard:
        return f"too little data in {shown.before}" if usage.coverage >= LEAST_COVERAGE else ""
    if abs(now - before) < LEAST_DIFFERENCE_GAL or before < LEAST_DIFFERENCE_GAL:
        return f"level with {shown.before}" if before >= LEAST_DIFFERENCE_GAL else ""
    change = round((now - before) / before * 100)
    if change == 0:
        return f"level with {shown.before}"
    return f"{'▲' if change > 0 else '▼'} {formatting.whole(abs(change))}% on {shown.before}"


@dataclass(frozen=True, slots=True)
class Price:
    """Per gallon. ``own``: the device's, else the organization's."""

    per_gallon: float
    currency: str
    own: bool


def cost(gallons: float | None, price: Price, shown: Shown) -> Kpi:
    label, units = f"Cost, {shown.label}", shown.units
    rate = money(price.per_gallon / units.volume_factor, price.currency, fine=True)
    note = f"{rate} / {units.volume_unit} · {'device' if price.own else 'organization'}’s rate"
    if gallons is None:
        return Kpi(label, formatting.NOTHING, note)
    return Kpi(label, money(gallons * price.per_gallon, price.currency), note)


def money(amount: float, currency: str, *, fine: bool = False) -> str:
    """$586.94; $0.012 where ``fine``; 1,200.00 CHF where there is no sign; <$0.01 for less than is
    counted, which isn't nothing."""
    trace = 0 < amount < LEAST_MONEY and not fine
    digits = formatting.number(amount) if fine and abs(amount) < 1 else f"{amount:,.2f}"
    if trace:
        digits = f"{LEAST_MONEY:.2f}"
    sign = SIGNS.get(currency)
    told = f"{sign}{digits}" if sign else f"{digits} {currency}"
    return f"<{told}" if trace else told


def night(flow: NightFlow, units: Units, tz: ZoneInfo, now_ms: int) -> Kpi:
    label = f"Night flow, {FROM_HOUR:02}–{TO_HOUR:02}"
    clock = Clock(tz, *flow.night)
    at = f"the night to {formatting.moment(flow.night.to_ms, clock)}: lowest hour"
    old = now_ms - flow.night.to_ms > RECENT_MS
    date = f"on {formatting.date_of(flow.night.to_ms, clock)}"
    if flow.last is None:
        note = seldom_words(flow) or f"too few readings {date if old else 'last night'}"
        return Kpi(label, formatting.NOTHING, note, at)
    note = f"usual {units.flow(flow.usual)}" if flow.usual is not None else "too few nights before"
    note = f"{date} · {note}" if old else note
    return Kpi(label, f"{units.flow(flow.last)} {units.flow_unit}", note, at)


def seldom_words(flow: NightFlow) -> str:
    """``reports every 15 min, night flow in this zone needs every 10 min``; "" where the device
    reports often enough."""
    if flow.too_seldom is None:
        return ""
    every, needed = (formatting.duration(length) for length in flow.too_seldom)
    return f"reports every {every}, night flow in this zone needs every {needed}"


# --- Continuous flow -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KpiContext:
    """How a device's numbers are told."""

    units: Units
    tz: ZoneInfo
    now_ms: int


def continuous(
    finding: Finding, price: Price | None, told: KpiContext, *, never_rests: bool = False
) -> Kpi:
    """``never_rests``: the device's configuration says that this is as it should be."""
    label, run = "Continuous flow", finding.run
    if run is not None:
        value = f"{told.units.volume(run.lowest)}/h"
        note = _by_design(run, told) if never_rests else _escaping(run, price, told)
        return Kpi(label, value, note, _evidence(run, told), not never_rests, run.shown)
    if finding.paused_ms is None:
        return Kpi(label, formatting.NOTHING, "too few hours heard")
    clock = Clock(told.tz, finding.paused_ms, finding.paused_ms)
    return Kpi(
        label,
        "none",
        f"paused {formatting.ago(finding.paused_ms, told.now_ms)}",
        f"the last hour below its limit ended at {formatting.moment(finding.paused_ms, clock)}",
    )


def _escaping(run: Run, price: Price | None, told: KpiContext) -> str:
    """``for 6 d · $15.55 a day``."""
    cost = f"{money(run.lowest * HOURS * price.per_gallon, price.currency)} a day" if price else ""
    return " · ".join(part for part in (_how_long(run, told), cost) if part)


def _by_design(run: Run, told: KpiContext) -> str:
    return f"by design · {_how_long(run, told)}"


def _how_long(run: Run, told: KpiContext) -> str:
    """``for 6 d``, ``for 30+ d`` where it may be longer; of a device that has fallen silent
    ``for 6 d until 3 d ago``."""
    days = run.window.length_ms // DAY_MS
    length = (
        f"{days}{'+' if run.longer else ''} d"
        if days > 1
        else formatting.duration(run.window.length_ms)
    )
    old = told.now_ms - run.window.to_ms > DAY_MS
    until = f" until {formatting.ago(run.window.to_ms, told.now_ms)}" if old else ""
    return f"for {length}{until}"


def _evidence(run: Run, told: KpiContext) -> str:
    """What is known, and what is only an upper bound."""
    clock, volume = Clock(told.tz, *run.window), told.units.volume
    since = (
        "in the last weeks"
        if run.longer
        else f"since {formatting.moment(run.window.from_ms, clock)}"
    )
    return (
        f"no hour without flow {since}, {volume(run.gallons)} in all; the least of the last {HOURS}"
        f" had {volume(run.lowest)}. If all of that escapes, {volume(run.lowest * HOURS)} a day."
        " Press to see it on the chart"
    )
