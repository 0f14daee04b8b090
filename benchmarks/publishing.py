"""Publishes thousands of messages per second to a broker: MQTT 3.1.1 with QoS 1, without a client
library.

A library needs more time per message than the broker and Weir together, so the sender would be
measured. At most ``WINDOW`` messages wait for their acknowledgement.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import Final

WINDOW: Final = 2_000
_CHUNK: Final = 200  # messages per write
_PUBACK_BYTES: Final = 4


def publish_all(
    port: int,
    messages: Iterable[tuple[str, bytes]],
    name: str = "load",
    password: str = "",
    window: int = WINDOW,
) -> int:
    """Publishes (topic, payload) one after the other. Returns how many, once all are
    acknowledged."""
    with socket.create_connection(("127.0.0.1", port), 10) as line:
        line.settimeout(60)
        line.sendall(connect_packet(name, password))
        if _exactly(line, 4)[3] != 0:
            raise RuntimeError("the broker refused the load")
        sent = acknowledged = 0
        chunk: list[bytes] = []
        for topic, payload in messages:
            chunk.append(publish_packet(topic, payload, sent % 65_535 + 1))
            sent += 1
            if len(chunk) == _CHUNK:
                line.sendall(b"".join(chunk))
                chunk.clear()
                while sent - acknowledged > window - _CHUNK:
                    acknowledged += len(_exactly(line, _CHUNK * _PUBACK_BYTES)) // _PUBACK_BYTES
        line.sendall(b"".join(chunk))
        _exactly(line, (sent - acknowledged) * _PUBACK_BYTES)
        line.sendall(b"\xe0\x00")
    return sent


def _exactly(line: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = line.recv(min(size, 1 << 16))
        if not part:
            raise RuntimeError("the broker closed the connection")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("!H", len(raw)) + raw


def _packet(kind: int, body: bytes) -> bytes:
    length, size = bytearray(), len(body)
    while True:
        size, low = divmod(size, 128)
        length.append(low | (0x80 if size else 0))
        if not size:
            return bytes([kind]) + bytes(length) + body


def connect_packet(name: str, password: str, *, clean: bool = True) -> bytes:
    """With ``password``, the user has the client's name."""
    flags = (0xC0 if password else 0) | (0x02 if clean else 0)
    credentials = _text(name) + _text(password) if password else b""
    head = _text("MQTT") + bytes((4, flags)) + struct.pack("!H", 60)
    return _packet(0x10, head + _text(name) + credentials)


def publish_packet(topic: str, payload: bytes, identifier: int, flags: int = 0) -> bytes:
    """Returns a packet with QoS 1."""
    return _packet(0x32 | flags, _text(topic) + struct.pack("!H", identifier) + payload)
