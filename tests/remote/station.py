"""A remote Weir server: real sockets, failures on demand, and a count of its requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from api.catalog import KEY_HEADER

HEADER = "HTTP_" + KEY_HEADER.upper().replace("-", "_")


@dataclass(frozen=True)
class Weather:
    """The fate of requests. The first ``answers`` requests get ``status``, ``body`` and ``headers``
    instead of a normal response; None means all of them."""

    delay_s: float = 0.0
    answers: int | None = 0
    status: str = "200 OK"
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


FINE = Weather()


@dataclass(frozen=True)
class Seen:
    at_s: float
    path: str
    key: str


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing."""


@dataclass
class Station:
    """A service at a port that stays reserved while it is down. The server closes each connection
    after one response, so the number of open connections is the number of running requests."""

    service: Any
    port: int
    weather: Weather = FINE
    seen: list[Seen] = field(default_factory=list)
    most_at_once: int = 0
    _under_way: int = 0
    _spoilt: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: tuple[BaseWSGIServer, threading.Thread] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def turn(self, weather: Weather) -> None:
        """Behave like that from now on, and reset the counts."""
        with self._lock:
            self.weather, self._spoilt, self.most_at_once = weather, 0, 0
            self.seen.clear()

    def start(self) -> None:
        server = make_server("127.0.0.1", self.port, self, threaded=True, request_handler=_Quiet)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self._running = server, thread

    def stop(self) -> None:
        """Close the port."""
        if self._running:
            server, thread = self._running
            server.shutdown()
            server.server_close()
            thread.join()
            self._running = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._lock:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            path, key = environ["PATH_INFO"], environ.get(HEADER, "")
            self.seen.append(Seen(time.monotonic(), path, key))
            weather, self._spoilt = self.weather, self._spoilt + 1
            spoilt = weather.answers is None or self._spoilt <= weather.answers
        try:
            time.sleep(weather.delay_s)
            if spoilt:
                start_response(weather.status, list(weather.headers))
                return [weather.body]
            return list(self.service(environ, start_response))
        finally:
            with self._lock:
                self._under_way -= 1
