"""Serves the routes of embeds: those that manage them, and those for the embed itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import orjson
from flask import Flask, Response, request

from api.openapi import JSON_TYPE
from api.params import Query, read, read_body
from api.routes.embeds import EmbedCall, EmbedRoute, check_right
from api.server.credential_gate import Gate
from api.server.query_string import pairs
from api.settings import Settings
from api.store.base import Store
from api.store.web.base import WebStore
from api.timez import now_ms

LARGEST_BODY: Final = 64 * 1024


def add_embed_routes(
    app: Flask,
    routes: Sequence[EmbedRoute],
    store: Store,
    web: WebStore,
    settings: Settings,
    gate: Gate,
) -> None:
    for route in routes:
        view = _view(route, store, web, settings, gate)
        rule = route.path.replace("{id}", "<embed_id>")
        app.add_url_rule(rule, route.id, view, methods=[route.method])


def _view(
    route: EmbedRoute, store: Store, web: WebStore, settings: Settings, gate: Gate
) -> Callable[..., Response]:
    """Returns a view that checks credential, right, query and body, in this order, and then
    responds. Responses aren't cached: changes must show at once, and a token is a secret."""

    def view(embed_id: str = "") -> Response:
        principal = gate.enter(request.environ)
        if route.managing:
            check_right(principal)
        read(Query, pairs(request.environ.get("QUERY_STRING", "")))
        request.max_content_length = LARGEST_BODY
        body = read_body(route.body, request.get_data())
        call = EmbedCall(store, web, settings, principal, body, embed_id, now_ms())
        return Response(
            orjson.dumps(route.answer(call).body),
            status=route.status,
            content_type=JSON_TYPE,
            headers={"Cache-Control": "no-store"},
        )

    return view
