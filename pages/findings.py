"""Findings: problems, worst first, each with its evidence, to view or to dismiss.

assets/findings.js fills and refreshes the page.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import NotFound, WeirError
from api.timez import now_ms
from components import html_json, session, shell
from components.concurrent_queries import current_access
from components.controls import (
    Entry,
    Section,
    attributes,
    failure,
    labelled,
    menu,
    message,
    notice,
    select,
    units_select,
    zone_select,
)
from components.finding_text import SEVERITY_WORDS, clock
from components.findings import queries, rows
from components.findings.detail import detail, figure
from components.findings.queries import (
    PAGE,
    FindingsView,
    inbox,
    one,
    read_findings_view,
    small_charts,
    write_findings_view,
)
from components.html_json import as_nodes
from components.shell import FINDING_SETTINGS_PATH as SETTINGS_PATH
from components.shell import FINDINGS_PATH
from components.url_state import read_question, read_text, unread

PATH = FINDINGS_PATH
KEYS = (
    ("j", "next"),
    ("k", "previous"),
    ("Enter", "open chart"),
    ("x", "dismiss"),
    ("?", "all keys"),
)
EVERY_KEY = (
    ("j, ↓", "Next finding"),
    ("k, ↑", "Previous finding"),
    ("Enter", "Open its chart"),
    ("x", "Dismiss it, or take the dismissal back"),
    ("u", "Undo the last dismissal"),
    ("Esc", "Close what is open; on a phone, back to the list"),
    ("?", "These keys"),
)


class Ids(StrEnum):
    """Ids, also used by assets/findings.js."""

    PAGE = "findings"
    QUESTION = "findings-question"
    ANSWER = "findings-answer"
    DRAWN = "findings-drawn"
    CHOSEN = "findings-chosen"
    SHOWN = "findings-shown"
    PICTURE = "findings-picture"
    DEED = "findings-deed"
    DONE = "findings-done"
    NOTIFIED = "findings-notified"
    SUMMARY = "findings-summary"
    STATES = "findings-states"
    KINDS = "findings-kinds"
    GROUP = "findings-group"
    NOTICE = "findings-notice"
    LIST = "findings-list"
    DETAIL = "findings-detail"
    KEYS = "findings-keys"


SHEETS = (Ids.SUMMARY, Ids.STATES, Ids.KINDS, Ids.LIST, Ids.DETAIL)

register_page(__name__, path=PATH, title="Findings · Weir")
GONE = "Finding not found, or you don't have access. Late readings may have taken it back."


def layout(**query: Any) -> Component:
    """The frame without data: the findings come with the first reply."""
    view = read_findings_view(query)
    return shell.frame(
        findings_page(view), place=PATH, tools=findings_tools(view), remarks=unread(query, {})
    )


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMMARY),
    html_json.output(Ids.STATES),
    html_json.output(Ids.KINDS),
    html_json.output(Ids.LIST),
    Input(Ids.QUESTION, "data"),
)
def listed(question: Any) -> tuple[Any, ...]:
    """The list of the view; on failure the last one stays."""
    params, access, now = read_question(question), current_access(), now_ms()
    view = read_findings_view(params)
    try:
        result = inbox(access, view, now)
        lines = small_charts(access, result.shown(view.page), now)
    except WeirError as error:
        status = {"error": failure(error), "request_id": params.get("request_id")}
        return status, *(no_update,) * 4
    status = {
        "request_id": params.get("request_id"),
        "groups": list(result.devices.groups),
        "order": [each.id for each in result.shown(view.page)],
        "first": (view.page - 1) * PAGE + 1,
        "total": result.count,
    }
    return (
        status,
        as_nodes(rows.summary(result, view)),
        as_nodes(rows.state_buttons(result, view)),
        as_nodes(rows.kind_chips(result, view)),
        as_nodes(rows.listing(result, lines, view, now)),
    )


@callback(
    Output(Ids.PICTURE, "data"),
    html_json.output(Ids.DETAIL),
    Input(Ids.CHOSEN, "data"),
    prevent_initial_call=True,
)
def chosen(question: Any) -> tuple[Any, Any]:
    """The detail of the chosen finding."""
    params, now = read_question(question), now_ms()
    view = read_findings_view(params)
    if not view.finding:
        return None, []
    picture: dict[str, Any] = {"finding": view.finding}
    try:
        shown = one(current_access(), view.finding, now)
    except NotFound:
        return picture, as_nodes(message("No such finding", GONE, _all_findings()))
    except WeirError as error:
        return {**picture, "error": failure(error)}, no_update
    tz = clock(shown.detail.finding, shown.devices, view.zone, now).tz
    picture["figure"] = figure(shown.detail, view.units, tz)
    return picture, as_nodes(detail(shown, view, now))


def _all_findings() -> Component:
    return html.A("All findings", href=session.site_path(PATH), className="button")


@callback(Output(Ids.DONE, "data"), Input(Ids.DEED, "data"), prevent_initial_call=True)
def judge(deed: Any) -> dict[str, Any]:
    """Dismisses a finding, or undoes that; returns the effect as a sentence."""
    request = read_question(deed)
    id, what = read_text(request.get("finding")), read_text(request.get("do"))
    try:
        judged = queries.judge(
            id, what, read_text(request.get("reason")), read_text(request.get("as"))
        )
    except WeirError as error:
        return {"request_id": request.get("request_id"), "error": failure(error)}
    return {
        "request_id": request.get("request_id"),
        "finding": id,
        "do": what,
        "words": judged.words,
    }


for function, output, source in (
    ("listed", Ids.DRAWN, Ids.ANSWER),
    ("pictured", Ids.SHOWN, Ids.PICTURE),
    ("done", Ids.NOTIFIED, Ids.DONE),
):
    clientside_callback(
        ClientsideFunction("findings", function),
        Output(output, "data"),
        Input(source, "data"),
        prevent_initial_call=True,
    )
html_json.drawn(*SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def findings_page(view: FindingsView) -> Component:
    stores = (
        Ids.ANSWER,
        Ids.DRAWN,
        Ids.CHOSEN,
        Ids.SHOWN,
        Ids.PICTURE,
        Ids.DEED,
        Ids.DONE,
        Ids.NOTIFIED,
    )
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_findings_view(view)),
            *(dcc.Store(id=id) for id in stores),
            *(html_json.store(id) for id in SHEETS),
            _heading(view),
            _filters(view),
            notice(Ids.NOTICE),
            html.Div(
                [
                    html.Section(
                        id=Ids.LIST, className="card findings-list", **labelled("Findings")
                    ),
                    html.Section(
                        id=Ids.DETAIL,
                        className="card finding-detail",
                        tabIndex=-1,
                        **labelled("The finding"),
                    ),
                ],
                className="findings-columns",
            ),
            _keys(),
        ],
        id=Ids.PAGE,
        **attributes(data_state="loading", data_view="detail" if view.finding else "list"),
    )


def findings_tools(view: FindingsView) -> list[Component]:
    return [units_select(view.units), zone_select("Each device’s zone", view.zone)]


def _heading(view: FindingsView) -> Component:
    files = (
        Entry("CSV", ".csv", "/download/findings.csv", here=True),
        Entry("Excel workbook", ".xlsx", "/download/findings.xlsx", here=True),
    )
    export = menu("Export", [Section("All that match", files)], name="Export these findings")
    settings = dcc.Link("Settings", href=session.site_path(SETTINGS_PATH), className="button")
    return html.Div(
        [
            html.H1("Findings"),
            html.P(id=Ids.SUMMARY, className="findings-summary", role="status"),
            html.Div([settings, export], className="fleet-right"),
        ],
        className="heading",
    )


def _filters(view: FindingsView) -> Component:
    severities = [("", "All severities"), *SEVERITY_WORDS.items()]
    return html.Div(
        [
            html.Div(id=Ids.STATES, className="segments", role="group", **labelled("State")),
            html.Div(id=Ids.KINDS, className="finding-kinds", role="group", **labelled("Kind")),
            html.Div(
                [
                    select("Severity", "severity", severities, chosen=view.severity),
                    html.Span(id=Ids.GROUP),
                ],
                className="fleet-right",
            ),
        ],
        className="findings-filters",
    )


def _keys() -> Component:
    short = [html.Span([html.Kbd(key), f" {deed}"], className="finding-key") for key, deed in KEYS]
    every = html.Dl(
        [html.Div([html.Dt(html.Kbd(key)), html.Dd(deed)]) for key, deed in EVERY_KEY],
        id=Ids.KEYS,
        className="card finding-every-key",
        hidden=True,
        tabIndex=-1,
        **labelled("Keys"),
    )
    return html.Footer([html.Div(short, className="finding-keys"), every])
