"""A tile's words and shapes."""

from __future__ import annotations

from typing import Any

import pytest

from api.errors import Internal
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, Cell
from components.fleet.selection import Row
from components.fleet.sparklines import Spark
from components.fleet.tiles import strip, tile
from components.fleet.uptime_strip import NOT_DUE, NOT_KNOWN, Beat
from components.units import METRIC, US
from tests.components.fleet.meters import HOUR, NOW, known, row

LINE = Spark(288, line="M0 0L1 1", band="M0 0Z", gaps="", peak=7.4)
BEAT = Beat([Cell(0, 1, 1, True)], [1], True)


def made(one: Row, line: Any = LINE, **said: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"span": DEFAULT_SPAN, "zone": None, "units": US, "now_ms": NOW}
    return tile(one, line, BEAT, **{**usual, **said})


def test_a_healthy_device() -> None:
    told = made(row("m", known(), label="Cooling tower A"))
    assert (told["label"], told["serial"]) == ("Cooling tower A", "FM-m")
    assert (told["shape"], told["word"], told["seen"]) == ("●", "Reporting", "20 s ago")
    assert told["seen_at"] == "Fri 20 Nov 2026, 11:07:03 MST"
    assert told["numbers"] == [
        ["100%", "uptime", ""], ["80–96", "quality", ""], ["2.5", "gpm", ""],
    ]  # fmt: skip
    assert told["href"] == "/devices/m"
    assert told["summary"] == (
        "Cooling tower A, FM-m. Reporting, last seen 20 s ago."
        " Uptime 100% in 24 h; quality 80–96; flow 2.5 gpm; peak 7.4 gpm"
    )


@pytest.mark.parametrize(
    ("said", "value", "words"),
    [
        ({"flow": 0.0}, "0", "quiet"),
        ({"flow": None}, "–", "no current flow reading"),
        ({"seen_ms": NOW - HOUR}, "–", "no current flow reading"),
        ({"flow": 0.0456}, "0.0456", "flow 0.0456 gpm"),
    ],
)
def test_flow_quiet_and_none(said: dict[str, Any], value: str, words: str) -> None:
    told = made(row("m", known(**said)))
    assert told["numbers"][2][0] == value
    assert f"; {words};" in told["summary"] + ";"


def test_what_is_low_is_marked() -> None:
    told = made(row("m", known(actual=1, quality_min=2.0)))
    assert [n[2] for n in told["numbers"]] == ["low", "low", ""]


def test_the_chosen_zone_units_and_window_go_with_the_link() -> None:
    told = made(row("m 1", known()), span=SPAN_BY_NAME["7d"], zone="Asia/Kolkata", units=METRIC)
    assert told["href"] == "/devices/m%201?range=7d&zone=Asia%2FKolkata&units=metric"
    assert told["seen_at"].endswith("23:37:03 IST")
    assert told["numbers"][2][:2] == ["9.46", "L/min"]


@pytest.mark.parametrize(
    ("one", "line", "note"),
    [
        (row("m", known(seen_ms=None)), Spark(288), "Never reported"),
        (row("m", known()), Spark(288), "No flow readings in 24 h"),
        (row("m", known()), Internal("Full."), "The line can’t be loaded. Internal error. Full."),
        (row("m", known(failure="Not found.")), None, "Not found."),
        (row("m", known()), None, ""),  # not asked yet: a skeleton
        (row("m", None), None, ""),
    ],
)  # fmt: skip
def test_why_there_is_no_line(one: Row, line: Any, note: str) -> None:
    assert made(one, line)["note"] == note


def test_a_device_without_an_answer_says_nothing_else() -> None:
    told = made(row("m", known(failure="Not found.")))
    assert (told["word"], told["seen"], told["seen_at"]) == (
        "Unavailable",
        "unavailable",
        "Not found.",
    )
    assert {n[0] for n in told["numbers"]} == {"–"}
    assert told["summary"] == "Meter m, FM-m. Unavailable"


def test_a_strip_fills_each_cell_by_its_share() -> None:
    width, track, full, part = strip((100, 95, 94, 0, NOT_KNOWN, NOT_DUE))
    assert width == 57
    assert full == "M0 100v-100h7v100zM10 100v-95h7v95z"
    assert part == "M20 100v-94h7v94z"
    assert track.count("M") == 4  # under every cell that isn't full; nothing where nothing is due


def test_a_line_that_is_drawn_already_is_not_told_again() -> None:
    first = made(row("m", known()))
    again = made(row("m", known(flow=9.0)), drawn=first["mark"])
    assert first["spark"] == [288, "", "M0 0Z", "M0 0L1 1"]
    assert (again["spark"], again["mark"]) == (None, first["mark"])
    assert again["numbers"][2][0] == "9"


@pytest.mark.parametrize(
    "other",
    [
        Spark(144, line="M0 0L1 1", band="M0 0Z"),
        Spark(288, line="M0 0L1 2", band="M0 0Z"),
        Spark(288, line="M0 0L1 1", band="M0 1Z"),
        Spark(288, line="M0 0L1 1", band="M0 0Z", gaps="M0 0H1Z"),
    ],
)
def test_another_line_is_told(other: Spark) -> None:
    mark = made(row("m", known()))["mark"]
    assert made(row("m", known()), other, drawn=mark)["spark"] is not None
