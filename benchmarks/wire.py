"""The service without a socket: what one request costs from WSGI environ to body."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from flask import Flask
from werkzeug.test import EnvironBuilder

from api.catalog import KEY_HEADER
from api.server.service import create_service
from api.settings import Settings
from api.store.base import Store

Environ = dict[str, Any]
KEY = "5f0c0a52-6d5c-4d8e-9b5a-2f1f6b0f7c11"  # opens made-up fleets only


def service(store: Store) -> Flask:
    return create_service(store, Settings.from_env({"WEIR_SECRET_KEY": "benchmark " * 4}))


def request(path: str, query: dict[str, str] | None = None) -> Environ:
    """Returns the WSGI environ of a GET."""
    query_text = urlencode(query or {})
    builder = EnvironBuilder(path=path, query_string=query_text, headers=[(KEY_HEADER, KEY)])
    return builder.get_environ()


def body(app: Flask, environ: Environ) -> bytes:
    """Returns the response's bytes. Raises RuntimeError where it isn't a 200."""
    statuses: list[str] = []

    def start_response(status: str, *_: Any) -> Any:
        statuses.append(status)

    answer: Iterable[bytes] = app({**environ, "wsgi.input": BytesIO()}, start_response)
    text = b"".join(answer)
    if statuses != ["200 OK"]:
        raise RuntimeError(f"{environ['PATH_INFO']} answered {statuses}: {text[:500]!r}")
    return text
