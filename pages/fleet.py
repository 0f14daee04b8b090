"""The fleet at a glance: up to fifty tiles, and the totals over all devices."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, callback, clientside_callback, register_page
from dash.development.base_component import Component

from api.errors import WeirError
from api.timez import now_ms
from components import shell
from components.controls import failure
from components.fleet.layout import Ids, fleet_page, fleet_tools
from components.fleet.queries import current_access
from components.fleet.url_state import read_fleet_view
from components.fleet.wall import board
from components.url_state import read_question, unread

PATH = "/"
register_page(__name__, path=PATH, title="Fleet · Weir")


def layout(**params: Any) -> Component:
    """The frame without data: the tiles come with the first reply."""
    view = read_fleet_view(params)
    remarks = unread(params, {"window": view.span.name == params.get("window")})
    return shell.frame(fleet_page(view), place=PATH, tools=fleet_tools(view), remarks=remarks)


@callback(Output(Ids.BOARD, "data"), Input(Ids.QUESTION, "data"))
def answer(question: Any) -> dict[str, Any]:
    """The wall for the browser's query; on failure the last one stays."""
    params = read_question(question)
    try:
        made = board(current_access(), read_fleet_view(params), now_ms())
    except WeirError as error:
        made = {"error": failure(error)}
    return made | {"request_id": params.get("request_id")}


clientside_callback(
    ClientsideFunction("fleet", "draw"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.BOARD, "data"),
)
