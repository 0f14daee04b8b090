"""Embeds as one WSGI application: Dash with html and dcc alone, delivery, middleware."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dash import Dash
from dash.exceptions import DependencyException

from api.catalog import EMBED_PAGE_PREFIX
from api.client import Client
from api.errors import BadRequest
from components import theme
from components.fleet.queries import ReplyCache
from web.callback_guard import LARGEST_BODY, CallbackGuard
from web.embed import page
from web.embed.middleware import EmbedMiddleware, Find, FrameLimit
from web.embed.shell import Parts
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
    app.layout = page.layout()
    page.register(app)
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
