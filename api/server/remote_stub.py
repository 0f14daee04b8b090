"""Serves the service's paths on a host whose dashboard shows another server."""

from __future__ import annotations

from flask import Flask, Response, request

from api.errors import NotFound
from api.server.problems import answer_error
from api.server.responses import finisher
from api.server.service import HEALTH_PATH
from api.settings import Settings


def create_stand_in(settings: Settings) -> Flask:
    """Responds to ``/healthz``, and with 404 to everything else. Needs no store."""
    app = Flask(__name__, static_folder=None)
    app.add_url_rule(HEALTH_PATH, "health", _healthy)
    app.before_request(_refuse_others)
    app.register_error_handler(Exception, answer_error)
    app.after_request(finisher(settings.cors_origins))
    return app


def _refuse_others() -> None:
    if request.environ["PATH_INFO"] != HEALTH_PATH:
        raise NotFound("This server has no service of its own: its dashboard shows another server.")


def _healthy() -> Response:
    return Response(
        "ok\n", content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"}
    )
