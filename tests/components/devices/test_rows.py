"""The rows of a list: the interface's order, and a search's answer against a plain recount."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from api.client import Client
from api.server import create_service
from api.store.base import NewDevice, Store
from api.store.open import open_store
from api.timez import now_ms
from components.devices import queries as rows_module
from components.devices.listing import SORTS, Listing, Question, told
from components.devices.queries import rows
from components.devices.visible_statuses import MOST, read_sight, states
from components.fleet.queries import Desk
from components.fleet.shared_cache import Memory
from tests.dashboards import ORGANIZATION, ORGANIZATION_NAME
from tests.world import SETTINGS, all_seeing_key

NOW = now_ms()
LABELS = ("Älpha", "alpha", "Zulu", "beta 10", "beta 9", "Beta", "émile", "10", "𝒳", "~")


def devices() -> list[NewDevice]:
    """Labels whose order differs by collation, many ties, some retired, some never installed."""
    return [
        NewDevice(
            f"S-{n:03}",
            {
                "label": LABELS[n % len(LABELS)],
                "networkUniqueIdentifier": f"70B3{n * 7 % 100:04}",
                "model": ("FX-200", "fx-100", "")[n % 3],
                "category": ("EndDevice", "Gateway")[n % 2],
                "deviceTimeZone": ("UTC", "America/Denver", "Asia/Kolkata")[n % 3],
                "installedOn": f"2025-0{1 + n % 4}-12T17:00:00Z",
                "installed": n % 5 != 0,
                "active": n % 7 != 0,
            },
        )
        for n in range(90)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(f"sqlite:///{tmp_path_factory.mktemp('rows') / 'weir.sqlite'}")
    made.upgrade()
    made.create_organization(ORGANIZATION_NAME, organization_id=ORGANIZATION)
    made.import_devices(ORGANIZATION, devices())
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(store: Store) -> Client:
    key = all_seeing_key(store, ORGANIZATION)
    return Client.in_process(create_service(store, SETTINGS), key)


@pytest.fixture
def desk(client: Client) -> Desk:
    return Desk(client, Memory())


def serials(found: rows_module.Rows) -> list[str]:
    return [row["serial"] for row in found.rows]


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("status", ["active", "inactive", "all"])
def test_a_search_that_everything_matches_is_in_the_interfaces_order(
    desk: Desk, sort: str, order: str, status: str
) -> None:
    plain = Listing(status, "", sort, order)
    searched = Listing(status, "S-", sort, order)
    assert rows(desk, Question(searched), NOW) == rows(desk, Question(plain), NOW)


@pytest.mark.parametrize("status", ["active", "inactive", "all"])
@pytest.mark.parametrize("search", ["beta", "BETA 1", "s-04", "70b3000", "Ä", "nothing at all"])
def test_a_search_finds_what_contains_it(
    desk: Desk, client: Client, status: str, search: str
) -> None:
    listing = Listing(status, search)
    wanted = {
        device.serial_number
        for device in client.devices(active=listing.active).devices
        for text in (device.label, device.serial_number, device.network_unique_identifier)
        if search.lower() in text.lower()
    }
    found = rows(desk, Question(listing), NOW)
    assert found.total == len(wanted)
    assert set(serials(found)) == wanted


@pytest.mark.parametrize("search", ["", "S-0"])
def test_blocks_are_parts_of_one_list(desk: Desk, search: str) -> None:
    listing = Listing("all", search, "model", "desc")
    whole = rows(desk, Question(listing), NOW)
    parts = [rows(desk, Question(listing, first, 25), NOW) for first in range(0, 100, 25)]
    assert {part.total for part in parts} == {whole.total} == {90}
    assert [row for part in parts for row in part.rows] == whole.rows


def test_all_tells_the_inactive_apart(desk: Desk) -> None:
    for search in ("", "S-"):
        found = rows(desk, Question(Listing("all", search)), NOW)
        inactive = {row["serial"] for row in found.rows if not row["active"]}
        assert inactive == {f"S-{n:03}" for n in range(0, 90, 7)}


def test_a_row_says_who_the_device_is(desk: Desk) -> None:
    (row,) = rows(desk, Question(Listing("active", "S-001")), NOW).rows
    assert {name: value for name, value in row.items() if name not in ("id", "href")} == {
        "label": "alpha",
        "serial": "S-001",
        "networkUniqueIdentifier": "70B30007",
        "category": "Gateway",
        "model": "fx-100",
        "deviceTimeZone": "America/Denver",
        "installedOn": "12 Feb 2025",
        "active": True,
    }
    assert row["href"] == f"/devices/{row['id']}"


def test_a_device_that_is_newer_than_the_directory_is_found_by_its_exact_name(
    desk: Desk, store: Store
) -> None:
    assert rows(desk, Question(Listing("all", "YOUNG")), NOW).total == 0
    young = NewDevice("YOUNG-1", {"label": "Fresh", "networkUniqueIdentifier": "YOUNG-2"})
    store.import_devices(ORGANIZATION, [young])
    try:
        for name in ("YOUNG-1", "YOUNG-2"):
            assert serials(rows(desk, Question(Listing("active", name)), NOW)) == ["YOUNG-1"]
        assert rows(desk, Question(Listing("active", "young")), NOW).total == 0  # not yet
        later = Desk(desk.client, Memory())
        assert serials(rows(later, Question(Listing("active", "young")), NOW)) == ["YOUNG-1"]
    finally:
        gone = NewDevice("YOUNG-1", {"active": False, "label": "Gone", "installed": False})
        store.import_devices(ORGANIZATION, [gone])


# --- States --------------------------------------------------------------------------------------


def test_devices_in_sight_have_states_and_the_inactive_none(desk: Desk, client: Client) -> None:
    every = client.devices(active="null", limit=40).devices
    active = {device.id for device in client.devices().devices}
    seen = states(desk, [*(device.id for device in every), str(uuid4())], NOW)
    assert seen.keys() == {device.id for device in every} & active
    assert {state["word"] for state in seen.values()} == {"No data"}


@pytest.mark.parametrize(
    ("said", "ids"),
    [
        (None, ()),
        ([], ()),
        ({}, ()),
        ({"ids": "abc"}, ()),
        ({"ids": ["a", 1, None, "b", "a"]}, ("a", "b")),
        ({"ids": [str(n) for n in range(500)]}, tuple(str(n) for n in range(MOST))),
    ],
)
def test_a_browsers_ids_are_read_with_doubt(said: Any, ids: tuple[str, ...]) -> None:
    assert read_sight(said) == ids


# --- Words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listing", "total", "found", "empty", "filtered"),
    [
        (Listing(), 10_000, "10,000 active devices", "", False),
        (Listing("all"), 1, "1 device", "", False),
        (Listing("all", "x"), 1, "1 device matches", "", True),
        (Listing("active", "x"), 7, "7 active devices match", "", True),
        (Listing(), 0, "0 active devices", "You don’t have access to any active device.", False),
        (
            Listing("inactive"), 0, "0 inactive devices",
            "You don’t have access to any inactive device.", True,
        ),
        (
            Listing("inactive", "x"), 0, "0 inactive devices match",
            "No inactive device matches “x”.", True,
        ),
        (Listing("all", "<b>"), 0, "0 devices match", "No device matches “<b>”.", True),
    ],
)  # fmt: skip
def test_the_page_says_how_many_or_why_none(
    listing: Listing, total: int, found: str, empty: str, filtered: bool
) -> None:
    assert told(listing, total) == {"found": found, "empty": empty, "filtered": filtered}
