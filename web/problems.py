"""Errors as problem+json, like the service's, for the dashboard's own addresses."""

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
    typed = isinstance(error, ServiceError)
    status = error.status if typed else 502
    body: dict[str, Any] = {
        "type": f"urn:weir:problem:{error.code if typed else 'unreachable'}",
        "title": error.title if typed else "The service can't be reached",
        "status": status,
        "detail": (error.detail if typed else "") or failure(error),
    }
    if typed and error.errors:
        body["errors"] = [{"parameter": e.parameter, "detail": e.detail} for e in error.errors]
    response = Response(orjson.dumps(body), status=status, content_type=_TYPE)
    again_s = error.retry_after_s if typed else None
    if again_s or status == 503:
        response.headers["Retry-After"] = str(ceil(again_s or AGAIN_S))
    return response
