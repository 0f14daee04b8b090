"""Reads a request's body before a thread is taken, with a deadline and a size limit.

A slow sender costs one connection and the memory of what has arrived. That memory is limited for
each peer and for the process.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

from api.errors import Busy, RequestTimeout

Receive = Callable[[], Awaitable[Any]]

PEER_BYTES: Final = 32 << 20  # bytes per peer: four of the largest bodies
PROCESS_BYTES: Final = 128 << 20


class ClientGone(Exception):
    """The connection ended before the request was whole."""


class BodyBudget:
    """Limits the bytes of buffered bodies, per peer and in total. Belongs to one event loop."""

    def __init__(self, peer_bytes: int = PEER_BYTES, process_bytes: int = PROCESS_BYTES) -> None:
        self._peer_bytes, self._process_bytes = peer_bytes, process_bytes
        self._held: Counter[str] = Counter()
        self._total = 0

    def take(self, peer: str, size: int) -> None:
        """Reserves ``size`` bytes. Raises Busy beyond either limit."""
        if self._held[peer] + size > self._peer_bytes or self._total + size > self._process_bytes:
            raise Busy("Too many large request bodies at the moment.", retry_after_s=2.0)
        self._held[peer] += size
        self._total += size

    def release(self, peer: str, size: int) -> None:
        self._total -= size
        self._held[peer] -= size
        if not self._held[peer]:
            del self._held[peer]


class Body:
    """The received part of one request's body: at most ``most_bytes`` + 1 bytes."""

    def __init__(self, budget: BodyBudget, peer: str, most_bytes: int) -> None:
        self._budget, self._peer, self._most_bytes = budget, peer, most_bytes
        self._taken = 0
        self.bytes = b""

    async def read(self, receive: Receive, within_s: float) -> None:
        """Reads the body. Raises RequestTimeout after ``within_s`` seconds, Busy, or ClientGone."""
        try:
            async with asyncio.timeout(within_s):
                await self._read(receive)
        except TimeoutError:
            raise RequestTimeout(f"The body didn't arrive within {within_s:g} s.") from None

    async def _read(self, receive: Receive) -> None:
        body = bytearray()
        while len(body) <= self._most_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece = message.get("body", b"")
            self._budget.take(self._peer, len(piece))
            self._taken += len(piece)
            body += piece
            if not message.get("more_body"):
                break
        self.bytes = bytes(body[: self._most_bytes + 1])

    def release(self) -> None:
        """Returns the reserved bytes to the budget."""
        self._budget.release(self._peer, self._taken)
        self._taken, self.bytes = 0, b""
