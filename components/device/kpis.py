"""The texts of a device's KPIs. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.client import DeviceStatus
from api.client.billing import BudgetStatus
from api.client.findings import Finding
from api.insight.findings import KIND_BY_NAME
from api.metering import uptime as uptimes
from api.metering.cost import Price, money, rate
from api.metering.forecast import Interval
from api.metering.night_flow import FROM_HOUR, TO_HOUR, NightFlow
from api.metering.usage import change
from api.timez import DAY_MS
from components import finding_text, formatting
from components.directory_queries import Directory
from components.fleet.wall import budget_words
from components.formatting import Clock, percent, radio_values
from components.ranges import Window, around
from components.status_queries import CurrentStatus
from components.units import Units
from components.url_state import Shown

RECENT_MS: Final = 30 * DAY_MS  # up to this age "3 d ago" is clearer than a date
LEAK: Final = "continuous-flow"
_BUCKET_UNITS: Final = {"1min": "min", "1hour": "h"}


@dataclass(frozen=True, slots=True)
class Kpi:
    """One KPI. ``at``: the tooltip of its note. ``low``: it needs attention. ``shows``: the chart's
    window when the note is pressed."""

    label: str
    value: str
    note: str = ""
    at: str = ""
    low: bool = False
    shows: Window | None = None


def last_reading(status: CurrentStatus, units: Units | None, tz: ZoneInfo, now_ms: int) -> Kpi:
    """The flow and its age; the age alone for a device without flow (``units`` None)."""
    label, at = "Last reading", status.seen_ms
    if at is None:
        return Kpi(label, formatting.NOTHING, "never reported")
    clock = Clock(tz, at, at)
    age = (
        formatting.ago(at, now_ms)
        if now_ms - at < RECENT_MS
        else f"on {formatting.date_of(at, clock)}"
    )
    moment = formatting.moment(at, clock, seconds=True)
    if units is None:
        return Kpi(label, age, moment)
    if status.flow is None:
        return Kpi(label, formatting.NOTHING, f"no flow rate · {age}", moment)
    return Kpi(label, f"{units.flow(status.flow)} {units.flow_unit}", age, moment)


def radio(row: DeviceStatus) -> Kpi:
    """The radio signal of the last reading, if that is recent."""
    return Kpi(
        "Radio", *radio_values(row.network_rssi, row.signal_strength, nothing="no current reading")
    )


def uptime(actual: int, expected: int, resolution: Resolution, shown: Shown) -> Kpi:
    label = f"Uptime, {shown.label}"
    share = uptimes.share(actual, expected)
    if share is None:
        return Kpi(label, formatting.NOTHING, "no readings expected yet")
    unit = _BUCKET_UNITS.get(resolution.name, f"× {resolution.label}")
    note = f"{formatting.whole(actual)} of {formatting.whole(expected)} {unit}"
    if shown.spread:
        note += f" · {shown.spread} of them spread between registers"
    return Kpi(label, percent(share), note, low=uptimes.is_low(actual, expected))


def quality(
    worst: float | None, best: float | None, mean: float | None, limit: float, shown: Shown
) -> Kpi:
    label = f"Quality, {shown.label}"
    if worst is None or best is None:
        return Kpi(label, formatting.NOTHING, "no readings with quality")
    value = formatting.span(round(worst), round(best)).replace("–", " – ")
    low = worst < limit
    note = f"limit {formatting.number(limit)}" if low else ""
    note = " · ".join(p for p in (f"mean {mean:.0f}" if mean is not None else "", note) if p)
    return Kpi(label, value, note, low=low)


@dataclass(frozen=True, slots=True)
class Usage:
    """Gallons of a window and of the previous one, and the coverage of both."""

    gallons: float | None
    before: float | None = None
    coverage: float = 0.0
    before_coverage: float = 0.0


def volume(usage: Usage, shown: Shown) -> Kpi:
    label = f"Volume, {shown.label}"
    if usage.gallons is None:
        return Kpi(label, formatting.NOTHING, "no readings with volume")
    note = shown.difference if shown.compare else _change(usage, shown)
    return Kpi(label, shown.units.volume(usage.gallons), note)


def _change(usage: Usage, shown: Shown) -> str:
    """``6% below the week before``; empty if either window lacks data."""
    now, before = usage.gallons, usage.before
    complete = uptimes.comparable(usage.coverage, usage.before_coverage)
    if now is None or before is None or not complete:
        return f"not enough data in {shown.before}" if uptimes.comparable(usage.coverage) else ""
    percents = change(now, before)
    if percents is None:
        return ""
    if percents == 0:
        return f"same as {shown.before}"
    return (
        f"{formatting.whole(abs(percents))}% {'above' if percents > 0 else 'below'} {shown.before}"
    )


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """Gallons of the month so far, and the forecast; ``cost``: of the whole month."""

    so_far: float
    expected: float | None
    interval: Interval | None
    cost: float | None
    currency: str
    tariff: str = ""
    budgets: tuple[BudgetStatus, ...] = ()


def month_end(forecast: MonthEnd | None, units: Units) -> Kpi:
    label = "Month end"
    if forecast is None:
        return Kpi(label, formatting.NOTHING, "not offered by this server")
    so_far = f"{units.volume(forecast.so_far)} so far"
    if forecast.expected is None:
        return Kpi(label, formatting.NOTHING, "too early to say", so_far)
    price = "" if forecast.cost is None else money(forecast.cost, forecast.currency)
    if price and forecast.tariff:
        price = f"{price} ({forecast.tariff})"
    budgets = budget_words(forecast.budgets, units)
    alarm = any(each.state in ("likely", "exceeded") for each in forecast.budgets)
    if forecast.interval is None:
        note = " · ".join(part for part in _worst_first(budgets, price or so_far, alarm) if part)
        return Kpi(label, units.volume(forecast.expected), note, so_far)
    low80, high80, low95, high95 = (units.volume(bound) for bound in forecast.interval)
    parts = _worst_first(budgets, " · ".join(p for p in (f"{low80} – {high80}", price) if p), alarm)
    note = " · ".join(part for part in parts if part)
    at = f"{so_far}. In eight months of ten {low80} to {high80}, in 19 of 20 {low95} to {high95}"
    return Kpi(label, units.volume(forecast.expected), note, at)


def _worst_first(budgets: str, rest: str, alarm: bool) -> tuple[str, str]:
    return (budgets, rest) if alarm else (rest, budgets)


def inactive(kpi: Kpi, *, now: bool) -> Kpi:
    """A KPI of an inactive device. ``now``: the KPI concerns the present, so it has no value."""
    if now:
        return Kpi(kpi.label, formatting.NOTHING, "inactive", kpi.at)
    return replace(kpi, note=" · ".join(p for p in ("inactive", kpi.note) if p), low=False)


def cost(gallons: float | None, price: Price, shown: Shown, charge: float | None = None) -> Kpi:
    """``charge``: the window's cost by a tariff."""
    label, units = f"Cost, {shown.label}", shown.units
    if price.tariff:
        value = formatting.NOTHING if charge is None else money(charge, price.currency)
        return Kpi(label, value, f"tariff {price.tariff}")
    per_unit = rate(price.per_gallon / units.volume_factor, price.currency)
    note = f"{per_unit} / {units.volume_unit} · {'device' if price.own else 'organization'}’s rate"
    if gallons is None:
        return Kpi(label, formatting.NOTHING, note)
    return Kpi(label, money(price.cost(gallons), price.currency), note)


