"""The responses of a listener in MQTT 3.1.1 and 5, as bytes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack
from typing import Final

from api.ingest.mqtt.listener.fields import (
    MAXIMUM_PACKET_SIZE,
    RECEIVE_MAXIMUM,
    SERVER_KEEP_ALIVE,
    SESSION_EXPIRY,
    V5,
    Properties,
    Reason,
)
from api.ingest.mqtt.listener.packets import Subscribe

_CONNACK_V311: Final = {  # other reasons have no code there: "server unavailable"
    Reason.SUCCESS: 0,
    Reason.UNSUPPORTED_VERSION: 1,
    Reason.BAD_CLIENT_ID: 2,
    Reason.BAD_CREDENTIALS: 4,
    Reason.NOT_AUTHORIZED: 5,
}


PONG: Final = b"\xd0\x00"


def connack(
    version: int, reason: Reason, *, resumed: bool = False, properties: Properties | None = None
) -> bytes:
    """``version`` 0 is an unsupported one: it gets the response of 3.1.1."""
    if version != V5:
        code = _CONNACK_V311.get(reason, 3)
        return bytes((0x20, 2, resumed, code))
    body = bytes((resumed, reason)) + _properties(properties or {})
    return bytes((0x20,)) + _varint(len(body)) + body


def puback(version: int, identifier: int, reason: Reason = Reason.SUCCESS) -> bytes:
    if version == V5 and reason:
        return pack("!BBHB", 0x40, 3, identifier, reason)
    return pack("!BBH", 0x40, 2, identifier)


def suback(version: int, packet: Subscribe) -> bytes:
    """Refuses each subscription: there is nothing to receive here."""
    if packet.ends:
        body = b"\0" + b"\x11" * packet.filters if version == V5 else b""  # no subscription existed
    else:
        refused = Reason.NOT_AUTHORIZED if version == V5 else 0x80
        body = b"\0" * (version == V5) + bytes((refused,)) * packet.filters
    kind = 0xB0 if packet.ends else 0x90
    return bytes((kind,)) + _varint(2 + len(body)) + pack("!H", packet.identifier) + body


def disconnect(version: int, reason: Reason) -> bytes:
    """Returns nothing with 3.1.1, where only clients send it."""
    return bytes((0xE0, 1, reason)) if version == V5 else b""


_SIZES: Final = {
    SESSION_EXPIRY: "!I",
    SERVER_KEEP_ALIVE: "!H",
    RECEIVE_MAXIMUM: "!H",
    MAXIMUM_PACKET_SIZE: "!I",
}


def _properties(values: Properties) -> bytes:
    body = b"".join(_property(number, value) for number, value in values.items())
    return _varint(len(body)) + body


def _property(number: int, value: int | str) -> bytes:
    if isinstance(value, str):
        raw = value.encode()
        return bytes((number,)) + pack("!H", len(raw)) + raw
    return bytes((number,)) + pack(_SIZES.get(number, "!B"), value)


def _varint(value: int) -> bytes:
    return bytes(_digits(value))


def _digits(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value
