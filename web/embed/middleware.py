"""WSGI middleware of embeds: their paths, the tokens that give access, and the shell, which is the
page before its token is known.

The shell, its layout and its scripts are public: they contain no data. Paths with data accept only
an embed's token as a bearer token. No cookie is ever read or set, so that sandboxed frames without
an origin (``sandbox="allow-scripts"``) work too. Only this file of the folder may import flask.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Final, Protocol

import orjson
from flask import request
from werkzeug.wrappers import Request, Response

from api.catalog import EMBED_PAGE_PREFIX, SITE_ROOT
from api.client import Client, Credential
from api.client.embeds import Embed
from api.embeds import EmbedDefinition
from api.errors import ServiceError, Unauthorized, WeirError
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord
from api.timez import now_ms
from components.concurrent_queries import ReplyCache, ServiceAccess
from components.controls import failure
from web.static import STATIC_PREFIXES, content_security_policy

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


TOKEN_CHECK: Final = "standing"  # requested by a frame every few seconds: is its token still valid?
OTHER_EMBED: Final = "other-embed"
CROWDED: Final = "Too many requests for this view at the moment. It continues automatically."
_NO_TOKEN: Final = "no-token"
_TOO_OFTEN: Final = "too-often"
_PUBLIC: Final = {"_dash-layout": "GET", "_dash-dependencies": "GET"}
_GUARDED: Final = {"_dash-update-component": "POST", TOKEN_CHECK: "GET"}
_PREFLIGHT_S: Final = "600"
_NO_ORIGIN: Final = "null"  # the origin of a sandboxed frame


class StoredEmbed(Protocol):
    """An embed of the store."""

    @property
    def definition(self) -> EmbedDefinition: ...


Find = Callable[[str], StoredEmbed | None]


class FrameLimit(Protocol):
    """Limits the rate of embeds' requests."""

    def wait_s(self, address: str, token: str) -> float:
        """Seconds until a request from that address with that token is allowed; 0.0: now."""
        ...


class EmbedMiddleware:
    """``application``: Dash behind static delivery, at the root. ``find`` looks an embed up by its
    id. ``client``: connection to the service, used with a request's token only. ``limit`` applies
    to requests for data, not to checks of a token."""

    def __init__(
        self,
        application: WSGIApplication,
        client: Client,
        find: Find,
        parts: Callable[[], Parts],
        cache: ReplyCache,
        limit: FrameLimit | None = None,
    ) -> None:
        self._application, self._client, self._find = application, client, find
        self._parts, self._cache, self._limit = parts, cache, limit

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        path = environ.get("PATH_INFO", "").removeprefix(EMBED_PAGE_PREFIX)
        if path.startswith(STATIC_PREFIXES):
            inner = {**environ, "SCRIPT_NAME": _script_name(environ), "PATH_INFO": path}
            return self._application(inner, start_response)
        embed_id, _, rest = path.removeprefix("/").partition("/")
        if not ID_FORM.fullmatch(embed_id):
            response = not_found_page()
        elif rest:
            response = _with_access(request, self._part(request, embed_id, rest))
        else:
            response = self._shell(request, embed_id)
        return response(environ, start_response)

    # --- Public ----------------------------------------------------------------------------------

    def _shell(self, request: Request, embed_id: str) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _no_method("GET")
        embed = self._find(embed_id)
        if embed is None:
            return not_found_page()
        made = shell_page(self._parts(), embed_id, embed.definition)
        return made.make_conditional(request)

    def _part(self, request: Request, embed_id: str, name: str) -> Response:
        method = _PUBLIC.get(name) or _GUARDED.get(name)
        if method is None:
            return not_found_page()
        if request.method == "OPTIONS":
            return Response(status=204, headers={"Access-Control-Max-Age": _PREFLIGHT_S})
        if request.method != method:
            return _no_method(method)
        if name in _PUBLIC:
            return self._inside(request, name)
        return self._guarded(request, embed_id, name)

    # --- With a token ----------------------------------------------------------------------------

    def _guarded(self, request: Request, embed_id: str, name: str) -> Response:
        credential = _bearer(request)
        if credential is None:
            return _refused("This needs an embed's token.", _NO_TOKEN)
        if self._limit is not None and name != TOKEN_CHECK:
            wait_s = self._limit.wait_s(request.remote_addr or "", credential.principal)
            if wait_s:
                return _crowded(wait_s)
        client = self._client.as_principal(credential)
        try:
            embed = client.own_embed()
        except Unauthorized as error:
            return _refused(error.detail or str(error), error.reason)
        except WeirError as error:
            return _failed(error)
        seen: RequestRecord | None = request.environ.get(REQUEST_RECORD)
        if seen is not None:
            seen.kind = "embed"
        if embed.id != embed_id:  # that embed may allow other origins
            return _refused("This token is another embed's.", OTHER_EMBED)
        if name == TOKEN_CHECK:
            return Response(status=204)
        return self._inside(request, name, embed, client)

    def _inside(
        self,
        request: Request,
        name: str,
        embed: Embed | None = None,
        client: Client | None = None,
    ) -> Response:
        own = {"SCRIPT_NAME": _script_name(request.environ), "PATH_INFO": f"/{name}"}
        inner = {**request.environ, **own}
        if embed is not None and client is not None:
            inner[EMBED_VIEWER] = EmbedViewer(embed, client, self._cache)
        return Response.from_app(self._application, inner)


