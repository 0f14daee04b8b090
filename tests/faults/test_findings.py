"""Findings while their writer is killed and restarted, with real processes."""

from __future__ import annotations

from api.store.base import FindingQuery, NewDevice, Store
from api.store.open import open_store
from api.timez import HOUR_MS, floor_to, now_ms
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.insight.series import household
from tests.store.fleet import device, everything, reading


def test_findings_survive_a_writer_killed_between_readings_and_findings(shell: Shell) -> None:
    store = open_store(shell.url)
    store.upgrade()
    store.create_organization("Acme", organization_id="acme")
    serials = ("M-1", "M-2", "M-3")
    fields = {"reportingInterval": 3600.0}
    store.import_devices("acme", [NewDevice(serial, fields) for serial in serials])
    for serial in serials:
        writer = shell.start("writer")
        _leak(store, serial)
        if serial == "M-1":  # the others may be evaluated or not
            eventually(lambda: "M-1" in _leaking(store), "a leak was found beside the writer")
        writer.kill()
        writer.communicate()
    shell.start("writer")
    eventually(lambda: _leaking(store) == set(serials), "the next writer found what was due")
    store.close()
    assert CommandLine(shell.environ).ask("insight", "verify")["wrong"] == 0


def _leak(store: Store, serial: str) -> None:
    """Ten days up to now, the last five of them with a leak."""
    meter = device(store, "acme", serial)
    first_ms = floor_to(now_ms(), HOUR_MS) - 10 * 24 * HOUR_MS
    store.write(
        [
            reading(meter, first_ms + n * HOUR_MS, flow_amount=value + 9.0 * (n >= 120))
            for n, value in enumerate(household(10))
        ]
    )


def _leaking(store: Store) -> set[str]:
    requests = FindingQuery(kinds=["continuous-flow"], states=["open"])
    return {entry.serial_number for entry in store.findings(everything("acme"), requests)}
