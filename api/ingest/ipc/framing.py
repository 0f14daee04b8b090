"""Frames over a stream: four bytes of length, then so many bytes."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from typing import Final

LONGEST: Final = 64 << 20  # bytes
_LENGTH: Final = Struct("!I")
_PATH_BYTES: Final = 100  # what every system leaves for a socket's path


class BrokenFrame(Exception):
    """The stream ended, or says what no frame says."""


def send(stream: socket.socket, body: bytes) -> None:
    if len(body) > LONGEST:
        raise BrokenFrame("too long to be sent")
    stream.sendall(_LENGTH.pack(len(body)) + body)


def receive(stream: socket.socket) -> bytes | None:
    """One frame; None where the stream ends before it begins."""
    head = _exactly(stream, _LENGTH.size, may_end=True)
    if not head:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > LONGEST:
        raise BrokenFrame("longer than any frame")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, size: int, *, may_end: bool = False) -> bytes:
    found = bytearray()
    while len(found) < size:
        piece = stream.recv(min(size - len(found), 1 << 20))
        if not piece:
            if may_end and not found:
                return b""
            raise BrokenFrame("the stream ended within a frame")
        found += piece
    return bytes(found)


@contextmanager
def address(path: Path) -> Generator[str]:
    """The path as a socket's address, which must be short: a longer one goes by its folder's
    descriptor where the system has that. Valid inside the block."""
    if len(os.fsencode(path)) <= _PATH_BYTES or sys.platform != "linux":
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
