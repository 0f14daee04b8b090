"""The status of devices, as the interface of insight tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_30_VALIDATOR

from api.client import Client
from api.errors import NotFound, NotOffered
from api.metering.cost import Price
from api.server.remote_stub import create_stand_in
from api.settings import Settings
from api.store.base import NewDevice, RegisterRow
from api.timez import HOUR_MS, now_ms, stamp
from tests import citus
from tests.contract.insight_world import insight_world
from tests.store.fleet import everything
from tests.tables import cases
from tests.world import ACME, FOREIGN, LONE, METER, TWIN, World

PREFIX = "/insight/v1"
WINDOWS = ["1h", "24h", "7d", "30d"]
ROW = {
    "device", "state", "cadence", "eventDriven", "lastSeen", "flow", "windows", "volume", "radio",
    "findings", "asOf",
}  # fmt: skip


@pytest.fixture(scope="module", params=citus.ENGINES)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("insight")
    with insight_world(request, folder) as made:
        yield made


def ask(world: World, path: str, by: str = "all", **query: Any) -> Any:
    address = f"{PREFIX}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
    return world.client.get(address, headers=dict(world.credentials[by].headers))


def serials(world: World, by: str = "all", **query: Any) -> list[str]:
    answer = ask(world, "/devices", by, **query)
    assert answer.status_code == 200, answer.text
    return [row["device"]["serialNumber"] for row in answer.json["data"]]


def test_a_row_has_what_the_contract_says_and_no_more(world: World) -> None:
    answer = ask(world, "/devices", q="n-1").json
    assert (answer["count"], answer["limit"], answer["offset"]) == (1, 100, 0)
    (row,) = answer["data"]
    assert set(row) == ROW
    assert (row["state"], row["cadence"], row["flow"], row["findings"]) == (
        "reporting", 60, 1.0, [],
    )  # fmt: skip
    assert list(row["windows"]) == WINDOWS
    day = row["windows"]["24h"]
    assert day["uptime"] == {"actual": 1440, "expected": 1440}
    assert day["quality"] == {"min": 90.0, "max": 90.0}
    assert set(row["volume"]) == {"today", "month"}
    assert row["device"]["config"]["groups"] == ["now"]


@cases(
    ("query", "result"),
    [
        ({"state": "degraded"}, ["N-2"]),
        ({"state": "reporting", "orderBy": "label"}, ["N-0", "N-1"]),
        ({"state": "reporting,degraded", "orderBy": "label"}, ["N-0", "N-1", "N-2"]),
        ({"state": "inactive"}, ["O-1"]),
        ({"group": "now", "orderBy": "label", "order": "desc"}, ["N-3", "N-2", "N-1", "N-0"]),
        ({"group": "now"}, ["N-3", "N-2", "N-0", "N-1"]),  # the worst first
        ({"group": "now", "limit": 2, "offset": 1}, ["N-2", "N-0"]),
        ({"q": "ÜBERGABE 3"}, ["N-3"]),  # any letter in any case
        ({"q": "net-m1"}, ["M-1"]),
        ({"q": "100%"}, []),  # what a pattern means elsewhere is plain text here
        ({"q": "a\x00b"}, []),
        ({"kind": "burst"}, []),
        ({"group": "now", "orderBy": "flow", "order": "desc"}, ["N-2", "N-1", "N-0", "N-3"]),
        ({"group": "now", "orderBy": "lastSeen", "limit": 1}, ["N-3"]),
        ({"group": "now", "orderBy": "quality", "limit": 1}, ["N-2"]),
        ({"group": "now", "orderBy": "uptime1h", "limit": 1}, ["N-3"]),
    ],
)
def test_searched_filtered_ordered_paged(
    world: World, query: dict[str, Any], result: list[str]
) -> None:
    assert serials(world, **query) == result


def test_every_order_lists_every_device_once(world: World) -> None:
    document = ask(world, "/api-json").json
    (orders,) = (
        p["schema"]["enum"]
        for p in document["paths"][f"{PREFIX}/devices"]["get"]["parameters"]
        if p["name"] == "orderBy"
    )
    assert len(orders) > 12
    everybody = sorted(serials(world))
    for order in orders:
        for direction in ("asc", "desc"):
            assert sorted(serials(world, orderBy=order, order=direction)) == everybody


@cases("by", ["all", "group", "devices", "both", "nothing", "token for one"])
def test_the_list_and_the_sums_leave_out_what_is_not_seen(world: World, by: str) -> None:
    rows = ask(world, "/devices", by).json
    ids = {row["device"]["id"] for row in rows["data"]}
    sees = {id for id in world.credentials[by].sees if world.devices[id].active}
    ours = {id for id in ids if id in world.devices}
    assert ours == sees
    if by != "all":
        assert ids == sees
    summary = ask(world, "/summary", by).json
    assert summary["devices"] == rows["count"] == len(ids)
    assert sum(summary["states"].values()) == len(ids)


def test_another_organization_sees_its_own(world: World) -> None:
    rows = ask(world, "/devices", "foreign").json["data"]
    assert [row["device"]["id"] for row in rows] == [FOREIGN]


def test_a_group_that_was_not_granted_tells_nothing_of_who_is_in_it(world: World) -> None:
    assert serials(world, "all", group="north")
    assert serials(world, "token for one", group="north") == []
    assert serials(world, "devices", group="north") == []
    assert ask(world, "/summary", "devices", group="north").json["devices"] == 0


def test_the_summary_is_the_sum_of_the_rows(world: World) -> None:
    rows = ask(world, "/devices", group="now").json["data"]
    result = ask(world, "/summary", group="now").json
    assert result["states"] == {"reporting": 2, "degraded": 1, "silent": 1, "no-data": 0}
    assert result["flow"] == sum(row["flow"] or 0 for row in rows)
    volumes = [row["volume"]["today"] for row in rows if row["volume"]["today"] is not None]
    if volumes:  # not in the first minute of a day
        assert result["volumeToday"] == pytest.approx(sum(volumes))
        (cost,) = result["costToday"]
        assert cost["currency"] == "EUR"
        assert cost["amount"] == pytest.approx(sum(volumes) / 2)
    actual = sum(row["windows"]["24h"]["uptime"]["actual"] for row in rows)
    expected = sum(row["windows"]["24h"]["uptime"]["expected"] for row in rows)
    assert result["uptime24h"] == pytest.approx(actual / expected)
    assert result["findings"] == {}
    assert (result["evaluated"], result["flowing"], result["quiet"]) == (4, 2, 1)
    assert result["uptime"]["24h"] == {"observed": actual * 60, "expected": expected * 60}
    assert result["attention"] == {"devices": 0, "kinds": {}, "costPerDay": [], "notices": {}}


def test_a_page_includes_what_its_tiles_show(world: World) -> None:
    parts = "finding,line,strip,summary,groups"
    result = ask(world, "/devices", group="now", orderBy="label", limit=50, include=parts).json
    rows = {row["device"]["serialNumber"]: row for row in result["data"]}
    assert set(rows["N-1"]) == ROW | {"finding", "line", "strip"}
    assert rows["N-1"]["finding"] is None
    line, strip = rows["N-1"]["line"], rows["N-1"]["strip"]
    assert (line["step"], strip["step"], len(strip["observed"])) == (600, 1800, 48)
    assert 138 <= len(line["mean"]) <= 144
    assert {*line["mean"], *line["least"], *line["greatest"]} == {1.0}
    assert strip["observed"] == strip["expected"]
    assert strip["expected"][:-2] == [30] * 46
    silent = rows["N-3"]["strip"]
    assert sum(silent["expected"]) - sum(silent["observed"]) in range(58, 62)
    assert rows["N-3"]["line"]["mean"][-4:] == [None] * 4
    assert result["summary"] == ask(world, "/summary", group="now").json | {
        "asOf": result["summary"]["asOf"]
    }
    assert result["groups"] == sorted(result["groups"])
    assert "now" in result["groups"]


@cases(
    ("window", "step", "cells", "rows"),
    [("1h", 120, 30, 60), ("7d", 10_800, 56, 24), ("30d", 43_200, 60, 24)],
)
def test_every_window_has_its_cells_and_rows(
    world: World, window: str, step: int, cells: int, rows: int
) -> None:
    """Counted in the device's own buckets of a minute, whatever the rows that hold them."""
    query = {"q": "N-1", "limit": 1, "include": "line,strip", "window": window}
    (row,) = ask(world, "/devices", **query).json["data"]
    strip, line = row["strip"], row["line"]
    assert (strip["step"], len(strip["observed"]), len(strip["expected"])) == (step, cells, cells)
    minutes = sum(strip["observed"])
    assert minutes == sum(strip["expected"]) if window == "1h" else 1440 <= minutes <= 1442
    assert all(map(int.__le__, strip["observed"], strip["expected"]))
    assert rows - 3 <= sum(value is not None for value in line["mean"]) <= rows + 2


