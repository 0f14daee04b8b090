"""Each method of the client against the real service, in this process and over a socket."""

from __future__ import annotations

import pytest

from api import catalog
from api.catalog import (
    COARSEST_STORED,
    DAY,
    HOUR_MS,
    METRICS,
    MINUTE_MS,
    RAW,
    RESOLUTION_BY_NAME,
    TOTAL,
)
from api.client import Client
from api.errors import BadRequest, NotFound, Unauthorized
from api.store.base import RegisterRow
from tests.store.fleet import reading
from tests.tables import cases
from tests.world import EVERYTHING, METER, OLD, TWIN, World, ms

NOON = ms("2026-03-08T12:00Z")
WINDOW = {"from_ms": NOON - 3 * HOUR_MS, "to_ms": NOON + 3 * HOUR_MS - 1}


def test_version(client: Client) -> None:
    assert client.version() == catalog.BACKEND_VERSION


def test_description(client: Client) -> None:
    assert client.description()["openapi"].startswith("3.0")


def test_organizations(client: Client) -> None:
    (organization,) = client.organizations()
    assert (organization.id, organization.name, organization.active) == (
        "org-acme",
        "Org-Acme",
        True,
    )


def test_devices_have_the_fields_they_were_created_with(client: Client) -> None:
    page = client.devices(active="null")
    assert page.total == len(page.devices) == len(EVERYTHING)
    meter = next(device for device in page.devices if device.id == METER)
    assert meter.serial_number == "M-1"
    assert meter.network_unique_identifier == "net-m1"
    assert meter.label == "beta"
    assert meter.time_zone == "America/New_York"
    assert meter.model == "FM-2"
    assert meter.category == "EndDevice"
    assert meter.installed
    assert meter.installed_on_ms == ms("2011-06-01T00:00Z")
    assert meter.cost_per_gallon == {"value": 0.004}
    assert meter.reporting_interval_s == 780.0


@cases(
    ("question", "serials"),
    [
        ({"order_by": "serialNumber"}, ["G-1", "L/1", "M-1", "Q 1", "T-1"]),
        ({"order_by": "serialNumber", "order": "desc", "limit": 2}, ["T-1", "Q 1"]),
        ({"order_by": "serialNumber", "limit": 2, "offset": 2}, ["M-1", "Q 1"]),
        ({"active": "false"}, ["O-1"]),
        ({"serial_number": "T-1"}, ["T-1"]),
        ({"network_unique_identifier": "M-1"}, ["L/1"]),
        ({"serial_number": "nowhere"}, []),
    ],
)
def test_devices_are_filtered(client: Client, question: dict, serials: list[str]) -> None:
    assert [device.serial_number for device in client.devices(**question).devices] == serials


def test_a_page_has_the_total(client: Client) -> None:
    assert client.devices(limit=1).total == 5


@cases("name", ["raw", "1min", "5min", "10min", "1hour", "day", "month", "total"])
def test_rows_and_columns_become_the_same_series(client: Client, world: World, name: str) -> None:
    """Our replies in columns against the interface's row objects, value for value."""
    resolution = RESOLUTION_BY_NAME[name]
    zone = "America/New_York" if resolution.calendar else None
    series = client.datapoints(TWIN, resolution, **WINDOW, timezone=zone)
    query = {"resolution": name, "from": "2026-03-08T09:00Z", "to": "2026-03-08T14:59:59.999Z"}
    rows = world.json(f"/flow/datapoints/{TWIN}", {**query, "limit": 10_000})["data"]
    assert series.resolution is resolution
    assert rows
    for column, values in series.columns.items():
        assert list(values) == [row[column] for row in rows], column
    if resolution.stamp and not resolution.calendar:
        assert list(series.times_ms) == [ms(row[resolution.stamp]) for row in rows]


def test_columns_add_receipt_times_and_row_objects_stay_as_specified(
    client: Client, world: World
) -> None:
    meter, at_ms = world.devices[TWIN], ms("2026-02-01T00:00Z")
    rows = [reading(meter, at_ms + n, quality=n) for n in range(4)]
    world.store.add(rows, undated=[row[:2] for row in rows[1:3]])
    window = {"from_ms": at_ms + 1, "to_ms": at_ms + 3}
    assert client.datapoints(TWIN, RAW, **window).undated == {at_ms + 1, at_ms + 2}
    assert client.datapoints(TWIN, RAW, **window, offset=2).undated == frozenset()
    query = {"resolution": "raw", "from": "2026-02-01T00:00Z", "to": "2026-02-01T00:01Z"}
    plain = world.json(f"/flow/datapoints/{TWIN}", query)
    assert set(plain) == {"resolution", "timezone", "limit", "offset", "data"}
    assert set(plain["data"][1]) == set(RAW.columns)


