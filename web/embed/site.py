"""Embeds as one WSGI application: Dash with html and dcc alone, delivery, middleware; and its page,
a layout without data, with the callbacks that fill it.

Every callback shows the embed of the request's token (`current_viewer`); `permissions` alone reads
the browser's options.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dash import ClientsideFunction, Dash, Input, Output, dcc, html, no_update
from dash.development.base_component import Component
from dash.exceptions import DependencyException

from api.catalog import EMBED_PAGE_PREFIX
from api.client import Client
from api.errors import BadRequest, Forbidden, WeirError
from api.timez import now_ms
from components import theme
from components.chart_card import Ids as Chart
from components.concurrent_queries import ReplyCache
from components.controls import attributes, failure
from web.callback_guard import LARGEST_BODY, CallbackGuard
from web.embed import content
from web.embed.middleware import (
    EmbedMiddleware,
    EmbedViewer,
    Find,
    FrameLimit,
    Parts,
    current_viewer,
)
from web.embed.permissions import read_question
from web.responses import problem
from web.static import (
    ASSETS,
    PLOTLY,
    Bundle,
    StaticDelivery,
    compress,
    content_security_policy,
    joined,
    joined_modules,
    no_such_script,
    versioned,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


OWN: Final = Path(__file__).resolve().parent / "assets"


# Loaded before anything else: it takes the token out of the address.
FIRST: Final = OWN / "frame.js"
SCRIPTS: Final = OWN / "main.js"
STYLES: Final = (
    ASSETS / "style.css",
    ASSETS / "controls.css",
    ASSETS / "chart.css",
    ASSETS / "fleet-wall.css",
    OWN / "embed.css",
)

# The Dash scripts that html and dcc need; other libraries of this process are the dashboard's.
_NEEDED: Final = ("/dash/deps/", "/dash/dash-renderer/", "/dash/dcc/", "/dash/html/")
_SCRIPT: Final = re.compile(r'<script src="([^"]+)"></script>')


def create_embed_site(
    client: Client,
    find: Find,
    limit: FrameLimit | None = None,
    root: str = "",
) -> WSGIApplication:
    """What answers under ``/embed``.

    ``client``: connection to the service of embeds. ``find`` looks an embed up by its id.
    ``limit``: rate limit of frames, None for none. ``root``: the path of the whole site.
    """
    prefix = f"{root}{EMBED_PAGE_PREFIX}"
    app = Dash(
        __name__,
        requests_pathname_prefix=f"{prefix}/",
        routes_pathname_prefix="/",
        assets_folder=str(ASSETS),
        include_assets_files=False,
        title="Weir",
        update_title="",
        suppress_callback_exceptions=True,  # a view's components come with its first response
        enable_mcp=False,
        add_log_handler=False,
    )
    app.server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.server.register_error_handler(DependencyException, no_such_script)
    app.server.register_error_handler(BadRequest, problem)
    app.layout = layout()
    register(app)
    first, scripts, styles = (
        Bundle("first.js", joined_modules(FIRST)),
        Bundle("embed.js", joined_modules(SCRIPTS)),
        Bundle("embed.css", joined(STYLES)),
    )
    for each in (first, scripts, styles):
        app.server.add_url_rule(each.path, each.name, each.answer)
    compress(app.server, "application/json")
    delivery = StaticDelivery(
        CallbackGuard(app.server.wsgi_app, app.callback_map),
        is_page=lambda _: False,
        policy=lambda: content_security_policy(()),
        loaded_by="cross-origin",  # a sandboxed frame is of no origin
    )
    parts = cache(lambda: _parts(app, prefix, first, scripts, styles))
    return EmbedMiddleware(delivery, client, find, parts, ReplyCache(), limit)


def _parts(app: Dash, prefix: str, first: Bundle, scripts: Bundle, styles: Bundle) -> Parts:
    with app.server.test_request_context():
        app.server.preprocess_request()  # Dash names its scripts at the first request
        named = _SCRIPT.findall(app._generate_scripts_html())  # pyright: ignore[reportPrivateUsage]
        config = app._generate_config_html()  # pyright: ignore[reportPrivateUsage]
        renderer = app._generate_renderer()  # pyright: ignore[reportPrivateUsage]
    plotly = prefix + versioned(PLOTLY)
    sources = [src for src in named if any(part in src for part in _NEEDED)]
    sources.append(prefix + scripts.address)
    return Parts(
        head=(
            f"<style>{theme.css()}</style>"
            f'<meta name="plotly-script" content="{plotly}">'
            f'<script src="{prefix}{first.address}"></script>'
            f'<link rel="stylesheet" href="{prefix}{styles.address}">'
        ),
        chart=f'<link rel="preload" as="script" href="{plotly}">',
        config=config,
        scripts="".join(f'<script src="{src}"></script>' for src in sources) + renderer,
        script_hashes=tuple(app.csp_hashes()),
    )


# --- The page in a frame -------------------------------------------------------------------------


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
            return content.chart_frame(viewer, now)
    except WeirError as error:
        return message(failure(error), again=True)
    return content.tiles_frame(definition)


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
    outputs = {field: Output(*where) for field, where in content.OUTPUTS.items()}
    app.callback(output=outputs, inputs=[Input(Chart.QUESTION, "data")], prevent_initial_call=True)(
        drawn
    )


def drawn(question: Any) -> Answer:
    """The chart of the embed; on failure the last one stays."""
    try:
        return content.chart_values(_viewer_of("chart"), read_question(question), now_ms())
    except WeirError as error:
        return {**dict.fromkeys(content.OUTPUTS, no_update), content.NOTICE: failure(error)}


# --- Tiles ---------------------------------------------------------------------------------------


def _register_tiles(app: Dash) -> None:
    question, board = content.WallIds.QUESTION, content.WallIds.BOARD
    app.callback(Output(board, "data"), Input(question, "data"))(walled)
    app.clientside_callback(
        ClientsideFunction("embedWall", "draw"),
        Output(content.WallIds.DRAWN, "data"),
        Input(content.WallIds.BOARD, "data"),
    )


def walled(question: Any) -> Answer:
    params = read_question(question)
    try:
        made = content.board(_viewer_of("tile", "wall"), params, now_ms())
    except WeirError as error:
        made = {"error": failure(error)}
    return made | {"request_id": params.get("request_id")}