def test_asked_for_by_name_they_come_in_that_order_and_the_count_stays(world: World) -> None:
    named = {row["device"]["serialNumber"]: row["device"]["id"] for row in
             ask(world, "/devices", group="now").json["data"]}  # fmt: skip
    ids = [named[name] for name in ("N-2", "N-0")]
    query = {"group": "now", "state": "silent", "ids": ",".join([*ids, FOREIGN])}
    answer = ask(world, "/devices", **query).json
    assert [row["device"]["id"] for row in answer["data"]] == ids
    assert answer["count"] == 1
    assert ask(world, "/devices", "nothing", ids=",".join(ids)).json["data"] == []


@cases("by", ["all", "group", "devices", "both", "nothing", "token for one"])
def test_groups_are_those_that_were_granted(world: World, by: str) -> None:
    result = ask(world, "/devices", by, limit=1, include="groups").json["groups"]
    expected = {name for row in ask(world, "/devices", by).json["data"]
             for name in (row["device"]["config"] or {}).get("groups", ())}  # fmt: skip
    assert set(result) == expected


def test_a_sub_meters_water_is_not_counted_twice(world: World) -> None:
    """N-1 measures a part of what N-0 does. Who sums both counts N-0; who sums N-1 alone counts
    it."""
    store, devices = world.store, {"N-1": "N-0", "N-3": "N-1"}
    before = ask(world, "/summary", group="now").json
    rows = {
        r["device"]["serialNumber"]: r for r in ask(world, "/devices", group="now").json["data"]
    }
    store.import_devices(ACME, [NewDevice(n, {"parent": p}) for n, p in devices.items()])
    try:
        result = ask(world, "/summary", group="now").json
        assert (before["subMeters"], result["subMeters"]) == (0, 2)
        assert result["flow"] == before["flow"] - 1.0
        left = sum(rows[serial]["volume"]["today"] or 0 for serial in ("N-0", "N-2"))
        assert result["volumeToday"] in (None, pytest.approx(left))
        assert result["uptime24h"] == before["uptime24h"]  # every device reports for itself
        assert result["states"] == before["states"]
        alone = ask(world, "/summary", q="n-1").json
        assert (alone["subMeters"], alone["flow"]) == (0, 1.0)
        (row,) = ask(world, "/devices", q="n-1").json["data"]
        assert row["device"]["config"]["parent"] == "N-0"
        assert serials(world, group="now", orderBy="parent", limit=2) == ["N-1", "N-3"]
    finally:
        store.import_devices(ACME, [NewDevice(n, {"parent": None}) for n in devices])


