"""A real broker, an organization with two meters, and the MQTT consumer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.ingest.mqtt import Consumer, Publisher
from api.ingest.writer import Writer
from api.settings import Settings
from api.store.base import NewDevice, Row, Store
from benchmarks.publishing import publish_all
from tests.servers import KEEPING, Mosquitto, mosquitto
from tests.store.fleet import everything
from tests.store.test_writing import rows_of

PATIENCE_S = 40.0


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


class Site:
    """A store with the organization "acme" and its meters N-1 and N-2, and a broker."""

    def __init__(self, store: Store, broker: Mosquitto, folder: Path) -> None:
        self.store, self.broker, self.folder = store, broker, folder
        store.create_organization("Acme", organization_id="acme")
        meters = [NewDevice(f"S-{n}", {"networkUniqueIdentifier": f"N-{n}"}) for n in (1, 2)]
        store.import_devices("acme", meters)
        self.devices = [d for d in store.resolve(everything("acme"), ["N-1", "N-2"]) if d]

    def settings(self, **more: str) -> Settings:
        fields = {
            "WEIR_MQTT_URL": self.broker.url,
            "WEIR_INSTANCE": str(self.folder / "instance"),
        }
        return Settings.from_env(fields | more)

    @contextmanager
    def listening(self, *hooks: Any, **more: str) -> Iterator[Consumer]:
        writer = Writer(self.store, hooks)
        consumer = Consumer(self.settings(**more), writer)
        try:
            consumer.start()
            eventually(lambda: not consumer.problem)
            yield consumer
        finally:
            consumer.stop()
            writer.close()

    @contextmanager
    def telling(self, **more: Any) -> Iterator[Publisher]:
        out = Publisher(self.settings(), **more)
        out.start()
        try:
            eventually(lambda: not out.problem)
            yield out
        finally:
            out.stop()

    def send(self, *messages: tuple[str, bytes]) -> None:
        publish_all(self.broker.port, messages)

    def rows(self, number: int) -> list[Row]:
        """The stored rows of N-1 or N-2, in order of time."""
        return rows_of(self.store, self.devices[number - 1])

    def reasons(self) -> dict[str, int]:
        result: dict[str, int] = {}
        for refusal in self.store.refusals():
            result[refusal.reason] = result.get(refusal.reason, 0) + refusal.count
        return result


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker", *KEEPING) as started:
        yield started


@pytest.fixture
def site(sqlite_store: Store, broker: Mosquitto, tmp_path: Path) -> Site:
    return Site(sqlite_store, broker, tmp_path)
