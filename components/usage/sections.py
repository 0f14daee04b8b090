"""Sections of a summary beside its table: mains against their sub-meters, findings, month's end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from dash import html
from dash.development.base_component import Component

from api.client import MonthEnd
from api.client.balance import Balance, MeteredVolume
from api.client.findings import Finding
from api.metering.cost import money
from api.metering.usage import change
from components import formatting, session
from components.controls import labelled
from components.directory_queries import Directory
from components.findings.rows import directory_of, summary_row, summary_table
from components.fleet.wall import Total, budget_words
from components.units import Units
from components.usage.insight_queries import Earlier
from components.usage.sums import DeviceUsage, Totals, totals
from components.usage.table import date_words, tariff_words
from components.usage.url_state import Dates, UsageView

LEAST_GROUPS: Final = 2
HEADS = ("Main in", "Sub-meters out", "Unaccounted for", "Share", "Hours compared")


def balance_section(
    balances: Sequence[Balance], units: Units, *, kind: str = "usage"
) -> list[Component]:
    """Each main with its sub-meters; nothing without any. ``kind``: the table's class."""
    if not balances:
        return []
    rows = [row for balance in balances for row in _rows(balance, units)]
    heads = [html.Th(head, scope="col", className="number") for head in HEADS]
    return [
        html.H2("Mains and sub-meters"),
        html.P(_note(balances), className="quiet"),
        html.Div(
            html.Table(
                [html.Thead(html.Tr([html.Th("Main", scope="col"), *heads])), html.Tbody(rows)],
                className=f"{kind} balance",
                **labelled("Mains and sub-meters"),
            ),
            className="usage-scroll" if kind == "usage" else "report-scroll",
            role="region",
            tabIndex=0,
            **labelled("Mains and sub-meters: table, scrollable"),
        ),
    ]


def _note(balances: Sequence[Balance]) -> str:
    complete = all(balance.compared == balance.hours for balance in balances)
    note = "Volumes over the hours in which each of the meters has at least 90% of its readings"
    return f"{note}: every hour of the range." if complete else f"{note}."


def _rows(balance: Balance, units: Units) -> list[Component]:
    difference, share = balance.difference, balance.share
    compared = f"{formatting.whole(balance.compared)} of {formatting.whole(balance.hours)} h"
    cells = (
        units.volume(balance.main.gallons),
        units.volume(balance.outlet),
        units.volume(difference),
        formatting.NOTHING if share is None else f"{formatting.exact(100 * share, 1)}%",
        compared,
    )
    return [
        _row(balance.main, cells),
        *(_row(each, ("", units.volume(each.gallons), "", "", "")) for each in balance.sub_meters),
    ]


def _row(meter: MeteredVolume, cells: Sequence[str]) -> Component:
    """A row of the table; ``cells`` of a sub-meter, indented below its main, begin with an empty
    one."""
    href = session.site_path(f"/devices/{quote(meter.device_id, safe='')}")
    serial = html.Span(meter.serial_number, className="quiet")
    name = html.Span([html.A(meter.label, href=href), serial], className="named")
    return html.Tr(
        [
            html.Th(html.Div(name, className="device_link"), scope="row"),
            *(html.Td(cell, className="number") for cell in cells),
        ],
        className="" if cells[0] else "sub-meter",
    )


# --- Findings ------------------------------------------------------------------------------------

MOST_LISTED: Final = 20


def findings_section(
    findings: Sequence[Finding], usages: Sequence[DeviceUsage], price: float | None, view: UsageView
) -> list[Component]:
    """Worst first; nothing without any."""
    by_id = {usage.meter.id: usage for usage in usages if usage.days}
    mine = [each for each in findings if each.device_id in by_id]
    if not mine:
        return []
    devices = directory_of((usage.meter for usage in by_id.values()), price)
    rows = [_finding_row(each, by_id[each.device_id], devices, view) for each in mine[:MOST_LISTED]]
    note = formatting.plural(len(mine), "finding")
    if len(mine) > MOST_LISTED:
        note += f", the {MOST_LISTED} worst"
    return [
        html.H2(["Findings", html.Span(f" · {note}", className="quiet")]),
        html.Div(
            summary_table(rows, "Findings by device", several=True, kind="usage"),
            className="usage-scroll",
            role="region",
            tabIndex=0,
            **labelled("Findings: table, scrollable"),
        ),
    ]


def _finding_row(
    finding: Finding, usage: DeviceUsage, devices: Directory, view: UsageView
) -> Component:
    href = session.site_path(f"/devices/{quote(usage.meter.id, safe='')}")
    device_link = html.A(usage.meter.label, href=href)
    return summary_row(finding, devices, view.units, usage.tz, usage.days[-1].end_ms, device_link)


# --- By group ------------------------------------------------------------------------------------

