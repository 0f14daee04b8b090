"""`weir devices import`: what a file of devices may contain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.store.base import Device, DeviceQuery, Grant, Scope, Store
from tests.commands.conftest import CommandLine

UUID = "1f8730a9-5d67-4895-9215-6e247087ea00"
WHOLE: dict[str, Any] = {
    "id": UUID,
    "category": "Gateway",
    "serialNumber": "M-1",
    "created": "2024-01-02T03:04:05Z",
    "label": "Meter one",
    "installedOn": "2024-01-03",
    "installed": False,
    "costPerGallon": {"value": 0.01},
    "alertsActive": True,
    "kFactor": {"value": 75},
    "deviceTimeZone": "Europe/Rome",
    "model": "FX",
    "resellerId": "r",
    "config": {"a": 1},
    "distributorId": "d",
    "networkUniqueIdentifier": "70B3",
    "billingSubscriptions": ["basic"],
    "active": True,
    "groups": ["north", "south"],
    "reportingInterval": 60,
}


@pytest.fixture
def import_(weir: CommandLine, org: str, tmp_path: Path) -> Callable[..., Any]:
    """Imports these entries (or this text) by ``run``, ``ask`` or ``error`` of the command line."""

    def import_(entries: object, by: str = "ask") -> Any:
        path = tmp_path / "fleet.json"
        path.write_text(entries if isinstance(entries, str) else json.dumps(entries))
        return getattr(weir, by)("devices", "import", path, "--org", org)

    return import_


@pytest.fixture
def devices(opened: Callable[[], Store], org: str) -> Callable[[], list[Device]]:
    def devices() -> list[Device]:
        scope = Scope(org, Grant(everything=True))
        return opened().devices(scope, DeviceQuery(active=None, order_by="serialNumber"))

    return devices


def test_a_serial_number_is_enough(
    import_: Callable[..., Any], devices: Callable[[], list[Device]]
) -> None:
    assert import_([{"serialNumber": "M-1"}]) == {"created": 1, "updated": 0}
    (device,) = devices()
    assert device.network_unique_identifier == device.label == device.serial_number == "M-1"
    assert (device.active, device.category) == (True, "EndDevice")
    assert len(device.id) == 36


def test_every_field_is_stored(
    import_: Callable[..., Any], devices: Callable[[], list[Device]]
) -> None:
    import_([WHOLE])
    (device,) = devices()
    assert device.id == UUID
    assert device.category == "Gateway"
    assert device.created_ms == 1_704_164_645_000
    assert device.installed_on_ms == 1_704_240_000_000
    assert device.cost_per_gallon == {"value": 0.01}
    assert device.time_zone == "Europe/Rome"
    assert device.billing_subscriptions == ("basic",)
    assert device.reporting_interval_s == 60
    assert device.config == {"a": 1, "reportingInterval": 60, "groups": ["north", "south"]}
    assert not device.installed
    assert device.alerts_active


def test_the_same_serial_number_updates_the_given_fields(
    import_: Callable[..., Any], devices: Callable[[], list[Device]]
) -> None:
    import_([WHOLE])
    again = [{"serialNumber": "M-1", "label": "Renamed"}, {"serialNumber": "M-2"}]
    assert import_(again) == {"created": 1, "updated": 1}
    first, second = devices()
    assert (first.id, first.label, first.model) == (UUID, "Renamed", "FX")
    assert second.serial_number == "M-2"


def test_unknown_keys_are_ignored_with_a_warning(import_: Callable[..., Any]) -> None:
    entries = [{"serialNumber": f"M-{n}", "colour": "red", "units": n} for n in range(2)]
    result = import_(entries, "run")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "Warning: colour is not a field of a device: ignored (2×)",
        "Warning: units is not a field of a device: ignored (2×)",
    ]


def test_another_organization_in_an_entry_is_ignored_with_a_warning(
    import_: Callable[..., Any], devices: Callable[[], list[Device]], org: str
) -> None:
    result = import_([{"serialNumber": "M-1", "organizationId": "another"}], "run")
    assert result.stderr == "Warning: organizationId names another organization: ignored (1×)\n"
    assert devices()[0].organization_id == org


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"serialNumber": None}, "entry 2 has no serialNumber"),
        ({"serialNumber": ""}, "serialNumber must be text without leading or trailing spaces"),
        ({"serialNumber": " M"}, "serialNumber must be text without leading or trailing spaces"),
        ({"serialNumber": 12}, "serialNumber must be text"),
        ({"networkUniqueIdentifier": "a\n"}, "networkUniqueIdentifier must be text"),
        ({"id": "12"}, "id must be a UUID"),
        ({"category": "Boat"}, "category must be EndDevice or Gateway"),
        ({"deviceTimeZone": "Europe/Roma"}, "'Europe/Roma' is not an IANA time zone"),
        ({"deviceTimeZone": 1}, "deviceTimeZone must be text"),
        ({"created": "yesterday"}, "created must be an ISO 8601 date-time"),
        ({"installedOn": "2024-02-30"}, "installedOn is a date-time that doesn't exist"),
        ({"installed": "yes"}, "installed must be true or false"),
        ({"active": 1}, "active must be true or false"),
        ({"alertsActive": None, "active": "true"}, "active must be true or false"),
        ({"costPerGallon": 0.01}, "costPerGallon must be an object"),
        ({"kFactor": []}, "kFactor must be an object"),
        ({"config": "x"}, "config must be an object"),
        ({"billingSubscriptions": "basic"}, "billingSubscriptions must be an array of strings"),
        ({"groups": "north"}, "groups must be an array of strings"),
        ({"groups": [1]}, "groups must be an array of strings"),
        ({"groups": [""]}, "groups must be an array of strings"),
        ({"reportingInterval": "60"}, "reportingInterval must be a number of seconds"),
        ({"reportingInterval": 0}, "reportingInterval must be a number of seconds above 0"),
        ({"reportingInterval": True}, "reportingInterval must be a number of seconds"),
        ({"reportingInterval": 10**400}, "reportingInterval"),
        ({"label": 5}, "label must be text"),
        ({"label": "\ud800"}, "label contains NUL or half a surrogate pair"),
        ({"label": "a\0b"}, "label contains NUL or half a surrogate pair"),
        ({"groups": ["north", "\0"]}, "groups contains NUL or half a surrogate pair"),
        ({"billingSubscriptions": ["\udfff"]}, "billingSubscriptions contains NUL"),
        ({"config": {"a": [{"\0": 1}]}}, "config contains NUL or half a surrogate pair"),
        (
            {"costPerGallon": {"a": 10**30}},
            "costPerGallon has an integer that doesn't fit in 64 bits",
        ),
        ({"config": {"a": [-(2**63) - 1]}}, "config has an integer that doesn't fit in 64 bits"),
    ],
)
def test_a_bad_value_names_entry_and_field_and_nothing_is_imported(
    import_: Callable[..., Any],
    devices: Callable[[], list[Device]],
    fields: dict[str, Any],
    problem: str,
) -> None:
    error = import_([{"serialNumber": "M-1"}, {"serialNumber": "M-2", **fields}], "error")
    assert "fleet.json: entry 2" in error
    assert problem in error
    assert devices() == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not JSON"),
        ("[{]", "is not JSON"),
        ("{}", "must be an array of devices"),
        ("[1]", "entry 1 must be an object"),
        ('[{"serialNumber": "M-1", "config": {"a": NaN}}]', "NaN is not a number"),
        ("[" * 100_000, "is not JSON"),
        ('[{"serialNumber": "M-1", "config": {"a": 1e999}}]', "a number that is too large"),
        (
            '[{"serialNumber": "M-1", "config": {"a": ' + "[" * 200 + "]" * 200 + "}}]",
            "config is nested more than 64 levels deep",
        ),
    ],
)
def test_a_file_of_something_else_is_refused(
    import_: Callable[..., Any], text: str, problem: str
) -> None:
    assert problem in import_(text, "error")


def test_a_missing_file_is_an_error(weir: CommandLine, org: str, tmp_path: Path) -> None:
    output = weir.error("devices", "import", tmp_path / "nowhere.json", "--org", org)
    assert output.endswith("nowhere.json: No such file or directory")


def test_two_active_devices_may_not_share_an_identifier(
    import_: Callable[..., Any], devices: Callable[[], list[Device]]
) -> None:
    entries = [{"serialNumber": "M-1"}, {"serialNumber": "M-2", "networkUniqueIdentifier": "M-1"}]
    assert "M-1" in import_(entries, "error")
    assert devices() == []


def test_the_devices_of_every_real_source_import(
    weir: CommandLine, org: str, shared_data: Path
) -> None:
    files = sorted(shared_data.glob("*.devices.json"))
    assert files
    for path in files:
        number = len(json.loads(path.read_text()))
        assert weir.ask("devices", "import", path, "--org", org) == {
            "created": number,
            "updated": 0,
        }
        assert weir.ask("devices", "import", path, "--org", org)["updated"] == number


def test_values_at_the_bounds_are_stored(
    import_: Callable[..., Any], devices: Callable[[], list[Device]]
) -> None:
    config = {"most": 2**63 - 1, "least": -(2**63), "text": "\U0001f4a7 ÿ"}
    import_([{"serialNumber": "M-1", "label": "\U0001f4a7", "config": config}])
    (device,) = devices()
    assert (device.label, device.config) == ("\U0001f4a7", config)


def test_a_sub_meter_gets_and_loses_its_parent(
    import_: Callable[..., Any],
    weir: CommandLine,
    org: str,
    devices: Callable[[], list[Device]],
) -> None:
    import_([{"serialNumber": "A"}, {"serialNumber": "B", "parent": "A"}, {"serialNumber": "C"}])

    def parents() -> dict[str, Any]:
        return {d.serial_number: (d.config or {}).get("parent") for d in devices()}

    assert parents() == {"A": None, "B": "A", "C": None}
    placed = weir.ask("devices", "parent", "C", "B", "--org", org)
    assert placed == {"device": "C", "parent": "B"}
    assert parents()["C"] == "B"
    for words, why in (
        (("A", "C"), "upstream of itself"),
        (("A", "NOBODY"), "no device NOBODY"),
        (("A",), "name a PARENT, or --none"),
    ):
        assert why in weir.error("devices", "parent", *words, "--org", org)
    assert weir.ask("devices", "parent", "B", "--none", "--org", org)["parent"] is None
    assert parents() == {"A": None, "B": None, "C": "B"}


@pytest.mark.parametrize("parent", [7, " A", ["A"]])
def test_a_parent_is_a_serial_number(import_: Callable[..., Any], parent: object) -> None:
    for text in ({"parent": parent}, {"config": {"parent": parent}}):
        assert "must be" in import_([{"serialNumber": "B", **text}], "error")


def test_registers_are_configured_listed_and_derived_again(
    weir: CommandLine, org: str, tmp_path: Path, import_: Callable[..., Any]
) -> None:
    import_([{"serialNumber": "W-1", "reportingInterval": 900, "config": {"a": 1}}])
    lines = [
        {"device": "W-1", "recordedAt": f"2026-03-08T{hour:02}:00:00Z", "register": count}
        for hour, count in ((10, 900), (11, 990), (12, 5))
    ]
    file = tmp_path / "registers.ndjson"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    assert weir.ask("readings", "import", file, "--org", org)["stored"] == 3
    of = ("W-1", "--org", org)
    assert [row["gallons"] for row in weir.ask("registers", "list", *of)] == [None, 90.0, None]
    made = weir.ask("registers", "set", "W-1", "registerDigits=3", "registerGap=end", "--org", org)
    assert made == {"device": "W-1", "registerDigits": 3, "registerGap": "end"}
    listed = weir.ask("registers", "list", *of, "--from", "2026-03-08T12:00:00Z")
    assert [(row["gallons"], row["flags"]) for row in listed] == [(15.0, ["rollover"])]
    at = ("--at", "2026-03-08T11:30:00Z")
    weir.ask("registers", "exchange", *of, *at, "--last", "992", "--first", "1")
    (row,) = weir.ask("registers", "list", *of, "--limit", "1")
    assert (row["gallons"], row["flags"]) == (6.0, ["exchange"])
    assert weir.ask("registers", "exchange", *of, *at, "--remove")["meterExchanges"] is None
    assert "has no exchange" in weir.error("registers", "exchange", *of, *at, "--remove")
    assert "one of registerUnit" in weir.error("registers", "set", "W-1", "unit=m3", "--org", org)
    assert "registerUnit must be" in weir.error(
        "registers", "set", "W-1", "registerUnit=barrel", "--org", org
    )
    assert weir.ask("registers", "rederive", *of) == {"device": "W-1", "changed": 0}
