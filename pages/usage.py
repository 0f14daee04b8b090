"""Usage: volume, cost, flow and uptime of chosen devices over local days."""

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
from components.concurrent_queries import current_access
from components.controls import failure
from components.url_state import read_question, read_text, unread
from components.usage.page import PATH, SHEETS, Ids, answer, choices, files, usage_page, usage_tools
from components.usage.url_state import read_usage_view

register_page(__name__, path=PATH, title="Usage · Weir")


def layout(**params: Any) -> Component:
    """The frame without data: the numbers come with the first replies."""
    view = read_usage_view(params)
    today = to_datetime(now_ms()).date()
    remarks = unread(params, {"range": view.range == params.get("range")})
    return shell.frame(
        usage_page(view, today), place=PATH, tools=usage_tools(view), remarks=remarks
    )


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMS),
    html_json.output(Ids.TABLE),
    Output(Ids.EXPORTS, "children"),
    Input(Ids.QUESTION, "data"),
)
def summary(question: Any) -> tuple[Any, Any, Any, Any]:
    """The loaded part of the view; on failure the last one stays."""
    params = read_question(question)
    view = read_usage_view(params)
    try:
        reply = answer(current_access(), view, now_ms())
    except WeirError as error:
        reply = {"error": failure(error)}
        return {**reply, "request_id": params.get("request_id")}, no_update, no_update, no_update
    sums, rows = reply.pop("sums"), reply.pop("table")
    return {**reply, "request_id": params.get("request_id")}, sums, rows, files(view)


@callback(
    html_json.output(Ids.OFFERED),
    Input(Ids.SOUGHT, "value"),
    Input(Ids.QUESTION, "data"),
)
def to_choose(sought: Any, question: Any) -> Any:
    """If the devices can't be listed, the summary shows the error."""
    view = read_usage_view(read_question(question))
    return choices(current_access(), read_text(sought), view.devices, now_ms())


clientside_callback(
    ClientsideFunction("usage", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.ANSWER, "data"),
    State(Ids.QUESTION, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)
