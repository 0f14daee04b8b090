"""Organizations, devices and groups: lists, scopes and look-ups."""

from __future__ import annotations

import random
import uuid
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import DEVICE_ORDER_FIELDS
from api.errors import UserError
from api.store.base import (
    DeviceQuery,
    Grant,
    Imported,
    Key,
    NewDevice,
    Progress,
    Refusal,
    Scope,
    Store,
)
from api.store.common_store import CommonStore
from api.store.query import Query
from api.store.tables import TABLES
from tests.store.fleet import NOON_MS, device, everything, listed, reading
from tests.tables import cases

# --- Organizations -------------------------------------------------------------------------------


def test_an_organization_is_found_by_its_id(store: Store) -> None:
    made = store.create_organization("Ada's Water", cost_per_gallon=0.012)
    assert uuid.UUID(made.id).version == 4
    assert store.organization(made.id) == made
    assert made.default_cost_per_gallon == 0.012
    assert made.active
    assert store.organization("nobody") is None
    assert made in store.organizations()


def test_organizations_are_listed_by_name(empty_store: Store) -> None:
    for name in ("b", "a", "Z"):
        empty_store.create_organization(name)
    assert [o.name for o in empty_store.organizations()] == ["Z", "a", "b"]


def test_an_organization_id_is_unique(store: Store) -> None:
    made = store.create_organization("One", organization_id=str(uuid.uuid4()))
    with pytest.raises(UserError, match=made.id):
        store.create_organization("Two", organization_id=made.id)
    assert store.organization(made.id) == made


def test_a_deleted_organization_leaves_no_row_in_any_table(
    empty_store: Store,
) -> None:
    def filled(name: str) -> str:
        made = empty_store.create_organization(name)
        empty_store.import_devices(made.id, [NewDevice(f"{name}-1", {}, ("north",))])
        [meter] = empty_store.resolve(everything(made.id), [f"{name}-1"])
        assert meter is not None
        row = reading(meter, NOON_MS, flow_rate=1)
        empty_store.add([row], undated=[row[:2]])
        refusal = Refusal(made.id, "file", "unknown device", "X", "X", NOON_MS, 1)
        empty_store.write([], refusals=[refusal], progress=Progress("digest", made.id))
        grant = Grant(groups=frozenset({"north"}), devices=frozenset({meter.id}))
        empty_store.create_key(
            Key(f"key_{name}", made.id, "", name.encode() * 32, grant, NOON_MS, None, None, False)
        )
        return made.id

    def rows() -> dict[str, int]:
        store = cast("CommonStore", empty_store)
        counted = {t.name: store.fetch(Query(f"SELECT COUNT(*) FROM {t.name}")) for t in TABLES}
        return {name: int(result[0][0]) for name, result in counted.items()}

    remaining = filled("a")
    alone = rows()
    gone = filled("b")
    assert all(now > alone[name] or not now for name, now in rows().items())
    assert empty_store.delete_organization(gone) == 1
    assert rows() == alone
    assert empty_store.organization(remaining) is not None


# --- Listing -------------------------------------------------------------------------------------

LABELS = ("a", "B", "b", "ä", "Z", "aa", "", "水", "a", "~")


@pytest.fixture
def labelled(store: Store, acme: str) -> str:
    """An organization whose devices differ in every sortable field."""
    rng = random.Random(4)
    wanted = [
        NewDevice(
            f"S-{index:02}",
            {
                "label": label,
                "networkUniqueIdentifier": f"N-{rng.randrange(10**6)}",
                "category": rng.choice(("EndDevice", "Gateway")),
                "created": rng.randrange(10**12),
                "installedOn": rng.randrange(10**12),
                "installed": rng.random() < 0.5,
                "alertsActive": rng.random() < 0.5,
                "deviceTimeZone": rng.choice(("UTC", "Europe/Rome")),
                "model": rng.choice(("X", "y")),
                "resellerId": rng.choice((None, "r1", "R2")),
                "distributorId": rng.choice((None, "d")),
                "active": index % 3 > 0,
            },
        )
        for index, label in enumerate(LABELS)
    ]
    store.import_devices(acme, wanted)
    return acme


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", DEVICE_ORDER_FIELDS)
def test_any_scalar_field_orders_by_code_point_ties_by_id_nulls_last(
    store: Store, labelled: str, name: str, descending: bool
) -> None:
    attribute = DEVICE_ORDER_FIELDS[name].attribute
    query = DeviceQuery(active=None, order_by=name, descending=descending)
    result = store.devices(everything(labelled), query)
    by_id = sorted(result, key=lambda device: device.id)
    there = [device for device in by_id if getattr(device, attribute) is not None]
    there.sort(key=lambda device: getattr(device, attribute), reverse=descending)  # stable
    assert result == there + [d for d in by_id if getattr(d, attribute) is None]


