"""One request from the network, as the log and the metrics will tell of it."""

from __future__ import annotations

import re
import secrets
import threading
from time import perf_counter
from typing import Any, Final

from api.telemetry import metrics

REQUEST_RECORD: Final = "weir.visit"  # in a request's environment; copies of it share the visit
REQUEST_ID: Final = "weir.request_id"
ID_HEADER: Final = "X-Request-Id"
_SANE: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)


class RequestRecord:
    """``route`` is a pattern, never a path; ``principal`` a name, never a secret. Durations are in
    seconds: finding out who asks, waiting for the store, writing JSON."""

    __slots__ = ("auth_s", "began_s", "id", "json_s", "kind", "principal", "route", "store_s")

    def __init__(self, id: str) -> None:
        self.id = id
        self.began_s = perf_counter()
        self.route = self.kind = self.principal = ""
        self.auth_s = self.store_s = self.json_s = 0.0


class _Here(threading.local):
    visit: RequestRecord | None = None


_here = _Here()


def id_of(environ: dict[str, Any]) -> str:
    """The caller's own id for the request where it is a sane one, else a new one."""
    said = environ.get("HTTP_X_REQUEST_ID", "")
    return said if _SANE.fullmatch(said) else secrets.token_hex(8)


def begin(visit: RequestRecord) -> None:
    """What this thread does from now on it does for that visit."""
    _here.visit = visit


def end() -> None:
    _here.visit = None


def fetched(seconds: float) -> None:
    """The store was asked, by whomever."""
    visit = _here.visit
    if visit is not None:
        visit.store_s += seconds
    metrics.fetched(seconds)
