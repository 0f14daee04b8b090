"""Mains and sub-meters in the directory: which parents are allowed, and which are returned."""

from __future__ import annotations

import pytest

from api.errors import UserError
from api.store.base import DeviceQuery, Grant, NewDevice, Scope, Store
from tests.store.fleet import everything

TREE = [  # a parent may be named before its own entry
    NewDevice("FLAT", {"parent": "RISER"}, ("north",)),
    NewDevice("RISER", {"config": {"parent": "MAIN", "led": True}}),
    NewDevice("MAIN", {}, ("north",)),
]


def parents(store: Store, scope: Scope) -> dict[str, str | None]:
    result = store.devices(scope, DeviceQuery(active=None))
    return {each.serial_number: (each.config or {}).get("parent") for each in result}


def test_a_device_names_its_parent_in_its_configuration(store: Store, acme: str) -> None:
    store.import_devices(acme, TREE)
    assert parents(store, everything(acme)) == {"FLAT": "RISER", "RISER": "MAIN", "MAIN": None}
    (riser,) = store.resolve(everything(acme), ["RISER"])
    assert riser is not None
    assert riser.config == {"led": True}  # its place is stored separately


def test_importing_again_moves_keeps_and_releases(store: Store, acme: str) -> None:
    store.import_devices(acme, TREE)
    store.import_devices(acme, [NewDevice("FLAT", {"label": "Flat"})])
    assert parents(store, everything(acme))["FLAT"] == "RISER"
    store.import_devices(acme, [NewDevice("FLAT", {"parent": "MAIN"})])
    assert parents(store, everything(acme))["FLAT"] == "MAIN"
    store.import_devices(acme, [NewDevice("FLAT", {"parent": None})])
    assert parents(store, everything(acme))["FLAT"] is None
    assert parents(store, everything(acme))["RISER"] == "MAIN"


@pytest.mark.parametrize(
    ("device", "why"),
    [
        (NewDevice("MAIN", {"parent": "FLAT"}), "upstream of itself"),
        (NewDevice("MAIN", {"parent": "MAIN"}), "upstream of itself"),
        (NewDevice("MAIN", {"parent": "NOBODY"}), "no device of its organization"),
        (NewDevice("MAIN", {"parent": "FOREIGN"}), "no device of its organization"),
        (NewDevice("MAIN", {"config": {"parent": "NOBODY"}}), "no device of its organization"),
    ],
)
def test_an_invalid_parent_is_refused_and_nothing_changes(
    store: Store, acme: str, device: NewDevice, why: str
) -> None:
    store.import_devices(store.create_organization("Other").id, [NewDevice("FOREIGN")])
    store.import_devices(acme, TREE)
    before = parents(store, everything(acme))
    with pytest.raises(UserError, match=why):
        store.import_devices(acme, [NewDevice("NEW"), device])
    assert parents(store, everything(acme)) == before


def test_a_scope_gets_the_nearest_parent_in_it(store: Store, acme: str) -> None:
    store.import_devices(acme, TREE)
    group = Scope(acme, Grant(groups=frozenset({"north"})))
    assert parents(store, group) == {"FLAT": "MAIN", "MAIN": None}  # the riser isn't granted
    (flat,) = store.resolve(everything(acme), ["FLAT"])
    assert flat is not None
    alone = Scope(acme, Grant(devices=frozenset({flat.id})))
    assert parents(store, alone) == {"FLAT": None}


def test_deleting_the_organization_leaves_no_link(store: Store, acme: str) -> None:
    store.import_devices(acme, TREE)
    store.delete_organization(acme)
    store.create_organization("Acme", organization_id=acme)
    store.import_devices(acme, [NewDevice(each.serial_number) for each in TREE])
    assert set(parents(store, everything(acme)).values()) == {None}


def test_groups_are_counted_within_the_scope(store: Store, acme: str) -> None:
    store.import_devices(acme, [*TREE, NewDevice("OLD", {"active": False}, ("north", "past"))])
    assert store.groups(everything(acme)) == [("north", 2)]
    assert store.groups(Scope(acme, Grant(groups=frozenset({"north"})))) == [("north", 2)]
    assert store.groups(Scope(acme, Grant(devices=frozenset({"x"})))) == []
