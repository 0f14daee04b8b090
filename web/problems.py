"""Errors as problem+json, as the service writes them, for addresses of the dashboard's own."""

from __future__ import annotations

from math import ceil
from typing import Any, Final

import orjson
from werkzeug.wrappers import Response

from api.errors import ServiceError, WeirError
from components.controls import failure

AGAIN_S: Final = 5
_TYPE: Final = "application/problem+json"


def problem(error: WeirError) -> Response:
    known = isinstance(error, ServiceError)
    status = error.status if known else 502
    shown: dict[str, Any] = {
        "type": f"urn:weir:problem:{error.code if known else 'unreachable'}",
        "title": error.title if known else "The service can't be reached",
        "status": status,
        "detail": (error.detail if known else "") or failure(error),
    }
    if known and error.errors:
        shown["errors"] = [{"parameter": e.parameter, "detail": e.detail} for e in error.errors]
    response = Response(orjson.dumps(shown), status=status, content_type=_TYPE)
    again_s = error.retry_after_s if known else None
    if again_s or status == 503:
        response.headers["Retry-After"] = str(ceil(again_s or AGAIN_S))
    return response
