"""The whole wall from the real service: what it says, what it asks for, what it survives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.errors import WeirError
from api.timez import bucket_starts
from components.fleet import queries, status_cache
from components.fleet import wall as boards
from components.fleet.queries import Desk
from components.fleet.shared_cache import Memory
from components.fleet.url_state import FleetView, read_fleet_view
from components.fleet.wall import board
from tests.components.fleet.conftest import Counted
from tests.dashboards import Fleet
from tests.fleets import (
    COUNT,
    DEGRADED,
    HOLED,
    LOW,
    MARKUP,
    NEVER,
    SILENT,
    TROUBLED,
    UNSAID,
    YOUNG,
    readings,
    serial,
)  # fmt: skip

Board = dict[str, Any]


def complete(desk: Desk, view: FleetView, now_ms: int) -> Board:
    """Asked again as the browser would, until nothing is missing."""
    for _ in range(40):
        made = board(desk, view, now_ms)
        if made["again_ms"] == boards.AGAIN_MS:
            return made
    raise AssertionError(f"never complete: {made['again_ms']}")


def tiles(made: Board) -> dict[str, Any]:
    return {tile["serial"]: tile for tile in made["tiles"]}


@pytest.fixture(scope="session")
def now(watched: Fleet) -> int:
    return watched.started_ms


def test_fifty_tiles_the_worst_first_with_every_part(desk: Desk, now: int) -> None:
    made = complete(desk, FleetView(), now)
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


def test_every_number_of_a_tile_equals_a_recount_from_the_readings(desk: Desk, now: int) -> None:
    shown = tiles(complete(desk, FleetView(sort="label"), now))
    edge = now - now % (5 * MINUTE_MS)
    for index in (SILENT, DEGRADED, LOW, HOLED, YOUNG, 9):
        tile = shown[serial(index)]
        rows = readings(index, 0, now - DAY_MS, now)
        start = edge - DAY_MS
        if index == YOUNG:
            start = -(-(now // 1000 * 1000 - 5 * HOUR_MS) // (30 * MINUTE_MS)) * 30 * MINUTE_MS
        buckets = {row[1] // (5 * MINUTE_MS) for row in rows if start <= row[1] < edge}
        share = len(buckets) / bucket_starts(start, edge - 1, 5 * MINUTE_MS)
        uptime, quality, flow = (number[0] for number in tile["numbers"])
        assert uptime == ("100%" if share == 1 else f"{int(share * 1000) / 10:.1f}%"), index
        qualities = [row[5] for row in rows if row[5] is not None]
        assert quality == f"{min(qualities):.0f}–{max(qualities):.0f}", index
        rate = rows[-1][2]
        assert flow == ("–" if index == SILENT else f"{rate:g}"), index


def test_the_sums_say_what_they_cover(desk: Desk, now: int) -> None:
    zone = "UTC" if now % DAY_MS > 2 * HOUR_MS else "America/Denver"  # its day has begun well
    view = read_fleet_view({"zone": zone})
    said = {t["name"]: t for t in complete(desk, view, now)["totals"]}
    assert said["reporting"]["value"] == "56 / 60"
    assert said["reporting"]["note"] == "2 degraded · 1 silent · 1 no data"
    assert re.fullmatch(r"[\d,]+ of [\d,]+ minutes", said["uptime"]["note"])
    assert said["attention"]["value"] == "4"
    rates = [readings(i, 0, now - DAY_MS, now)[-1][2] for i in range(COUNT) if i > 4 or i in (1, 2)]
    rates.append(readings(HOLED, 0, now - DAY_MS, now)[-1][2])
    flow = float(said["flow"]["value"].removesuffix(" gpm"))
    assert flow == pytest.approx(sum(r or 0 for r in rates), rel=0.005)
    assert said["cost"]["note"] == "at the organization’s rate"


def test_volume_is_of_the_local_day(desk: Desk, now: int) -> None:
    volume = next(
        t for t in complete(desk, read_fleet_view({"zone": "UTC"}), now)["totals"]
        if t["name"] == "volume"
    )  # fmt: skip
    midnight = now - now % DAY_MS
    gallons = sum(
        row[4] or 0
        for i in range(COUNT)
        for row in readings(i, 0, now - DAY_MS, now)
        if row[1] >= midnight
    )
    shown = float(volume["value"].removesuffix(" gal").replace(",", "")) if gallons else 0
    assert shown == pytest.approx(gallons, rel=0.005, abs=0.6)


def test_strips_equal_a_recount_cell_by_cell(desk: Desk, now: int) -> None:
    """The device that has one hour missing: exactly the cells of that hour aren't full."""
    tile = tiles(complete(desk, FleetView(), now))[serial(HOLED)]
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


