"""What administrators do by command: fields of devices, files of them, groups, the organization."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from api.store.base import AuditQuery, Device, DeviceQuery, Grant, Scope, Store
from tests.commands.conftest import CommandLine


def device(store: Store, org: str, serial: str) -> Device:
    query = DeviceQuery(active=None, serial_number=serial)
    return store.devices(Scope(org, Grant(everything=True)), query)[0]


def test_fields_of_a_device_are_set_and_checked(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    org = ("--org", meters)
    made = weir.ask("devices", "set", "M-1", "label=Yard", "meterSize=DN 20", "groups=a; b", *org)
    assert made["changed"] == ["label", "meterSize", "groups"]
    assert weir.ask("devices", "set", "M-1", "meterSize=", *org)["changed"] == ["meterSize"]
    assert device(opened(), meters, "M-1").config == {"groups": ["a", "b"]}
    for pair, message in (
        ("price=dear", "price must be a number"),
        ("labell=x", "labell=x: must be FIELD=VALUE; unknown field 'labell'"),
        ("deviceTimeZone=Mars", "deviceTimeZone must be an IANA time zone"),
    ):
        assert message.replace("'", "") in weir.error("devices", "set", "M-1", pair, *org).replace(
            "'", ""
        )
    entries = opened().audit(AuditQuery(meters, kind="device"))
    assert [entry.author.startswith("command:") for entry in entries] == [True, True]


def test_devices_go_out_as_csv_and_come_back(
    weir: CommandLine, meters: str, tmp_path: Path, opened: Callable[[], Store]
) -> None:
    file, org = tmp_path / "devices.csv", ("--org", meters)
    assert weir.ask("devices", "export", "--out", file, *org)["devices"] == 3
    file.write_text(file.read_text().replace("M-1,M-1", "M-1,Tower").replace("M-2,M-2", "M-2,"))
    pretended = weir.ask("devices", "import", file, "--pretend", *org)
    assert pretended == {"created": 0, "updated": 1, "refused": 1}
    assert device(opened(), meters, "M-1").label == "M-1"
    assert weir.ask("devices", "import", file, *org)["updated"] == 1
    assert device(opened(), meters, "M-1").label == "Tower"


def test_an_exchange_is_noted_and_taken_back(weir: CommandLine, meters: str) -> None:
    arguments = ("devices", "exchange", "M-1", "--org", meters, "--at", "2026-03-01T09:00:00Z")
    assert weir.ask(*arguments, "--last", "12.5")["last"] == 12.5
    assert "noted already" in weir.error(*arguments)
    weir.ask(*arguments, "--undo")
    assert "No exchange" in weir.error(*arguments, "--undo")


def test_groups_and_the_organization_are_changed(weir: CommandLine, meters: str) -> None:
    org = ("--org", meters)
    weir.ask("groups", "create", "south", "M-1", "NET-2", *org)
    assert weir.ask("groups", "remove", "south", "M-1", *org)["devices"] == 1
    weir.ask("groups", "rename", "south", "South", *org)
    weir.ask("groups", "delete", "north", *org)
    assert [row["name"] for row in weir.ask("groups", "list", *org)] == ["South"]
    after = weir.ask("orgs", "set", meters, "--currency", "EUR", "--zone", "Europe/Rome")
    assert (after["currency"], after["zone"]) == ("EUR", "Europe/Rome")
    assert "--currency must be" in weir.error("orgs", "set", meters, "--currency", "euro")
    key = weir.ask("keys", "create", *org)["keyId"]
    changed = weir.ask("keys", "change", key, "--name", "Ada", "--group", "South")
    assert (changed["name"], changed["groups"], changed["allDevices"]) == ("Ada", ["South"], False)
    assert "in use by key Ada" in weir.error("groups", "delete", "South", *org)
