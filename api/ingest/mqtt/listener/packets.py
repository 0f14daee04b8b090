"""The packets of MQTT 3.1.1 and 5 that a listener for readings needs. Pure: bytes in, packets out.

Strict: raises Malformed, with the reason code of MQTT 5, for anything that the standards call
malformed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import unpack_from
from typing import Final

from api.ingest.mqtt.listener.fields import (
    AUTHENTICATION_DATA,
    AUTHENTICATION_METHOD,
    SESSION_EXPIRY,
    TOPIC_ALIAS,
    USER_PROPERTY,
    V5,
    V311,
    Fields,
    Malformed,
    Reason,
    decoded_text,
)

MOST_CONNECT_BYTES: Final = 1 << 16  # largest size of the first packet
MOST_TOPIC_BYTES: Final = 1_024
MOST_CLIENT_ID_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class Connect:
    """``session_s``: how long the session outlives the connection."""

    version: int
    client_id: str
    clean_start: bool
    keep_alive_s: int
    session_s: int = 0
    user: str | None = None
    password: bytes | None = None


@dataclass(slots=True)
class Publish:
    """``identifier`` is 0 with QoS 0."""

    topic: str
    payload: bytes
    identifier: int = 0
    qos: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Also an Unsubscribe, if ``ends``."""

    identifier: int
    filters: int
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Ping:
    pass


@dataclass(frozen=True, slots=True)
class Disconnect:
    """``session_s``: a new expiry of the session, None to keep that of the Connect."""

    session_s: int | None = None


Packet = Connect | Publish | Subscribe | Ping | Disconnect

_OF_CONNECT: Final = frozenset(
    (SESSION_EXPIRY, AUTHENTICATION_METHOD, AUTHENTICATION_DATA, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27)
)
_OF_WILL: Final = frozenset((0x01, 0x02, 0x03, 0x08, 0x09, 0x18, USER_PROPERTY))
_OF_PUBLISH: Final = frozenset((0x01, 0x02, 0x03, 0x08, 0x09, TOPIC_ALIAS, USER_PROPERTY))
_OF_SUBSCRIBE: Final = frozenset((0x0B, USER_PROPERTY))
_OF_UNSUBSCRIBE: Final = frozenset((USER_PROPERTY,))
_OF_DISCONNECT: Final = frozenset((SESSION_EXPIRY, 0x1C, 0x1F, USER_PROPERTY))
_NEVER: Final = 0xFFFFFFFF  # a session that doesn't expire
_CONNECT, _PUBLISH, _SUBSCRIBE, _UNSUBSCRIBE = 1, 3, 8, 10
_PING, _DISCONNECT, _AUTH = 12, 14, 15


@dataclass(slots=True)
class Decoder:
    """Cuts a stream into packets. The first one must be a Connect, and no other may be."""

    most_bytes: int
    version: int = 0  # set by the Connect
    _buffer: bytearray = field(default_factory=bytearray)
    _at: int = 0  # bytes before it were taken

    def feed(self, data: bytes) -> None:
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += data

    @property
    def waiting_bytes(self) -> int:
        """Returns the number of bytes that aren't complete packets, or weren't taken."""
        return len(self._buffer) - self._at

    def packet(self) -> Packet | None:
        """Returns the next packet; None while it is incomplete. Raises Malformed."""
        buffer, start = self._buffer, self._at
        have = len(buffer) - start
        if have < 2:
            return None
        size, body = buffer[start + 1], start + 2
        if size >= 0x80:
            measured = _long_size(buffer, start)
            if measured is None:
                return None
            size, body = measured
            if self.version == V5 and size >> 7 * (body - start - 2) == 0:
                raise Malformed(Reason.MALFORMED, "a length has more bytes than it needs")
        first = buffer[start]
        most = self.most_bytes if self.version else MOST_CONNECT_BYTES
        if size > most:
            raise Malformed(Reason.TOO_LARGE, f"a packet of {size:,} bytes")
        if (first >> 4 == _CONNECT) != (self.version == 0):
            raise Malformed(Reason.PROTOCOL_ERROR, "a Connect must come first, and once")
        end = body + size
        if len(buffer) < end:
            return None
        self._at = end
        content = bytes(buffer[body:end])
        if first >> 4 == _PUBLISH:
            return _publish(first, content, self.version)
        packet = _other(first, Fields(content), self.version)
        if isinstance(packet, Connect):
            self.version = packet.version
        return packet


def _long_size(buffer: bytearray, start: int) -> tuple[int, int] | None:
    """Returns the size of a body and its position; None while its bytes are incomplete."""
    size = 0
    for place in range(4):
        at = start + 1 + place
        if at >= len(buffer):
            return None
        size |= (buffer[at] & 0x7F) << (7 * place)
        if buffer[at] < 0x80:
            return size, at + 1
    raise Malformed(Reason.MALFORMED, "a length has more than four bytes")


def _publish(first: int, body: bytes, version: int) -> Publish:
    qos = first >> 1 & 3
    if qos == 3 or (qos == 0 and first & 8):
        raise Malformed(Reason.MALFORMED, "flags of a Publish")
    if qos == 2:
        raise Malformed(Reason.QOS_NOT_SUPPORTED, "QoS 2")
    if len(body) < 2:
        raise Malformed(Reason.MALFORMED, "a packet ends within a field")
    (size,) = unpack_from("!H", body)
    at = 2 + size + 2 * qos
    if len(body) < at:
        raise Malformed(Reason.MALFORMED, "a packet ends within a field")
    topic = _topic(body[2 : 2 + size])
    identifier = int.from_bytes(body[2 + size : at])
    if qos and identifier == 0:
        raise Malformed(Reason.PROTOCOL_ERROR, "packet identifier 0")
    if version == V5:
        at = _after_properties(body, at)
    return Publish(topic, body[at:], identifier, qos, bool(first & 8))