def test_a_young_device_has_no_cells_before_its_installation(desk: Desk, now: int) -> None:
    tile = tiles(complete(desk, FleetView(sort="label"), now))[serial(YOUNG)]
    _, track, full, _ = tile["strip"]
    first = min(int(x) for x in re.findall(r"M(\d+) ", track + full)) // 10
    assert 48 - 11 <= first <= 48 - 9  # five hours are ten cells
    assert tile["numbers"][0][0] == "100%"


def test_a_cadence_that_nobody_configured_is_measured(desk: Desk, now: int) -> None:
    complete(desk, FleetView(sort="label"), now)
    told = status_cache.knowledge(desk, FleetView().span)
    unsaid = next(k for id, k in told.items() if k.cadence_ms == 300_000)
    assert unsaid.bucket_ms == 300_000
    assert {k.cadence_ms for k in told.values()} == {300_000}
    assert UNSAID


# --- What is asked -------------------------------------------------------------------------------


def test_a_refresh_asks_once_a_resolution_and_once_for_the_cell_under_way(
    desk: Desk, counted: Counted, now: int
) -> None:
    view = FleetView(search="riser 1")
    complete(desk, view, now)
    counted.asked.clear()
    later = now - now % (5 * MINUTE_MS) + 10 * MINUTE_MS + 15_000  # two more buckets have closed
    board(desk, view, later)
    latest = [unquote(url) for url in counted.asked if "/flow/latest" in url]
    summaries = [url for url in latest if "lastDatapoint" in url]
    assert len(summaries) <= 3  # two for sixty devices; the young one's window begins later
    cells = {re.findall(r"from=([^&]+)", url)[0] for url in latest if "metrics=uptime&" in url}
    assert len(cells) <= 12
    assert counted.count("/device?") <= 1  # renewed while the old one serves


def test_who_looks_within_seconds_asks_nothing(desk: Desk, counted: Counted, now: int) -> None:
    complete(desk, FleetView(), now)
    counted.asked.clear()
    board(desk, FleetView(), now + 3_000)
    assert counted.asked == []


def test_another_process_finds_what_this_one_learnt(
    desk: Desk, counted: Counted, now: int, tmp_path: Any
) -> None:
    complete(desk, FleetView(), now)
    counted.asked.clear()
    other = Desk(desk.client, Memory(tmp_path))
    made = board(other, FleetView(), now + 1_000)
    assert made["totals"][0]["value"] == "56 / 60"
    assert not [u for u in counted.asked if "lastDatapoint" in u]


def test_nobody_sees_what_another_principal_learnt(
    desk: Desk, service: Any, watched: Fleet, now: int
) -> None:
    complete(desk, FleetView(), now)
    stranger = Desk(Client.in_process(service, "00000000-0000-4000-8000-00000000dead"), desk.memory)
    with pytest.raises(WeirError, match="Unauthorized"):
        board(stranger, FleetView(), now + 1_000)


def test_held_devices_are_the_ones_that_are_asked_about(
    desk: Desk, watched: Fleet, now: int
) -> None:
    held = [watched.ids[serial(n)] for n in (41, SILENT, 7)]
    made = board(desk, read_fleet_view({"held": held}), now)
    assert [tile["id"] for tile in made["tiles"]] == held


