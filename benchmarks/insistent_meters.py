"""Meters that resend unacknowledged messages, over MQTT 3.1.1 with QoS 1 and a session.

They work like a meter with memory: after a lost connection it connects again with the same client
id, and repeats unacknowledged messages with their packet identifiers, marked as repeated.
"""

from __future__ import annotations

import json
import socket
import struct
from collections import deque
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from api.ingest.mqtt.topics import up
from api.timez import stamp
from benchmarks.ingesters import ORGANIZATION
from benchmarks.publishing import connect_packet, publish_packet

WINDOW: Final = 40  # unacknowledged messages
START_MS: Final = 1_772_971_200_000
_AGAIN_S: Final = 0.05
_REPEATED: Final = 0x08


class Meter:
    """Sends one reading after the other until `stop`, each with a ``flowRate`` of its own. Every
    other one has no time, and gets its arrival time. ``acknowledged``: their flow rates."""

    def __init__(self, port: int, number: int, key: str) -> None:
        self._port, self.number, self._key = port, number, key
        self._topic = up(ORGANIZATION, f"N{number}")
        self._unacknowledged: deque[tuple[int, float, bytes]] = deque()
        self._sent = 0
        self._stopping = Event()
        self.acknowledged: set[float] = set()
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Sends no new messages, but repeats those that were sent."""
        self._stopping.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise RuntimeError(f"{len(self._unacknowledged)} messages stay unacknowledged")

    def _run(self) -> None:
        while not self._stopping.is_set() or self._unacknowledged:
            with suppress(OSError):
                self._converse()
            self._stopping.wait(_AGAIN_S)

    def _converse(self) -> None:
        """Runs one connection, until it ends or nothing is left to send."""
        with socket.create_connection(("127.0.0.1", self._port), 10) as line:
            line.settimeout(20)
            name = f"meter-{self.number}"
            line.sendall(connect_packet(name, self._key, clean=False))
            if _exactly(line, 4)[3] != 0:
                raise ConnectionRefusedError
            for identifier, _, payload in self._unacknowledged:
                line.sendall(publish_packet(self._topic, payload, identifier, _REPEATED))
            while self._fill(line):
                self._take_acknowledgement(_exactly(line, 4))

    def _fill(self, line: socket.socket) -> bool:
        """Sends until the window is full. Returns whether an acknowledgement is missing."""
        while len(self._unacknowledged) < WINDOW and not self._stopping.is_set():
            self._sent += 1
            message = self._message(self._sent)
            self._unacknowledged.append(message)
            line.sendall(publish_packet(self._topic, message[2], message[0]))
        return bool(self._unacknowledged)

    def _message(self, number: int) -> tuple[int, float, bytes]:
        rate = float(number)
        reading: dict[str, object] = {"flowRate": rate}
        if number % 2:
            reading["recordedAt"] = stamp(START_MS + number * 1_000, fraction=True)
        return number % 65_535 + 1, rate, json.dumps(reading).encode()

    def _take_acknowledgement(self, packet: bytes) -> None:
        first, identifier, rate = packet[0], struct.unpack("!H", packet[2:])[0], 0.0
        if first == 0x40 and identifier == self._unacknowledged[0][0]:
            _, rate, _ = self._unacknowledged.popleft()
            self.acknowledged.add(rate)
        else:
            raise RuntimeError(f"unexpected: {packet.hex()}")


def _exactly(line: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = line.recv(size - len(data))
        if not part:
            raise ConnectionResetError
        data += part
    return data