def test_groups_are_those_that_the_credential_may_know_of(world: World) -> None:
    names = {group["name"] for group in ask(world, "/groups").json["data"]}
    assert {"now", "north"} <= names
    by_group = ask(world, "/groups", "group").json["data"]
    assert {group["name"] for group in by_group} < names
    assert ask(world, "/groups", "token for one").json["data"] == []
    assert ask(world, "/groups", limit=1).json["count"] == len(names)


def test_one_device_has_its_price_too(world: World) -> None:
    row = ask(world, "/devices/N-0").json
    assert set(row) == ROW | {"price"}
    assert row["price"] == {"perGallon": 0.5, "currency": "EUR", "source": "device", "tariff": None}
    assert ask(world, f"/devices/{TWIN}").json["price"] is None


@cases(
    ("path", "query"),
    [
        ("/devices", {"state": "broken"}),
        ("/devices", {"kind": "leak"}),
        ("/devices", {"orderBy": "id"}),
        ("/devices", {"order": "up"}),
        ("/devices", {"limit": 0}),
        ("/devices", {"limit": 1001}),
        ("/devices", {"offset": -1}),
        ("/devices", {"q": ""}),
        ("/devices", {"active": "true"}),  # an unknown parameter
        ("/devices", {"include": "picture"}),
        ("/devices", {"include": "line"}),  # of a page of 100
        ("/devices", {"window": "2h"}),
        ("/summary", {"state": "silent"}),
        (f"/devices/{METER}", {"q": "x"}),
        ("/api-json", {"q": "x"}),
    ],
)
def test_what_cannot_be_used_is_refused(world: World, path: str, query: dict[str, Any]) -> None:
    answer = ask(world, path, **query)
    assert answer.status_code == 400
    assert [error["parameter"] for error in answer.json["errors"]] == list(query)


