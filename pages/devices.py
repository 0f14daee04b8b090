"""The device list: ten thousand rows, of which the grid loads those in view."""

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
from components.devices.layout import Ids, devices_page, devices_tools
from components.devices.queries import PATH, group_names, rows
from components.devices.url_state import list_texts, read_listing, read_request
from components.session import current_client
from components.url_state import read_question, unread

register_page(__name__, path=PATH, title="Devices · Weir")


def layout(**query: Any) -> Component:
    """The frame without data: the grid loads the rows."""
    listing = read_listing(query)
    return shell.frame(
        devices_page(listing), place=PATH, tools=devices_tools(listing), remarks=unread(query, {})
    )


@callback(
    Output(Ids.GRID, "getRowsResponse"),
    Output(Ids.ANSWER, "data"),
    Input(Ids.GRID, "getRowsRequest"),
    prevent_initial_call=True,
)
def answer(request: Any) -> tuple[Any, Any]:
    """The rows that the grid requests, and the texts of the list; on failure the present rows
    stay."""
    if request is None:  # before the grid's first request
        return no_update, no_update
    question = read_request(read_question(request))
    try:
        page = rows(current_client(), question, now_ms())
        around = list_texts(question.listing, page.total) | {
            "groups": group_names(),
            "remark": page.remark,
        }
    except WeirError as error:
        return no_update, {"error": failure(error)}
    return {"rowData": page.rows, "rowCount": page.total}, around


clientside_callback(ClientsideFunction("devices", "requested"), Input(Ids.GRID, "getRowsRequest"))
clientside_callback(ClientsideFunction("devices", "received"), Input(Ids.ANSWER, "data"))
