"""The reader of the current request: the client of their credential, and their principal's cache.

The only file of the dashboard that may import flask. The middleware (`web/auth`) has put the reader
into the request's environment.
"""

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
from api.errors import Unreachable, WeirError
from api.roles import Role
from api.telemetry import metrics

READER: Final = "weir.reader"  # environ key, set by the middleware
SIGN_OUT: Final = "/sign-out"


class EntryMethod(StrEnum):
    """How a reader signed in."""

    PROXY = "proxy"
    SESSION = "session"
    DEMO = "demo"  # by the demo fleet's key, from this machine
    SIGNED = "signed address"  # by the signed address of one image: web/images/signed_links.py


@dataclass(frozen=True, slots=True)
class Reader:
    """``client``: has the reader's credential. ``refused``: filled when the service refuses that
    credential."""

    client: Client
    method: EntryMethod
    refused: list[bool]


# --- The reader of a request ----------------------------------------------------------------------


TTL_S: Final = 5  # with the service's own 5 s, a revoked key ends within 10 s
COUNT_TTL_S: Final = 30
ME_TTL_S: Final = 2  # a change of the organization's units shows on the next page
LARGEST_BODY: Final = 16_384
_CACHE: Final = "weir-cache"
_FOLDER: Final = "weir-folder"
_SINGLETONS: Final = "weir-kept"
_SITE: Final = "weir-site"
_UNITS: Final = "weir.units"  # environ key
_AWAY: Final = "weir.away"  # environ key: the error of a service that didn't respond
T = TypeVar("T")


def install(server: Flask, folder: Path | None = None, site: str = "") -> None:
    """``folder``: a cache that worker processes of this machine share. ``site``: the public
    address, "" to use that of each request."""
    cache = Cache(config={"CACHE_TYPE": "SimpleCache", "CACHE_THRESHOLD": 1_000})
    cache.init_app(server)
    server.extensions[_CACHE] = cache
    server.extensions[_FOLDER] = folder
    server.extensions[_SITE] = site
    server.extensions[_SINGLETONS] = {}


def current_client() -> Client:
    """The client of this request, with the reader's credential."""
    return _reader().client


def query_params() -> Mapping[str, str]:
    """The query of this request's address; of a repeated name the first value."""
    return request.args


def own_site() -> str:
    """The public address of the dashboard: as configured, otherwise that of this request. Then a
    proxy gives the scheme; a client that forges it only gets another link to copy."""
    if configured := public_site():
        return configured
    forwarded = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    scheme = forwarded if forwarded in ("http", "https") else request.scheme
    return f"{scheme}://{request.host}{site_path('')}"


def site_path(address: str) -> str:
    """An address of this site, which begins with a slash, below the path of WEIR_PUBLIC_URL.
    Unchanged outside a request."""
    return request.environ.get(SITE_ROOT, "") + address if has_request_context() else address


def public_site() -> str:
    """The configured public address of the dashboard (WEIR_PUBLIC_URL); "" without one."""
    return current_app.extensions[_SITE]


def pairs() -> list[tuple[str, str]]:
    """The query as sent: in its order, with repeated names."""
    return list(request.args.items(multi=True))


def body() -> Any:
    """The request's JSON; None for anything else, or if it is too large."""
    request.max_content_length = LARGEST_BODY
    try:
        return orjson.loads(request.get_data()) if request.is_json else None
    except (ValueError, RequestEntityTooLarge):
        return None


def takes_gzip() -> bool:
    return request.accept_encodings["gzip"] > 0


def can_sign_out() -> bool:
    """Whether the session can be ended here; a proxy that identifies the reader would sign in
    again."""
    return _reader().method is not EntryMethod.PROXY


def _reader() -> Reader:
    return request.environ[READER]


def remembered(question: str, load: Callable[[Client], Any], *, ttl_s: int = TTL_S) -> Any:
    """The result of ``load``, as JSON, at most ``ttl_s`` old; for expensive data or data that every
    page needs. The principal is part of the key, so that no principal gets another's data."""
    client = current_client()
    key = f"{client.principal}:{question}"
    cache: Cache = current_app.extensions[_CACHE]
    body = cache.get(key)
    metrics.looked_up("answers", body is not None)
    if body is None:
        body = orjson.dumps(_loaded(load, client))
        cache.set(key, body, timeout=ttl_s)
    return orjson.loads(body)


def _loaded(load: Callable[[Client], T], client: Client) -> T:
    """Raises a WeirError. Once the service was away, a request doesn't wait for it again: a page's
    frame needs several of these."""
    if (failed := request.environ.get(_AWAY)) is not None:
        raise failed
    try:
        return load(client)
    except Unreachable as error:
        request.environ[_AWAY] = error
        raise


def singleton(name: str, make: Callable[[], T]) -> T:
    """An object that lives as long as the application, made on first use. It must keep the data of
    principals apart."""
    singletons: dict[str, Any] = current_app.extensions[_SINGLETONS]
    if name not in singletons:
        singletons.setdefault(name, make())
    return singletons[name]


def me() -> Me:
    """The reader's role and organization; from a server without that, a reader who can't change
    anything."""
    try:
        fields = remembered("me", _me, ttl_s=ME_TTL_S)
    except WeirError:
        return Me("", "", "", Role.VIEWER, may_embed=False)
    return Me(
        fields["id"],
        fields["kind"],
        fields["organization_id"],
        Role(fields["role"]),
        may_embed=fields["may_embed"],
        units=fields["units"],
        currency=fields.get("currency", ""),
    )


def organization_units() -> str:
    """The name of the units of the reader's organization; "" outside a reader's request."""
    if not has_request_context() or READER not in request.environ:
        return ""
    if _UNITS not in request.environ:
        request.environ[_UNITS] = me().units
    return request.environ[_UNITS]


def _me(client: Client) -> dict[str, Any]:
    reader = client.me()
    return {
        "id": reader.id,
        "kind": reader.kind,
        "organization_id": reader.organization_id,
        "role": reader.role.value,
        "may_embed": reader.may_embed,
        "units": reader.units,
        "currency": reader.currency,
    }


def shared_folder() -> Path | None:
    return current_app.extensions[_FOLDER]


# --- What every page shows of the reader's organization -------------------------------------------


def organization_name() -> str:
    """Empty without one. Raises a WeirError."""

    def load(client: Client) -> str:
        return next((each.name for each in client.organizations()), "")

    return str(remembered("organization", load))


def count_of_urgent_findings() -> int:
    """The number of open critical findings and warnings. Raises a WeirError."""

    def load(client: Client) -> int:
        severities = ("critical", "warning")
        return client.findings(states=["open"], severities=severities, count_only=True).count

    return remembered("findings-badge", load, ttl_s=COUNT_TTL_S)


def count_of_firing_alerts() -> int:
    """Raises a WeirError."""

    def load(client: Client) -> int:
        return client.alerts(states=["firing"], count_only=True).count

    return remembered("alerts-badge", load, ttl_s=COUNT_TTL_S)
