"""The list's rows, from a Weir server and from one that has readings alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.client import Client
from api.errors import NotFound
from api.insight.status_projection import Projection
from api.server import create_service
from api.store.base import NewDevice, Store
from api.store.open import open_store
from api.timez import DAY_MS, MINUTE_MS, now_ms
from components.devices import queries
from components.devices.columns import COLUMNS
from components.devices.queries import Listing, Question, every_row, rows
from components.status_queries import ONLY_WITH_WEIR
from components.units import METRIC
from tests.dashboards import ORGANIZATION, ORGANIZATION_NAME
from tests.store.fleet import device, reading
from tests.tables import cases
from tests.world import SETTINGS, all_seeing_key

NOW = now_ms() // MINUTE_MS * MINUTE_MS + 30_000


def devices() -> list[NewDevice]:
    """S-000 … S-089, some inactive; a main with a sub-meter, and a gateway."""
    many = [
        NewDevice(
            f"S-{n:03}",
            {
                "label": ("Älpha", "alpha", "Zulu", "beta 10", "10")[n % 5],
                "networkUniqueIdentifier": f"70B3{n * 7 % 100:04}",
                "model": ("FX-200", "fx-100", "")[n % 3],
                "active": n % 7 != 0,
                "reportingInterval": 60,
            },
        )
        for n in range(90)
    ]
    old = {"installedOn": "2020-01-01T00:00:00Z", "reportingInterval": 60}
    return [
        *many,
        NewDevice("MAIN", {**old, "label": "Main", "deviceTimeZone": "America/Denver"}, ("north",)),
        NewDevice("FLAT", {**old, "label": "Flat", "parent": "MAIN"}, ("north", "flats")),
        NewDevice("ROOF", {**old, "label": "Roof", "category": "Gateway"}, ("north",)),
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(f"sqlite:///{tmp_path_factory.mktemp('rows') / 'weir.sqlite'}")
    made.upgrade()
    made.create_organization(ORGANIZATION_NAME, organization_id=ORGANIZATION)
    made.import_devices(ORGANIZATION, devices())
    for serial, values in {
        "MAIN": {"flow_rate": 4.0, "flow_amount": 4.0, "quality": 90.0},
        "FLAT": {"flow_rate": 1.0, "flow_amount": 1.0, "quality": 20.0},
        "ROOF": {"flow_rate": 0.0, "quality": 80.0, "network_rssi": -87.4},
    }.items():
        key = device(made, ORGANIZATION, serial)
        made.write(
            [reading(key, NOW - n * MINUTE_MS, **values) for n in range(DAY_MS // MINUTE_MS + 2)]
        )
    Projection(made).all_due(NOW)
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(store: Store) -> Client:
    key = all_seeing_key(store, ORGANIZATION)
    return Client.in_process(create_service(store, SETTINGS), key)


@pytest.fixture
def bare(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The same devices behind a server without status."""
    fetch = client._fetch  # pyright: ignore[reportPrivateUsage]

    def without_insight(path: str, *rest: object) -> object:
        if path.startswith("/insight/"):
            raise NotFound("no such path")
        return fetch(path, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(client, "_fetch", without_insight)
    return client


def serials(result: queries.Rows) -> list[str]:
    return [row["serial"] for row in result.rows]


@pytest.mark.parametrize("search", ["", "S-0"])
def test_blocks_are_parts_of_one_list(client: Client, search: str) -> None:
    listing = Listing("all", search, "model", "desc")
    whole = rows(client, Question(listing), NOW)
    parts = [rows(client, Question(listing, first, 25), NOW) for first in range(0, 100, 25)]
    assert {part.total for part in parts} == {whole.total} == {93 if not search else 90}
    assert [row for part in parts for row in part.rows] == whole.rows


def test_a_file_has_each_row_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_ROWS", 20)
    results = [row.device.serial_number for row in every_row(client, Listing("all"), NOW)]
    assert len(results) == len(set(results)) == 93


@cases(
    ("listing", "wanted"),
    [
        (Listing(group="north", sort="flow", order="desc"), ["MAIN", "FLAT", "ROOF"]),
        (Listing(group="north", sort="quality"), ["FLAT", "ROOF", "MAIN"]),
        (Listing(group="north", sort="volumeMonth", order="desc"), ["MAIN", "FLAT", "ROOF"]),
        (Listing(group="north", sort="parent"), ["FLAT", "MAIN", "ROOF"]),
        (Listing(group="north", sort="networkRssi"), ["ROOF", "FLAT", "MAIN"]),
        (Listing("degraded"), ["FLAT"]),
        (Listing("reporting", sort="label"), ["MAIN", "ROOF"]),
        (Listing(search="MAI"), ["MAIN"]),
        (Listing(kind="burst"), []),
        (Listing(group="no such group"), []),
    ],
)
def test_the_service_sorts_and_filters_by_status(
    client: Client, listing: Listing, wanted: list[str]
) -> None:
    assert serials(rows(client, Question(listing), NOW)) == wanted


def test_a_row_has_the_value_of_each_column(client: Client) -> None:
    result = rows(client, Question(Listing(group="north", sort="label", units=METRIC)), NOW)
    flat, main, roof = result.rows
    assert main["state"]["word"] == "Reporting"
    assert main["state"]["seen"] == "just now"
    assert (main["flow"], main["uptime"], main["quality"]) == ("15.1 L/min", "100.0%", "90")
    assert (main["groups"], main["parent"], main["cadence"]) == ("north", "–", "1 min")
    assert (flat["parent"], flat["low"]) == ("MAIN", ["quality"])
    assert (roof["flow"], roof["volumeToday"]) == ("−87 dBm RSSI", "–")  # it measures no water
    assert all(column.name in main for column in COLUMNS)


def test_all_marks_the_inactive(client: Client) -> None:
    result = rows(client, Question(Listing("all")), NOW)
    inactive = {row["serial"] for row in result.rows if row["state"]["word"] == "Inactive"}
    assert inactive == {f"S-{n:03}" for n in range(0, 90, 7)}


# --- A server that has readings alone ------------------------------------------------------------


@pytest.mark.parametrize("status", ["active", "inactive", "all"])
def test_a_bare_server_lists_pages_and_names_what_it_lacks(bare: Client, status: str) -> None:
    result = rows(bare, Question(Listing(status, sort="model", order="desc"), 2, 5), NOW)
    assert len(result.rows) == 5
    assert result.total == {"active": 80, "inactive": 13, "all": 93}[status]
    assert result.remark == ONLY_WITH_WEIR


def test_a_bare_servers_status_is_derived_from_its_latest_readings(
    bare: Client, client: Client
) -> None:
    """States, uptimes and flows equal those that a Weir server stores."""
    for serial, state, flow in (
        ("MAIN", "Reporting", "4.00 gpm"),
        ("FLAT", "Degraded", "1.00 gpm"),
        ("S-001", "No data", "–"),
    ):
        (row,) = rows(bare, Question(Listing(search=serial)), NOW).rows
        assert (row["state"]["word"], row["flow"]) == (state, flow)
        assert row["volumeToday"] == "–"
    (row,) = rows(bare, Question(Listing("all", "S-007")), NOW).rows
    assert row["state"]["word"] == "Inactive"
