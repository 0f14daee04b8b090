"""Serves the routes that change data (POST)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson
from flask import Flask, Response, request

from api.auth import require
from api.openapi import JSON_TYPE
from api.params import Query, read, read_body
from api.routes import Action, ActionCall
from api.server.accept_header import require_json
from api.server.credential_gate import Gate
from api.server.query_string import pairs
from api.settings import Settings
from api.store.base import Store
from api.timez import now_ms


def add_actions(
    app: Flask, actions: Sequence[Action], store: Store, gate: Gate, settings: Settings
) -> None:
    for action in actions:
        rule = action.operation.path.replace("{id}", "<id>")
        view = _view(action, store, gate, settings)
        operation = action.operation
        app.add_url_rule(rule, operation.id, view, methods=[operation.method.upper()])


def _view(action: Action, store: Store, gate: Gate, settings: Settings) -> Callable[..., Response]:
    """Returns a view that checks credential, role, Accept header, query and body, in this order,
    and then runs the action."""

    def view(id: str = "") -> Response:
        environ = request.environ
        principal = gate.enter(environ)
        require(principal, action.role)
        require_json(environ.get("HTTP_ACCEPT", ""))
        read(Query, pairs(environ.get("QUERY_STRING", "")))
        request.max_content_length = action.body_bytes
        body = read_body(action.body, request.get_data())
        call = ActionCall(store, principal, body, id, now_ms(), settings)
        return Response(
            orjson.dumps(action.answer(call).body),
            status=action.operation.status,
            content_type=JSON_TYPE,
            headers={"Cache-Control": "no-store"},
        )

    return view
