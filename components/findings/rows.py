"""The list of the inbox: its heading, its filters, and a row for each finding, grouped by
severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.client.findings import Finding
from api.insight.findings import KINDS
from components import finding_text, formatting, session
from components.charts.marks import DIAMONDS
from components.controls import attributes, labelled
from components.directory_queries import Directory, Meter
from components.findings.queries import (
    MOST_LISTED,
    PAGE,
    STATES,
    FindingsView,
    Inbox,
    spark_window,
    write_findings_view,
)
from components.fleet.sparklines import Spark
from components.formatting import Clock
from components.shell import FINDINGS_PATH
from components.units import Units

HEADINGS: Final = ("Finding", "Began", "Last 48 h", "How much", "Volume", "Cost")
MOST_CHIPS: Final = 6


def address(view: FindingsView, **changes: str | None) -> str:
    """The address of the page with that view and changes to it."""
    params = {k: v for k, v in (write_findings_view(view) | changes).items() if v}
    return session.site_path(FINDINGS_PATH + (f"?{urlencode(params)}" if params else ""))


# --- Above the list ------------------------------------------------------------------------------


def summary(inbox: Inbox, view: FindingsView) -> list[Any]:
    """``6 need attention · at least $120.05 a day at stake · 3 notices``."""
    if view.state != "open" or not inbox.listed:
        return []
    notices = sum(each.severity == "notice" for each in inbox.listed)
    urgent = len(inbox.listed) - notices
    parts: list[Any] = []
    if urgent:
        parts.append(f"{formatting.whole(urgent)} {'needs' if urgent == 1 else 'need'} attention")
    if stake := finding_text.at_stake(inbox.listed, inbox.devices):
        parts.append([html.Strong(stake), " at stake"])
    if notices:
        parts.append(formatting.plural(notices, "notice"))
    made: list[Any] = []
    for part in parts:
        made += [*([" · "] if made else []), *([part] if isinstance(part, str) else part)]
    return made


def state_buttons(inbox: Inbox, view: FindingsView) -> list[Component]:
    return [
        html.Button(
            [label, " ", html.B(formatting.whole(inbox.states[state]))],
            type="button",
            className="segment",
            **attributes(
                data_set="state",
                data_value=state,
                data_default="true" if state == "open" else "false",
                aria_pressed="true" if state == view.state else "false",
            ),
        )
        for state, label in STATES.items()
    ]


def kind_chips(inbox: Inbox, view: FindingsView) -> list[Component]:
    """Chips of the kinds that occur or are chosen; those that don't fit are under "More"."""
    here = [k for k in KINDS if inbox.kinds.get(k.name) or k.name in view.kinds]
    here.sort(key=lambda kind: kind.name not in view.kinds)
    chips = [_chip(k.name, k.label, inbox.kinds.get(k.name, 0), view) for k in here]
    more = chips[MOST_CHIPS:]
    if not more:
        return chips
    menu = html.Details(
        [
            html.Summary("More", className="button"),
            html.Div(html.Div(more, className="finding-more"), className="menu-body"),
        ],
        className="menu",
    )
    return [*chips[:MOST_CHIPS], menu]


def _chip(name: str, label: str, count: int, view: FindingsView) -> Component:
    pressed = "true" if name in view.kinds else "false"
    return html.Button(
        [label, " ", html.B(formatting.whole(count))],
        type="button",
        className="chip",
        **attributes(data_kind=name, aria_pressed=pressed),
    )


# --- The list ------------------------------------------------------------------------------------


def listing(
    inbox: Inbox, lines: Mapping[str, Spark], view: FindingsView, now_ms: int
) -> list[Component]:
    shown = inbox.shown(view.page)
    if not shown:
        return empty(inbox, view)
    head = html.Div(
        [html.Span(), *(html.Span(text) for text in HEADINGS)],
        className="finding-head",
        **attributes(aria_hidden="true"),
    )
    groups = groupby(shown, key=lambda each: each.severity)
    sections = [_section(name, list(some), inbox, lines, view, now_ms) for name, some in groups]
    return [head, *sections, *_pager(inbox, view)]


def _section(
    severity: str,
    some: Sequence[Finding],
    inbox: Inbox,
    lines: Mapping[str, Spark],
    view: FindingsView,
    now_ms: int,
) -> Component:
    """A severity's findings; its count and sum are over the whole list, not just the page."""
    every = [each for each in inbox.listed if each.severity == severity]
    heading = html.H2(
        [
            diamond(severity),
            html.Span(finding_text.SEVERITY_WORDS[severity]),
            html.Span(formatting.whole(len(every)), className="quiet"),
            html.Span(
                finding_text.at_stake(every, inbox.devices) if view.state == "open" else "",
                className="finding-sum",
            ),
        ],
        className="finding-group",
    )
    items = [html.Li(_row(each, inbox, lines.get(each.id), view, now_ms)) for each in some]
    return html.Section([heading, html.Ul(items, className="finding-rows")])


def diamond(severity: str) -> Component:
    return html.Span(
        DIAMONDS[severity],
        className="diamond",
        **attributes(data_severity=severity, aria_hidden="true"),
    )


