"""Messages between web processes and the renderer: two frames, a JSON head and a body of bytes."""

from __future__ import annotations

import socket
from asyncio import StreamReader
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from api import framing
from api.errors import ServiceError

Format = Literal["png", "svg", "pdf"]

ATTACH: Final = "hold"  # the job of a connection that only keeps the worker running
SOCKET: Final = "socket"


@dataclass(frozen=True, slots=True)
class Limits:
    """``queue``: how many jobs may wait, each at most ``wait_s``. ``images``: then the worker is
    replaced. ``idle_s``: then it ends without jobs. ``alone_s``: until a process must attach."""

    queue: int = 8
    wait_s: float = 8.0
    images: int = 200
    idle_s: float = 600.0
    alone_s: float = 15.0


class Message(NamedTuple):
    head: dict[str, Any]
    body: bytes = b""


class Gone(Exception):
    """The other side disconnected before or within a message."""


def packed(message: Message) -> bytes:
    return framing.packed(orjson.dumps(message.head), message.body)


async def read_message(reader: StreamReader) -> Message:
    """A message. Raises Gone without a complete one."""
    try:
        return _message(await framing.read(reader), await framing.read(reader))
    except (framing.BrokenFrame, ConnectionError) as error:
        raise Gone from error


def receive(connection: socket.socket) -> Message:
    """The same, blocking. Raises Gone, and TimeoutError after the socket's timeout."""
    try:
        return _message(framing.receive(connection), framing.receive(connection))
    except (framing.BrokenFrame, ConnectionError) as error:
        raise Gone from error


def _message(head: bytes | None, body: bytes | None) -> Message:
    if head is None or body is None:
        raise Gone
    return Message(orjson.loads(head), body)


# --- Errors --------------------------------------------------------------------------------------

BUSY_AGAIN_S: Final = 5


class RenderingError(ServiceError):
    """No image. ``detail`` says what to do about it."""

    status, code, title = 500, "rendering-failed", "The image couldn't be created"


class RendererBusy(RenderingError):
    """The queue is full, or moved too slowly; carries retry_after_s."""

    status, code, title = 503, "renderer-busy", "Too many images at the moment"


class RendererTimedOut(RenderingError):
    """The browser didn't finish in time and was killed; carries retry_after_s."""

    status, code, title = 503, "renderer-timed-out", "The image took too long"


class NoBrowser(RenderingError):
    """There is no Chromium on the machine."""

    status, code, title = 501, "no-browser", "This server can't create images"


class RendererFailed(RenderingError):
    """The browser refused the job or can't be started."""


_BY_CODE: Final = {
    error.code: error for error in (RendererBusy, RendererTimedOut, NoBrowser, RendererFailed)
}


def busy(waiting: int) -> RendererBusy:
    return RendererBusy(
        f"{waiting} others are waiting for the renderer: try again in a few seconds.",
        retry_after_s=BUSY_AGAIN_S,
    )


def timed_out(timeout_s: float) -> RendererTimedOut:
    return RendererTimedOut(
        f"It wasn't ready after {timeout_s:g} s: try again, or choose a smaller size.",
        retry_after_s=BUSY_AGAIN_S,
    )


def no_browser() -> NoBrowser:
    return NoBrowser(
        "Chromium is not installed on this server. Install it (Debian, Ubuntu: apt install"
        " chromium; anywhere: kaleido_get_chrome), or set BROWSER_PATH."
    )


def written(error: RenderingError) -> dict[str, object]:
    return {"error": error.code, "detail": error.detail, "retry_after_s": error.retry_after_s}


def read(fields: dict[str, object]) -> RenderingError:
    """The error that ``written`` serialized in the other process."""
    again = fields.get("retry_after_s")
    kind = _BY_CODE.get(str(fields["error"]), RendererFailed)
    return kind(
        str(fields.get("detail", "")),
        retry_after_s=float(again) if isinstance(again, int | float) else None,
    )
