"""Which devices the wall shows, in which order."""

from __future__ import annotations

from typing import Any

import pytest

from components.fleet.selection import Row, choose, rechosen
from components.fleet.url_state import FleetView, read_fleet_view
from tests.components.fleet.meters import HOUR, NOW, known, row

ROWS = [
    row("a", known(), label="Boiler feed", serial="FM-1"),
    row("b", known(seen_ms=NOW - HOUR, actual=1400), label="Greywater", serial="FM-2"),
    row("c", known(actual=1000), label="Tenant 12", serial="FM-3", groups=("north",)),
    row("d", known(seen_ms=None, actual=0), label="East riser", serial="FM-4"),
    row("e", None, label="attic", serial="FM-5"),
    row("f", known(flow=9.0), label="Main", serial="AB-6", groups=("north",)),
    row("g", known(quality_min=10.0, seen_ms=NOW - 60_000), label="Car wash", serial="FM-7"),
]


def shown(view: FleetView, rows: list[Row] = ROWS) -> str:
    return "".join(r.meter.id for r in choose(rows, view).rows)


@pytest.mark.parametrize(
    ("said", "ids"),
    [
        ({}, "bcgdafe"),  # silent, degraded (worst uptime first), no data, reporting, unknown
        ({"sort": "label"}, "eagdbfc"),  # letters, not their case
        ({"sort": "uptime"}, "dcbagfe"),
        ({"sort": "seen"}, "bgafced"),  # never heard of and unknown come last
        ({"sort": "flow"}, "fagcedb"),
        ({"q": "fm-3"}, "c"),
        ({"q": " CAR   wash "}, "g"),
        ({"q": "main ab"}, ""),  # in two fields: "11" would else find many a network id
        ({"q": "fm"}, "bcgdae"),
        ({"q": "nothing like it"}, ""),
        ({"status": "silent"}, "b"),
        ({"status": "silent,nodata"}, "bd"),
        ({"status": "silent,rubbish"}, "b"),
        ({"status": "rubbish"}, "bcgdafe"),
        ({"group": "north"}, "cf"),
        ({"group": "north", "status": "reporting"}, "f"),
        ({"sort": "DROP TABLE"}, "bcgdafe"),
    ],
)
def test_what_is_shown(said: dict[str, str], ids: str) -> None:
    assert shown(read_fleet_view(said)) == ids


def test_chips_count_what_search_and_group_leave_whatever_status_is_chosen() -> None:
    counts = choose(ROWS, read_fleet_view({"q": "fm", "status": "silent"})).counts
    assert {s.name: n for s, n in counts.items()} == {
        "reporting": 1, "degraded": 2, "silent": 1, "nodata": 1,
    }  # fmt: skip


MANY = [row(f"{n:03}", known(), label=f"{n:03}") for n in range(120)]


@pytest.mark.parametrize(
    ("page", "first", "last", "count"),
    [
        (1, 1, 50, 50),
        (2, 51, 100, 50),
        (3, 101, 120, 20),
        (4, 101, 120, 20),
        (999_999, 101, 120, 20),
    ],
)
def test_pages(page: int, first: int, last: int, count: int) -> None:
    chosen = choose(MANY, FleetView(page=page, sort="label"))
    assert (chosen.first, chosen.last, len(chosen.rows)) == (first, last, count)
    assert chosen.rows[0].meter.label == f"{first - 1:03}"


def test_an_empty_wall_has_no_first() -> None:
    chosen = choose(MANY, FleetView(search="x"))
    assert (chosen.first, chosen.last, chosen.page, chosen.pages) == (0, 0, 1, 1)


def test_held_devices_stay_in_their_order_whatever_became_of_them() -> None:
    view = FleetView(held=("f", "zz", "b", "f"), statuses=frozenset({"degraded"}))
    assert shown(view) == "fb"


def test_a_page_judged_anew_keeps_its_devices_and_takes_their_new_order() -> None:
    before = choose(MANY, FleetView())
    worse = row("007", known(actual=3), label="007")
    newcomer = row("119", known(seen_ms=None), label="119")
    rows = [{"007": worse, "119": newcomer}.get(r.meter.id, r) for r in MANY]
    after = rechosen(rows, FleetView(), before)
    assert after.rows[0] is worse
    assert {r.meter.id for r in after.rows} == {r.meter.id for r in before.rows}
    held = tuple(r.meter.id for r in before.rows)
    assert [r.meter.id for r in rechosen(rows, FleetView(held=held), before).rows] == list(held)


@pytest.mark.parametrize(
    "said",
    [
        {"page": "0"}, {"page": "-1"}, {"page": "1e9"}, {"page": 1.5}, {"page": None},
        {"window": "2h"}, {"zone": "Mars/Base"}, {"units": "firkin"}, {"held": "abc"},
        {"held": [1, None, {}]}, {"q": 7}, {"status": ["silent"]}, {"sort": {}},
    ],
)  # fmt: skip
def test_what_a_browser_says_is_read_with_doubt(said: dict[str, Any]) -> None:
    assert read_fleet_view(said) == FleetView()


def test_no_more_are_held_than_a_page_has() -> None:
    assert len(read_fleet_view({"held": ["x"] * 900}).held) == 50
