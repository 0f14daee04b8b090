"""The wall as one JSON object for the browser, with every text decided here; and the KPIs over all
devices that match search and group, as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from api.catalog import FLOW_AMOUNT
from api.client import StatusSummary
from api.client.billing import BudgetStatus
from api.insight.findings import KIND_BY_NAME
from api.metering.cost import DEFAULT_CURRENCY, money
from api.metering.uptime import comparable
from api.metering.usage import change
from api.metering.windows import Span
from api.timez import MINUTE_MS, zone_or_utc
from components import formatting
from components.charts.marks import DIAMONDS
from components.concurrent_queries import ServiceAccess
from components.finding_text import bound_of
from components.fleet.queries import SORTS, FleetPage, FleetView, fleet_page, write_fleet_view
from components.fleet.sparklines import lines_of
from components.fleet.tiles import tiles_of
from components.formatting import Clock, minute_text, percent
from components.status_queries import DEGRADED, NO_DATA, REPORTING, SERVICE_NAMES, SILENT, STATES
from components.units import Units

ONLY_READINGS: Final = (
    "This server has readings alone: 50 devices a page by label, search by the exact serial number"
    " or network id. Totals, filters, findings and charts need a Weir."
)
AGAIN_MS: Final = 15_000
STATUS_LATE_MS: Final = 3 * MINUTE_MS  # a status is updated each minute


def board(access: ServiceAccess, view: FleetView, now_ms: int) -> dict[str, Any]:
    """All that the wall shows of that view. Raises a WeirError if the service fails."""
    page = fleet_page(access, view, now_ms)
    rows, summary = page.statuses.rows, page.statuses.summary
    clock, sort = Clock(zone_or_utc(view.zone), now_ms, now_ms), SORTS[view.sort].label
    return {
        "view": write_fleet_view(view),
        "at": now_ms,
        "at_words": formatting.moment(now_ms, clock, seconds=True),
        "again_ms": AGAIN_MS,
        "trouble": "",
        "remark": ONLY_READINGS if page.bare else "",
        "unit": view.units.flow_unit,
        "tiles": tiles_of(rows, lines_of(access, rows, view.span, now_ms), view, now_ms),
        "totals": [] if summary is None else _totals(summary, view),
        "checked": {} if summary is None else checked(summary, clock, now_ms),
        "chips": [] if summary is None else _chips(summary, view),
        "groups": list(page.statuses.groups),
        "pages": {"page": page.number, "last": page.pages, "words": _pages_words(page)},
        "count_text": f"{formatting.plural(page.statuses.count, 'device')}, sorted: {sort}",
        "empty": "" if rows else _empty(view),
    }


def _totals(summary: StatusSummary, view: FleetView) -> list[dict[str, Any]]:
    made = totals(summary, span=view.span, units=view.units)
    return [asdict(total) | {"parts": [list(part) for part in total.parts]} for total in made]


def checked(summary: StatusSummary, clock: Clock, now_ms: int) -> dict[str, Any]:
    """The time up to which the devices were checked, and whether that is late."""
    if summary.as_of_ms is None:
        return {"words": "", "late": False}
    if summary.unchecked:
        since = (
            "" if summary.checked_ms is None else f", checked to {_time(summary.checked_ms, clock)}"
        )
        devices = formatting.plural(summary.unchecked, "device")
        return {"words": f"Findings are catching up: {devices}{since}", "late": True}
    at = _time(summary.as_of_ms, clock)
    if now_ms - summary.as_of_ms > STATUS_LATE_MS:
        return {"words": f"Catching up: the status of some devices is of {at}", "late": True}
    return {"words": f"Checked {at}", "late": False}


def _time(instant_ms: int, clock: Clock) -> str:
    return minute_text(clock.local(instant_ms))


def _chips(summary: StatusSummary, view: FleetView) -> list[dict[str, Any]]:
    """Filters by state, then by the kinds of open findings."""
    states = [
        {
            "field": "status",
            "name": state.name,
            "tone": state.name,
            "shape": state.shape,
            "word": state.word,
            "count": formatting.whole(summary.states.get(SERVICE_NAMES[state.name], 0)),
            "pressed": state.name in view.statuses,
        }
        for state in STATES
    ]
    kinds = [
        {
            "field": "finding",
            "name": name,
            "tone": "warning" if name in summary.attention.kinds else "notice",
            "shape": DIAMONDS["warning" if name in summary.attention.kinds else "notice"],
            "word": kind.label,
            "count": formatting.whole(summary.findings.get(name, 0)),
            "pressed": name == view.kind,
        }
        for name, kind in KIND_BY_NAME.items()
        if summary.findings.get(name) or name == view.kind
    ]
    return states + kinds


def _pages_words(page: FleetPage) -> str:
    """``51–100 of 132``; the number alone if there is one page."""
    if page.pages == 1:
        return formatting.plural(page.statuses.count, "device")
    span = f"{formatting.whole(page.first)}–{formatting.whole(page.last)}"
    return f"{span} of {formatting.whole(page.statuses.count)}"


def _empty(view: FleetView) -> str:
    """The reason for an empty wall."""
    if not (view.search or view.statuses or view.group or view.kind):
        return (
            "No active device yet, or none that you have access to. An administrator can import a"
            " file, connect meters, or let your key see some."
        )
    if view.search and not (view.statuses or view.group or view.kind):
        return f"No device matches “{view.search}”."
    return "No device matches this search and these filters."


# --- The KPIs over all devices -------------------------------------------------------------------


MOST_MINUTES: Final = 1_000_000  # longer lengths are written in hours


class Part(NamedTuple):
    """A part of a note. With ``field`` it links to a filter: that field with that value."""

    text: str
    field: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Total:
    """One KPI. ``parts``: the note, in parts that may be filters. ``aside``: stands beside the
    value. ``alarm``: it needs attention."""

    name: str
    label: str
    value: str
    note: str = ""
    parts: tuple[Part, ...] = ()
    aside: str = ""
    alarm: bool = False


def totals(summary: StatusSummary, *, span: Span, units: Units) -> list[Total]:
    return [
        needs_attention(summary),
        reporting(summary),
        flow_now(summary, units),
        volume_today(summary, units),
        cost_today(summary),
        *month_end(summary, units),
        uptime(summary, span),
    ]


def _of(part: int, whole: int) -> str:
    return f"{formatting.whole(part)} of {formatting.whole(whole)}"


def _noted(
    name: str, label: str, value: str, *parts: Part, aside: str = "", alarm: bool = False
) -> Total:
    return Total(name, label, value, " · ".join(p.text for p in parts), parts, aside, alarm)


# --- Findings and states -------------------------------------------------------------------------


def needs_attention(summary: StatusSummary) -> Total:
    """Devices with an open critical finding or warning. All is well only if every device was
    checked, nothing is open, and every device reports."""
    open_ = summary.attention
    label = "Needs attention"
    if not summary.evaluated:
        return Total("attention", label, formatting.NOTHING)
    parts = _by_kind(open_.kinds)
    if not parts:
        parts = _by_kind(open_.notices)
    value = formatting.whole(open_.devices)
    count = sum(open_.kinds.values())
    if count != open_.devices and open_.kinds:  # some devices have several
        devices = formatting.plural(open_.devices, "device")
        parts = (Part(f"{formatting.whole(count)} findings on {devices}"), *parts)
    if parts:
        return _noted(
            "attention", label, value, *parts, aside=_at_stake(summary), alarm=bool(open_.kinds)
        )
    well = summary.states.get(SERVICE_NAMES[REPORTING.name], 0) == summary.devices
    if summary.unchecked or summary.evaluated < summary.devices:
        return Total("attention", label, formatting.NOTHING, "not all checked yet")
    return Total("attention", label, value, "all is well" if well else "no finding is open")


def _by_kind(kinds: Mapping[str, int]) -> tuple[Part, ...]:
    """The number of devices with a finding of each kind, in the registry's order."""
    return tuple(
        Part(f"{formatting.whole(kinds[name])} {kind.counted(kinds[name])}", "finding", name)
        for name, kind in KIND_BY_NAME.items()
        if kinds.get(name)
    )


