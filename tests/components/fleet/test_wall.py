"""The whole wall from the real service: its content, its requests, and failures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.errors import WeirError
from api.timez import bucket_starts
from components.concurrent_queries import ServiceAccess
from components.fleet.queries import FleetView, read_fleet_view
from components.fleet.wall import ONLY_READINGS, board
from tests.components.fleet.conftest import Counted
from tests.dashboards import Fleet
from tests.fleets import (
    DEGRADED,
    HOLED,
    LOW,
    MARKUP,
    SILENT,
    TROUBLED,
    YOUNG,
    readings,
    serial,
)

Board = dict[str, Any]


def tiles(made: Board) -> dict[str, Any]:
    return {tile["serial"]: tile for tile in made["tiles"]}


@pytest.fixture(scope="session")
def now(watched: Fleet) -> int:
    return watched.started_ms


def test_fifty_tiles_the_worst_first_by_one_request(
    access: ServiceAccess, counted: Counted, now: int
) -> None:
    made = board(access, FleetView(), now)
    assert len(counted.requests) == 1
    assert len(made["tiles"]) == 50
    states = [tile["state"] for tile in made["tiles"]]
    assert states[:4] == ["silent", "degraded", "degraded", "nodata"]
    assert set(states[4:]) == {"reporting"}
    for tile in made["tiles"]:
        assert tile["strip"] is not None
        assert tile["spark"] is not None or tile["note"] == "Never reported"
    assert made["pages"] == {"page": 1, "last": 2, "words": "1–50 of 60"}
    counts = {chip["name"]: chip["count"] for chip in made["chips"]}
    assert counts == {"reporting": "56", "degraded": "2", "silent": "1", "nodata": "1"}
    assert tiles(made)[serial(HOLED)]["label"] == MARKUP
    sums = {total["name"]: total for total in made["totals"]}
    assert sums["reporting"]["value"] == "56 / 60"
    assert sums["attention"]["note"] in ("no finding is open", "not all checked yet")


def test_every_number_of_a_tile_equals_a_recount_from_the_readings(
    access: ServiceAccess, now: int
) -> None:
    shown = tiles(board(access, FleetView(sort="label"), now))
    edge = now - now % (5 * MINUTE_MS)
    for index in (SILENT, DEGRADED, LOW, HOLED, YOUNG, 9):
        tile = shown[serial(index)]
        rows = readings(index, 0, now - DAY_MS, now)
        start = edge - DAY_MS
        if index == YOUNG:
            start = -(-(now // 1000 * 1000 - 5 * HOUR_MS) // (30 * MINUTE_MS)) * 30 * MINUTE_MS
        buckets = {row[1] // (5 * MINUTE_MS) for row in rows if start <= row[1] < edge}
        share = len(buckets) / bucket_starts(start, edge - 1, 5 * MINUTE_MS)
        (uptime, *_), (quality, *_) = tile["health"]
        flow, *_ = tile["numbers"][0]
        assert uptime == f"{int(share * 1000) / 10:.1f}%", index
        qualities = [row[5] for row in rows if row[5] is not None]
        assert quality == f"{min(qualities):.0f}–{max(qualities):.0f}", index
        rate = rows[-1][2] or 0.0
        assert flow == ("–" if index == SILENT else f"{rate:.2f}" if rate else "0"), index


def test_strips_equal_a_recount_cell_by_cell(access: ServiceAccess, now: int) -> None:
    """Of the device with one missing hour: exactly the cells of that hour aren't full."""
    tile = tiles(board(access, FleetView(), now))[serial(HOLED)]
    _, track, full, part = tile["strip"]
    rows = readings(HOLED, 0, now - DAY_MS, now)
    edge, cell = now - now % (5 * MINUTE_MS), 30 * MINUTE_MS
    first = now - now % cell + cell - DAY_MS
    expected = []
    for start in range(first, first + DAY_MS, cell):
        due = range(start, min(start + cell, edge), 5 * MINUTE_MS)
        seen = {r[1] // (5 * MINUTE_MS) for r in rows if start <= r[1] < min(start + cell, edge)}
        expected.append(round(100 * len(seen) / len(due)) if due else None)
    bars = {int(x) // 10: int(h) for x, h in re.findall(r"M(\d+) 100v-(\d+)", full + part)}
    assert [bars.get(i, 0) for i in range(48)] == [share or 0 for share in expected]
    assert 0 in expected[1:-1]
    assert track


def test_a_young_device_has_no_cells_before_its_installation(
    access: ServiceAccess, now: int
) -> None:
    tile = tiles(board(access, FleetView(sort="label"), now))[serial(YOUNG)]
    _, track, full, _ = tile["strip"]
    first = min(int(x) for x in re.findall(r"M(\d+) ", track + full)) // 10
    assert 48 - 11 <= first <= 48 - 9  # five hours are ten cells
    assert tile["health"][0][0] == "100.0%"


@pytest.mark.parametrize("sort", ["worst", "finding", "label", "seen", "uptime", "flow", "volume"])
def test_every_order_is_the_services(
    access: ServiceAccess, counted: Counted, now: int, sort: str
) -> None:
    assert len(board(access, FleetView(sort=sort), now)["tiles"]) == 50
    assert len(counted.requests) == 1


def test_devices_keep_their_order_on_request(
    access: ServiceAccess, watched: Fleet, now: int
) -> None:
    held = [watched.ids[serial(n)] for n in (41, SILENT, 7)]
    made = board(access, read_fleet_view({"held": held}), now)
    assert [tile["id"] for tile in made["tiles"]] == held
    assert made["pages"]["words"] == "1–50 of 60"


def test_a_page_beyond_the_last_shows_the_last(access: ServiceAccess, now: int) -> None:
    made = board(access, read_fleet_view({"page": "9"}), now)
    assert (made["pages"]["page"], len(made["tiles"])) == (2, 10)


def test_another_organizations_key_sees_nothing(
    access: ServiceAccess, service: Any, now: int
) -> None:
    board(access, FleetView(), now)
    stranger = ServiceAccess(
        Client.in_process(service, "00000000-0000-4000-8000-00000000dead"), access.cache
    )
    with pytest.raises(WeirError, match="Unauthorized"):
        board(stranger, FleetView(), now + 1_000)


def test_chips_filter_by_problem(access: ServiceAccess, now: int) -> None:
    for state in set(TROUBLED.values()):
        made = board(access, read_fleet_view({"status": state}), now)
        wanted = {serial(index) for index, name in TROUBLED.items() if name == state}
        assert set(tiles(made)) == wanted
    assert board(access, read_fleet_view({"finding": "burst"}), now)["tiles"] == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"q": "zzz"}, "No device matches “zzz”."),
        ({"q": "zzz", "status": "silent"}, "No device matches this search and these filters."),
        ({"group": "none"}, "No device matches this search and these filters."),
        ({"finding": "burst"}, "No device matches this search and these filters."),
    ],
)
def test_an_empty_wall_gives_the_reason(
    access: ServiceAccess, now: int, query: dict[str, str], words: str
) -> None:
    assert board(access, read_fleet_view(query), now)["empty"] == words