def _row(
    finding: Finding, inbox: Inbox, line: Spark | None, view: FindingsView, now_ms: int
) -> Component:
    devices, units = inbox.devices, view.units
    at = finding_text.clock(finding, devices, view.zone, now_ms)
    where = [finding_text.label(finding, devices), finding_text.group(finding, devices)]
    loss = finding.gallons is not None
    so_far = finding_text.bounded("so far" if finding.end_ms is None else "in all", finding)
    cells = [
        _cell("finding-kind", finding_text.kind_of(finding).label, " · ".join(filter(None, where))),
        _cell(
            "finding-began",
            finding_text.began(finding, at, now_ms),
            finding_text.age(finding, now_ms),
        ),
        _chart(finding, line, now_ms),
        _cell(
            "finding-much",
            finding_text.how_much(finding, units, now_ms),
            finding_text.against(finding, units)
            if finding_text.kind_of(finding).against == "limit"
            else finding_text.kind_of(finding).caption,
        ),
        _cell("finding-far number", finding_text.so_far(finding, units), so_far if loss else ""),
        _cell(
            "finding-cost number",
            finding_text.cost(finding, devices),
            finding_text.bounded("a day", finding) if finding.cost_per_day is not None else "",
        ),
    ]
    return html.A(
        [
            diamond(finding.severity),
            html.Span(finding_text.SEVERITY_WORDS[finding.severity], className="sr-only"),
            *cells,
        ],
        href=address(view, finding=finding.id),
        className="finding-row",
        **attributes(data_finding=finding.id),
    )


def _cell(kind: str, text: str, note: str) -> Component:
    return html.Span(
        [html.B(text), html.Span(note, className="quiet")], className=f"finding-cell {kind}"
    )


def _chart(finding: Finding, line: Spark | None, now_ms: int) -> Component:
    """Data for assets/findings.js. A screen reader gets its text only."""
    if line is None or not line.line:
        text = "No readings in 48 h" if line is not None else ""
        return html.Span(text, className="finding-chart quiet")
    window = spark_window(now_ms)
    ends = (finding.start_ms, finding.end_ms or now_ms)
    left, right = (
        round(min(1, max(0, (at - window.from_ms) / window.length_ms)) * line.width) for at in ends
    )
    return html.Span(
        className="finding-chart",
        **attributes(
            data_line=line.line,
            data_gaps=line.gaps,
            data_width=str(line.width),
            data_span=f"{left} {right}" if right > left else "",
            data_severity=finding.severity,
            aria_hidden="true",
        ),
    )


def _pager(inbox: Inbox, view: FindingsView) -> list[Component]:
    if inbox.pages == 1:
        return []
    last = min(len(inbox.listed), view.page * PAGE)
    text = f"{(view.page - 1) * PAGE + 1}–{last} of {formatting.whole(inbox.count)}"
    if inbox.count > MOST_LISTED:
        text += f"; the {formatting.whole(MOST_LISTED)} worst are listed, the file has all"
    buttons = [
        html.Button(
            label,
            type="button",
            className="button",
            disabled=not 1 <= page <= inbox.pages,
            **attributes(data_page=str(page)),
        )
        for label, page in (("Previous", view.page - 1), ("Next", view.page + 1))
    ]
    return [html.Div([html.Span(text), *buttons], className="pager finding-pager")]


def empty(inbox: Inbox, view: FindingsView) -> list[Component]:
    """The message of an empty list, with a link."""
    if view.filtered:
        text = f"No {STATES[view.state].lower()} finding matches these filters."
        bare = FindingsView(state=view.state, zone=view.zone, units=view.units)
        return _nothing(text, "Clear the filters", address(bare))
    if view.state == "open":
        if inbox.unchecked:
            devices = formatting.plural(inbox.unchecked, "device")
            return _nothing(f"Nothing so far. Readings of {devices} are being checked.", "", "")
        closed = inbox.states["closed"]
        way = f"{formatting.whole(closed)} closed" if closed else ""
        return _nothing("Nothing open.", way, address(view, state="closed", finding=None))
    return _nothing(
        f"Nothing {STATES[view.state].lower()}.", "Open findings", address(FindingsView())
    )


def _nothing(text: str, way: str, href: str) -> list[Component]:
    link = [html.A(way, href=href, className="button")] if way else []
    return [html.Div([html.P(text), *link], className="empty finding-empty")]


# --- The summary of a span as a table -------------------------------------------------------------


HEADS: Final = ("Began", "Ended", "How much", "Volume", "Cost a day")


def directory_of(meters: Iterable[Meter], price: float | None) -> Directory:
    """``price``: per gallon, for devices without one of their own."""
    listed = tuple(meters)
    return Directory(0, listed, {meter.id: meter for meter in listed}, price, ())


def summary_row(
    finding: Finding,
    devices: Directory,
    units: Units,
    tz: ZoneInfo,
    until_ms: int,
    device_link: Component | None = None,
) -> Component:
    """``until_ms``: the end of the range, whose year is left out. ``device_link``: the device, if
    the table has several."""
    at = Clock(tz, finding.start_ms, max(finding.start_ms, finding.end_ms or 0, until_ms))
    ended = finding.end_ms is not None and finding_text.instant(finding.end_ms, at, until_ms)
    cells = (
        finding_text.instant(finding.start_ms, at, until_ms),
        ended or f"still {finding.state}",
        finding_text.how_much(finding, units),
        finding_text.so_far(finding, units),
        finding_text.cost(finding, devices),
    )
    name = html.Th(
        [diamond(finding.severity), f" {finding_text.kind_of(finding).label}"],
        scope="row",
        title=finding_text.sentence(finding, units),
    )
    device = [html.Td(device_link)] if device_link is not None else []
    return html.Tr([name, *device, *(html.Td(cell, className="number") for cell in cells)])


def summary_table(rows: list[Component], name: str, *, several: bool, kind: str) -> Component:
    """``kind``: the table's class. With ``several`` devices each row has its device."""
    heads = [
        html.Th("Finding", scope="col"),
        *([html.Th("Device", scope="col")] if several else []),
    ]
    heads += [html.Th(head, scope="col", className="number") for head in HEADS]
    return html.Table(
        [html.Thead(html.Tr(heads)), html.Tbody(rows)], className=kind, **labelled(name)
    )