def _script_name(environ: WSGIEnvironment) -> str:
    return environ.get(SITE_ROOT, "") + EMBED_PAGE_PREFIX


def _bearer(request: Request) -> Credential | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    try:
        return Credential.bearer(token)
    except ValueError:
        return None


def _with_access(request: Request, response: Response) -> Response:
    """Allow a frame without an origin; other pages of other sites get no access."""
    response.headers.update(HEADERS)
    response.headers["Cache-Control"] = "no-store"
    response.headers.add("Vary", "Origin")
    if request.headers.get("Origin") == _NO_ORIGIN:
        response.headers["Access-Control-Allow-Origin"] = _NO_ORIGIN
        response.headers["Access-Control-Allow-Methods"] = "GET, POST"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    return response


def _refused(detail: str, reason: str | None) -> Response:
    body = orjson.dumps({"detail": detail, "reason": reason})
    headers = {"WWW-Authenticate": 'Bearer realm="weir"'}
    return Response(body, status=401, mimetype="application/json", headers=headers)


def _crowded(wait_s: float) -> Response:
    body = orjson.dumps({"detail": CROWDED, "reason": _TOO_OFTEN})
    headers = {"Retry-After": str(ceil(wait_s))}
    return Response(body, status=429, mimetype="application/json", headers=headers)


def _failed(error: WeirError) -> Response:
    """The service couldn't check the token."""
    wait = error.retry_after_s if isinstance(error, ServiceError) else None
    headers = {"Retry-After": f"{wait:.0f}"} if wait else {}
    body = orjson.dumps({"detail": failure(error), "reason": None})
    return Response(body, status=503, mimetype="application/json", headers=headers)


def _no_method(method: str) -> Response:
    return Response("Method not allowed\n", 405, {"Allow": method}, mimetype="text/plain")


# --- The embed of a request -----------------------------------------------------------------------


EMBED_VIEWER: Final = "weir.embed"  # environ key, set by the middleware


@dataclass(frozen=True, slots=True)
class EmbedAccess(ServiceAccess):
    """Caches by embed and devices, not by token: a host creates a new token every few minutes."""

    embed: Embed

    @property
    def principal(self) -> str:
        return f"{self.embed.id}:{','.join(self.embed.definition.devices)}"


@dataclass(frozen=True, slots=True)
class EmbedViewer:
    """``embed``: of the request's token. ``client``: uses that token."""

    embed: Embed
    client: Client
    cache: ReplyCache

    @property
    def access(self) -> EmbedAccess:
        self.cache.note_time(now_ms())
        return EmbedAccess(self.client, self.cache, self.embed)


def current_viewer() -> EmbedViewer:
    return request.environ[EMBED_VIEWER]


# --- The shell -----------------------------------------------------------------------------------


# The form of an id.
ID_FORM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_CACHED: Final = "no-cache"  # revalidated each time, since a new version has other scripts
_CONFIG_PREFIX: Final = "\\u002fembed\\u002f"  # as Dash writes its requests' prefix into a page
_WORDS: Final = "Embed not found. It may have been revoked, or its address is incomplete."

_SHELL: Final = """<!DOCTYPE html>
<html lang="en"{theme} data-embed="{id}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <meta name="embed-origins" content="{origins}">
    <title>Weir</title>
    {head}
  </head>
  <body>
    <div id="react-entry-point"><div class="_dash-loading"></div></div>
    {body}
  </body>
</html>
"""
_NOT_FOUND: Final = f"""<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Not found · Weir</title>
    <style>
      body {{ display: grid; place-items: center; min-height: 90vh; margin: 16px }}
      p {{ font: 14px/20px system-ui, sans-serif; text-align: center }}
    </style>
  </head>
  <body><p>{_WORDS}</p></body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """The common parts of every shell. ``head``: loaded before painting. ``chart``: of charts.
    ``config`` and ``scripts``: Dash's and ours. ``script_hashes``: of the inline scripts."""

    head: str
    chart: str
    config: str
    scripts: str
    script_hashes: tuple[str, ...]


def shell_page(parts: Parts, embed_id: str, definition: EmbedDefinition) -> Response:
    head = parts.head + (parts.chart if definition.view == "chart" else "")
    config = parts.config.replace(_CONFIG_PREFIX, f"{_CONFIG_PREFIX}{embed_id}\\u002f", 1)
    html = _SHELL.format(
        id=escape(embed_id),
        theme=f' data-theme="{definition.theme}"' if definition.theme in ("light", "dark") else "",
        origins=escape(" ".join(definition.origins)),
        head=head,
        body=config + parts.scripts,
    )
    return _document(html, 200, _policy(parts.script_hashes, definition.origins))


def not_found_page() -> Response:
    """The response for an unknown id; no site may frame it."""
    return _document(_NOT_FOUND, 404, content_security_policy(()))


def _policy(hashes: Iterable[str], origins: Sequence[str]) -> str:
    return content_security_policy(hashes, framed_by=("'self'", *origins))


def _document(html: str, status: int, policy: str) -> Response:
    body = html.encode()
    headers = {**HEADERS, "Content-Security-Policy": policy, "Cache-Control": _CACHED}
    response = Response(body, status=status, mimetype="text/html", headers=headers)
    # The ETag covers the policy, which is a header.
    response.set_etag(hashlib.sha256(policy.encode() + body).hexdigest()[:32])
    return response