def test_rows_say_over_which_gaps_a_volume_is_spread(client: Client, world: World) -> None:
    meter, at_ms = world.devices[TWIN], ms("2031-02-01T00:00Z")
    ends = (at_ms, at_ms + 5 * HOUR_MS)
    world.store.write([], registers=[RegisterRow(meter.key, each, 1.0) for each in ends])
    window = {"from_ms": at_ms, "to_ms": ends[1]}
    for resolution in (RAW, COARSEST_STORED, DAY):
        series = client.datapoints(TWIN, resolution, **window)
        assert list(series.spread) == [ends], resolution.name
    assert list(client.adaptive(TWIN, **window, max_datapoints=100).spread) == [ends]
    plain = world.json(f"/flow/datapoints/{TWIN}", {"resolution": "1hour", "from": "2031-02-01"})
    assert "spread" not in plain


def test_count_equals_the_number_of_datapoints(client: Client) -> None:
    reply = client.datapoints(TWIN, RAW, **WINDOW)
    assert client.count(TWIN, RAW, **WINDOW) == len(reply) > 300


def test_filters_and_pages(client: Client, world: World) -> None:
    everything = client.datapoints(TWIN, RAW, **WINDOW, filters=["flowRate:gte:50"])
    rates = [row[2] for row in world.readings[TWIN]]
    assert min(v for v in everything.values("flow_rate") if v is not None) >= 50
    assert 0 < len(everything) < len(rates)
    page = client.datapoints(TWIN, RAW, **WINDOW, filters=["flowRate:gte:50"], limit=5, offset=3)
    assert list(page.times_ms) == list(everything.times_ms[3:8])


def test_days_have_their_zone(client: Client) -> None:
    series = client.datapoints(TWIN, DAY, **WINDOW, timezone="America/New_York")
    assert series.timezone == "America/New_York"
    assert list(series.times_ms) == [ms("2026-03-08T05:00Z")]


def test_total_has_no_instants(client: Client) -> None:
    series = client.datapoints(TWIN, TOTAL, **WINDOW)
    assert len(series) == 0
    assert len(series.columns["total_flow_amount"]) == 1


@cases(("budget", "resolution"), [(10_000, "raw"), (100, "5min"), (7, "1hour")])
def test_adaptive_fits_its_budget(client: Client, budget: int, resolution: str) -> None:
    series = client.adaptive(TWIN, **WINDOW, max_datapoints=budget)
    assert series.resolution.name == resolution
    assert series.count == len(series) <= budget
    assert not series.truncated


def test_adaptive_reports_truncation(client: Client) -> None:
    series = client.adaptive(TWIN, **WINDOW, max_datapoints=2)
    assert (series.truncated, len(series), series.count) == (True, 2, 6)


def test_latest(client: Client, world: World) -> None:
    rows = [row for row in world.readings[TWIN] if row[1] <= WINDOW["to_ms"]]
    requests = ["uptime", "lastSeen", "lastDatapoint", "quality"]
    hour = RESOLUTION_BY_NAME["1hour"]
    answer = client.latest(["T-1", METER, "gone"], requests, **WINDOW, uptime_resolution=hour)
    assert [entry.device_id for entry in answer.entries] == [TWIN, METER]
    assert (answer.from_ms, answer.to_ms) == (WINDOW["from_ms"], WINDOW["to_ms"])
    assert (answer.uptime_resolution, answer.expected_buckets) == ("1hour", 6)
    twin = answer.entries[0]
    assert twin.last_seen_ms == max(row[1] for row in rows)
    assert (twin.uptime_actual, twin.uptime_expected) == (6, 6)
    assert twin.last_datapoint_ms == twin.last_seen_ms
    assert set(twin.last_datapoint) == set(METRICS)
    seen = [r[5] for r in rows if r[1] >= WINDOW["from_ms"] and r[5] is not None]
    assert (twin.quality_min, twin.quality_max) == (min(seen), max(seen))


def test_latest_has_only_the_requested_metrics(client: Client) -> None:
    (entry,) = client.latest([TWIN], ["lastSeen"], **WINDOW).entries
    assert entry.last_seen_ms is not None
    assert entry.uptime_actual is entry.quality_min is entry.last_datapoint_ms is None


@cases("many", [0, 51])
def test_latest_takes_one_to_fifty_devices(client: Client, many: int) -> None:
    with pytest.raises(ValueError, match="50"):
        client.latest([TWIN] * many, ["lastSeen"])


@cases("identifier", ["M-1", "net-m1", METER, METER.upper(), OLD, "L/1", "Q 1"])
def test_every_form_of_identifier(client: Client, identifier: str) -> None:
    assert client.count(identifier, RAW) >= 0


@cases("identifier", ["gone", "O-1", "a/../b", "?x=1"])
def test_a_device_outside_the_scope_is_not_found(client: Client, identifier: str) -> None:
    with pytest.raises(NotFound):
        client.count(identifier, RAW)


def test_a_bad_request_names_its_parameters(client: Client) -> None:
    with pytest.raises(BadRequest) as caught:
        client.datapoints(TWIN, RAW, from_ms=NOON, to_ms=NOON - MINUTE_MS, timezone="Mars/Olympus")
    assert {problem.parameter for problem in caught.value.errors} >= {"timezone"}


def test_without_a_credential(client: Client) -> None:
    with pytest.raises(Unauthorized):
        client.as_principal(None).organizations()
    assert client.as_principal(None).version()
