"""Importing devices: all or none, and which values must be unique."""

from __future__ import annotations

import uuid
from dataclasses import fields, replace
from typing import Any

import pytest

from api.errors import UserError
from api.store.base import (
    Device,
    DeviceQuery,
    Grant,
    Imported,
    NewDevice,
    Scope,
    Store,
)
from api.store.devices import FIELDS
from api.store.tables import DEVICE
from tests.store.fleet import device, everything, listed


def test_a_serial_number_is_enough_for_a_new_device(store: Store, acme: str) -> None:
    assert store.import_devices(acme, [NewDevice("S-1")]) == Imported(1, 0)
    made = device(store, acme, "S-1")
    assert uuid.UUID(made.id).version == 4
    assert made == replace(
        made,
        organization_id=acme,
        serial_number="S-1",
        network_unique_identifier="S-1",
        category="EndDevice",
        label="S-1",
        updated_ms=made.created_ms,
        installed_on_ms=made.created_ms,
        installed=True,
        active=True,
        cost_per_gallon={},
        alerts_active=False,
        k_factor={},
        time_zone="UTC",
        model="",
        reseller_id=None,
        distributor_id=None,
        config=None,
        billing_subscriptions=(),
        reporting_interval_s=None,
    )


IMPORTED_FIELDS: dict[str, Any] = {
    "id": "0E1F2A3B-4C5D-4E6F-8A9B-0C1D2E3F4A5B",
    "networkUniqueIdentifier": "net-1",
    "category": "Gateway",
    "label": "Küche – ‘cold’ 水",
    "created": "2024-02-29T23:00:00Z",
    "installedOn": 1_700_000_000_000,
    "installed": False,
    "active": False,
    "costPerGallon": {"USD": 0.01, "tiers": [1, 2]},
    "alertsActive": True,
    "kFactor": {"a": None},
    "deviceTimeZone": "Europe/Rome",
    "model": "X",
    "resellerId": "r",
    "distributorId": "d",
    "config": {"led": True},
    "billingSubscriptions": ["b1", "b2"],
    "reportingInterval": 60,
}


def test_every_given_field_is_stored(store: Store, acme: str) -> None:
    by_name = {**IMPORTED_FIELDS, "id": str(uuid.uuid4()).upper()}
    store.import_devices(acme, [NewDevice("S-1", by_name)])
    (made,) = store.devices(everything(acme), DeviceQuery(active=None))
    assert made.id == by_name["id"].lower()
    assert made.network_unique_identifier == "net-1"
    assert made.label == IMPORTED_FIELDS["label"]
    assert made.created_ms == 1_709_247_600_000
    assert made.installed_on_ms == 1_700_000_000_000
    assert (made.installed, made.active, made.alerts_active) == (False, False, True)
    assert made.cost_per_gallon == IMPORTED_FIELDS["costPerGallon"]
    assert made.k_factor == IMPORTED_FIELDS["kFactor"]
    assert made.time_zone == "Europe/Rome"
    assert made.config == {"led": True, "reportingInterval": 60}
    assert made.billing_subscriptions == ("b1", "b2")
    assert made.reporting_interval_s == 60.0
    assert {"id", "serialNumber", "updated", "organizationId"} | set(IMPORTED_FIELDS) == set(FIELDS)


def test_the_same_serial_number_updates_only_given_fields(store: Store, acme: str) -> None:
    store.import_devices(acme, [NewDevice("S-1", {"label": "one", "model": "X"}, ("north",))])
    before = device(store, acme, "S-1")
    assert store.import_devices(acme, [NewDevice("S-1", {"label": "two"})]) == Imported(0, 1)
    after = device(store, acme, "S-1")
    assert after == replace(before, label="two", updated_ms=after.updated_ms)
    (shown,) = store.devices(Scope(acme, Grant(groups=frozenset({"north"}))), DeviceQuery())
    assert shown == replace(after, config={"groups": ["north"]})


def test_an_import_without_changes_keeps_the_date_of_the_update(store: Store, acme: str) -> None:
    store.import_devices(acme, [NewDevice("S-1", {"label": "one"})])
    before = device(store, acme, "S-1")
    assert store.import_devices(acme, [NewDevice("S-1", {"label": "one"})]) == Imported(0, 1)
    assert device(store, acme, "S-1") == before


def test_the_same_serial_twice_in_one_import_is_one_device(store: Store, acme: str) -> None:
    twice = [NewDevice("S-1", {"label": "one"}), NewDevice("S-1", {"model": "X"})]
    assert store.import_devices(acme, twice) == Imported(1, 1)
    made = device(store, acme, "S-1")
    assert (made.label, made.model) == ("one", "X")


def test_computed_and_unknown_fields_are_ignored(store: Store, acme: str) -> None:
    by_name = {"organizationId": "other", "updated": "2001-01-01T00:00:00Z", "colour": "red"}
    store.import_devices(acme, [NewDevice("S-1", by_name)])
    made = device(store, acme, "S-1")
    assert made.organization_id == acme
    assert made.updated_ms > 1_700_000_000_000


