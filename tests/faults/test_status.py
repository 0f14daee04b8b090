"""The status of devices while their writer is killed and restarted, with real processes."""

from __future__ import annotations

from api.store.base import NewDevice, Status, Store
from api.store.open import open_store
from api.timez import MINUTE_MS, now_ms
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.store.fleet import device, reading


def test_a_restarted_writer_continues_with_due_devices(shell: Shell) -> None:
    """Every commit updates its device's status, by this writer or by the next."""
    store = open_store(shell.url)
    store.upgrade()
    store.create_organization("Acme", organization_id="acme")
    store.import_devices("acme", [NewDevice(f"M-{n}", {"reportingInterval": 60.0}) for n in (1, 2)])
    first = shell.start("writer")
    eventually(lambda: _status(store, "M-1"), "a device that never reported had a status")
    _commit(store, "M-1")
    eventually(lambda: _is_reporting(store, "M-1"), "a reading reached the status")
    first.kill()
    first.communicate()
    _commit(store, "M-2")
    assert not _is_reporting(store, "M-2")
    shell.start("writer")
    eventually(lambda: _is_reporting(store, "M-2"), "the next writer took up what was due")
    store.close()
    assert CommandLine(shell.environ).ask("insight", "verify")["wrong"] == 0


def _status(store: Store, serial: str) -> Status | None:
    key = device(store, "acme", serial).key
    return store.status_rows([key]).get(key)


def _is_reporting(store: Store, serial: str) -> bool:
    result = _status(store, serial)
    return result is not None and result.seen_ms is not None


def _commit(store: Store, serial: str) -> None:
    now = now_ms()
    meter = device(store, "acme", serial)
    store.write([reading(meter, now - n * MINUTE_MS, quality=90.0) for n in range(3)])
