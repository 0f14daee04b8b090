"""The list of devices: ten thousand rows of which the grid asks for those in sight."""

from __future__ import annotations

from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import WeirError
from api.timez import now_ms
from components import shell
from components.controls import failure
from components.devices.layout import Ids, devices_page
from components.devices.listing import read_listing, read_request, told
from components.devices.queries import PATH, rows
from components.devices.visible_statuses import read_sight, states
from components.fleet.query_context import current_desk
from components.url_state import read_question

register_page(__name__, path=PATH, title="Devices · Weir")


def layout(**said: Any) -> Component:
    """The frame at once, whatever the service does: the rows come as the grid asks for them."""
    return shell.frame(devices_page(read_listing(said)), place=PATH)


@callback(
    Output(Ids.GRID, "getRowsResponse"),
    Output(Ids.ANSWER, "data"),
    Input(Ids.GRID, "getRowsRequest"),
    prevent_initial_call=True,
)
def answer(request: Any) -> tuple[Any, Any]:
    """The rows that the grid asks for, and what the page says of the list; where that fails the
    rows that are there stay."""
    if request is None:  # before its first question
        return no_update, no_update
    question = read_request(read_question(request))
    try:
        found = rows(current_desk(), question, now_ms())
    except WeirError as error:
        return no_update, {"error": failure(error)}
    response = {"rowData": found.rows, "rowCount": found.total}
    return response, told(question.listing, found.total)


@callback(
    Output(Ids.STATES, "data"),
    Input(Ids.SIGHT, "data"),
    prevent_initial_call=True,
)
def look(sight: Any) -> Any:
    """How the devices in sight are; where that can't be had, the list stands without."""
    try:
        return states(current_desk(), read_sight(sight), now_ms())
    except WeirError:
        return {}


clientside_callback(ClientsideFunction("devices", "asking"), Input(Ids.GRID, "getRowsRequest"))
clientside_callback(ClientsideFunction("devices", "answered"), Input(Ids.ANSWER, "data"))
clientside_callback(ClientsideFunction("devices", "seen"), Input(Ids.STATES, "data"))
