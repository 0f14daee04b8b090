"""The reader of this request: the client that asks for them, what is cached for their principal.

The one file of the dashboard that may import flask. The middleware (`web/auth`) has left the
reader in the request's environment before any request gets here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson
from flask import Flask, current_app, has_request_context, request
from flask_caching import Cache
from werkzeug.exceptions import RequestEntityTooLarge

from api.catalog import SITE_ROOT
from api.client import Client
from api.client.credential import Me
from api.errors import WeirError
from api.roles import Role
from api.telemetry import metrics

READER: Final = "weir.reader"  # the key in the environment
SIGN_OUT: Final = "/sign-out"


class EntryMethod(StrEnum):
    """What a reader came in by."""

    PROXY = "proxy"
    SESSION = "session"
    DEMO = "demo"  # the demo fleet's key, at this machine
    SIGNED = "signed address"  # of one image: web/images/signed_links.py


@dataclass(frozen=True, slots=True)
class Reader:
    """``client`` asks as them. ``refused`` fills up when the service turns that client's
    credential down."""

    client: Client
    method: EntryMethod
    refused: list[bool]


# --- Who looks at a page --------------------------------------------------------------------------


TTL_S: Final = 5  # with the service's own 5 s, a revoked key is forgotten within 10 s
LARGEST_BODY: Final = 16_384
_CACHE: Final = "weir-cache"
_FOLDER: Final = "weir-folder"
_SINGLETONS: Final = "weir-kept"
_SITE: Final = "weir-site"
T = TypeVar("T")


def install(server: Flask, folder: Path | None = None, site: str = "") -> None:
    """``folder`` is where this machine's worker processes may share what they have learnt,
    ``site`` where readers reach the dashboard, "" where only a request tells."""
    cache = Cache(config={"CACHE_TYPE": "SimpleCache", "CACHE_THRESHOLD": 1_000})
    cache.init_app(server)
    server.extensions[_CACHE] = cache
    server.extensions[_FOLDER] = folder
    server.extensions[_SITE] = site
    server.extensions[_SINGLETONS] = {}


def current_client() -> Client:
    """The client of this request, which asks as its principal."""
    return _reader().client


def query_params() -> Mapping[str, str]:
    """The query of this request's address; of a repeated name the first."""
    return request.args


def own_site() -> str:
    """Where readers reach the dashboard: as it was set up, else where this one reached it. Then a
    proxy in front says the scheme; whoever says another only gets another link to copy."""
    if configured := public_site():
        return configured
    forwarded = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    scheme = forwarded if forwarded in ("http", "https") else request.scheme
    return f"{scheme}://{request.host}{site_path('')}"


def site_path(address: str) -> str:
    """An address of this site, which begins with a slash, as a reader's browser has it: below the
    path of WEIR_PUBLIC_URL. Outside a request as it is."""
    return request.environ.get(SITE_ROOT, "") + address if has_request_context() else address


def public_site() -> str:
    """Where readers reach the dashboard, as it was set up (WEIR_PUBLIC_URL); "" where it wasn't."""
    return current_app.extensions[_SITE]


def pairs() -> list[tuple[str, str]]:
    """The same as it was sent, in its order, what is repeated too."""
    return list(request.args.items(multi=True))


def body() -> Any:
    """The request's JSON; None for anything else, or for too much of it."""
    request.max_content_length = LARGEST_BODY
    try:
        return orjson.loads(request.get_data()) if request.is_json else None
    except (ValueError, RequestEntityTooLarge):
        return None


def takes_gzip() -> bool:
    return request.accept_encodings["gzip"] > 0


def can_sign_out() -> bool:
    """Whether it is ours to end; a proxy that says who asks would say it again."""
    return _reader().method is not EntryMethod.PROXY


def _reader() -> Reader:
    return request.environ[READER]


def remembered(question: str, load: Callable[[Client], Any], *, ttl_s: int = TTL_S) -> Any:
    """What ``load`` returns, as JSON, at most ``ttl_s`` old. For what is expensive or needed by
    every page. One principal's answer is never another's: the principal is part of the key."""
    client = current_client()
    key = f"{client.principal}:{question}"
    cache: Cache = current_app.extensions[_CACHE]
    body = cache.get(key)
    metrics.looked_up("answers", body is not None)
    if body is None:
        body = orjson.dumps(load(client))
        cache.set(key, body, timeout=ttl_s)
    return orjson.loads(body)


def singleton(name: str, make: Callable[[], T]) -> T:
    """What lives as long as the application, made at first need. Whatever it holds of one
    principal it must keep apart from every other's."""
    singletons: dict[str, Any] = current_app.extensions[_SINGLETONS]
    if name not in singletons:
        singletons.setdefault(name, make())
    return singletons[name]


def me() -> Me:
    """Who looks; of a server that doesn't say, somebody who may change nothing."""
    try:
        fields = remembered("me", _me, ttl_s=10)
    except WeirError:
        return Me("", "", "", Role.VIEWER, may_embed=False)
    return Me(fields["id"], fields["kind"], "", Role(fields["role"]), may_embed=fields["may_embed"])


def _me(client: Client) -> dict[str, Any]:
    who = client.me()
    return {"id": who.id, "kind": who.kind, "role": who.role.value, "may_embed": who.may_embed}


def shared_folder() -> Path | None:
    return current_app.extensions[_FOLDER]
