"""A report as a document, the same for the page and the PDF. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from dash import html
from dash.development.base_component import Component

from api.timez import EPOCH_DAY, local_ordinal, zone_or_utc
from components import formatting, session
from components.annotations.panel import KINDS, effect, when
from components.concurrent_queries import Deadline, ServiceAccess
from components.controls import attributes, labelled
from components.findings.rows import directory_of, summary_row, summary_table
from components.fleet.wall import Total
from components.formatting import MONTHS, day_text, local_date
from components.html_json import as_nodes
from components.report import text as report_text
from components.report.queries import (
    MOST_DEVICES,
    Detail,
    Report,
    ReportView,
    load_part,
    write_report_view,
)
from components.report.text import page_rules
from components.units import Units
from components.usage import sections, table
from components.usage.queries import PAGE_PATIENCE_S
from components.usage.sums import Day, DeviceUsage, totals
from components.usage.table import (
    HEADS,
    amounts,
    days_words,
    length_words,
    number_cells,
    sums,
)

CHART: Final = "/export/report/chart.json"
DAY_HEADS: Final = ("Volume", "Cost", "Mean flow", "Max flow", "Coverage")
MARKED_DAYS: Final = 45  # above this number of days only months are labelled below the bars


def document(report: Report, view: ReportView, organization: str) -> list[Component]:
    """As far as it is loaded: heading, totals, one table of all, then each device with its
    findings."""
    usages = report.usages
    several = len(report.picked.meters) > 1
    made: list[Component] = [_head(report, view, organization)]
    if several and usages:
        made += [_together(usages, view.usage.units), _summary(usages, view.usage.units)]
    if report.balances:
        parts = sections.balance_section(report.balances, view.usage.units, kind="report-table")
        made.append(html.Section(parts, className="report-summary"))
    if report.progress.complete:
        made += [
            _device(each, report.details.get(each.meter.id, Detail()), view, several=several)
            for each in usages
        ]
    return made


def _head(report: Report, view: ReportView, organization: str) -> Component:
    facts = (
        html.Div([html.Dt(name), html.Dd(value)])
        for name, value in report_text.facts(report, view, organization)
    )
    return html.Header(
        [
            html.P(report_text.KIND, className="report-kind"),
            html.H1(report_text.title(report, view)),
            html.Dl(list(facts), className="report-facts"),
        ],
        className="report-head",
    )


def _amounts(shown_totals: Sequence[Total]) -> list[Component]:
    return [
        html.Div(
            [
                html.Dt(total.label),
                html.Dd(total.value, className="value"),
                html.Dd(total.note, className="note"),
            ]
        )
        for total in shown_totals
    ]


# --- Several devices -----------------------------------------------------------------------------


def _together(usages: Sequence[DeviceUsage], units: Units) -> Component:
    return html.Section(
        html.Dl(_amounts(sums(totals(usages), units)), className="report-numbers"),
        **labelled("Total"),
    )


def _summary(usages: Sequence[DeviceUsage], units: Units) -> Component:
    cells = amounts([(each, each) for each in usages], units)
    rows = [_summary_row(each, texts) for each, texts in zip(usages, cells, strict=True)]
    sums_row = _sum_row(usages, units)
    return html.Section(
        [html.H2("By device"), _table("By device", "Device", HEADS, [*rows, sums_row])],
        className="report-summary",
    )


def _summary_row(usage: DeviceUsage, texts: tuple[str, ...]) -> Component:
    name = html.A(usage.meter.label, href=f"#{_anchor(usage)}")
    head = html.Th([name, html.Span(usage.meter.serial, className="quiet")], scope="row")
    if usage.failure:
        return html.Tr([head, html.Td(usage.failure, colSpan=len(HEADS), className="trouble")])
    cells = (*texts, days_words(usage))
    return html.Tr([head, *number_cells(cells)])


def _sum_row(usages: Sequence[DeviceUsage], units: Units) -> Component:
    """The row of totals. Costs of several currencies have no sum; they stand above the table."""
    total_usage = totals(usages)
    of = {total.name: total.value for total in sums(total_usage, units)}
    cells = (of["volume"], of["cost"], formatting.NOTHING, of["flow"], of["uptime"], "")
    return html.Tr([html.Th("Total", scope="row"), *number_cells(cells)], className="sum")


# --- One device ----------------------------------------------------------------------------------


def _anchor(usage: DeviceUsage) -> str:
    return f"device-{usage.meter.id}"


def _device(usage: DeviceUsage, detail: Detail, view: ReportView, *, several: bool) -> Component:
    units = view.usage.units
    made: list[Component] = []
    if several:
        parts = (usage.meter.serial, usage.meter.model, usage.tz.key)
        made += [
            html.H2(usage.meter.label),
            html.P(" · ".join(part for part in parts if part), className="quiet"),
        ]
    if usage.failure:
        made.append(html.P(usage.failure, className="trouble"))
    elif not usage.days:
        made.append(html.P("This range is in the future.", className="empty"))
    else:
        numbers = report_text.numbers(usage, detail, units)
        made += [
            html.Dl(_amounts(numbers), className="report-numbers"),
            chart_place(usage, view),
            _bars(usage, units),
            _days(usage, units),
            *_findings(usage, detail, units),
            *_annotations(usage, detail),
        ]
    return html.Section(
        made,
        id=_anchor(usage),
        className="report-device apart" if several else "report-device",
        **labelled(usage.meter.label),
    )


def chart_place(usage: DeviceUsage, view: ReportView) -> Component:
    """The place of the chart; the page's script and the PDF fill it."""
    written = write_report_view(view) | {"units": view.usage.units.name}  # a browser keeps it
    params = {name: text for name, text in written.items() if text}
    params = {n: t for n, t in params.items() if n not in ("devices", "q", "group", "paper")}
    query = urlencode({**params, "devices": usage.meter.id})
    address = session.site_path(f"{CHART}?{query}")
    return html.Figure(
        className="report-chart",
        **attributes(data_chart=address, data_device=usage.meter.id),
    )


