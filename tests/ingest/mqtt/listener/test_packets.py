"""MQTT packets: valid ones are decoded, every other has a reason."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from api.ingest.mqtt.listener import responses
from api.ingest.mqtt.listener.fields import V5, V311, Malformed, Reason
from api.ingest.mqtt.listener.packets import (
    MOST_CONNECT_BYTES,
    Connect,
    Decoder,
    Disconnect,
    Packet,
    Ping,
    Publish,
    Subscribe,
)

MOST_BYTES = 1 << 20


def field(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return len(raw).to_bytes(2) + raw


def packet(first: int, body: bytes) -> bytes:
    size, digits = len(body), bytearray()
    while size > 0x7F:
        digits.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((first, *digits, size)) + body


def connect(
    version: int = V311,
    flags: int = 0x02,
    client_id: str = "m1",
    properties: bytes = b"\0",
    rest: bytes = b"",
    protocol: str = "MQTT",
) -> bytes:
    head = field(protocol) + bytes((version, flags)) + (60).to_bytes(2)
    return packet(0x10, head + properties * (version == V5) + field(client_id) + rest)


def publish(
    first: int = 0x32, topic: str | bytes = "t", identifier: int = 7, rest: bytes = b"x"
) -> bytes:
    number = identifier.to_bytes(2) if first & 6 else b""
    return packet(first, field(topic) + number + rest)


def decoded(data: bytes, version: int = 0) -> list[Packet]:
    decoder = Decoder(MOST_BYTES, version)
    decoder.feed(data)
    packets: list[Packet] = []
    while (one := decoder.packet()) is not None:
        packets.append(one)
    return packets


NEVER = 0xFFFFFFFF
CREDENTIALS = field("user") + field(b"secret")
WILL = field("topic") + field(b"gone")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (connect(), Connect(V311, "m1", True, 60)),
        (connect(flags=0), Connect(V311, "m1", False, 60, NEVER)),
        (connect(flags=0xC2, rest=CREDENTIALS),
         Connect(V311, "m1", True, 60, 0, "user", b"secret")),
        (connect(flags=0xEE, rest=WILL + CREDENTIALS),
         Connect(V311, "m1", True, 60, 0, "user", b"secret")),
        (connect(V5), Connect(V5, "m1", True, 60)),
        (connect(V5, 0, properties=b"\x05\x11\0\0\x0e\x10"), Connect(V5, "m1", False, 60, 3600)),
        (connect(V5, 0x42, rest=field(b"key")), Connect(V5, "m1", True, 60, 0, None, b"key")),
        (connect(V5, 0x06, rest=b"\0" + WILL), Connect(V5, "m1", True, 60)),
        (connect(V5, properties=b"\x0a\x21\0\x01\x27\0\0\0\x20\x17\0"),
         Connect(V5, "m1", True, 60)),
        (connect(flags=0x16, rest=WILL), Connect(V311, "m1", True, 60)),  # it is ignored
        (connect(V5, client_id=""), Connect(V5, "", True, 60)),
    ],
)  # fmt: skip
def test_a_connect_is_decoded(data: bytes, expected: Connect) -> None:
    assert decoded(data) == [expected]


@pytest.mark.parametrize(
    ("version", "data", "expected"),
    [
        (V311, publish(0x30), Publish("t", b"x")),
        (V311, publish(0x33), Publish("t", b"x", 7, 1)),  # retained: the listener doesn't serve it
        (V311, publish(0x3A), Publish("t", b"x", 7, 1, again=True)),
        (V311, publish(rest=b""), Publish("t", b"", 7, 1)),
        (V311, publish(rest=b"y" * 20_000), Publish("t", b"y" * 20_000, 7, 1)),
        (V5, publish(rest=b"\0x"), Publish("t", b"x", 7, 1)),
        (V5, publish(rest=b"\x02\x01\x01x"), Publish("t", b"x", 7, 1)),
        (V311, packet(0x82, b"\0\x09" + field("a/#") + b"\x01" + field("b") + b"\0"),
         Subscribe(9, 2)),
        (V5, packet(0x82, b"\0\x09\0" + field("a") + b"\x01"), Subscribe(9, 1)),
        (V5, packet(0xA2, b"\0\x09\0" + field("a")), Subscribe(9, 1, ends=True)),
        (V5, packet(0x82, b"\0\x09\x02\x0b\x05" + field("a") + b"\x2d"), Subscribe(9, 1)),
        (V311, b"\xc0\0", Ping()),
        (V311, b"\xc0\x80\0", Ping()),  # 3.1.1 allows more bytes than a length needs
        (V311, b"\xe0\0", Disconnect()),
        (V5, b"\xe0\0", Disconnect()),
        (V5, b"\xe0\x07\0\x05\x11\0\0\0\x3c", Disconnect(60)),
    ],
)  # fmt: skip
def test_valid_packets_are_decoded(version: int, data: bytes, expected: Packet) -> None:
    assert decoded(data, version) == [expected]


@pytest.mark.parametrize(
    ("version", "data", "reason"),
    [
        (0, b"GET / HTTP/1.1\r\n", Reason.PROTOCOL_ERROR),
        (0, b"\x16\x03\x01\x02\0\x01", Reason.MALFORMED),  # TLS on a plain port
        (0, publish(), Reason.PROTOCOL_ERROR),
        (V311, connect(), Reason.PROTOCOL_ERROR),
        (0, connect(3, protocol="MQIsdp"), Reason.UNSUPPORTED_VERSION),
        (0, connect(6), Reason.UNSUPPORTED_VERSION),
        (0, connect(flags=0x03), Reason.MALFORMED),
        (0, connect(flags=0x0A), Reason.MALFORMED),  # a will's QoS without a will
        (0, connect(flags=0x1E, rest=WILL), Reason.MALFORMED),
        (0, connect(flags=0x42, rest=field(b"key")), Reason.MALFORMED),  # MQTT 5 allows it
        (0, connect(flags=0x00, client_id=""), Reason.BAD_CLIENT_ID),
        (0, connect(client_id="x" * 257), Reason.BAD_CLIENT_ID),
        (0, connect(rest=b"more"), Reason.MALFORMED),
        (0, connect(flags=0xC2, rest=b"\0\x09us"), Reason.MALFORMED),
        (0, connect(V5, properties=b"\x03\x15\0\0"), Reason.BAD_AUTHENTICATION_METHOD),
        (0, connect(V5, properties=b"\x0a" + b"\x11\0\0\0\0" * 2), Reason.PROTOCOL_ERROR),
        (0, connect(V5, properties=b"\x02\x01\x00"), Reason.PROTOCOL_ERROR),
        (0, connect(V5, properties=b"\x03\x21\0\0"), Reason.PROTOCOL_ERROR),  # receive maximum 0
        (0, connect(V5, properties=b"\x05\x27\0\0\0\0"), Reason.PROTOCOL_ERROR),  # no packet fits
        (0, connect(V5, properties=b"\x02\x17\x02"), Reason.PROTOCOL_ERROR),  # neither yes nor no
        (0, connect(V5, properties=b"\x04\x16\0\x01x"), Reason.PROTOCOL_ERROR),
        (0, connect(V5, properties=b"\x80\0"), Reason.MALFORMED),  # one byte would do
        (0, connect(V5, 0x16, rest=b"\0" + WILL), Reason.QOS_NOT_SUPPORTED),
        (0, packet(0x10, b"\0" * (MOST_CONNECT_BYTES + 1)), Reason.TOO_LARGE),
        (0, b"\x10\xff\xff\xff\xff\x01", Reason.MALFORMED),
        (V311, publish(0x34), Reason.QOS_NOT_SUPPORTED),
        (V311, publish(0x36), Reason.MALFORMED),
        (V311, publish(0x38), Reason.MALFORMED),
        (V311, publish(identifier=0), Reason.PROTOCOL_ERROR),
        (V311, publish(topic=""), Reason.TOPIC_INVALID),
        (V311, publish(topic="a/+/b"), Reason.TOPIC_INVALID),
        (V311, publish(topic="a/#"), Reason.TOPIC_INVALID),
        (V311, publish(topic="a\0b"), Reason.MALFORMED),
        (V311, publish(topic=b"\xff\xfe"), Reason.MALFORMED),
        (V311, publish(topic=b"\xed\xa0\x80"), Reason.MALFORMED),  # half a surrogate pair
        (V311, publish(topic="x" * 1_025), Reason.TOPIC_INVALID),
        (V311, packet(0x32, b"\0\x05ab"), Reason.MALFORMED),
        (V311, packet(0x32, b"\0"), Reason.MALFORMED),
        (V311, b"\x32\x81\x80\x80\x01", Reason.TOO_LARGE),
        (V5, publish(rest=b""), Reason.MALFORMED),
        (V5, publish(rest=b"\x03\x23\0\x01x"), Reason.TOPIC_ALIAS_INVALID),
        (V5, publish(rest=b"\x09\x01\x01"), Reason.MALFORMED),
        (V5, publish(rest=b"\x02\x7f\x01"), Reason.PROTOCOL_ERROR),
        (V311, packet(0x82, b"\0\x09"), Reason.PROTOCOL_ERROR),
        (V311, packet(0x82, b"\0\0" + field("a") + b"\0"), Reason.PROTOCOL_ERROR),
        (V311, packet(0x80, b"\0\x09" + field("a") + b"\0"), Reason.MALFORMED),
        (V311, packet(0x82, b"\0\x09" + field("") + b"\0"), Reason.PROTOCOL_ERROR),
        (V311, packet(0x82, b"\0\x09" + field("a") + b"\x03"), Reason.MALFORMED),  # QoS 3
        (V311, packet(0x82, b"\0\x09" + field("a") + b"\x04"), Reason.MALFORMED),  # of MQTT 5
        (V5, packet(0x82, b"\0\x09\0" + field("a") + b"\x30"), Reason.PROTOCOL_ERROR),
        (V5, packet(0x82, b"\0\x09\x02\x0b\0" + field("a") + b"\0"), Reason.PROTOCOL_ERROR),
        (V5, b"\xc0\x80\0", Reason.MALFORMED),  # one byte would do
        (V311, b"\xc1\0", Reason.MALFORMED),
        (V311, b"\xc0\x01\0", Reason.MALFORMED),
        (V311, b"\x40\x02\0\x01", Reason.PROTOCOL_ERROR),
        (V311, b"\xf0\0", Reason.PROTOCOL_ERROR),
        (V5, b"\xf0\0", Reason.BAD_AUTHENTICATION_METHOD),
        (V311, b"\0\0", Reason.PROTOCOL_ERROR),
    ],
)  # fmt: skip
def test_a_forbidden_packet_ends_the_connection_with_its_reason(
    version: int, data: bytes, reason: Reason
) -> None:
    with pytest.raises(Malformed) as malformed:
        decoded(data, version)
    assert malformed.value.reason == reason
    assert malformed.value.version in (0, version, V5, V311)


def test_properties_of_another_implementation_are_read() -> None:
    properties = Properties(PacketTypes.PUBLISH)
    properties.PayloadFormatIndicator = 1
    properties.MessageExpiryInterval = 90
    properties.ContentType = "application/json"
    properties.ResponseTopic = "t/answers"
    properties.CorrelationData = b"\1\2"
    properties.UserProperty = [("a", "1"), ("a", "2")]
    assert decoded(publish(rest=properties.pack() + b"x"), V5) == [Publish("t", b"x", 7, 1)]


VALID = [
    publish(0x30),
    publish(rest=b"\0{}"),
    b"\xc0\0",
    packet(0x82, b"\0\x09\0" + field("a") + b"\x01"),
    publish(rest=b"\x02\x01\x01" + b"z" * 300),
]
Result = tuple[list[Packet], Reason | None]


def outcome(pieces: Sequence[bytes], version: int) -> Result:
    """The packets, and why the connection ended."""
    decoder, packets = Decoder(1_000, version), list[Packet]()
    try:
        for piece in pieces:
            decoder.feed(piece)
            while (one := decoder.packet()) is not None:
                packets.append(one)
    except Malformed as error:
        return packets, error.reason
    return packets, None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_split_of_a_stream_gives_the_same_packets_or_reason(
    data: st.DataObject,
) -> None:
    version = data.draw(st.sampled_from([0, V311, V5]))
    greeting = [connect(V5), connect(flags=0xC2, rest=CREDENTIALS)] if version == 0 else []
    parts = data.draw(st.lists(st.one_of(st.sampled_from([*VALID, *greeting]), st.binary())))
    stream = bytearray(b"".join(parts))
    for place in data.draw(st.lists(st.integers(0, max(0, len(stream) - 1)), max_size=4)):
        if stream:
            stream[place] = data.draw(st.integers(0, 255))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    edges = [0, *cuts, len(stream)]
    pieces = [bytes(stream[a:b]) for a, b in pairwise(edges)]
    assert outcome(pieces, version) == outcome([bytes(stream)], version)
    single = [bytes([byte]) for byte in stream]
    assert outcome(single, version) == outcome([bytes(stream)], version)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (Reason.SUCCESS, 0),
        (Reason.UNSUPPORTED_VERSION, 1),
        (Reason.BAD_CLIENT_ID, 2),
        (Reason.BAD_CREDENTIALS, 4),
        (Reason.NOT_AUTHORIZED, 5),
        (Reason.UNAVAILABLE, 3),
        (Reason.MALFORMED, 3),
    ],
)
def test_a_client_of_3_1_1_gets_the_codes_of_3_1_1(reason: Reason, code: int) -> None:
    assert responses.connack(V311, reason) == bytes((0x20, 2, 0, code))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (responses.connack(V5, Reason.SUCCESS, resumed=True), b"\x20\x03\x01\0\0"),
        (responses.puback(V311, 513), b"\x40\x02\x02\x01"),
        (responses.puback(V5, 513, Reason.NOT_AUTHORIZED), b"\x40\x03\x02\x01\x87"),
        (responses.suback(V311, Subscribe(9, 2)), b"\x90\x04\0\x09\x80\x80"),
        (responses.suback(V5, Subscribe(9, 1)), b"\x90\x04\0\x09\0\x87"),
        (responses.suback(V311, Subscribe(9, 2, ends=True)), b"\xb0\x02\0\x09"),
        (responses.suback(V5, Subscribe(9, 1, ends=True)), b"\xb0\x04\0\x09\0\x11"),
        (responses.disconnect(V5, Reason.TAKEN_OVER), b"\xe0\x01\x8e"),
        (responses.disconnect(V311, Reason.TAKEN_OVER), b""),
    ],
)
def test_responses_are_as_the_standards_write_them(made: bytes, expected: bytes) -> None:
    assert made == expected