def test_null_resets_optional_fields_and_leaves_required_ones(store: Store, acme: str) -> None:
    store.import_devices(acme, [NewDevice("S-1", {"label": "one", "resellerId": "r"})])
    store.import_devices(acme, [NewDevice("S-1", {"label": None, "resellerId": None})])
    made = device(store, acme, "S-1")
    assert (made.label, made.reseller_id) == ("one", None)


@pytest.mark.parametrize(
    "clash",
    [
        [NewDevice("S-2", {"networkUniqueIdentifier": "S-1"})],
        [NewDevice("S-2"), NewDevice("S-3", {"networkUniqueIdentifier": "S-2"})],
        [NewDevice("S-1", {"id": "11111111-1111-4111-8111-111111111111"})],
        [NewDevice("S-9", {"id": "00000000-0000-4000-8000-000000000001"})],
    ],
    ids=["a network identifier", "both new", "a serial number", "an id"],
)
def test_a_duplicate_refuses_the_whole_import_by_name(
    empty_store: Store, clash: list[NewDevice]
) -> None:
    acme = empty_store.create_organization("Acme").id
    first = {"id": "00000000-0000-4000-8000-000000000001"}
    empty_store.import_devices(acme, [NewDevice("S-1", first)])
    with pytest.raises(UserError, match=clash[-1].serial_number):
        empty_store.import_devices(acme, [NewDevice("S-0"), *clash])
    assert listed(empty_store, acme) == ["S-1"]


def test_an_id_belongs_to_one_organization(store: Store, acme: str) -> None:
    identity = {"id": str(uuid.uuid4())}
    store.import_devices(acme, [NewDevice("S-1", identity)])
    other = store.create_organization("Other").id
    with pytest.raises(UserError, match=r"S-7.*already in use"):
        store.import_devices(other, [NewDevice("S-7", identity)])


def test_devices_of_an_unknown_organization_are_refused(store: Store) -> None:
    with pytest.raises(UserError, match="no organization nobody"):
        store.import_devices("nobody", [NewDevice("S-1")])


def test_organizations_may_use_the_same_serial_numbers(store: Store, acme: str) -> None:
    other = store.create_organization("Other").id
    for organization_id in (acme, other):
        assert store.import_devices(organization_id, [NewDevice("S-1")]) == Imported(1, 0)
    assert device(store, acme, "S-1").key != device(store, other, "S-1").key


def test_a_serial_number_of_an_inactive_device_can_be_reused(store: Store, acme: str) -> None:
    old = {"id": str(uuid.uuid4())}
    new = {"id": str(uuid.uuid4())}
    store.import_devices(acme, [NewDevice("S-1", old)])
    with pytest.raises(UserError, match="S-1"):
        store.import_devices(acme, [NewDevice("S-1", new)])
    store.import_devices(acme, [NewDevice("S-1", {**old, "active": False})])
    assert store.import_devices(acme, [NewDevice("S-1", new)]) == Imported(1, 0)
    assert device(store, acme, "S-1").id == new["id"]
    assert device(store, acme, old["id"]).active is False
    with pytest.raises(UserError, match="S-1"):
        store.import_devices(acme, [NewDevice("S-1", {**old, "active": True})])


def test_a_serial_number_moves_within_one_import(store: Store, acme: str) -> None:
    old, new = {"id": str(uuid.uuid4())}, {"id": str(uuid.uuid4())}
    store.import_devices(acme, [NewDevice("S-1", old)])
    swap = [NewDevice("S-1", new), NewDevice("S-1", {**old, "active": False})]
    assert store.import_devices(acme, swap) == Imported(1, 1)
    assert device(store, acme, "S-1").id == new["id"]


def test_an_inactive_device_is_updated_rather_than_made_again(store: Store, acme: str) -> None:
    store.import_devices(acme, [NewDevice("S-1", {"active": False})])
    assert store.import_devices(acme, [NewDevice("S-1", {"label": "x"})]) == Imported(0, 1)
    assert listed(store, acme, active=None) == ["S-1"]


def test_given_groups_replace_the_stored_ones(store: Store, acme: str) -> None:
    def members(name: str) -> list[str]:
        scope = Scope(acme, Grant(groups=frozenset({name})))
        return [result.serial_number for result in store.devices(scope, DeviceQuery())]

    store.import_devices(
        acme, [NewDevice("S-1", groups=("a", "b")), NewDevice("S-2", groups=("b",))]
    )
    assert (members("a"), members("b")) == (["S-1"], ["S-1", "S-2"])
    store.import_devices(acme, [NewDevice("S-1", groups=("c", "c")), NewDevice("S-2", groups=())])
    assert (members("a"), members("b"), members("c")) == ([], [], ["S-1"])


def test_the_table_has_exactly_the_columns_of_a_device() -> None:
    assert {f.name for f in fields(Device)} == set(DEVICE.names)
    assert {f.attribute for f in FIELDS.values()} | {"key"} == set(DEVICE.names)