def _bars(usage: DeviceUsage, units: Units) -> Component:
    """Volume by local day. The table below has its values."""
    most = max((day.gallons or 0.0 for day in usage.days), default=0.0)
    top = most or 1.0
    few = len(usage.days) <= MARKED_DAYS
    bars = [
        html.Span(
            html.Span(
                className="fill",
                style={"height": f"{max(0.0, 100 * (day.gallons or 0.0) / top):.1f}%"},
            ),
            className="day-bar none" if day.gallons is None else "day-bar",
        )
        for day in usage.days
    ]
    marks = [html.Span(_mark(day, few=few)) for day in usage.days]
    return html.Figure(
        [
            html.Figcaption(f"Volume by day{f', up to {units.volume(most)}' if most else ''}"),
            html.Div(bars, className="bars", **attributes(aria_hidden="true")),
            html.Div(marks, className="marks", **attributes(aria_hidden="true")),
        ],
        className="report-bars",
    )


def _mark(day: Day, *, few: bool) -> str:
    """Labels on Mondays if there is room, otherwise on the first of a month."""
    date = local_date(day.ordinal - EPOCH_DAY)
    month = MONTHS[date.month - 1]
    if few:
        return f"{date.day} {month}" if date.weekday() == 0 else ""
    return month if date.day == 1 else ""


def _days(usage: DeviceUsage, units: Units) -> Component:
    *days, whole = amounts([(usage, part) for part in (*usage.days, usage)], units)
    rows = [_day(day, texts) for day, texts in zip(usage.days, days, strict=True)]
    cells = number_cells(whole)
    together = html.Tr([html.Th("Total", scope="row"), *cells], className="sum")
    return _table(f"Days of {usage.meter.label}", "Day", DAY_HEADS, [*rows, together])


def _day(day: Day, texts: tuple[str, ...]) -> Component:
    odd = length_words(day)
    cells = number_cells(texts)
    mark = [html.Span(f" · {odd}", className="odd")] if odd else []
    head = html.Th([day_text(day.ordinal - EPOCH_DAY), *mark], scope="row")
    return html.Tr([head, *cells], className="" if day.gallons is not None else "off")


def _table(name: str, first: str, heads: Iterable[str], rows: Sequence[Component]) -> Component:
    columns = [
        html.Th(first, scope="col"),
        *(html.Th(head, scope="col", className="number") for head in heads),
    ]
    return html.Div(
        html.Table(
            [html.Thead(html.Tr(columns)), html.Tbody(list(rows))],
            className="report-table",
            **labelled(name),
        ),
        className="report-scroll",
        role="region",
        tabIndex=0,
        **labelled(f"{name}: table, scrollable"),
    )


def _findings(usage: DeviceUsage, detail: Detail, units: Units) -> list[Component]:
    """The findings of the range, worst first; nothing without any."""
    if not detail.findings:
        return []
    price = None if usage.price is None else usage.price.per_gallon
    devices, until_ms = directory_of([usage.meter], price), usage.days[-1].end_ms
    rows = [summary_row(each, devices, units, usage.tz, until_ms) for each in detail.findings]
    name = f"Findings of {usage.meter.label}"
    table = summary_table(rows, name, several=False, kind="report-table")
    return [html.H3("Findings"), html.Div(table, className="report-scroll")]


def _annotations(usage: DeviceUsage, detail: Detail) -> list[Component]:
    """Notes, maintenance and corrections of the range, in order of time."""
    if not detail.annotations:
        return []
    rows = [
        html.Tr(
            [
                html.Th(KINDS[each.kind], scope="row"),
                html.Td(when(each, usage.tz)),
                html.Td(each.body if each.kind != "correction" else f"{effect(each)}: {each.body}"),
            ]
        )
        for each in detail.annotations
    ]
    heads = [html.Th(name, scope="col") for name in ("What", "When", "Text")]
    table = html.Table(
        [html.Thead(html.Tr(heads)), html.Tbody(rows)],
        className="report-table annotations",
        **labelled(f"Notes of {usage.meter.label}"),
    )
    return [html.H3("Notes"), html.Div(table, className="report-scroll")]


# --- What the callback returns --------------------------------------------------------------------


def answer(
    access: ServiceAccess, view: ReportView, organization: str, now_ms: int
) -> dict[str, Any]:
    """Raises a WeirError if the whole service fails."""
    report = load_part(access, view, Deadline(PAGE_PATIENCE_S), now_ms)
    today = local_ordinal(zone_or_utc(view.usage.zone), now_ms)
    first, last = view.usage.dates(today)
    body = [] if report.trouble else as_nodes(document(report, view, organization))
    return {
        "empty": report.trouble,
        "body": body,
        "progress": report.progress.words,
        "complete": report.progress.complete,
        "range": "the last 366 days of the range" if view.usage.cut else "",
        "dates": [table.iso(first), table.iso(max(first, last))],
        "chosen": f"{formatting.whole(report.picked.matched)} of at most {MOST_DEVICES} devices",
        "groups": list(report.picked.groups),
        "moves": view.usage.moves,
        "page": page_rules(report_text.title(report, view), report_text.range_words(report.usages)),
    }
