"""What an import may move from one device to another, and what it can't."""

from __future__ import annotations

import pytest

from api.errors import UserError
from api.store.base import DeviceQuery, Imported, NewDevice, Store
from api.store.device_import import Planner
from tests.store.fleet import everything


@pytest.fixture
def acme(store: Store) -> str:
    return store.create_organization("Acme").id


def ids(store: Store, organization_id: str) -> dict[str, str]:
    result = store.devices(everything(organization_id), DeviceQuery())
    return {d.serial_number: d.id for d in result}


def network_identifiers(store: Store, organization_id: str) -> dict[str, str]:
    result = store.devices(everything(organization_id), DeviceQuery())
    return {d.serial_number: d.network_unique_identifier for d in result}


@pytest.mark.parametrize(
    "after",
    [
        {"A": "nb", "B": "na"},
        {"A": "nb", "B": "nc", "C": "na"},
        {"A": "nb", "B": "nc", "C": "nd"},
        {"C": "nd", "B": "nc", "A": "nb"},
        {"A": "nb", "B": "nd", "D": "na"},
    ],
    ids=["a swap", "a ring", "a chain", "a chain from its end", "a chain to a new device"],
)
def test_only_the_result_of_an_import_must_be_unique(
    store: Store, acme: str, after: dict[str, str]
) -> None:
    def devices(networks: dict[str, str]) -> list[NewDevice]:
        return [NewDevice(s, {"networkUniqueIdentifier": n}) for s, n in networks.items()]

    before = {"A": "na", "B": "nb", "C": "nc"}
    store.import_devices(acme, devices(before))
    by_serial = ids(store, acme)
    new = len(after.keys() - before.keys())
    assert store.import_devices(acme, devices(after)) == Imported(new, len(after) - new)
    assert network_identifiers(store, acme) == {**before, **after}
    assert by_serial.items() <= ids(store, acme).items()


def test_one_device_takes_the_identifier_of_another_that_becomes_inactive(
    store: Store, acme: str
) -> None:
    store.import_devices(acme, [NewDevice("A"), NewDevice("B")])
    taking = NewDevice("A", {"networkUniqueIdentifier": "B"})
    store.import_devices(acme, [taking, NewDevice("B", {"active": False})])
    assert network_identifiers(store, acme) == {"A": "B"}


@pytest.mark.parametrize("is_known", [True, False], ids=["updated", "created"])
def test_a_conflict_found_by_the_database_names_the_device(
    store: Store, acme: str, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    store.import_devices(acme, [NewDevice("S-1"), *([NewDevice("S-2")] if is_known else [])])
    monkeypatch.setattr(Planner, "_check_unique", lambda _: None)
    with pytest.raises(UserError, match=r"^device S-2: .* is already in use$"):
        store.import_devices(acme, [NewDevice("S-2", {"networkUniqueIdentifier": "S-1"})])
    assert network_identifiers(store, acme)["S-1"] == "S-1"
