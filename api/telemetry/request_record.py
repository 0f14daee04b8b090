"""The record of one request, for the access log and the metrics."""

from __future__ import annotations

import re
import secrets
import threading
from time import perf_counter
from typing import Any, Final

from api.telemetry import metrics

REQUEST_RECORD: Final = "weir.visit"  # environ key; copies of an environ share the record
REQUEST_ID: Final = "weir.request_id"
ID_HEADER: Final = "X-Request-Id"
_SANE: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)


class RequestRecord:
    """``route`` is a pattern, never a path; ``principal`` is an id, never a secret. Durations in
    seconds: ``auth_s`` checking the credential, ``store_s`` reading the store, ``json_s``
    serializing."""

    __slots__ = ("auth_s", "began_s", "id", "json_s", "kind", "principal", "route", "store_s")

    def __init__(self, id: str) -> None:
        self.id = id
        self.began_s = perf_counter()
        self.route = self.kind = self.principal = ""
        self.auth_s = self.store_s = self.json_s = 0.0


class _Here(threading.local):
    record: RequestRecord | None = None


_here = _Here()


def id_of(environ: dict[str, Any]) -> str:
    """The caller's X-Request-Id if it is well-formed, else a new id."""
    id = environ.get("HTTP_X_REQUEST_ID", "")
    return id if _SANE.fullmatch(id) else secrets.token_hex(8)


def begin(record: RequestRecord) -> None:
    """Attribute this thread's work to ``record`` from now on."""
    _here.record = record


def end() -> None:
    _here.record = None


def fetched(seconds: float) -> None:
    """Add the time of one read of the store."""
    record = _here.record
    if record is not None:
        record.store_s += seconds
    metrics.fetched(seconds)