GROUP_HEADS: Final = ("Volume", "Share", "Cost", "Devices")


def groups_section(usages: Sequence[DeviceUsage], units: Units) -> list[Component]:
    """The totals of each group, by volume; nothing for fewer than two groups or for a single
    device."""
    names = sorted({group for usage in usages for group in usage.meter.groups})
    if len(names) < LEAST_GROUPS or len(usages) < LEAST_GROUPS:
        return []
    sums = [(name, totals([u for u in usages if name in u.meter.groups])) for name in names]
    sums.sort(key=lambda each: -(each[1].gallons or 0.0))
    whole = totals(usages).gallons
    heads = [html.Th(head, scope="col", className="number") for head in GROUP_HEADS]
    return [
        html.H2("By group"),
        html.P("A device counts in each of its groups.", className="quiet"),
        html.Div(
            html.Table(
                [
                    html.Thead(html.Tr([html.Th("Group", scope="col"), *heads])),
                    html.Tbody(
                        [
                            _group_row(name, group_totals, whole, units)
                            for name, group_totals in sums
                        ]
                    ),
                ],
                className="usage balance",
                **labelled("Usage by group"),
            ),
            className="usage-scroll",
            role="region",
            tabIndex=0,
            **labelled("By group: table, scrollable"),
        ),
    ]


def _group_row(name: str, group_totals: Totals, whole: float | None, units: Units) -> Component:
    has_share = group_totals.gallons is not None and whole is not None and whole > 0
    share = (
        f"{100 * (group_totals.gallons or 0) / (whole or 1):.1f}%"
        if has_share
        else formatting.NOTHING
    )
    costs = " + ".join(
        money(cost, currency) for currency, cost in sorted(group_totals.costs.items())
    )
    link = html.A(name, href=session.site_path(f"/usage?group={quote(name, safe='')}"))
    cells = (
        units.volume(group_totals.gallons),
        share,
        costs or formatting.NOTHING,
        formatting.whole(group_totals.devices + group_totals.sub_meters),
    )
    return html.Tr(
        [
            html.Th(html.Span(link, className="named"), scope="row"),
            *(html.Td(cell, className="number") for cell in cells),
        ]
    )


# --- The same days before ------------------------------------------------------------------------

EARLIER: Final = ((1, "Same days last month"), (12, "Same days last year"))


def _days_words(dates: Dates) -> str:
    """``1–21 Oct 2026``, ``24 Sep 2026 – 21 Oct 2026``."""
    first, last = map(date_words, dates)
    if first == last:
        return last
    same_month = first.partition(" ")[2] == last.partition(" ")[2]
    return f"{first.partition(' ')[0]}–{last}" if same_month else f"{first} – {last}"


def earlier_total(months: int, comparison: Earlier, units: Units) -> Total:
    """``1,204 gal``, ``now +12% · 1 Oct 2026 – 21 Oct 2026``."""
    label = dict(EARLIER)[months]
    days = _days_words(comparison.dates)
    name = f"earlier-{months}"
    if comparison.gallons is None or comparison.now is None:
        return Total(name, label, formatting.NOTHING, f"not enough data · {days}")
    percent = change(comparison.now, comparison.gallons)
    now = "" if percent is None else f"now {'+' if percent > 0 else ''}{percent}% · "
    return Total(name, label, units.volume(comparison.gallons), f"{now}{days}".replace("-", "−"))


# --- Month's end ---------------------------------------------------------------------------------


def month_total(forecasts: Sequence[MonthEnd], units: Units) -> Total | None:
    """None without a forecast. One device has its interval; several have their sum without one,
    since intervals don't add up."""
    if not forecasts:
        return None
    expected = [each.volume.expected for each in forecasts if each.volume.expected is not None]
    if len(expected) < len(forecasts):
        return Total("month-end", "Month end", formatting.NOTHING, "too early to say")
    costs: defaultdict[str, float] = defaultdict(float)
    for each in forecasts:
        if each.cost is not None and each.cost.expected is not None:
            costs[each.currency] += each.cost.expected
    price = " + ".join(money(amount, currency) for currency, amount in costs.items())
    parts = [_month_interval(forecasts[0], units)] if len(forecasts) == 1 else []
    tariffs = tariff_words(sorted({each.tariff for each in forecasts if each.tariff}))
    states = [budget_words(each.budgets, units) for each in forecasts if len(forecasts) == 1]
    note = " · ".join(part for part in (*parts, price, tariffs if price else "", *states) if part)
    return Total("month-end", "Month end", units.volume(sum(expected)), note or "expected")


def _month_interval(forecast: MonthEnd, units: Units) -> str:
    """``85,200 gal – 93,100 gal``, of 80 %; empty if unknown."""
    bounds = forecast.volume.interval
    return "" if bounds is None else f"{units.volume(bounds.low80)} – {units.volume(bounds.high80)}"
