"""A layer around the whole site: who asks, under which id, what became of it and how long it took.

It believes the proxies that the settings name, gives every answer the headers that none may lack,
and notes each request for the log and the metrics. No address, query or header is noted, so that
no secret can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from api import timez
from api.catalog import PATH_PREFIX
from api.server.asgi import REFUSAL
from api.server.problems import problem_response
from api.settings import Settings
from api.telemetry import metrics
from api.telemetry.access_log import AccessLog
from api.telemetry.client_address import client_address, is_secure
from api.telemetry.request_record import (
    ID_HEADER,
    REQUEST_ID,
    REQUEST_RECORD,
    RequestRecord,
    begin,
    end,
    id_of,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Headers = list[tuple[str, str]]

_METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# What an answer gets that doesn't say it itself. Pages and the service say more.
_SAFE: Final = {
    "x-content-type-options": ("X-Content-Type-Options", "nosniff"),
    "referrer-policy": ("Referrer-Policy", "no-referrer"),
    "content-security-policy": ("Content-Security-Policy", "frame-ancestors 'none'"),
}
# The dashboard's own addresses by their first part; any other is one that isn't there.
_ROOTS: Final = frozenset(
    (
        "", "_dash-component-suites", "_dash-dependencies", "_dash-layout",
        "_dash-update-component", "_favicon.ico", "_reload-hash", "admin", "alerts", "assets",
        "devices", "download", "embed", "embeds", "export", "findings", "healthz", "ingest",
        "insight", "management", "metrics", "readyz", "report", "session", "sign-in", "sign-out",
        "usage", "wall",
    )
)  # fmt: skip
_OTHER: Final = "other"


class RequestLogging:
    """``site`` as it is served over the network."""

    def __init__(self, site: WSGIApplication, settings: Settings) -> None:
        self._site = site
        self._trusted = settings.trusted_proxies
        self._hsts = f"max-age={settings.hsts_s}" if settings.hsts_s else ""
        self._lines = AccessLog(settings.request_log) if settings.request_log else None
        metrics.begin()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        visit = RequestRecord(id_of(environ))
        environ[REQUEST_RECORD], environ[REQUEST_ID] = visit, visit.id
        secure = bool(self._hsts) and is_secure(environ, self._trusted)
        if self._trusted:
            environ["REMOTE_ADDR"] = client_address(environ, self._trusted)
        status = 500
        echoed = environ.get("HTTP_X_REQUEST_ID") == visit.id

        def start(line: str, headers: Headers, exc_info: Any = None) -> Any:
            nonlocal status
            status = int(line[:3])
            _complete(headers, visit, echoed)
            if secure:
                headers.append(("Strict-Transport-Security", self._hsts))
            return (
                start_response(line, headers, exc_info)
                if exc_info
                else start_response(line, headers)
            )

        def ended(sent: int) -> None:
            self._note(visit, environ, status, sent)

        begin(visit)
        metrics.request_began()
        try:
            site = _refused if REFUSAL in environ else self._site
            return _Sent(site(environ, start), ended)
        except BaseException:
            ended(0)
            raise
        finally:
            end()

    def _note(self, visit: RequestRecord, environ: WSGIEnvironment, status: int, sent: int) -> None:
        seconds = perf_counter() - visit.began_s
        route = visit.route or _route(environ.get("PATH_INFO", ""))
        method = environ.get("REQUEST_METHOD", "")
        method = method if method in _METHODS else _OTHER
        metrics.request_ended(route, method, status, seconds)
        if self._lines is None:
            return
        self._lines.write(
            {
                "time": timez.stamp(timez.now_ms(), fraction=True),
                "id": visit.id,
                "method": method,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 2),
                "storeMs": round(visit.store_s * 1000, 2),
                "bytes": sent,
                "principal": visit.kind or None,
                "key": visit.principal or None,
                "address": environ.get("REMOTE_ADDR") or None,
            }
        )


def _refused(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """What no thread was found for, or whose body didn't come."""
    return problem_response(environ[REFUSAL], environ[REQUEST_ID])(environ, start_response)


class _Sent:
    """An answer that tells, once, how many bytes of it were sent."""

    __slots__ = ("_answer", "_ended", "_sent")

    def __init__(self, answer: Iterable[bytes], ended: Callable[[int], None]) -> None:
        self._answer, self._sent = answer, 0
        self._ended: Callable[[int], None] | None = ended

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._answer:
            self._sent += len(piece)
            yield piece
        self._tell()

    def close(self) -> None:
        try:
            close = getattr(self._answer, "close", None)
            if close is not None:
                close()
        finally:
            self._tell()

    def _tell(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(self._sent)


def _complete(headers: Headers, visit: RequestRecord, echoed: bool) -> None:
    said = {name.lower() for name, _ in headers}
    for lower, header in _SAFE.items():
        if lower not in said:
            headers.append(header)
    if "request-id" not in said:
        headers.append(("Request-Id", visit.id))
    if echoed:
        headers.append((ID_HEADER, visit.id))
    if visit.auth_s:
        auth, store, json = visit.auth_s * 1e3, visit.store_s * 1e3, visit.json_s * 1e3
        timing = f"auth;dur={auth:.3f}, store;dur={store:.3f}, json;dur={json:.3f}"
        headers.append(("Server-Timing", timing))


def _route(path: str) -> str:
    """A pattern for what isn't the service's: few, whatever is asked for."""
    root, _, rest = path.removeprefix("/").partition("/")
    if root not in _ROOTS or path.startswith(PATH_PREFIX):
        return _OTHER
    return f"/{root}/…" if rest else f"/{root}"
