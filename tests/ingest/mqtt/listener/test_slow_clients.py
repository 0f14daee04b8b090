"""Slow, silent and flooding clients of the listener disturb nobody else."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from api.ingest.mqtt.listener import Limits
from api.ingest.mqtt.listener import listener as listener_module
from benchmarks.publishing import connect_packet, publish_packet
from tests.ingest.mqtt.conftest import eventually
from tests.ingest.mqtt.listener.conftest import (
    ACCEPTED,
    Ground,
    body,
    connected,
    line,
    up,
)
from tests.ingest.mqtt.listener.test_packets import connect, field


def test_connections_that_say_nothing_cost_others_nothing(ground: Ground) -> None:
    limits = Limits(entering=5, connect_s=0.3)
    with ground.listening(limits) as listener, ExitStack() as stack:
        silent = [stack.enter_context(line(listener)) for _ in range(20)]
        half = stack.enter_context(line(listener))
        half.send(connect_packet("half", ground.key)[:9])
        meter = stack.enter_context(connected(listener, ground.key))
        assert meter.publish(1, body()) == b"\x40\x02\0\x01"
        assert all(one.is_closed() for one in [*silent, half])
        assert meter.publish(2, body(2)) == b"\x40\x02\0\x02"


def test_a_client_beyond_the_limit_is_refused_until_another_leaves(ground: Ground) -> None:
    with ground.listening(Limits(clients=1)) as listener:
        with connected(listener, ground.key, "m1") as first:
            with connected(listener, ground.key, "m2") as second:
                assert second.answer == b""
            assert first.publish(1, body()) == b"\x40\x02\0\x01"
        eventually(lambda: listener.clients == 0)
        with connected(listener, ground.key, "m2") as second:
            assert second.answer == ACCEPTED


def test_a_flood_is_read_no_faster_than_it_is_stored_and_all_of_it_is(ground: Ground) -> None:
    limits = Limits(in_flight=10, in_flight_bytes=20_000)
    with ground.listening(limits) as listener, connected(listener, ground.key) as meter:
        for number in range(1, 301):
            meter.send(publish_packet(up(), body(number), number))
        got = meter.receive(300 * 4)
    assert got == b"".join(b"\x40\x02" + number.to_bytes(2) for number in range(1, 301))
    assert len(ground.rows()) == 300


@pytest.mark.parametrize(
    ("limits", "data"),
    [
        (Limits(partial_bytes=1_000), publish_packet(up(), b"x" * 5_000, 1)[:-1]),  # never complete
        (Limits(packet_bytes=1_000), publish_packet(up(), b"x" * 1_001, 1)),
        (Limits(), b"\x32\xff\xff\xff\xff"),
    ],
)
def test_who_sends_too_much_or_nonsense_is_closed_alone(
    ground: Ground, limits: Limits, data: bytes
) -> None:
    with ground.listening(limits) as listener, ExitStack() as stack:
        meter = stack.enter_context(connected(listener, ground.key))
        bad = stack.enter_context(connected(listener, ground.key, "bad"))
        bad.send(data)
        assert bad.is_closed()
        assert meter.publish(1, body()) == b"\x40\x02\0\x01"


def test_a_client_that_reads_no_acknowledgements_is_closed(ground: Ground) -> None:
    with ground.listening(Limits(unread_bytes=1_000)) as listener, ExitStack() as stack:
        meter = stack.enter_context(connected(listener, ground.key))
        deaf = stack.enter_context(line(listener))
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
        deaf.send(connect_packet("deaf", ground.key))
        with pytest.raises(OSError, match=r"reset|pipe|timed out"):  # noqa: PT012 - until it ends
            deaf.socket.settimeout(20)
            while True:
                deaf.send(b"\xc0\0" * 10_000)
        assert meter.publish(1, body()) == b"\x40\x02\0\x01"


def test_a_client_that_is_silent_for_longer_than_its_keep_alive_is_closed(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    quiet = connect(5, 0xC2, rest=field("u") + field(ground.key)).replace(
        b"\xc2\0\x3c", b"\xc2\0\1"
    )
    with ground.listening() as listener, line(listener) as meter:
        meter.send(quiet)
        assert meter.receive(1_000).endswith(b"\xe0\x01\x8d")
