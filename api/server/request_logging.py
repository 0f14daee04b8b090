"""WSGI middleware around the whole site: request ids, default headers, access log and metrics.

It takes the client's address from the trusted proxies of the settings. It records no path, query
or header, so that no secret reaches the log.
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
# Defaults for responses that don't set these headers themselves.
_SAFE: Final = {
    "x-content-type-options": ("X-Content-Type-Options", "nosniff"),
    "referrer-policy": ("Referrer-Policy", "no-referrer"),
    "content-security-policy": ("Content-Security-Policy", "frame-ancestors 'none'"),
}
# First path segments of the dashboard; any other path doesn't exist.
_ROOTS: Final = frozenset(
    (
        "", "_dash-component-suites", "_dash-dependencies", "_dash-layout",
        "_dash-update-component", "_favicon.ico", "_reload-hash", "admin", "alerts", "assets",
        "compare", "devices", "download", "embed", "embeds", "export", "findings", "healthz",
        "import", "ingest", "insight", "management", "metrics", "notes", "readyz", "report",
        "session", "sign-in", "sign-out", "usage", "wall",
    )
)  # fmt: skip
_OTHER: Final = "other"


class RequestLogging:
    """Wraps ``site`` with request logging."""

    def __init__(self, site: WSGIApplication, settings: Settings) -> None:
        self._site = site
        self._trusted = settings.trusted_proxies
        self._hsts = f"max-age={settings.hsts_s}" if settings.hsts_s else ""
        self._access_log = AccessLog(settings.request_log) if settings.request_log else None
        metrics.begin()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        record = RequestRecord(id_of(environ))
        environ[REQUEST_RECORD], environ[REQUEST_ID] = record, record.id
        secure = bool(self._hsts) and is_secure(environ, self._trusted)
        if self._trusted:
            environ["REMOTE_ADDR"] = client_address(environ, self._trusted)
        status = 500
        echoed = environ.get("HTTP_X_REQUEST_ID") == record.id

        def start(line: str, headers: Headers, exc_info: Any = None) -> Any:
            nonlocal status
            status = int(line[:3])
            _complete(headers, record, echoed)
            if secure:
                headers.append(("Strict-Transport-Security", self._hsts))
            return (
                start_response(line, headers, exc_info)
                if exc_info
                else start_response(line, headers)
            )

        def on_end(sent: int) -> None:
            self._note(record, environ, status, sent)

        begin(record)
        metrics.request_began()
        try:
            site = _refused if REFUSAL in environ else self._site
            return _CountedBody(site(environ, start), on_end)
        except BaseException:
            on_end(0)
            raise
        finally:
            end()

    def _note(
        self, record: RequestRecord, environ: WSGIEnvironment, status: int, sent: int
    ) -> None:
        seconds = perf_counter() - record.began_s
        route = record.route or _route(environ.get("PATH_INFO", ""))
        method = environ.get("REQUEST_METHOD", "")
        method = method if method in _METHODS else _OTHER
        metrics.request_ended(route, method, status, seconds)
        if self._access_log is None:
            return
        self._access_log.write(
            {
                "time": timez.stamp(timez.now_ms(), fraction=True),
                "id": record.id,
                "method": method,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 2),
                "storeMs": round(record.store_s * 1000, 2),
                "bytes": sent,
                "principal": record.kind or None,
                "key": record.principal or None,
                "address": environ.get("REMOTE_ADDR") or None,
            }
        )


def _refused(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Returns the response to a request that was refused before it reached the site."""
    return problem_response(environ[REFUSAL], environ[REQUEST_ID])(environ, start_response)


class _CountedBody:
    """A response body that reports once, at its end, how many bytes were sent."""

    __slots__ = ("_answer", "_on_end", "_sent")

    def __init__(self, answer: Iterable[bytes], on_end: Callable[[int], None]) -> None:
        self._answer, self._sent = answer, 0
        self._on_end: Callable[[int], None] | None = on_end

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._answer:
            self._sent += len(piece)
            yield piece
        self._report_once()

    def close(self) -> None:
        try:
            close = getattr(self._answer, "close", None)
            if close is not None:
                close()
        finally:
            self._report_once()

    def _report_once(self) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(self._sent)


def _complete(headers: Headers, record: RequestRecord, echoed: bool) -> None:
    present = {name.lower() for name, _ in headers}
    for lower, header in _SAFE.items():
        if lower not in present:
            headers.append(header)
    if "request-id" not in present:
        headers.append(("Request-Id", record.id))
    if echoed:
        headers.append((ID_HEADER, record.id))
    if record.auth_s:
        auth, store, json = record.auth_s * 1e3, record.store_s * 1e3, record.json_s * 1e3
        timing = f"auth;dur={auth:.3f}, store;dur={store:.3f}, json;dur={json:.3f}"
        headers.append(("Server-Timing", timing))


def _route(path: str) -> str:
    """Returns a route pattern for paths outside the service. There are few, whatever is
    requested."""
    root, _, rest = path.removeprefix("/").partition("/")
    if root not in _ROOTS or path.startswith(PATH_PREFIX):
        return _OTHER
    return f"/{root}/…" if rest else f"/{root}"
