"""The dashboard as one application: Dash, its pages, how they are delivered, and the requests that
administrators' pages send to the service by way of it."""

from __future__ import annotations

import copy
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit

import dash
from dash import Dash, dash_table
from dash.development.base_component import Component
from dash.exceptions import DependencyException
from flask import request
from werkzeug.wrappers import Response

from api.catalog import ADMIN_BODY_BYTES, ADMIN_PREFIX, IMPORT_PIECE_BYTES, IMPORTS_PATH
from api.client import Client
from api.errors import BadRequest, Forbidden, NotFound, WeirError
from components import controls, session, shell, theme
from web import report, static
from web.auth import Access, AuthMiddleware
from web.auth.rules import SIGN_IN
from web.auth.sign_in import SignInPage
from web.callback_guard import LARGEST_BODY, CallbackGuard
from web.downloads import routes
from web.images import routes as images_routes
from web.images import signed_links
from web.images.signed_links import Links, SignedImages
from web.responses import problem
from web.static import (
    ASSETS,
    PLOTLY,
    Bundle,
    StaticDelivery,
    compress,
    content_security_policy,
    versioned,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "pages"
WALL: Final = "/wall"  # a short address for the fleet page's wall mode
START: Final = "head/start.js"
FAVICON: Final = "favicon.svg"
_PAGE_ID: Final = "_pages_content"  # Dash's element for the page
NOT_FOUND: Final = "not_found_404"  # Dash's module for a path without a page

# Dash names its table's script in every page of every app; no page of Weir's shows such a table.
dash_table._js_dist.clear()  # pyright: ignore[reportPrivateUsage]

_INDEX: Final = """<!DOCTYPE html>
<html lang="en">
  <head>
    {%metas%}
    <title>{%title%}</title>
    <link rel="icon" type="image/svg+xml" href="__FAVICON__">
    <style>__CSS__</style>
    <meta name="plotly-script" content="__PLOTLY__">
    <meta name="grid-scripts" content="__GRID__">
    <script src="__START__"></script>
    {%css%}
    <link rel="stylesheet" href="__STYLES__">
  </head>
  <body>
    {%app_entry%}
    {%config%}
    {%scripts%}
    <script src="__SCRIPTS__"></script>
    {%renderer%}
  </body>
</html>"""


def create_dashboard(
    client: Client,
    access: Access,
    folder: Path | None = None,
    links: Links | None = None,
    public_url: str = "",
) -> Dash:
    """The Dash application; ``.server`` is the WSGI application to serve.

    ``client``: connection to the service, used by each request with its reader's credential.
    ``access``: the ways to sign in. ``folder``: a cache shared by worker processes. ``links``:
    signs the addresses of images, None if this server can't. ``public_url``: the address for
    readers, "" to use that of the request.
    """
    root = urlsplit(public_url).path
    app = Dash(
        __name__,
        requests_pathname_prefix=f"{root}/",
        routes_pathname_prefix="/",
        use_pages=True,
        pages_folder="",  # loaded below under their own names
        assets_folder=str(ASSETS),
        include_assets_files=False,  # the index has them as one file each
        title="Weir",
        update_title="",
        include_pages_meta=False,
        suppress_callback_exceptions=True,  # callbacks name components of other pages
        enable_mcp=False,
        add_log_handler=False,
        meta_tags=[{"name": "color-scheme", "content": "light dark"}],
    )
    styles, scripts = static.styles(), static.scripts()
    for each in (styles, scripts, static.sign_in_styles()):
        app.server.add_url_rule(each.path, each.name, each.answer)
    app.index_string = _index(app, styles, scripts, root)
    app.server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.server.register_error_handler(DependencyException, static.no_such_script)
    app.server.register_error_handler(BadRequest, problem)
    session.install(app.server, folder, public_url)
    _add_routes(app, links)
    app.layout = _first_layout
    _load_pages()
    _answer_missing_with_404(app)
    compress(app.server, "application/json", "text/html")
    _prepare(app)
    inner = inside(app)
    guarded = AuthMiddleware(inner, client, access, sign_in_page(root))
    app.server.wsgi_app = delivered(app, SignedImages(guarded, inner, client, links))
    return app


def _first_layout() -> Component:
    """Dash's container of pages, with the frame that readers see until the first page has loaded:
    the service may be slow, or away."""
    container = copy.deepcopy(dash.page_container)
    container[_PAGE_ID].children = shell.first_frame()
    return container


def _add_routes(app: Dash, links: Links | None) -> None:
    """The addresses beside the pages: files, images, reports, forwarded requests."""
    for rule, name, view in (*routes.rules(), *images_routes.rules(), *report.rules()):
        app.server.add_url_rule(rule, name, view)
    app.server.add_url_rule(signed_links.ROUTE, "links", signed_links.view(links), methods=["POST"])
    for rule, name, view, methods in forwarding_rules():
        app.server.add_url_rule(rule, name, view, methods=methods)
    app.server.add_url_rule(WALL, "wall", to_wall)


def to_wall() -> Response:
    """To the fleet page's wall mode, with the rest of the query."""
    query = {**request.args, "wall": "1"}
    return Response(status=302, headers={"Location": session.site_path(f"/?{urlencode(query)}")})


def inside(app: Dash) -> CallbackGuard:
    """Dash with the callback guard, without authentication."""
    return CallbackGuard(partial(type(app.server).wsgi_app, app.server), app.callback_map)


def delivered(app: Dash, application: WSGIApplication) -> StaticDelivery:
    """Static delivery around the authenticated application."""
    return StaticDelivery(
        application,
        is_page=lambda path: path == SIGN_IN or is_page(path),
        policy=lambda: content_security_policy(app.csp_hashes()),
    )


def sign_in_page(root: str = "") -> SignInPage:
    """The sign-in page, with the dashboard's colours and theme switch only."""
    head = "\n    ".join(
        (
            f'<link rel="icon" type="image/svg+xml" href="{root}{versioned(FAVICON)}">',
            f"<style>{theme.css()}</style>",
            f'<script src="{root}{versioned(START)}"></script>',
            f'<link rel="stylesheet" href="{root}{static.sign_in_styles().address}">',
        )
    )
    return SignInPage(head, root)


def is_page(path: str) -> bool:
    """Whether a page is registered for that path."""
    return any(
        re.fullmatch(_pattern(page.get("path_template") or page["path"]), path)
        for page in dash.page_registry.values()
        if not page["module"].endswith(NOT_FOUND)
    )


def _pattern(template: str) -> str:
    """``/devices/<device_id>`` as a pattern: a variable is one or more characters."""
    return ".+".join(re.escape(part) for part in re.split(r"<.*?>", template))


def _load_pages() -> None:
    """Import every page, so that it registers with the app. A page that was imported for an earlier
    app is reloaded, since each app needs the callbacks."""
    dash.page_registry.clear()
    for file in sorted(PAGES.glob("[!_]*.py")):
        name = f"pages.{file.stem}"
        loaded = sys.modules.get(name)
        page = importlib.reload(loaded) if loaded else importlib.import_module(name)
        dash.page_registry[name]["layout"] = page.layout
        dash.page_registry[name]["there"] = getattr(page, "there", None)


def _answer_missing_with_404(app: Dash) -> None:
    """Respond 404 if a page's ``there`` says that its address names nothing. The document is the
    same, and its script shows the page's message."""
    for page in dash.page_registry.values():
        if page["there"] is not None:
            rule = page["path_template"].replace("<", "<path:")
            app.server.add_url_rule(rule, page["module"], _document(app, page["there"]))


def _document(app: Dash, there: Callable[..., bool]) -> Callable[..., tuple[str, int]]:
    def document(**named: str) -> tuple[str, int]:
        return app.index(), 200 if there(**named) else 404

    return document


def _prepare(app: Dash) -> None:
    """Do what Dash does at the first request: register the pages' callbacks and name its scripts.
    So two first requests can't do it at once, and another app can't take the callbacks."""
    with app.server.test_request_context():
        app.server.preprocess_request()


def _index(app: Dash, styles: Bundle, scripts: Bundle, root: str) -> str:
    return (
        _INDEX.replace("__CSS__", theme.css())
        .replace("__FAVICON__", root + versioned(FAVICON))
        .replace("__STYLES__", root + styles.address)
        .replace("__SCRIPTS__", root + scripts.address)
        .replace("__PLOTLY__", root + versioned(PLOTLY))
        .replace("__GRID__", " ".join(controls.script_addresses(app)))
        .replace("__START__", root + versioned(START))
    )


# --- Requests of the administrators' pages -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forwarded:
    """``path``: of the dashboard. ``to``: the service's path. ``refusal``: the message for readers
    who aren't administrators; the service decides the rest."""

    path: str
    to: str
    body_bytes: int
    refusal: str


FORWARDED: Final = (
    Forwarded(
        "/import/files",
        IMPORTS_PATH,
        IMPORT_PIECE_BYTES,
        "Importing files is for administrators.",
    ),
    Forwarded(
        "/admin/service",
        ADMIN_PREFIX,
        ADMIN_BODY_BYTES,
        "The administration is for administrators.",
    ),
)


def forwarding_rules() -> list[tuple[str, str, Callable[..., Response], list[str]]]:
    """(address, name, view function, methods) of every route."""
    every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return [
        (f"{each.path}{rest}", f"{each.path}{rest}", _forward(each), methods)
        for each in FORWARDED
        for rest, methods in (("", every[:2]), ("/<path:rest>", every))
    ]


def _forward(each: Forwarded) -> Callable[..., Response]:
    def view(rest: str = "") -> Response:
        """A reader without the role is refused before the body is read."""
        if not session.me().role.may_administer:
            return problem(Forbidden(each.refusal))
        if any(part in ("", ".", "..") for part in rest.split("/")) and rest:
            return problem(NotFound("Nothing exists at this path."))
        request.max_content_length = each.body_bytes
        try:
            response = session.current_client().forward(
                request.method,
                f"{each.to}/{rest}" if rest else each.to,
                request.args.to_dict(),
                request.get_data(cache=False),
                request.content_type or "application/json",
            )
        except WeirError as error:
            return problem(error)
        headers = {"Cache-Control": "no-store"}
        if response.content_type.startswith("text/csv"):
            headers["Content-Disposition"] = 'attachment; filename="refused-rows.csv"'
        return Response(response.body, response.status, headers, content_type=response.content_type)

    return view
