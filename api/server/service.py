"""The service as one Flask application: routes, credential check, error handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Flask, Response, request
from flask_compress import Compress
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter, Rule

from api.auth import Authenticator, EmbedAuthenticator, require
from api.auth.key_uses import KeyUses
from api.catalog import COLUMNS_TYPE, SITE_ROOT
from api.errors import PROBLEM_TYPE
from api.openapi import JSON_TYPE, Operation
from api.params import read
from api.routes import (
    ADMIN_ACTIONS,
    ADMIN_ROUTES,
    INSIGHT_ACTIONS,
    INSIGHT_ROUTES,
    ROUTES,
    Call,
    Route,
    wanted_columns,
)
from api.routes.embeds import EMBED_ROUTES, OWN_ROUTES
from api.server.accept_header import require_json
from api.server.credential_gate import Gate
from api.server.embeds import add_embed_routes
from api.server.imports import Imports, add_import_routes
from api.server.post_routes import add_actions
from api.server.problems import answer_error
from api.server.query_string import pairs
from api.server.rate_limits import Limits
from api.server.responses import answer, finisher
from api.server.shared_state import Shared
from api.settings import Settings
from api.store.base import Grant, Scope, Store
from api.store.web.base import WebStore

HEALTH_PATH: Final = "/healthz"
_NOBODY: Final = Scope("", Grant())


class _Identifier(BaseConverter):
    """A device identifier in a path. A serial number may contain any character, even a slash."""

    regex = ".+"
    part_isolating = False


class _Rule(Rule):
    """A rule that only matches paths. The service never builds one from its parts, and compiling
    the functions for that took most of its start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _build_nothing


def _build_nothing(rule: Rule, **parts: object) -> tuple[str, str]:
    raise RuntimeError(f"the service builds no path: {rule.rule}")


def create_service(
    store: Store,
    settings: Settings,
    *,
    web: WebStore | None = None,
    origin: Store | None = None,
    limits: bool = False,
    compression: bool = False,
    shared: Shared | None = None,
    imports: Imports | None = None,
    uses: KeyUses | None = None,
) -> Flask:
    """Returns the application for ``/management/v1``, ``/insight/v1``, ``/admin/v1`` and
    ``/healthz``; with ``web`` also ``/embeds/v1``, which manages embeds, with ``imports`` files of
    readings.

    For serving over the network: ``limits`` enables the rate limits (with ``shared`` across hosts),
    ``compression`` compresses responses; ``uses`` records when keys are used. The caller closes the
    stores.
    """
    limited = limits and settings.rate_limit > 0
    rate_limits = Limits(settings.rate_limit, shared=shared) if limited else None
    gate = Gate(Authenticator(store, settings, uses=uses), rate_limits)
    app = _interface(store, settings, gate, web)
    writable = store if origin is None else origin
    add_actions(app, (*INSIGHT_ACTIONS, *ADMIN_ACTIONS), writable, gate, settings)
    for route in ADMIN_ROUTES:  # of the origin: an editor must see what was just changed
        rule = route.operation.path.replace("{id}", "<id>")
        app.add_url_rule(rule, route.operation.id, _view(route, writable, gate, web, settings))
    if web is not None:
        add_embed_routes(app, EMBED_ROUTES, store, web, settings, gate)
    if imports is not None:
        add_import_routes(app, imports, gate)
    if compression:
        _compress(app)
    return app


def create_embed_service(store: Store, web: WebStore, settings: Settings) -> Flask:
    """Returns the service for embeds' frames, called in process only: the interface and an embed's
    own definition. It accepts the tokens of embeds and no other credential."""
    gate = Gate(EmbedAuthenticator(store, web, settings), None)
    app = _interface(store, settings, gate, None)
    add_embed_routes(app, OWN_ROUTES, store, web, settings, gate)
    return app


def _interface(store: Store, settings: Settings, gate: Gate, web: WebStore | None) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.url_rule_class = _Rule
    app.url_map.merge_slashes = False
    app.url_map.converters["identifier"] = _Identifier
    for route in (*ROUTES, *INSIGHT_ROUTES):
        rule = route.operation.path.replace("{id}", _id(route.operation))
        app.add_url_rule(rule, route.operation.id, _view(route, store, gate, web, settings))
    app.add_url_rule(HEALTH_PATH, "health", _healthy)
    app.before_request(_refuse_merged_path)
    app.register_error_handler(Exception, answer_error)
    app.after_request(finisher(settings.cors_origins))
    return app


def _id(operation: Operation) -> str:
    return "<identifier:id>" if operation.of_device else "<id>"


def _refuse_merged_path() -> None:
    """Responds 404 to a path with two leading slashes; Werkzeug would drop one of them."""
    if request.environ["PATH_INFO"].startswith("//"):
        raise NotFound


def _compress(app: Flask) -> None:
    """Compresses with Brotli or gzip, at a level that costs less time than it saves."""
    app.config.from_mapping(
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_BR_LEVEL=4,
        COMPRESS_LEVEL=4,
        COMPRESS_MIMETYPES=[JSON_TYPE, PROBLEM_TYPE, COLUMNS_TYPE],
    )
    Compress(app)


def _view(
    route: Route, store: Store, gate: Gate, web: WebStore | None, settings: Settings
) -> Callable[..., Response]:
    """Returns a view that checks credential, role, Accept header and parameters, in this order, and
    then responds."""
    public = route.operation.public

    def view(id: str = "") -> Response:
        environ = request.environ
        principal = None if public else gate.enter(environ)
        if principal is not None:
            require(principal, route.role)
        require_json(environ.get("HTTP_ACCEPT", ""))
        query = read(route.operation.query, pairs(environ.get("QUERY_STRING", "")))
        scope = _NOBODY if principal is None else principal.scope
        columns = wanted_columns(environ.get("HTTP_ACCEPT", ""))
        root = environ.get(SITE_ROOT, "")
        reply = route.answer(Call(store, scope, query, id, columns, root, principal, web, settings))
        return answer(reply, principal.id if principal else "", cacheable=route.cacheable)

    return view


def _healthy() -> Response:
    return Response(
        "ok\n", content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"}
    )
