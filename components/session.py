"""Who is looking: the client that asks for this request, and what is remembered for its principal.

The one file of the dashboard that may import flask. The door (`components/access`) has found out
who looks, before any request gets here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson
from flask import Flask, current_app, request
from flask_caching import Cache

from api.client import Client
from components.access.door import LOOKING, How, Looking

TTL_S: Final = 5  # with the service's own 5 s, a revoked key is forgotten within 10 s
_CACHE: Final = "weir-cache"


def install(server: Flask) -> None:
    cache = Cache(config={"CACHE_TYPE": "SimpleCache", "CACHE_THRESHOLD": 1_000})
    cache.init_app(server)
    server.extensions[_CACHE] = cache


def current_client() -> Client:
    """The client of this request, which asks as its principal."""
    return _looking().client


def can_sign_out() -> bool:
    """Whether it is ours to end; a proxy that says who asks would say it again."""
    return _looking().how is not How.PROXY


def _looking() -> Looking:
    return request.environ[LOOKING]


def remembered(question: str, ask: Callable[[Client], Any], *, ttl_s: int = TTL_S) -> Any:
    """What ``ask`` answers, as JSON, at most ``ttl_s`` old. For what is dear or asked by every
    page. One principal's answer is never another's: the principal is part of the key."""
    client = current_client()
    key = f"{client.principal}:{question}"
    cache: Cache = current_app.extensions[_CACHE]
    body = cache.get(key)
    if body is None:
        body = orjson.dumps(ask(client))
        cache.set(key, body, timeout=ttl_s)
    return orjson.loads(body)