def _at_stake(summary: StatusSummary) -> str:
    """``up to $120.05 a day``: the cost of the findings, with their common qualifier, or about."""
    open_ = summary.attention
    if not open_.costs_per_day:
        return ""
    losses = (KIND_BY_NAME[name] for name in open_.kinds if name in KIND_BY_NAME)
    lead = bound_of(kind for kind in losses if kind.loss)
    amount = " + ".join(money(cost, currency) for currency, cost in open_.costs_per_day.items())
    return f"{lead} {amount} a day".strip()


def reporting(summary: StatusSummary) -> Total:
    """Of the evaluated devices; the note has their number until all are evaluated."""
    counts = {
        state: summary.states.get(SERVICE_NAMES[state.name], 0)
        for state in (REPORTING, DEGRADED, SILENT, NO_DATA)
    }
    if not summary.evaluated:
        return Total("reporting", REPORTING.word, formatting.NOTHING)
    value = f"{formatting.whole(counts.pop(REPORTING))} / {formatting.whole(summary.devices)}"
    if summary.evaluated < summary.devices:
        note = f"status of {_of(summary.evaluated, summary.devices)} devices so far"
        return Total("reporting", REPORTING.word, value, note)
    parts = [
        Part(f"{formatting.whole(count)} {state.word.lower()}", "status", state.name)
        for state, count in counts.items()
        if count
    ]
    return _noted("reporting", REPORTING.word, value, *(parts or [Part("every device")]))


def uptime(summary: StatusSummary, span: Span) -> Total:
    """Observed by expected time: each bucket counts by its length."""
    label = f"Uptime, {span.label}"
    observed = summary.uptime.get(span.name)
    if observed is None or not observed.expected_s:
        note = "no readings expected yet" if summary.evaluated else ""
        return Total("uptime", label, formatting.NOTHING, note)
    length, unit = (60, "min") if observed.expected_s <= MOST_MINUTES * 60 else (3600, "h")
    note = f"{_of(observed.observed_s // length, observed.expected_s // length)} {unit}"
    return Total("uptime", label, percent(observed.observed_s / observed.expected_s), note)