def test_the_client_reads_all_of_it(world: World) -> None:
    (header,) = world.credentials["all"].headers.values()
    client = Client.in_process(world.client.application, header)
    page = client.statuses(search="n-", group="now", order_by="label", limit=2)
    assert (page.count, [row.device.serial_number for row in page.rows]) == (4, ["N-0", "N-1"])
    row = page.rows[1]
    assert (row.state, row.cadence_s, row.flow, row.findings) == ("reporting", 60, 1.0, ())
    assert row.windows["24h"] == (1440, 1440, 90.0, 90.0)
    assert row.as_of_ms is not None
    result = client.status_summary(group="now")
    assert (result.devices, result.states["degraded"], result.flow) == (4, 1, 3.0)
    assert client.status("N-0").price == Price(0.5, "EUR", own=True)
    assert client.statuses(states=["silent", "degraded"], group="now").count == 2
    with pytest.raises(NotFound):
        client.status("no such device")


def test_a_server_of_the_interface_alone_is_told_apart() -> None:
    bare = Client.in_process(create_stand_in(Settings()), "key")
    with pytest.raises(NotOffered):
        bare.statuses()
    with pytest.raises(NotOffered):
        bare.status_summary()


def test_without_a_credential_there_is_nothing(world: World) -> None:
    for path in ("/devices", "/summary", f"/devices/{LONE}", "/api-json"):
        assert ask(world, path, "nobody").status_code == 401


def test_the_document_is_valid_and_describes_every_path(world: World) -> None:
    document = ask(world, "/api-json").json
    assert [str(e) for e in OPENAPI_30_VALIDATOR.iter_errors(document)] == []
    assert set(document["paths"]) >= {
        f"{PREFIX}/{rest}" for rest in ("devices", "devices/{id}", "groups", "summary", "api-json")
    }


