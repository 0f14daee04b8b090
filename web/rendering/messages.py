"""What a web process and the worker agree on, and their messages: a head as JSON, a body of bytes.

``length of head (4 bytes, big-endian) | length of body (4 bytes) | head | body``
"""

from __future__ import annotations

import socket
import struct
from asyncio import IncompleteReadError, StreamReader
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from api.errors import ServiceError

_LENGTHS: Final = struct.Struct(">II")
Format = Literal["png", "svg", "pdf"]

LARGEST: Final = 64 * 1024 * 1024  # a 6,000 px wide PNG is 3 MB, a year's figure 1 MB


HOLD: Final = "hold"  # what a connection asks for that only says: somebody is here
SOCKET: Final = "socket"


@dataclass(frozen=True, slots=True)
class Limits:
    """``queue``: how many may wait. ``wait_s``: how long. ``images``: then the worker is replaced.
    ``idle_s``: without a question it ends. ``alone_s``: how long it waits for its first holder."""

    queue: int = 8
    wait_s: float = 8.0
    images: int = 200
    idle_s: float = 600.0
    alone_s: float = 15.0


class Message(NamedTuple):
    head: dict[str, Any]
    body: bytes = b""


class Gone(Exception):
    """The other side went away within a message, or instead of one."""


def packed(message: Message) -> bytes:
    head = orjson.dumps(message.head)
    return _LENGTHS.pack(len(head), len(message.body)) + head + message.body


async def read_message(reader: StreamReader) -> Message:
    """Raises Gone where no whole message comes."""
    try:
        head, body = _checked(await reader.readexactly(_LENGTHS.size))
        return Message(orjson.loads(await reader.readexactly(head)), await reader.readexactly(body))
    except (IncompleteReadError, ConnectionError) as error:
        raise Gone from error


def receive(connection: socket.socket) -> Message:
    """The same, blocking. Raises Gone, and TimeoutError by the socket's own timeout."""
    head, body = _checked(_exactly(connection, _LENGTHS.size))
    return Message(orjson.loads(_exactly(connection, head)), _exactly(connection, body))


def _checked(lengths: bytes) -> tuple[int, int]:
    head, body = _LENGTHS.unpack(lengths)
    if head + body > LARGEST:
        raise Gone(f"a message of {head + body} bytes")
    return head, body


def _exactly(connection: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        try:
            part = connection.recv(min(length - len(received), 1 << 20))
        except ConnectionError as error:
            raise Gone from error
        if not part:
            raise Gone
        received += part
    return bytes(received)


# --- Errors --------------------------------------------------------------------------------------

BUSY_AGAIN_S: Final = 5


class RenderingError(ServiceError):
    """No picture. ``detail`` says in words what to do about it."""

    status, code, title = 500, "rendering-failed", "The picture couldn't be made"


class RendererBusy(RenderingError):
    """The queue is full, or moved too slowly; carries retry_after_s."""

    status, code, title = 503, "renderer-busy", "Too many pictures are being made"


class RendererTimedOut(RenderingError):
    """The browser didn't finish in time and was ended; carries retry_after_s."""

    status, code, title = 503, "renderer-timed-out", "The picture took too long"


class NoBrowser(RenderingError):
    """There is no Chromium on the machine."""

    status, code, title = 501, "no-browser", "This server can't make pictures"


class RendererFailed(RenderingError):
    """The browser refused what it was given, or can't be started."""


_BY_CODE: Final = {
    error.code: error for error in (RendererBusy, RendererTimedOut, NoBrowser, RendererFailed)
}


def busy(waiting: int) -> RendererBusy:
    return RendererBusy(
        f"{waiting} others wait for this machine's one browser: try again in a few seconds.",
        retry_after_s=BUSY_AGAIN_S,
    )


def timed_out(timeout_s: float) -> RendererTimedOut:
    return RendererTimedOut(
        f"It wasn't there after {timeout_s:g} s, so it was given up: try again, or smaller.",
        retry_after_s=BUSY_AGAIN_S,
    )


def no_browser() -> NoBrowser:
    return NoBrowser(
        "There is no Chromium on this machine. Install one (Debian, Ubuntu: apt install chromium;"
        " anywhere: kaleido_get_chrome), or say where it is by BROWSER_PATH."
    )


def written(error: RenderingError) -> dict[str, object]:
    return {"error": error.code, "detail": error.detail, "retry_after_s": error.retry_after_s}


def read(said: dict[str, object]) -> RenderingError:
    """The error that ``written`` wrote in the other process."""
    again = said.get("retry_after_s")
    kind = _BY_CODE.get(str(said["error"]), RendererFailed)
    return kind(
        str(said.get("detail", "")),
        retry_after_s=float(again) if isinstance(again, int | float) else None,
    )