def test_a_list_is_ordered_by_label_by_default(store: Store, labelled: str) -> None:
    result = store.devices(everything(labelled), DeviceQuery(active=None))
    assert [device.label for device in result] == sorted(LABELS)


def test_an_unknown_order_is_refused(store: Store, labelled: str) -> None:
    for name in ("costPerGallon", "key", "label; DROP TABLE device", "time_zone"):
        with pytest.raises(ValueError, match="not a scalar field"):
            store.devices(everything(labelled), DeviceQuery(order_by=name))


@pytest.mark.parametrize("active", [True, False, None])
def test_the_active_filter_chooses(store: Store, labelled: str, active: bool | None) -> None:
    query = DeviceQuery(active=active, order_by="serialNumber")
    result = store.devices(everything(labelled), query)
    wanted = [i for i in range(len(LABELS)) if active is None or (i % 3 > 0) is active]
    assert [device.serial_number for device in result] == [f"S-{index:02}" for index in wanted]
    assert store.count_devices(everything(labelled), query) == len(wanted)


@pytest.mark.parametrize(
    ("limit", "offset"), [(3, 0), (3, 3), (100, 8), (1, 99), (None, 4), (2, 9)]
)
def test_a_page_is_a_slice_and_the_count_is_of_all(
    store: Store, labelled: str, limit: int | None, offset: int
) -> None:
    everyone = listed(store, labelled, active=None)
    page = listed(store, labelled, active=None, limit=limit, offset=offset)
    assert page == everyone[offset:][:limit]
    query = DeviceQuery(active=None, limit=limit, offset=offset)
    assert store.count_devices(everything(labelled), query) == len(LABELS)


def test_filters_match_exactly(store: Store, labelled: str) -> None:
    one = device(store, labelled, "S-01")
    assert listed(store, labelled, serial_number="S-01") == ["S-01"]
    assert listed(store, labelled, serial_number="s-01") == []
    assert listed(store, labelled, serial_number="S-0") == []
    assert listed(store, labelled, serial_number="S-00") == []  # inactive
    assert listed(store, labelled, network_unique_identifier=one.network_unique_identifier) == [
        "S-01"
    ]


def test_ten_thousand_devices_can_be_imported_and_listed(store: Store, acme: str) -> None:
    wanted = [NewDevice(f"S-{index:05}", groups=("all",)) for index in range(10_000)]
    assert store.import_devices(acme, wanted) == Imported(10_000, 0)
    assert len(store.devices(everything(acme), DeviceQuery())) == 10_000
    page = store.devices(everything(acme), DeviceQuery(limit=2, offset=9_998))
    assert [result.serial_number for result in page] == ["S-09998", "S-09999"]
    some = Scope(acme, Grant(devices=frozenset(d.id for d in page)))
    assert store.count_devices(some, DeviceQuery()) == 2
    assert store.import_devices(acme, wanted[:10]) == Imported(0, 10)


# --- Resolving and scopes ------------------------------------------------------------------------


def test_a_device_has_three_identifiers(store: Store, acme: str) -> None:
    store.import_devices(acme, [NewDevice("S-1", {"networkUniqueIdentifier": "N-1"})])
    one = device(store, acme, "S-1")
    requests = [one.id, one.id.upper(), "S-1", "N-1", "s-1", "", "nobody", "S-1"]
    result = store.resolve(everything(acme), requests)
    assert result == [one, one, one, one, None, None, None, one]
    assert store.resolve(everything(acme), []) == []


def test_an_inactive_device_is_found_by_its_id_alone(store: Store, acme: str) -> None:
    store.import_devices(
        acme, [NewDevice("S-1", {"active": False, "networkUniqueIdentifier": "N-1"})]
    )
    (one,) = store.devices(everything(acme), DeviceQuery(active=False))
    assert store.resolve(everything(acme), [one.id, "S-1", "N-1"]) == [one, None, None]


def test_ids_count_before_serial_numbers_before_network_identifiers(
    store: Store, acme: str
) -> None:
    first = str(uuid.uuid4())
    store.import_devices(
        acme,
        [
            NewDevice("S-1", {"id": first}),
            NewDevice(first, {"networkUniqueIdentifier": "S-3"}),
            NewDevice("S-3", {"networkUniqueIdentifier": first}),
        ],
    )
    by_id, by_serial = store.resolve(everything(acme), [first, "S-3"])
    assert by_id is not None
    assert by_serial is not None
    assert (by_id.serial_number, by_serial.serial_number) == ("S-1", "S-3")
    keys = store.ingest_keys(acme)
    assert keys[first] == by_id.key
    assert keys["S-3"] == by_serial.key


