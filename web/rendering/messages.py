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