def night(flow: NightFlow, units: Units, tz: ZoneInfo, now_ms: int) -> Kpi:
    label = f"Night flow, {FROM_HOUR:02}–{TO_HOUR:02}"
    clock = Clock(tz, *flow.night)
    at = f"the night to {formatting.moment(flow.night.to_ms, clock)}: lowest hour"
    old = now_ms - flow.night.to_ms > RECENT_MS
    date = f"on {formatting.date_of(flow.night.to_ms, clock)}"
    if flow.last is None:
        note = seldom_words(flow) or f"too few readings {date if old else 'last night'}"
        return Kpi(label, formatting.NOTHING, note, at)
    note = (
        f"usual {units.flow(flow.usual)}"
        if flow.usual is not None
        else "not enough data to compare"
    )
    note = f"{date} · {note}" if old else note
    return Kpi(label, f"{units.flow(flow.last)} {units.flow_unit}", note, at)


def seldom_words(flow: NightFlow) -> str:
    """``reports every 15 min, night flow in this zone needs every 10 min``; "" if the cadence
    suffices."""
    if flow.too_seldom is None:
        return ""
    every, needed = (formatting.duration(length) for length in flow.too_seldom)
    return f"reports every {every}, night flow in this zone needs every {needed}"


# --- Leak ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leak:
    """``finding``: the device's open leak, otherwise its latest. ``off``: where leaks are disabled,
    "" if they aren't."""

    finding: Finding | None
    off: str = ""


def leak(leak_state: Leak | None, devices: Directory, units: Units, now_ms: int) -> Kpi:
    """The finding's number in its own words. None from a server that isn't a Weir server."""
    label = KIND_BY_NAME[LEAK].label
    if leak_state is None:
        return Kpi(label, formatting.NOTHING, "not offered by this server")
    finding = leak_state.finding
    if finding is None or finding.end_ms is not None:
        if leak_state.off:
            return Kpi(label, "off", leak_state.off)
        ended = finding and finding.end_ms
        note = (
            f"the last one ended {formatting.ago(ended, now_ms)}"
            if ended
            else "nothing found so far"
        )
        return Kpi(label, "none", note)
    cost = finding.cost_per_day is not None and f"{finding_text.cost(finding, devices)} a day"
    dismissed = finding.state == "dismissed"
    length = finding_text.lasting(finding, now_ms)
    # Beside a cost there is no room for a word before the length.
    notes = ("dismissed" if dismissed else "", length if cost else f"for {length}", cost)
    bound = finding_text.bounded("so far", finding)
    so_far = f"{finding_text.so_far(finding, units)} {bound}"
    at = f"{finding_text.sentence(finding, units)}. {so_far}. Press to see it on the chart"
    shown = around(Window(finding.start_ms, now_ms))
    note = " · ".join(part for part in notes if part)
    return Kpi(label, finding_text.how_much(finding, units), note, at, not dismissed, shown)
