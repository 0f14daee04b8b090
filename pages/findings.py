"""Findings: problems, worst first, each with its evidence, to view or to dismiss."""

from __future__ import annotations

from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import NotFound, WeirError
from api.timez import now_ms
from components import html_json, session, shell
from components.controls import failure, message
from components.findings import queries, rows
from components.findings.detail import detail, figure
from components.findings.layout import PATH, SHEETS, Ids, findings_page, findings_tools
from components.findings.queries import PAGE, inbox, one, small_charts
from components.findings.texts import clock
from components.findings.url_state import read_findings_view
from components.fleet.queries import current_access
from components.html_json import sheet
from components.url_state import read_question, read_text, unread

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
        sheet(rows.summary(result, view)),
        sheet(rows.state_buttons(result, view)),
        sheet(rows.kind_chips(result, view)),
        sheet(rows.listing(result, lines, view, now)),
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
        return picture, sheet(message("No such finding", GONE, _all_findings()))
    except WeirError as error:
        return {**picture, "error": failure(error)}, no_update
    tz = clock(shown.detail.finding, shown.devices, view.zone, now).tz
    picture["figure"] = figure(shown.detail, view.units, tz)
    return picture, sheet(detail(shown, view, now))


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