# --- Large fleets --------------------------------------------------------------------------------


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets in which one question fits, as a fleet of thousands would meet them."""
    for budget in ("SWEEP_S", "PAGE_S", "VOLUME_S"):
        monkeypatch.setattr(boards, budget, 0.0005)


@pytest.mark.usefixtures("no_time")
def test_a_fleet_is_got_to_know_little_by_little_and_the_screen_says_how_far(
    desk: Desk, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_IDS", 10)
    monkeypatch.setattr(boards, "SOON_COMPLETE", 0)
    notes: list[str] = []
    view = read_fleet_view({"sort": "label", "page": "2"})  # ten devices are in sight
    for _ in range(60):
        made = board(desk, view, now)
        notes.append(made["totals"][0]["note"])
        if "so far" not in notes[-1]:
            break
        now += 1
    counts = [int(n) for n in re.findall(r"status of (\d+) of 60 devices so far", " ".join(notes))]
    assert counts == sorted(counts)
    assert len(set(counts)) > 1
    assert notes[-1] == "2 degraded · 1 silent · 1 no data"


# --- Trouble -------------------------------------------------------------------------------------


def by_device(id: str, status: int) -> Callable[[str], int | None]:
    return lambda url: status if id in url else None


@pytest.mark.parametrize("status", [500, 404, 400])
def test_one_device_that_the_service_fails_for_is_alone_with_it(
    desk: Desk, counted: Counted, watched: Fleet, now: int, status: int
) -> None:
    broken = watched.ids[serial(SILENT)]
    counted.fails = by_device(broken, status)
    made = complete(desk, FleetView(sort="label"), now)
    tile = tiles(made)[serial(SILENT)]
    assert (tile["word"], tile["spark"]) == ("Unavailable", None)
    assert "on fire" in tile["note"]
    others = [t for t in made["tiles"] if t["id"] != broken]
    assert len(others) == 49
    assert all(t["word"] != "Unavailable" for t in others)


def test_a_line_that_fails_is_told_in_its_tile(
    desk: Desk, counted: Counted, watched: Fleet, now: int
) -> None:
    broken = watched.ids[serial(9)]
    counted.fails = lambda url: 500 if f"/datapoints/{broken}" in url else None
    made = complete(desk, FleetView(sort="label"), now)
    tile = tiles(made)[serial(9)]
    assert tile["state"] == "reporting"
    assert tile["note"].startswith("The line can’t be loaded.")


def test_a_service_that_fails_altogether_is_said_once_and_asked_little(
    desk: Desk, counted: Counted, now: int
) -> None:
    complete(desk, FleetView(), now)
    counted.asked.clear()
    counted.fails = lambda url: 500
    with pytest.raises(WeirError):
        board(desk, FleetView(), now + 30_000)
    assert len(counted.asked) < 60
    counted.fails = lambda url: None
    assert board(desk, FleetView(), now + 45_000)["totals"][0]["value"] == "56 / 60"


def test_lines_that_cannot_be_had_leave_the_states_standing(
    desk: Desk, counted: Counted, now: int
) -> None:
    counted.fails = lambda url: 401 if "resolution=10min" in url else None
    made = board(desk, FleetView(), now)
    assert made["trouble"].startswith("Unauthorized")
    assert len(made["tiles"]) == 50
    assert {t["spark"] for t in made["tiles"]} == {None}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"q": "zzz"}, "No device matches “zzz”."),
        ({"q": "zzz", "status": "silent"}, "No device matches this search and these filters."),
        ({"group": "none"}, "No device matches this search and these filters."),
    ],
)
def test_an_empty_wall_says_why(desk: Desk, now: int, said: dict[str, str], words: str) -> None:
    assert board(desk, read_fleet_view(said), now)["empty"] == words


def test_troubles_are_found_by_their_chips(desk: Desk, now: int) -> None:
    complete(desk, FleetView(), now)
    for state in set(TROUBLED.values()):
        made = board(desk, read_fleet_view({"status": state}), now)
        wanted = {serial(index) for index, name in TROUBLED.items() if name == state}
        assert set(tiles(made)) == wanted
    assert NEVER


def test_just_after_midnight_nothing_is_waited_for(desk: Desk, now: int) -> None:
    """Whoever wasn't heard of since has no volume yet; the wall is complete all the same."""
    zones = ("Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kathmandu")
    for zone in zones:
        complete(desk, read_fleet_view({"zone": zone}), now)
    midnight = now - now % DAY_MS + DAY_MS + 1000  # all are silent by then, or nearly
    made = complete(desk, read_fleet_view({"zone": "UTC"}), midnight)
    volume = next(t for t in made["totals"] if t["name"] == "volume")
    assert (volume["value"], volume["note"]) == ("–", "no reading today")
