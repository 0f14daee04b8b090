"""What a web process and the renderer agree on, and their messages: two frames, a head as JSON and
a body of bytes."""

from __future__ import annotations

import socket
from asyncio import StreamReader
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from api import framing

Format = Literal["png", "svg", "pdf"]

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
    return framing.packed(orjson.dumps(message.head), message.body)


async def read_message(reader: StreamReader) -> Message:
    """Raises Gone where no whole message comes."""
    try:
        return _message(await framing.read(reader), await framing.read(reader))
    except (framing.BrokenFrame, ConnectionError) as error:
        raise Gone from error


def receive(connection: socket.socket) -> Message:
    """The same, blocking. Raises Gone, and TimeoutError by the socket's own timeout."""
    try:
        return _message(framing.receive(connection), framing.receive(connection))
    except (framing.BrokenFrame, ConnectionError) as error:
        raise Gone from error


def _message(head: bytes | None, body: bytes | None) -> Message:
    if head is None or body is None:
        raise Gone
    return Message(orjson.loads(head), body)
