"""Turns errors into responses: problem+json, never a stack trace."""

from __future__ import annotations

import logging
import secrets
from math import ceil
from typing import Any, Final

import orjson
from flask import Response, request
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import MethodNotAllowed as WrongMethod

from api.errors import (
    PROBLEM_TYPE,
    STATUS_ERRORS,
    BadRequest,
    Internal,
    MethodNotAllowed,
    ServiceError,
    Unavailable,
)
from api.server import log_throttle
from api.telemetry.request_record import REQUEST_ID

_DEFAULT_RETRY_S: Final = {429: 1.0, 503: 5.0}
_DETAILS: Final = {
    404: "Nothing exists at this path.",
    413: "The body is too large.",
}
_log = logging.getLogger(__name__)


def request_id() -> str:
    """Returns this request's id: the one from `api.server.request_logging`, else a new one. Ignores
    the request's own headers."""
    environ = request.environ
    if REQUEST_ID not in environ:
        environ[REQUEST_ID] = secrets.token_hex(8)
    return environ[REQUEST_ID]


def answer_error(error: Exception) -> Response:
    """Returns the problem response for an exception. An unexpected one is logged, and its response
    has no details."""
    problem = _problem_of(error)
    if isinstance(problem, Unavailable):
        log_throttle.note(problem)
    response = problem_response(problem, request_id())
    if isinstance(error, WrongMethod):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return response


def problem_response(problem: ServiceError, instance: str) -> Response:
    response = Response(
        orjson.dumps(problem_object(problem, instance)),
        status=problem.status,
        content_type=PROBLEM_TYPE,
        headers={"Cache-Control": "no-store"},
    )
    for challenge in problem.challenges:
        response.headers.add("WWW-Authenticate", challenge)
    retry_s = problem.retry_after_s or _DEFAULT_RETRY_S.get(problem.status)
    if retry_s is not None:
        response.headers["Retry-After"] = str(max(1, ceil(retry_s)))
    return response


def problem_object(problem: ServiceError, instance: str) -> dict[str, Any]:
    """Returns the members of RFC 9457, plus ``reason`` (a code) and ``errors`` (one per
    parameter)."""
    body: dict[str, Any] = {
        "type": f"urn:weir:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
    }
    if problem.reason:
        body["reason"] = problem.reason
    if problem.errors:
        body["errors"] = [{"parameter": e.parameter, "detail": e.detail} for e in problem.errors]
    return body


def _wrong_method(error: WrongMethod) -> str:
    methods = sorted({*(error.valid_methods or ())} - {"HEAD", "OPTIONS"})
    if methods == ["GET"]:
        return "This interface is read-only: use GET."
    return f"Use {' or '.join(methods)} here."


def _problem_of(error: Exception) -> ServiceError:
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, WrongMethod):
        return MethodNotAllowed(_wrong_method(error))
    if isinstance(error, HTTPException):
        status = error.code or 500
        default = BadRequest if status < 500 else Internal
        return STATUS_ERRORS.get(status, default)(_DETAILS.get(status, error.name))
    _log.error("request %s failed", request_id(), exc_info=error)
    return Internal("Internal error; the log has details under this request's id.")
