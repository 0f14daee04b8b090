"""Turns replies into HTTP responses: JSON, ETags, caching, and common headers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import orjson
from flask import Response, request

from api.catalog import COLUMNS_TYPE, KEY_HEADER
from api.routes import Reply
from api.server.problems import request_id
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord

# Shared caches don't store responses to requests with Authorization, but they would for a
# service-api-key: these values forbid it.
_PRIVATE: Final = "private, no-cache"
_PUBLIC: Final = "public, max-age=300"
_VARY: Final = f"{KEY_HEADER}, Authorization, Accept-Encoding"
_PUBLIC_VARY: Final = "Accept-Encoding"

# Pages of other sites can't load anything from here, but a configured CORS origin may fetch.
_SAFE: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
)


def answer(reply: Reply, principal_id: str, *, cacheable: bool = False) -> Response:
    """Returns the reply as JSON, or 304 if the client has it. ETags differ between principals."""
    body = _dumped(reply.body, request.environ.get(REQUEST_RECORD))
    etag = etag_of(body, principal_id)
    vary = _PUBLIC_VARY if cacheable else _VARY
    headers = [
        ("ETag", etag),
        ("Vary", f"{vary}, Accept" if reply.media_type == COLUMNS_TYPE else vary),
        ("Cache-Control", _PUBLIC if cacheable else _PRIVATE),
    ]
    if has_it(request.environ.get("HTTP_IF_NONE_MATCH"), etag):
        return Response(status=304, headers=headers)
    return Response(body, headers=headers, content_type=reply.media_type)


def _dumped(body: Any, record: RequestRecord | None) -> bytes:
    began_s = perf_counter()
    text = orjson.dumps(body)
    if record is not None:
        record.json_s = perf_counter() - began_s
    return text


def etag_of(body: bytes, principal_id: str) -> str:
    """Returns a weak ETag, since compression may change the bytes; it covers the principal as
    well."""
    digest = hashlib.sha256(f"{principal_id}\n".encode())
    digest.update(body)
    return f'W/"{digest.hexdigest()[:32]}"'


def has_it(if_none_match: str | None, etag: str) -> bool:
    """Whether If-None-Match contains this ETag, by weak comparison."""
    if if_none_match is None:
        return False
    listed = (item.strip().removeprefix("W/") for item in if_none_match.split(","))
    return if_none_match.strip() == "*" or etag.removeprefix("W/") in listed


def finisher(cors_origins: tuple[str, ...]) -> Callable[[Response], Response]:
    """Returns a function that adds to every response, errors included: the request's id, safety
    headers, and CORS headers for configured origins."""
    origins = frozenset(cors_origins)

    def finish(response: Response) -> Response:
        headers = response.headers
        headers["Request-Id"] = request_id()
        headers.extend(_SAFE)
        record: RequestRecord | None = request.environ.get(REQUEST_RECORD)
        if record is not None and request.url_rule is not None:
            record.route = request.url_rule.rule
        if origins:
            _cors(response, request.environ, origins)
        return response

    return finish


_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": f"{KEY_HEADER}, Authorization, If-None-Match, Accept",
    "Access-Control-Max-Age": "600",
}


def _cors(response: Response, environ: dict[str, Any], origins: frozenset[str]) -> None:
    response.vary.add("Origin")
    origin = environ.get("HTTP_ORIGIN")
    if origin not in origins:
        return
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Access-Control-Expose-Headers"] = "ETag, Retry-After, Request-Id"
    if environ["REQUEST_METHOD"] == "OPTIONS":
        response.headers.update(_PREFLIGHT)
