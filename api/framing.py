"""Messages between Weir's own processes, over a Unix socket: four bytes of length, then the body.
Used by the writer and by the renderer, which define the bodies."""

from __future__ import annotations

import os
import socket
import sys
from asyncio import IncompleteReadError, StreamReader
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from typing import Final

LONGEST: Final = 64 << 20  # bytes; a 6,000 px wide PNG is 3 MB, a year's figure 1 MB
_LENGTH: Final = Struct("!I")
_PATH_BYTES: Final = 100  # the longest path of a socket that every system accepts


class BrokenFrame(Exception):
    """The stream ended inside a frame, or announced one that is too long."""


def packed(*bodies: bytes) -> bytes:
    """Returns each body as a frame. Raises BrokenFrame for a body that is too long."""
    for body in bodies:
        _check(len(body))
    return b"".join(part for body in bodies for part in (_LENGTH.pack(len(body)), body))


def send(stream: socket.socket, body: bytes) -> None:
    stream.sendall(packed(body))


def receive(stream: socket.socket) -> bytes | None:
    """Reads one frame. Returns None where the stream ends before it."""
    head = _exactly(stream, _LENGTH.size, may_end=True)
    return _exactly(stream, _length(head)) if head else None


async def read(stream: StreamReader) -> bytes | None:
    """Reads one frame in an event loop, like `receive`."""
    try:
        length = _length(await stream.readexactly(_LENGTH.size))
        return await stream.readexactly(length)
    except IncompleteReadError as error:
        if not error.partial and error.expected == _LENGTH.size:
            return None
        raise BrokenFrame("the stream ended inside a frame") from error


def _length(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    _check(length)
    return length


def _check(length: int) -> None:
    if length > LONGEST:
        raise BrokenFrame(f"a frame of {length} bytes is too large")


def _exactly(stream: socket.socket, size: int, *, may_end: bool = False) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = stream.recv(min(size - len(received), 1 << 20))
        if not piece:
            if may_end and not received:
                return b""
            raise BrokenFrame("the stream ended inside a frame")
        received += piece
    return bytes(received)


@contextmanager
def address(path: Path) -> Generator[str]:
    """Yields the path as a socket's address. Such addresses must be short: a longer path is
    replaced by its folder's descriptor, where the system supports that. Valid only inside the
    block."""
    if len(os.fsencode(path)) <= _PATH_BYTES or sys.platform != "linux":
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
