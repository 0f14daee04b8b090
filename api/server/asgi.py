"""Runs the WSGI site under an ASGI server. A request holds a thread only while it is processed.

Bodies are read before a thread is taken (`bodies`), and responses of known length are sent after it
is released. Each group of paths has its own threads (`lanes`). A file of unknown length is streamed
at its reader's speed. A reader that accepts nothing for ``SEND_S`` seconds is disconnected; the
missing end of the response shows it that the file is incomplete.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_to_bytes

from api.errors import ServiceError, Unavailable
from api.server.path_routing import without_root
from api.server.request_bodies import Body, BodyBudget, ClientGone, Receive
from api.server.thread_lanes import LANES, Lane, lane_of

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    Scope = dict[str, Any]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

REFUSAL: Final = "weir.refusal"  # environ key of the ServiceError to respond with
SEND_S: Final = 30.0
LINGER_S: Final = 2.0  # seconds in which the sender of a refused body can read the response
_ONE_LINE: Final = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}
_log = logging.getLogger(__name__)


class ThreadedSite:
    """The ASGI application. For an environ with ``REFUSAL``, ``site`` must respond with that error
    without blocking. ``root``: see `mount`."""

    def __init__(
        self, site: WSGIApplication, lanes: Sequence[Lane] = LANES, root: str = ""
    ) -> None:
        self._site, self._root = site, root
        self._lanes = lanes
        self._threads = {lane: _Threads(lane) for lane in lanes}
        self._budget = BodyBudget()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        environ = environ_of(scope)
        lane = lane_of(without_root(self._root, environ["PATH_INFO"]), self._lanes)
        body = Body(self._budget, environ["REMOTE_ADDR"], lane.body_bytes)
        exchange = _Exchange(self._site, environ, receive, send)
        try:
            await exchange.take_body(body, lane)
            await self._threads[lane].run(exchange)
        except ServiceError as error:
            await exchange.refuse(error)
        except ClientGone:
            return
        except Exception:
            _log.exception("the site failed to respond")
            raise
        finally:
            body.release()


class _Threads:
    """The thread pool of one lane. Belongs to one event loop."""

    def __init__(self, lane: Lane) -> None:
        self._lane, self._under_way = lane, 0
        self._pool = ThreadPoolExecutor(lane.threads, thread_name_prefix=lane.name)

    async def run(self, exchange: _Exchange) -> None:
        """Processes a request. Raises Unavailable at once if too many are waiting already."""
        if self._under_way >= self._lane.threads + self._lane.waiting:
            raise Unavailable(
                "Too many requests at the moment: try again.",
                retry_after_s=self._lane.retry_after_s,
            )
        self._under_way += 1
        loop = asyncio.get_running_loop()
        try:
            whole = await loop.run_in_executor(self._pool, exchange.work, loop)
        finally:
            self._under_way -= 1
        if whole is not None:
            await exchange.send_whole(whole)


class _Exchange:
    """One request and its response."""

    def __init__(
        self, site: WSGIApplication, environ: WSGIEnvironment, receive: Receive, send: Send
    ) -> None:
        self._site, self._environ = site, environ
        self._receive, self._send = receive, send
        self._start: dict[str, Any] = {}
        self._written: list[bytes] = []  # by `write`, before the response is returned
        self._gone: asyncio.Task[Any] | None = None
        self._sender_goes_on = False  # part of the body is still unread

    async def take_body(self, body: Body, lane: Lane) -> None:
        """Reads the body; raises what `Body.read` raises. A body whose declared length exceeds the
        limit is left unread, since the site refuses it by its Content-Length."""
        environ = self._environ
        length = int(environ.get("CONTENT_LENGTH") or 0)
        self._sender_goes_on = True
        if length > lane.body_bytes:
            return
        if length or "HTTP_TRANSFER_ENCODING" in environ:
            await body.read(self._receive, lane.body_s)
            environ["wsgi.input"] = BytesIO(body.bytes)
            environ["CONTENT_LENGTH"] = str(len(body.bytes))
            environ.pop("HTTP_TRANSFER_ENCODING", None)
        self._sender_goes_on = len(body.bytes) > lane.body_bytes

    # --- In a thread -----------------------------------------------------------------------------

    def work(self, loop: asyncio.AbstractEventLoop) -> bytes | None:
        """Returns the complete body, to be sent once the thread is free; None if it was
        streamed."""
        answer = self._site(self._environ, self._start_response)
        pieces = chain(self._written, answer)
        try:
            if self._has_length():
                return b"".join(pieces)
            self._stream(pieces, loop)
            return None
        finally:
            close = getattr(answer, "close", None)
            if close is not None:
                close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], object]:
        if exc_info and self._gone is not None:
            raise exc_info[1].with_traceback(exc_info[2])
        self._start = {
            "type": "http.response.start",
            "status": int(status[:3]),
            "headers": [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers],
        }
        return self._written.append

    def _has_length(self) -> bool:
        return (
            self._start["status"] in (204, 304)
            or self._environ["REQUEST_METHOD"] == "HEAD"
            or any(name == b"content-length" for name, _ in self._start["headers"])
        )

    def _stream(self, answer: Iterable[bytes], loop: asyncio.AbstractEventLoop) -> None:
        def push(piece: bytes, *, more: bool) -> None:
            message = {"type": "http.response.body", "body": piece, "more_body": more}
            asyncio.run_coroutine_threadsafe(self._send_piece(message), loop).result()

        try:
            for piece in answer:
                if piece:
                    push(piece, more=True)
            push(b"", more=False)
        except (ClientGone, TimeoutError) as error:
            _log.info("a response was cut off: %r", error)
        except Exception:  # noqa: BLE001 - the reader sees the missing end, the log has the cause
            _log.exception("a response was interrupted")
        finally:
            if self._gone is not None:
                loop.call_soon_threadsafe(self._gone.cancel)

    # --- In the event loop -----------------------------------------------------------------------

    async def _send_piece(self, message: dict[str, Any]) -> None:
        """Raises ClientGone after a disconnect, TimeoutError if the client accepts no data."""
        async with asyncio.timeout(SEND_S):
            if self._gone is None:
                self._gone = asyncio.create_task(_gone(self._receive))
                await self._send(self._start)
            if self._gone.done():
                raise ClientGone
            await self._send(message)

    async def send_whole(self, body: bytes) -> None:
        """Sends a complete response. A client that is still sending gets time to read it before the
        connection is closed."""
        if self._sender_goes_on:
            self._start["headers"].append((b"connection", b"close"))
        await self._send(self._start)
        if self._sender_goes_on:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
            body = b""
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    while (await self._receive()).get("more_body"):
                        pass
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def refuse(self, error: ServiceError) -> None:
        self._environ[REFUSAL] = error
        await self.send_whole(self.work(asyncio.get_running_loop()) or b"")


async def _gone(receive: Receive) -> None:
    """Waits for the disconnect, which is the message after the body."""
    while (await receive())["type"] != "http.disconnect":
        pass


def environ_of(scope: Scope) -> WSGIEnvironment:
    """Returns a request's WSGI environ, without its body. Headers with an underscore in their name
    are dropped: WSGI couldn't tell them from those with a dash."""
    server, client = scope.get("server") or ("", 0), scope.get("client") or ("", 0)
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 0),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": BytesIO(),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if "_" in name:
            continue
        key = _ONE_LINE.get(name) or f"HTTP_{name.upper().replace('-', '_')}"
        if key in environ:
            value = f"{environ[key]}{'; ' if name == 'cookie' else ','}{value}"
        environ[key] = value
    return environ
