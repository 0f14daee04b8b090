"""What responses share: errors as problem+json, like the service's, the names of downloads, and the
limit of expensive requests.

The same rows always get the same file name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from math import ceil
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

import orjson
from werkzeug.wrappers import Response

from api.errors import PROBLEM_TYPE, ServiceError, TooManyRequests, WeirError
from api.timez import stamp
from components.controls import failure
from components.ranges import Window

UNAVAILABLE_AGAIN_S: Final = 5
_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\s]+')  # on some file system
LONGEST: Final = 150


def problem(error: WeirError) -> Response:
    typed = isinstance(error, ServiceError)
    status = error.status if typed else 502
    body: dict[str, Any] = {
        "type": f"urn:weir:problem:{error.code if typed else 'unreachable'}",
        "title": error.title if typed else "The service can't be reached",
        "status": status,
        "detail": (error.detail if typed else "") or failure(error),
    }
    if typed and error.errors:
        body["errors"] = [{"parameter": e.parameter, "detail": e.detail} for e in error.errors]
    response = Response(orjson.dumps(body), status=status, content_type=PROBLEM_TYPE)
    again_s = error.retry_after_s if typed else None
    if again_s or status == 503:
        response.headers["Retry-After"] = str(ceil(again_s or UNAVAILABLE_AGAIN_S))
    return response


def file_stem(*parts: str) -> str:
    """``weir_FM-10523_2026-11-13T234100Z_2026-11-20T234059Z_10min``."""
    plain = (_FORBIDDEN.sub("-", part).strip("-. ") for part in parts)
    return "_".join(("weir", *(part[:LONGEST] for part in plain if part)))


def of_window(window: Window) -> tuple[str, str]:
    first, last = (stamp(at).replace(":", "") for at in window)
    return first, last


def disposition(name: str, how: str = "attachment") -> str:
    """The Content-Disposition header: the name in ASCII, and in full (RFC 5987) if that differs.
    ``how``: "inline" for files to view rather than save."""
    stem, dot, ending = name.rpartition(".")
    plain = _PLAIN.sub("-", stem).strip("-.") + dot + ending
    if plain == name:
        return f'{how}; filename="{plain}"'
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


# --- The limit of expensive requests -------------------------------------------------------------


AGAIN_S: Final = 5.0


class ConcurrencyLimit:
    """Allows ``most`` concurrent requests for each principal, in this process."""

    def __init__(self, most: int, what: str) -> None:
        """``what``: their name in the error, such as ``images``."""
        self._most, self._what = most, what
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, principal: str) -> Callable[[], None]:
        """Start a request; returns the idempotent function that ends it. Raises TooManyRequests."""
        with self._lock:
            if self._taken[principal] >= self._most:
                raise TooManyRequests(
                    f"You already have {self._most} {self._what} in progress: try again when one of"
                    " them is done.",
                    retry_after_s=AGAIN_S,
                )
            self._taken[principal] += 1
        taken = [principal]

        def give_back() -> None:
            with self._lock:
                if taken:
                    self._taken[taken.pop()] -= 1
                    self._taken += Counter()  # drops zero counts

        return give_back
