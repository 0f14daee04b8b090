"""An organization with two meters and a key, and the MQTT listener."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.commands.keys import new_key
from api.ingest.live_suspicion import LiveSuspicions
from api.ingest.mqtt.listener import Limits, Listener
from api.ingest.writer import Writer
from api.settings import Settings
from api.store.base import Grant, NewDevice, Row, Store
from benchmarks.publishing import connect_packet, publish_packet
from tests.ingest.mqtt.conftest import eventually
from tests.store.fleet import everything
from tests.store.test_writing import rows_of

ACCEPTED = b"\x20\x02\0\0"
RESUMED = b"\x20\x02\x01\0"
NOON = "2026-03-08T12:00:00Z"


def up(meter: int = 1, organization_id: str = "acme") -> str:
    return f"weir/v1/{organization_id}/N-{meter}/up"


def body(rate: float = 1.5, **more: object) -> bytes:
    return json.dumps({"recordedAt": NOON, "flowRate": rate, **more}).encode()


class Ground:
    """A store with the organization "acme", its meters N-1 and N-2, and a key for all of them."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        store.create_organization("Acme", organization_id="acme")
        meters = [NewDevice(f"S-{n}", {"networkUniqueIdentifier": f"N-{n}"}) for n in (1, 2)]
        store.import_devices("acme", meters)
        self.devices = [d for d in store.resolve(everything("acme"), ["N-1", "N-2"]) if d]
        self.key = self.new_key()["key"]

    def new_key(
        self, *, ingest: bool = True, devices: frozenset[str] = frozenset()
    ) -> dict[str, str]:
        grant = Grant(everything=not devices, devices=devices)
        return new_key(self.store, "acme", "meters", grant, ingest=ingest)

    @contextmanager
    def listening(self, limits: Limits | None = None, **more: str) -> Iterator[Listener]:
        ours = Writer(self.store, [LiveSuspicions(self.store)])  # as `weir writer` does
        environ = {
            "WEIR_MQTT_LISTEN": "127.0.0.1:0",
            "WEIR_INSTANCE": str(self.folder / "instance"),
        }
        listener = Listener(Settings.from_env(environ | more), self.store, ours, limits)
        listener.start()
        try:
            eventually(lambda: not listener.problem)
            yield listener
        finally:
            listener.stop()
            ours.close()

    def rows(self, meter: int = 1) -> list[Row]:
        return rows_of(self.store, self.devices[meter - 1])

    def reasons(self) -> dict[str, int]:
        return {refusal.reason: refusal.count for refusal in self.store.refusals()}


class Line:
    """A client's connection, byte by byte. ``answer`` is the response to its Connect."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.answer = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def publish(self, identifier: int, payload: bytes, meter: int = 1, flags: int = 0) -> bytes:
        """Returns the acknowledgement."""
        self.send(publish_packet(up(meter), payload, identifier, flags))
        return self.receive(4)

    def receive(self, size: int) -> bytes:
        """``size`` bytes, fewer if the connection ends."""
        data = b""
        while len(data) < size and (part := self._part(size - len(data))):
            data += part
        return data

    def _part(self, size: int) -> bytes:
        try:
            return self.socket.recv(size)
        except ConnectionResetError:
            return b""

    def is_closed(self) -> bool:
        """Waits for the end of the connection."""
        return len(self.receive(100)) < 100


@contextmanager
def line(listener: Listener) -> Iterator[Line]:
    made = Line(listener.port)
    with made.socket:
        yield made


@contextmanager
def connected(
    listener: Listener, key: str, name: str = "m1", *, clean: bool = True
) -> Iterator[Line]:
    """By MQTT 3.1.1."""
    with line(listener) as made:
        made.send(connect_packet(name, key, clean=clean))
        made.answer = made.receive(4)
        yield made


@pytest.fixture
def ground(sqlite_store: Store, tmp_path: Path) -> Ground:
    return Ground(sqlite_store, tmp_path)
