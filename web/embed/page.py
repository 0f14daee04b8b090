"""The page in an embed's frame: a layout without data, and the callbacks that fill it.

Every callback shows the embed of the request's token (`current_viewer`); `permissions` alone reads
the browser's options.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html, no_update
from dash.development.base_component import Component

from api.errors import Forbidden, WeirError
from api.timez import now_ms
from components.chart_card import Ids as Chart
from components.controls import attributes, failure
from web.embed import chart, tiles
from web.embed.middleware import EmbedViewer, current_viewer
from web.embed.permissions import read_question

Answer = dict[str, Any]


class Ids(StrEnum):
    """Ids, also used by web/embed/assets/frame.js."""

    FRAME = "embed"
    START = "embed-start"
    OPENED = "embed-opened"
    VIEW = "embed-view"
    NOTICE = "embed-notice"


def layout() -> Component:
    return html.Main(
        [
            dcc.Store(id=Ids.START, data=True),
            dcc.Store(id=Ids.OPENED),
            html.Div(id=Ids.NOTICE, className="notice-over", role="status", hidden=True),
            html.Div(id=Ids.VIEW, className="embed-view"),
        ],
        id=Ids.FRAME,
        **attributes(data_state="loading"),
    )


def register(app: Dash) -> None:
    app.clientside_callback(
        ClientsideFunction("embed", "open"),
        Output(Ids.OPENED, "data"),
        Input(Ids.START, "data"),
    )
    app.callback(
        Output(Ids.VIEW, "children"), Input(Ids.OPENED, "data"), prevent_initial_call=True
    )(opened)
    _register_chart(app)
    _register_tiles(app)


def opened(_: Any) -> Any:
    """The view's frame without readings, which are fetched once its size is known."""
    viewer, now = current_viewer(), now_ms()
    definition = viewer.embed.definition
    if not definition.devices:
        return message("This embed’s devices are no longer accessible.")
    try:
        if definition.view == "chart":
            return chart.frame(viewer, now)
    except WeirError as error:
        return message(failure(error), again=True)
    return tiles.frame(definition)


def message(text: str, *, again: bool = False) -> Component:
    """A text in place of a view. ``again``: web/embed/assets/frame.js retries after a while."""
    return html.P(text, className="instead", **attributes(data_again=str(again).lower()))


def _viewer_of(*views: str) -> EmbedViewer:
    """The viewer. Raises Forbidden if the embed has another view."""
    viewer = current_viewer()
    if viewer.embed.definition.view not in views:
        raise Forbidden("This embed shows another view.")
    return viewer


# --- One chart -----------------------------------------------------------------------------------


def _register_chart(app: Dash) -> None:
    app.clientside_callback(
        ClientsideFunction("chart", "open"),
        Output(Chart.QUESTION, "data"),
        Input(Chart.START, "data"),
    )
    app.clientside_callback(
        ClientsideFunction("chart", "received"),
        Output(Chart.DRAWN, "data"),
        Input(Chart.RESPONSE, "data"),
        Input(Chart.FAILED, "data"),
        prevent_initial_call=True,
    )
    outputs = {field: Output(*where) for field, where in chart.OUTPUTS.items()}
    app.callback(output=outputs, inputs=[Input(Chart.QUESTION, "data")], prevent_initial_call=True)(
        drawn
    )


def drawn(question: Any) -> Answer:
    """The chart of the embed; on failure the last one stays."""
    try:
        return chart.answer(_viewer_of("chart"), read_question(question), now_ms())
    except WeirError as error:
        return {**dict.fromkeys(chart.OUTPUTS, no_update), chart.NOTICE: failure(error)}


# --- Tiles ---------------------------------------------------------------------------------------


def _register_tiles(app: Dash) -> None:
    app.callback(Output(tiles.Ids.BOARD, "data"), Input(tiles.Ids.QUESTION, "data"))(walled)
    app.clientside_callback(
        ClientsideFunction("embedWall", "draw"),
        Output(tiles.Ids.DRAWN, "data"),
        Input(tiles.Ids.BOARD, "data"),
    )


def walled(question: Any) -> Answer:
    params = read_question(question)
    try:
        made = tiles.board(_viewer_of("tile", "wall"), params, now_ms())
    except WeirError as error:
        made = {"error": failure(error)}
    return made | {"request_id": params.get("request_id")}
