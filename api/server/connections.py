"""One worker's HTTP server: uvicorn on a listening socket.

Adds what uvicorn lacks: a deadline and a size limit for a request's head, and a response on
connections that were accepted just before the worker was asked to stop.
"""

from __future__ import annotations

import logging
import resource
import signal
import socket
from asyncio import TimerHandle, Transport
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S: Final = 15.0  # seconds for a request's line and headers
HEAD_BYTES: Final = 64 * 1024
IDLE_S: Final = 75  # longer than nginx keeps a connection to Weir (60 s)
FRESH_S: Final = 0.5  # seconds for the first request of a connection, when the worker ends
REFUSED_S: Final = 1.0  # seconds for the rest of a head that is too long
TOO_LONG: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
MOST_CONNECTIONS: Final = 4_000  # connections of one worker, each a file descriptor and some kB


class Connection(HttpToolsProtocol):
    """A connection with a deadline for request heads. ``_heads`` counts the complete ones."""

    _deadline: TimerHandle | None = None
    _head_bytes = 0
    _heads = 0
    _refused = False

    def connection_made(self, transport: Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._deadline is not None:
            if self._head_bytes > HEAD_BYTES:  # before this piece, which may hold a body as well
                self._refuse_head()
                return
            self._head_bytes += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._heads += 1
        self._head_is_here()
        super().on_headers_complete()

    def shutdown(self) -> None:
        if self._heads or self.transport.is_closing():
            super().shutdown()
        else:
            self.loop.call_later(FRESH_S, super().shutdown)

    def _refuse_head(self) -> None:
        """Responds with 431 and discards further input for a moment: closing at once would reset
        the connection before the client could read the response."""
        self._refused = True
        self._head_is_here()
        self.transport.write(TOO_LONG)
        self.loop.call_later(REFUSED_S, self.transport.close)

    def _await_head(self) -> None:
        if self._deadline is None:
            self._head_bytes = 0
            self._deadline = self.loop.call_later(HEAD_S, self.transport.abort)

    def _head_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def serve(
    application: Callable[[Any, Any, Any], Awaitable[None]],
    listener: socket.socket,
    finish_s: int,
    ready: Callable[[], None],
) -> None:
    """Serves until SIGTERM; then requests in progress have ``finish_s`` seconds to finish.
    ``ready`` is called once connections are accepted."""
    _open_more_files()
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # malformed requests aren't logged

    async def notify_ready() -> None:
        nonlocal ready
        ready()
        ready = _nothing

    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        loop="uvloop",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=1_024,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=finish_s,
        timeout_notify=0,
        callback_notify=notify_ready,
    )
    signal.signal(signal.SIGTERM, lambda number, frame: None)  # uvicorn raises it again at its end
    uvicorn.Server(config).run(sockets=[listener])


def _nothing() -> None:
    pass


def _open_more_files() -> None:
    """Raises the limit of open files: each connection is one, and a shell's default is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
