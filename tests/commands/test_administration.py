"""An administrator's commands: fields of devices, files of devices, groups, the organization."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from api.domain.device_fields import values_of
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
    weir.ask("devices", "set", "M-2", "groups=Süd", *org)
    assert '["Süd"]' in weir.run("devices", "list", *org).stdout
    for pair, message in (
        ("price=dear", "price must be a number"),
        ("labell=x", "unknown field labell: did you mean label?"),
        ("label", "label: must be FIELD=VALUE"),
        ("deviceTimeZone=Mars", "deviceTimeZone must be an IANA time zone"),
    ):
        assert message.replace("'", "") in weir.error("devices", "set", "M-1", pair, *org).replace(
            "'", ""
        )
    entries = opened().audit(AuditQuery(meters, kind="device"))
    assert [entry.author.startswith("command:") for entry in entries] == [True] * 3


def test_devices_are_exported_as_csv_and_imported_again(
    weir: CommandLine, meters: str, tmp_path: Path, opened: Callable[[], Store]
) -> None:
    file, org = tmp_path / "devices.csv", ("--org", meters)
    assert weir.ask("devices", "export", "--out", file, *org)["devices"] == 3
    file.write_text(file.read_text().replace("M-1,M-1", "M-1,Tower").replace("M-2,M-2", "M-2,"))
    with file.open("a") as rows:
        rows.write("M-9,Yard\n")
    pretended = weir.run("devices", "import", file, "--pretend", "--json", *org)
    assert json.loads(pretended.stdout) == {"created": 1, "updated": 1, "refused": 1}
    assert pretended.stderr.splitlines() == [
        "line 2: would change M-1: label",
        "Warning: line 3 (M-2) is refused: label is required",
        "line 5: would create M-9: label",
    ]
    assert device(opened(), meters, "M-1").label == "M-1"
    assert weir.ask("devices", "import", file, *org)["updated"] == 1
    assert device(opened(), meters, "M-1").label == "Tower"
    done = weir.ask("devices", "undo-import", *org)
    assert (done["restored"], done["deleted"], done["stay"]) == (1, 1, [])
    assert device(opened(), meters, "M-1").label == "M-1"


def test_a_device_is_created_with_fields(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    org = ("--org", meters)
    made = weir.ask("devices", "create", "NEW-1", "label=Yard", "registerUnit=m3", *org)
    values = values_of(device(opened(), meters, made["serialNumber"]))
    assert (values["label"], values["registerUnit"]) == ("Yard", "m3")
    assert "a device NEW-1 already" in weir.error("devices", "create", "NEW-1", *org)
    assert "price must be a number" in weir.error("devices", "create", "NEW-2", "price=dear", *org)


def test_a_meter_exchange_is_recorded_and_undone(weir: CommandLine, meters: str) -> None:
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
    after = weir.ask("orgs", "set", meters, "--currency", "EUR", "--zone", "Europe/Rome",
                     "--units", "metric")  # fmt: skip
    assert (after["currency"], after["zone"]) == ("EUR", "Europe/Rome")
    assert after["units"] == "metric"
    assert "--units must be one of us, metric" in weir.error("orgs", "set", meters, "--units", "si")
    assert "--currency must be" in weir.error("orgs", "set", meters, "--currency", "euro")
    key = weir.ask("keys", "create", *org)["keyId"]
    changed = weir.ask("keys", "change", key, "--name", "Ada", "--group", "South")
    assert (changed["name"], changed["groups"], changed["allDevices"]) == ("Ada", ["South"], False)
    assert "in use by key Ada" in weir.error("groups", "delete", "South", *org)


def test_a_metric_organization_types_and_reads_metric_numbers(
    weir: CommandLine, meters: str, opened: Callable[[], Store]
) -> None:
    org = ("--org", meters)
    changed = weir.ask("orgs", "set", meters, "--units", "metric", "--currency", "EUR",
                       "--price", "2.10")  # fmt: skip
    assert changed["price"] == pytest.approx(2.10 * 0.003785411784)
    weir.ask("devices", "set", "M-1", "price=3.5", "highFlowLimit=100", *org)
    values = values_of(device(opened(), meters, "M-1"))
    assert values["price"] == pytest.approx(3.5 * 0.003785411784)
    assert values["highFlowLimit"] == pytest.approx(100 / 3.785411784)
    weir.ask("devices", "set", "M-1", "price=0.02", "--units", "us", *org)
    assert values_of(device(opened(), meters, "M-1"))["price"] == 0.02
    error = weir.error("devices", "set", "M-1", "highFlowLimit=-1", *org)
    assert "must be a number from 0.0038 L/min to 3,785,412 L/min" in error
    limit = ("insight", "settings", "set", "limit=-1", "--kind", "high-flow", *org)
    assert " L/" in weir.error(*limit)
    tariff = weir.ask("tariffs", "add", "City", "--rate", "2.10", *org)
    assert (tariff["currency"], tariff["per"]) == ("EUR", "EUR per m³")