def test_ingest_has_every_identifier_that_resolves(store: Store, acme: str) -> None:
    store.import_devices(
        acme,
        [
            NewDevice("S-1", {"networkUniqueIdentifier": "N-1"}),
            NewDevice("S-2", {"active": False}),
        ],
    )
    names = store.ingest_keys(acme)
    identifiers = list(names)
    result = store.resolve(everything(acme), identifiers)
    assert [d.key for d in result if d is not None] == [names[name] for name in identifiers]
    assert "S-2" not in names
    assert len(names) == 4


grants = st.builds(
    Grant,
    everything=st.booleans(),
    groups=st.frozensets(st.sampled_from(("g0", "g1", "g2", "none"))),
    devices=st.frozensets(st.integers(0, 7)),
)
fleets = st.lists(
    st.tuples(
        st.booleans(),  # in the first organization
        st.booleans(),  # active
        st.frozensets(st.sampled_from(("g0", "g1", "g2"))),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(fleet=fleets, grant=grants)
def test_no_query_returns_a_device_outside_the_scope(
    store: Store, fleet: list[Any], grant: Grant
) -> None:
    mine, theirs = (store.create_organization("x").id for _ in range(2))
    ids = [str(uuid.uuid4()) for _ in fleet]
    for index, (is_mine, active, groups) in enumerate(fleet):
        fields = {"id": ids[index], "active": active}
        new = NewDevice(f"S-{index}", fields, tuple(groups))
        store.import_devices(mine if is_mine else theirs, [new])
    granted = frozenset(
        ids[i].upper() for i in grant.devices if isinstance(i, int) and i < len(ids)
    )
    scope = Scope(mine, replace(grant, devices=granted))

    def visible(index: int) -> bool:
        is_mine, _, groups = fleet[index]
        by_grant = grant.everything or ids[index].upper() in granted or groups & grant.groups
        return bool(is_mine and by_grant)

    wanted = {ids[index] for index in range(len(fleet)) if visible(index)}
    query = DeviceQuery(active=None)
    assert {result.id for result in store.devices(scope, query)} == wanted
    assert store.count_devices(scope, query) == len(wanted)
    assert {result.id for result in store.resolve(scope, ids) if result} == wanted
    by_serial = store.resolve(scope, [f"S-{index}" for index in range(len(fleet))])
    active_wanted = {ids[i] for i in range(len(fleet)) if visible(i) and fleet[i][1]}
    assert {result.id for result in by_serial if result} == active_wanted


def test_the_largest_request_is_one_statement(
    store: Store, acme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.import_devices(acme, [NewDevice(f"S-{index}") for index in range(50)])
    statements: list[Any] = []
    fetch = store.fetch  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(store, "fetch", lambda query: (statements.append(query), fetch(query))[1])
    result = store.resolve(everything(acme), [f"S-{index}" for index in range(50)])
    assert all(result)
    assert len(statements) == 1


@cases(
    ("query_fields", "serials"),
    [
        ({"text": "mill"}, ["T-2", "T-1"]),
        ({"text": "ÄRZTE"}, ["T-3"]),
        ({"text": "ärzte"}, ["T-3"]),
        ({"text": "t-"}, ["T-2", "T-1", "T-3"]),
        ({"text": "100%"}, ["T-2"]),
        ({"text": "1_0"}, []),
        ({"text": "t-", "group": "north"}, ["T-1", "T-3"]),
        ({"group": "north"}, ["T-1", "T-3"]),
        ({"group": "none"}, []),
        ({"text": "t-", "limit": 1, "offset": 1}, ["T-1"]),
        ({"group": "north", "limit": 1, "offset": 1}, ["T-3"]),
        ({"text": "t-", "limit": 5, "offset": 9}, []),
    ],
)
def test_a_page_of_devices_by_text_and_group(
    store: Store, query_fields: dict[str, Any], serials: list[str]
) -> None:
    if store.organization("pages") is None:
        store.create_organization("Pages", organization_id="pages")
        labels = {"T-1": "Mill b", "T-2": "Mill a 100%", "T-3": "Ärztehaus"}
        new = [
            NewDevice(serial, {"label": label}, groups=() if serial == "T-2" else ("north",))
            for serial, label in labels.items()
        ]
        store.import_devices("pages", new)
    query = DeviceQuery(**query_fields)
    count, page = store.device_page(everything("pages"), query)
    assert [each.serial_number for each in page] == serials
    assert count == store.count_devices(everything("pages"), query)
    assert store.devices(everything("pages"), query) == page