# --- The month's end -----------------------------------------------------------------------------


def month_end(summary: StatusSummary, units: Units) -> list[Total]:
    """None if the service can't tell."""
    end = summary.month_end
    if end is None:
        return []
    if end.low80 is None and end.expected <= end.so_far:  # no device has a forecast yet
        return [Total("month-end", "Month end", formatting.NOTHING, "too early to say")]
    cost = " + ".join(money(amount, currency) for currency, amount in end.costs.items())
    bounds = ""
    if end.low80 is not None and end.high80 is not None:
        bounds = f"{units.volume(end.low80)} – {units.volume(end.high80)}"
    likely = ""
    if end.likely:
        likely = f"{formatting.plural(end.likely, 'budget')} likely exceeded"
    note = " · ".join(part for part in (likely, bounds, cost) if part)
    return [Total("month-end", "Month end", units.volume(end.expected), note or "expected")]


# --- Budgets -------------------------------------------------------------------------------------


def budget_words(budgets: Sequence[BudgetStatus], units: Units) -> str:
    """``92% likely above the budget of 90,000 gal``; "" without a budget."""
    return " · ".join(_budget_words(each, units) for each in budgets)


def _budget_words(budget: BudgetStatus, units: Units) -> str:
    amount = amount_words(budget, budget.amount, units)
    if budget.state == "exceeded":
        return f"above its budget of {amount}"
    if budget.chance is None:
        return f"budget {amount}"
    if budget.state == "within":
        return f"within its budget of {amount}"
    return f"{budget.chance:.0%} likely above its budget of {amount}"


def amount_words(budget: BudgetStatus, amount: float | None, units: Units) -> str:
    """An amount in the currency of its budget, or in the unit that suits the budgeted volume."""
    if amount is None:
        return formatting.NOTHING
    if budget.measure == "cost":
        return money(amount, budget.currency or DEFAULT_CURRENCY)
    scale = units.scale(FLOW_AMOUNT, budget.amount)
    return f"{formatting.number(scale.of(amount))} {scale.unit}"


# --- Water ---------------------------------------------------------------------------------------


def flow_now(summary: StatusSummary, units: Units) -> Total:
    """The sum of the current rates. Flowing, quiet (a reading of zero) and without data are three
    things."""
    if summary.flow is None:
        note = "no recent reading" if summary.evaluated else ""
        return Total("flow", "Flow now", formatting.NOTHING, note)
    counts = {
        "flowing": summary.flowing,
        "quiet": summary.quiet,
        "no data": summary.evaluated - summary.flowing - summary.quiet,
    }
    parts = [Part(f"{formatting.whole(n)} {word}") for word, n in counts.items() if n]
    return _noted("flow", "Flow now", f"{units.flow(summary.flow)} {units.flow_unit}", *parts)


def volume_today(summary: StatusSummary, units: Units) -> Total:
    label = "Volume today"
    if summary.volume_today is None:
        return Total("volume", label, formatting.NOTHING, "no reading today")
    value = units.volume(summary.volume_today)
    if part := _coverage(summary):
        return Total("volume", label, formatting.NOTHING, f"{value} in {part}")
    parts = [_against_usual(summary)]
    if summary.sub_meters:  # the meters upstream measure their water too
        parts.append(f"without {formatting.plural(summary.sub_meters, 'sub-meter')}")
    note = " · ".join(part for part in parts if part)
    return Total("volume", label, value, note or formatting.plural(summary.devices, "device"))


def _against_usual(summary: StatusSummary) -> str:
    """``4% above a typical day so far``; "" if too few devices have a history."""
    devices, volume, usual = summary.usual
    difference = change(volume, usual)
    if difference is None or not comparable(devices / max(1, summary.devices - summary.sub_meters)):
        return ""
    if difference == 0:
        return "same as a typical day so far"
    return f"{abs(difference)}% {'above' if difference > 0 else 'below'} a typical day so far"


def _coverage(summary: StatusSummary) -> str:
    """How many of the devices are in the sums; "" if all are. A partial sum isn't shown as the
    total."""
    if summary.evaluated >= summary.devices:
        return ""
    return f"{_of(summary.evaluated, summary.devices)} devices so far"


def cost_today(summary: StatusSummary) -> Total:
    """By currency. Without a price there is no cost."""
    costs, label = summary.costs_today, "Cost today"
    if len(costs) != 1:
        none = "no reading today" if summary.volume_today is None else "no price set"
        amounts = " + ".join(money(cost, currency) for currency, cost in costs.items())
        return Total("cost", label, formatting.NOTHING, amounts or none)
    ((currency, cost),) = costs.items()
    if part := _coverage(summary):
        return Total("cost", label, formatting.NOTHING, f"{money(cost, currency)} in {part}")
    return Total("cost", label, money(cost, currency), "at the rates of the devices")