def test_a_main_is_compared_with_its_sub_meters_hour_by_hour(world: World) -> None:
    """N-0 with N-1 and N-3 below it: N-3 is silent since an hour, so that no later hour counts."""
    store = world.store
    below = {"N-1": "N-0", "N-3": "N-0"}
    store.import_devices(ACME, [NewDevice(n, {"parent": p}) for n, p in below.items()])
    until = now_ms() // HOUR_MS * HOUR_MS
    span = {"from": stamp(until - 12 * HOUR_MS), "to": stamp(until + HOUR_MS)}
    try:
        result = ask(world, "/devices/N-0/balance", **span).json
        assert result["main"]["serialNumber"] == "N-0"
        assert [each["serialNumber"] for each in result["subMeters"]] == ["N-1", "N-3"]
        hours = result["hours"]
        assert hours["of"] == 12
        assert hours["compared"] in (10, 11, 12)  # all, where the hour of silence is nearly over
        hourly = pytest.approx(0.6 * hours["compared"])  # 0.01 gal a minute
        assert result["main"]["gallons"] == hourly
        nearly = pytest.approx(0.6 * hours["compared"], abs=0.1)  # without that hour's last minutes
        assert [each["gallons"] for each in result["subMeters"]] == [hourly, nearly]
        assert result["difference"] == pytest.approx(-0.6 * hours["compared"], abs=0.1)
        assert result["share"] == pytest.approx(-1.0, abs=0.02)
        (header,) = world.credentials["all"].headers.values()
        client = Client.in_process(world.client.application, header)
        read = client.balance("N-0", from_ms=until - 12 * HOUR_MS, to_ms=until)
        assert (read.compared, len(read.sub_meters)) == (hours["compared"], 2)
        alone = ask(world, "/devices/N-2/balance", **span).json
        assert (alone["subMeters"], alone["difference"]) == ([], None)
        assert ask(world, "/devices/N-0/balance", "devices", **span).status_code == 404
        too_long = {"from": "2020-01-01T00:00:00Z", "to": span["to"]}
        for query in ({}, too_long, {**span, "limit": 1}, {"from": span["to"], "to": span["from"]}):
            assert ask(world, "/devices/N-0/balance", **query).status_code == 400
    finally:
        store.import_devices(ACME, [NewDevice(n, {"parent": None}) for n in below])


def test_the_registers_of_a_device_are_listed_with_what_is_derived(world: World) -> None:
    store, serial = world.store, "N-9-registers"
    config = {"registerUnit": "m3", "registerOffset": 1}
    store.import_devices(ACME, [NewDevice(serial, {"config": config})])
    (meter,) = store.resolve(everything(ACME), [serial])
    assert meter is not None
    hour = now_ms() // HOUR_MS * HOUR_MS - 9 * HOUR_MS
    counts = ((0, 5.0), (1, 6.0), (4, 9.0), (5, 8.0))
    store.write([], registers=[RegisterRow(meter.key, hour + n * HOUR_MS, c) for n, c in counts])
    path = f"/devices/{serial}/registers"
    try:
        body = ask(world, path, limit=2, offset=1).json
        assert (body["count"], body["limit"], body["offset"]) == (4, 2, 1)
        assert body["data"][0] == {
            "recordedAt": stamp(hour + HOUR_MS, fraction=True),
            "register": 7.0,
            "unit": "m3",
            "since": stamp(hour, fraction=True),
            "volume": pytest.approx(264.172052),
            "flags": [],
            "fall": None,
        }
        assert body["data"][1]["flags"] == ["spread"]
        (header,) = world.credentials["all"].headers.values()
        client = Client.in_process(world.client.application, header)
        page = client.registers(serial, newest_first=True, limit=1)
        assert (page.count, page.registers[0].register, page.registers[0].flags) == (
            4, 9.0, ("back",),
        )  # fmt: skip
        assert page.registers[0].fall == pytest.approx(264.172052)
        later = client.registers(serial, from_ms=hour + 4 * HOUR_MS, to_ms=hour + 4 * HOUR_MS)
        assert [each.recorded_ms for each in later.registers] == [hour + 4 * HOUR_MS]
        assert ask(world, path, "devices").status_code == 404
        backwards = {"from": stamp(9000), "to": stamp(0)}
        for query in ({"order": "up"}, {"limit": "1001"}, backwards):
            assert ask(world, path, **query).status_code == 400
    finally:
        store.delete_device(meter, [])
