"""What stands in an embed's frame: a layout without data, and the callbacks that fill it.

Every callback asks `looking` which embed the request's token is of, and shows that one; what the
browser says is read by `allowed` alone.
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
from web.embed.permissions import read_question
from web.embed.session import EmbedViewer, looking

Said = dict[str, Any]


class Ids(StrEnum):
    """What assets/frame.js looks for by these names too."""

    FRAME = "embed"
    START = "embed-start"
    ASKED = "embed-asked"
    VIEW = "embed-view"
    SAID = "embed-said"


def layout() -> Component:
    return html.Main(
        [
            dcc.Store(id=Ids.START, data=True),
            dcc.Store(id=Ids.ASKED),
            html.Div(id=Ids.SAID, className="said-over", role="status", hidden=True),
            html.Div(id=Ids.VIEW, className="embed-view"),
        ],
        id=Ids.FRAME,
        **attributes(data_state="loading"),
    )


def register(app: Dash) -> None:
    app.clientside_callback(
        ClientsideFunction("embed", "open"),
        Output(Ids.ASKED, "data"),
        Input(Ids.START, "data"),
    )
    app.callback(Output(Ids.VIEW, "children"), Input(Ids.ASKED, "data"), prevent_initial_call=True)(
        opened
    )
    _register_chart(app)
    _register_tiles(app)


def opened(_: Any) -> Any:
    """The view's frame, without its readings: these are asked for once its size is known."""
    looked, now = looking(), now_ms()
    definition = looked.embed.definition
    if not definition.devices:
        return message("This embed’s devices are no longer accessible.")
    try:
        if definition.view == "chart":
            return chart.frame(looked, now)
    except WeirError as error:
        return message(failure(error), again=True)
    return tiles.frame(definition)


def message(text: str, *, again: bool = False) -> Component:
    """In place of a view. ``again``: assets/frame.js asks anew after a while."""
    return html.P(text, className="instead", **attributes(data_again=str(again).lower()))


def _looking_at(*views: str) -> EmbedViewer:
    """Forbidden where the embed shows something else: no page of ours asks for that."""
    looked = looking()
    if looked.embed.definition.view not in views:
        raise Forbidden("This embed shows another view.")
    return looked


# --- One chart -----------------------------------------------------------------------------------


def _register_chart(app: Dash) -> None:
    app.clientside_callback(
        ClientsideFunction("chart", "open"),
        Output(Chart.QUESTION, "data"),
        Input(Chart.START, "data"),
    )
    app.clientside_callback(
        ClientsideFunction("chart", "answered"),
        Output(Chart.DRAWN, "data"),
        Input(Chart.TOLD, "data"),
        Input(Chart.FAILED, "data"),
        prevent_initial_call=True,
    )
    outputs = {field: Output(*where) for field, where in chart.OUTPUTS.items()}
    app.callback(output=outputs, inputs=[Input(Chart.QUESTION, "data")], prevent_initial_call=True)(
        drawn
    )


def drawn(question: Any) -> Said:
    """The chart as the embed shows it; where that fails the last good one stays."""
    try:
        return chart.answer(_looking_at("chart"), read_question(question), now_ms())
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


def walled(question: Any) -> Said:
    asked = read_question(question)
    try:
        made = tiles.board(_looking_at("tile", "wall"), asked, now_ms())
    except WeirError as error:
        made = {"error": failure(error)}
    return made | {"asked": asked.get("asked")}
