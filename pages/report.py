"""A report: the devices' use as a document to read, print and save."""

from __future__ import annotations

from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import WeirError
from api.timez import now_ms, to_datetime
from components import html_json, shell
from components.controls import failure
from components.fleet.queries import current_access
from components.report.content import answer
from components.report.layout import SHEETS, Ids, report_page, tools
from components.report.url_state import PATH, read_report_view
from components.url_state import read_question, read_text, unread
from components.usage.callback_results import choices

register_page(__name__, path=PATH, title="Report · Weir")


def layout(**params: Any) -> Component:
    """The frame without data: the document comes with the first replies."""
    view = read_report_view(params)
    today = to_datetime(now_ms()).date()
    remarks = unread(
        params, {"range": view.usage.range == params.get("range"), "metric": view.tab is not None}
    )
    return shell.frame(report_page(view, today), tools=tools(view.usage), remarks=remarks)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.BODY),
    Input(Ids.QUESTION, "data"),
)
def report(question: Any) -> tuple[Any, Any]:
    """The loaded part of the report; on failure the last one stays."""
    params = read_question(question)
    view = read_report_view(params)
    try:
        reply = answer(current_access(), view, shell.organization_name(), now_ms())
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, no_update
    body = reply.pop("body")
    return {**reply, "request_id": params.get("request_id")}, body


@callback(
    html_json.output(Ids.OFFERED),
    Input(Ids.SOUGHT, "value"),
    Input(Ids.QUESTION, "data"),
)
def to_choose(sought: Any, question: Any) -> Any:
    """If the devices can't be listed, the report shows the error."""
    view = read_report_view(read_question(question))
    return choices(current_access(), read_text(sought), view.usage.devices, now_ms())


clientside_callback(
    ClientsideFunction("usage", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.ANSWER, "data"),
    State(Ids.QUESTION, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)
