"""``POST /ingest/v1/readings``: readings over HTTP.

A separate application: it has its own keys and limits, and reads nothing.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import orjson
from flask import Flask, Response, request
from werkzeug.exceptions import NotFound

from api.auth import Authenticator
from api.auth.key_uses import KeyUses
from api.catalog import INGEST_BODY_BYTES, INGEST_PATH
from api.errors import BadRequest
from api.openapi import JSON_TYPE
from api.params import read
from api.params.intake import IntakeQuery
from api.server.credential_gate import Gate
from api.server.problems import answer_error
from api.server.rate_limits import Limits
from api.server.responses import finisher
from api.server.shared_state import Shared
from api.settings import Settings
from api.store.base import Directory, Scope

READINGS_PATH: Final = f"{INGEST_PATH}/readings"


class Intake(Protocol):
    """Stores the readings of a body; implemented by `api.ingest.http_intake`."""

    def take(
        self, scope: Scope, source: str, body: bytes, content_type: str, coding: str, every: bool
    ) -> dict[str, Any]:
        """Returns the result of each row, after the commit. Raises ServiceError."""
        ...


def create_intake(
    directory: Directory,
    settings: Settings,
    intake: Intake,
    *,
    limits: bool = False,
    shared: Shared | None = None,
    uses: KeyUses | None = None,
) -> Flask:
    """Returns the application for this one path. ``limits`` enables the rate limits; with
    ``shared`` they hold across hosts."""
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False
    limited = limits and settings.rate_limit > 0
    gate = Gate(
        Authenticator(directory, settings, ingest=True, uses=uses),
        Limits(settings.rate_limit, shared=shared) if limited else None,
    )

    def readings() -> Response:
        """Checks credential, parameters and size, in this order; then stores the body."""
        principal = gate.enter(request.environ)
        query = read(IntakeQuery, list(request.args.items(multi=True)))
        report = intake.take(
            principal.scope,
            f"http {principal.id}",
            _body(),
            request.headers.get("Content-Type", ""),
            request.headers.get("Content-Encoding", ""),
            query.every,
        )
        headers = {"Cache-Control": "no-store"}
        return Response(orjson.dumps(report), content_type=JSON_TYPE, headers=headers)

    app.add_url_rule(READINGS_PATH, "readings", readings, methods=["POST"])
    app.before_request(_refuse_merged_path)
    app.register_error_handler(Exception, answer_error)
    app.after_request(finisher(settings.cors_origins))
    return app


def _body() -> bytes:
    """Returns the body, up to one byte over the limit: reading stops silently at
    ``max_content_length``, and the extra byte shows that a body without a declared length is too
    large."""
    request.max_content_length = INGEST_BODY_BYTES + 1
    body = request.get_data(cache=False)
    if len(body) < (request.content_length or 0):
        raise BadRequest("The body is cut off.")
    return body


def _refuse_merged_path() -> None:
    if request.environ["PATH_INFO"].startswith("//"):
        raise NotFound