def _topic(raw: bytes) -> str:
    if len(raw) > MOST_TOPIC_BYTES:
        raise Malformed(Reason.TOPIC_INVALID, f"a topic of {len(raw):,} bytes")
    topic = decoded_text(raw)
    if not topic or "+" in topic or "#" in topic:
        raise Malformed(Reason.TOPIC_INVALID, "a topic that is empty or has a wildcard")
    return topic


def _after_properties(body: bytes, at: int) -> int:
    """Returns the position of the payload. Properties of a Publish aren't used, but must be
    valid."""
    if at < len(body) and body[at] == 0:
        return at + 1
    fields = Fields(body[at:])
    if TOPIC_ALIAS in fields.properties(_OF_PUBLISH):
        raise Malformed(Reason.TOPIC_ALIAS_INVALID, "a topic alias")
    return len(body) - fields.rest


def _other(first: int, fields: Fields, version: int) -> Packet:
    kind, flags = first >> 4, first & 15
    if flags != (2 if kind in (_SUBSCRIBE, _UNSUBSCRIBE) else 0):
        raise Malformed(Reason.MALFORMED, f"flags {flags} of a packet of type {kind}")
    if kind == _CONNECT:
        packet: Packet = _connect(fields)
    elif kind in (_SUBSCRIBE, _UNSUBSCRIBE):
        packet = _subscribe(fields, version, ends=kind == _UNSUBSCRIBE)
    elif kind == _PING:
        packet = Ping()
    elif kind == _DISCONNECT:
        packet = _disconnect(fields, version)
    elif kind == _AUTH and version == V5:
        raise Malformed(Reason.BAD_AUTHENTICATION_METHOD, "an Auth")
    else:
        raise Malformed(Reason.PROTOCOL_ERROR, f"a packet of type {kind}")
    fields.end()
    return packet


def _connect(fields: Fields) -> Connect:
    name, version = fields.binary(), fields.byte()
    if name != b"MQTT" or version not in (V311, V5):
        raise Malformed(Reason.UNSUPPORTED_VERSION, f"protocol {name[:20]!r}, version {version}")
    try:
        return _connect_of(version, fields)
    except Malformed as error:
        error.version = version
        raise


def _connect_of(version: int, fields: Fields) -> Connect:
    flags, keep_alive_s = fields.byte(), fields.int16()
    _check_flags(flags, version)
    clean_start = bool(flags & 0x02)
    properties = fields.properties(_OF_CONNECT) if version == V5 else {}
    if AUTHENTICATION_METHOD in properties:
        raise Malformed(Reason.BAD_AUTHENTICATION_METHOD, "an authentication method")
    if AUTHENTICATION_DATA in properties:
        raise Malformed(Reason.PROTOCOL_ERROR, "authentication data without a method")
    client_id = fields.text()
    if len(client_id.encode()) > MOST_CLIENT_ID_BYTES:
        raise Malformed(Reason.BAD_CLIENT_ID, "a client id that is too long")
    if not client_id and version == V311 and not clean_start:
        raise Malformed(Reason.BAD_CLIENT_ID, "no client id, but a session to keep")
    if flags & 0x04:  # a will is ignored: clients can't subscribe here
        if version == V5:
            fields.properties(_OF_WILL)
        fields.text()
        fields.binary()
    user = fields.text() if flags & 0x80 else None
    password = fields.binary() if flags & 0x40 else None
    session_s = properties.get(SESSION_EXPIRY, 0) if version == V5 else _NEVER * (not clean_start)
    return Connect(version, client_id, clean_start, keep_alive_s, session_s, user, password)


def _check_flags(flags: int, version: int) -> None:
    will_qos = flags >> 3 & 3
    without_will = not flags & 0x04 and flags & 0x38
    without_user = version == V311 and flags & 0x40 and not flags & 0x80
    if flags & 0x01 or will_qos == 3 or without_will or without_user:
        raise Malformed(Reason.MALFORMED, f"flags {flags:#x} of a Connect")
    if will_qos == 2 and version == V5:  # 3.1.1 has no code for it, and the will is ignored
        raise Malformed(Reason.QOS_NOT_SUPPORTED, "a will with QoS 2")


def _subscribe(fields: Fields, version: int, *, ends: bool) -> Subscribe:
    identifier = fields.identifier()
    if version == V5:
        fields.properties(_OF_UNSUBSCRIBE if ends else _OF_SUBSCRIBE)
    filters = 0
    while fields.rest:
        if not fields.text():
            raise Malformed(Reason.PROTOCOL_ERROR, "an empty topic filter")
        if not ends:
            _check_options(fields.byte(), version)
        filters += 1
    if not filters:
        raise Malformed(Reason.PROTOCOL_ERROR, "a subscription to nothing")
    return Subscribe(identifier, filters, ends)


def _check_options(options: int, version: int) -> None:
    """Raises Malformed for reserved bits, QoS 3, and a retain handling of 3."""
    reserved = 0xC0 if version == V5 else 0xFC
    if options & reserved or options & 0x03 == 3:
        raise Malformed(Reason.MALFORMED, f"options {options:#x} of a subscription")
    if options & 0x30 == 0x30:
        raise Malformed(Reason.PROTOCOL_ERROR, f"options {options:#x} of a subscription")


def _disconnect(fields: Fields, version: int) -> Disconnect:
    if version == V311 or not fields.rest:
        return Disconnect()
    fields.byte()
    properties = fields.properties(_OF_DISCONNECT) if fields.rest else {}
    return Disconnect(properties.get(SESSION_EXPIRY))
