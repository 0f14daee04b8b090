"""Compare: volumes of up to twelve devices or groups, in one chart or one each, and ranked."""

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
from components.compare.cards import answer, files, offered
from components.compare.layout import SHEETS, Ids, compare_page, tools
from components.compare.url_state import PATH, read_compare_view
from components.controls import failure
from components.fleet.queries import current_access
from components.url_state import read_question, read_text, unread

register_page(__name__, path=PATH, title="Compare · Weir")


def layout(**query: Any) -> Component:
    """The frame without data: the charts come with the first reply."""
    view = read_compare_view(query)
    remarks = unread(query, {"range": view.days.range == query.get("range")})
    today = to_datetime(now_ms()).date()
    return shell.frame(
        compare_page(view, today), place=PATH, tools=tools(view.days), remarks=remarks
    )


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.PICTURES),
    html_json.output(Ids.BARS),
    html_json.output(Ids.CHIPS),
    html_json.output(Ids.HOW),
    Output(Ids.EXPORTS, "children"),
    Input(Ids.QUESTION, "data"),
)
def comparison(question: Any) -> tuple[Any, ...]:
    """All compared items, by one request; on failure the last reply stays."""
    params = read_question(question)
    view = read_compare_view(params)
    try:
        reply = answer(current_access(), view, now_ms())
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, *(no_update,) * 5
    parts = [reply.pop(name) for name in ("pictures", "bars", "chips", "how")]
    return {**reply, "request_id": params.get("request_id")}, *parts, files(view)


@callback(
    html_json.output(Ids.OFFERED),
    Input(Ids.SOUGHT, "value"),
    Input(Ids.QUESTION, "data"),
)
def to_choose(sought: Any, question: Any) -> Any:
    """If the devices can't be listed, the comparison shows the error."""
    view = read_compare_view(read_question(question))
    return offered(current_access(), read_text(sought), view, now_ms())


clientside_callback(
    ClientsideFunction("usage", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.ANSWER, "data"),
    State(Ids.QUESTION, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)