def test_a_failing_service_gives_one_message(
    access: ServiceAccess, counted: Counted, now: int
) -> None:
    counted.fails = lambda url: 500
    with pytest.raises(WeirError, match="on fire"):
        board(access, FleetView(), now)
    assert len(counted.requests) == 1


# --- A server that keeps no status ----------------------------------------------------------------


@pytest.fixture
def bare(counted: Counted) -> Counted:
    counted.fails = lambda url: 404 if url.startswith("/insight/") else None
    return counted


def test_without_a_status_the_page_shows_its_devices_by_label(
    access: ServiceAccess, bare: Counted, now: int
) -> None:
    made = board(access, FleetView(), now)
    shown = tiles(made)
    assert (made["remark"], made["totals"], made["chips"]) == (ONLY_READINGS, [], [])
    labels = [tile["label"] for tile in made["tiles"]]
    assert (len(labels), labels) == (50, sorted(labels))
    assert shown[serial(SILENT)]["word"] == "Silent"
    assert shown[serial(DEGRADED)]["word"] == "Degraded"
    assert shown[serial(9)]["health"][0][0] == "100.0%"
    assert len(bare.requests) < 12
    bare.requests.clear()
    board(access, read_fleet_view({"page": "2"}), now + 15_000)
    assert not any("/insight/" in url for url in bare.requests)  # cached for a minute
