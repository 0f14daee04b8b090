"""Fields of MQTT packets, their properties, and why a packet is malformed. Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

V311: Final = 4
V5: Final = 5


class Reason(IntEnum):
    """Reason codes of MQTT 5."""

    SUCCESS = 0x00
    MALFORMED = 0x81
    PROTOCOL_ERROR = 0x82
    UNSUPPORTED_VERSION = 0x84
    BAD_CLIENT_ID = 0x85
    BAD_CREDENTIALS = 0x86
    NOT_AUTHORIZED = 0x87
    UNAVAILABLE = 0x88
    SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    TAKEN_OVER = 0x8E
    TOPIC_INVALID = 0x90
    RECEIVE_MAXIMUM = 0x93
    TOPIC_ALIAS_INVALID = 0x94
    TOO_LARGE = 0x95
    QUOTA = 0x97
    QOS_NOT_SUPPORTED = 0x9B


class Malformed(Exception):
    """The connection can't continue. ``version``: of a Connect that is malformed after its version
    field, else 0."""

    version = 0

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


Properties = dict[int, Any]
"""Values by property identifier."""


class Fields:
    """Reads the fields of one packet's body, one after the other."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    @property
    def rest(self) -> int:
        return len(self._body) - self._at

    def take(self, size: int) -> bytes:
        if size > self.rest:
            raise Malformed(Reason.MALFORMED, "a packet ends within a field")
        taken = self._body[self._at : self._at + size]
        self._at += size
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def int16(self) -> int:
        return int.from_bytes(self.take(2))

    def int32(self) -> int:
        return int.from_bytes(self.take(4))

    def binary(self) -> bytes:
        return self.take(self.int16())

    def text(self) -> str:
        return decoded_text(self.binary())

    def pair(self) -> tuple[str, str]:
        return self.text(), self.text()

    def varint(self) -> int:
        value = 0
        for shift in (0, 7, 14, 21):
            low = self.byte()
            value |= (low & 0x7F) << shift
            if low < 0x80:
                if shift and not low:
                    raise Malformed(Reason.MALFORMED, "a length has more bytes than it needs")
                return value
        raise Malformed(Reason.MALFORMED, "a length has more than four bytes")

    def identifier(self) -> int:
        number = self.int16()
        if number == 0:
            raise Malformed(Reason.PROTOCOL_ERROR, "packet identifier 0")
        return number

    def properties(self, allowed: frozenset[int]) -> Properties:
        inner = Fields(self.take(self.varint()))
        values: Properties = {}
        while inner.rest:
            number = inner.varint()
            if number not in allowed:
                raise Malformed(Reason.PROTOCOL_ERROR, f"property {number:#x} isn't allowed here")
            value = _PROPERTY_TYPES[number](inner)
            if number in values and number != USER_PROPERTY:
                raise Malformed(Reason.PROTOCOL_ERROR, f"property {number:#x} is given twice")
            if (number in _NEVER_ZERO and not value) or (number in _FLAGS and value > 1):
                raise Malformed(Reason.PROTOCOL_ERROR, f"property {number:#x} can't be {value}")
            values[number] = value
        return values

    def end(self) -> None:
        if self.rest:
            raise Malformed(Reason.MALFORMED, "a packet is longer than its fields")


def decoded_text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Malformed(Reason.MALFORMED, "a text isn't UTF-8") from None
    if "\0" in text:
        raise Malformed(Reason.MALFORMED, "a text has a NUL")
    return text


SESSION_EXPIRY: Final = 0x11
ASSIGNED_CLIENT_ID: Final = 0x12
SERVER_KEEP_ALIVE: Final = 0x13
AUTHENTICATION_METHOD: Final = 0x15
AUTHENTICATION_DATA: Final = 0x16
RECEIVE_MAXIMUM: Final = 0x21
TOPIC_ALIAS: Final = 0x23
MAXIMUM_QOS: Final = 0x24
USER_PROPERTY: Final = 0x26
MAXIMUM_PACKET_SIZE: Final = 0x27
WILDCARD_AVAILABLE: Final = 0x28
IDENTIFIERS_AVAILABLE: Final = 0x29
SHARED_AVAILABLE: Final = 0x2A
_SUBSCRIPTION_IDENTIFIER: Final = 0x0B
_NEVER_ZERO: Final = frozenset((RECEIVE_MAXIMUM, MAXIMUM_PACKET_SIZE, _SUBSCRIPTION_IDENTIFIER))
_FLAGS: Final = frozenset((0x01, 0x17, 0x19))
_PROPERTY_TYPES: Final[dict[int, Callable[[Fields], Any]]] = {
    0x01: Fields.byte,
    0x02: Fields.int32,
    0x03: Fields.text,
    0x08: Fields.text,
    0x09: Fields.binary,
    _SUBSCRIPTION_IDENTIFIER: Fields.varint,
    SESSION_EXPIRY: Fields.int32,
    AUTHENTICATION_METHOD: Fields.text,
    AUTHENTICATION_DATA: Fields.binary,
    0x17: Fields.byte,
    0x18: Fields.int32,
    0x19: Fields.byte,
    0x1C: Fields.text,
    0x1F: Fields.text,
    RECEIVE_MAXIMUM: Fields.int16,
    0x22: Fields.int16,
    TOPIC_ALIAS: Fields.int16,
    USER_PROPERTY: Fields.pair,
    MAXIMUM_PACKET_SIZE: Fields.int32,
}
