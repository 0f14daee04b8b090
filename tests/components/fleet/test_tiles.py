"""A tile's texts, numbers and shapes."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import DeviceStatus, Strip
from api.client.status import StatusNote
from api.metering.windows import SPAN_BY_NAME
from components.fleet.queries import FleetView
from components.fleet.sparklines import Spark
from components.fleet.tiles import NOT_DUE, percents, strip, tiles_of
from components.units import METRIC
from tests.components.fleet.meters import DAY, HOUR, NOW
from tests.components.fleet.rows import leak, row
from tests.tables import cases

LINE = Spark(288, line="M0 0L1 1", band="M0 0Z", gaps="", peak=7.4)


def made(one: DeviceStatus, line: Spark | None = LINE, **view: Any) -> dict[str, Any]:
    lines = {} if line is None else {one.device.id: line}
    (tile,) = tiles_of([one], lines, FleetView(**view), NOW)
    return tile


def test_a_healthy_device() -> None:
    tile = made(row(label="Cooling tower A"))
    assert (tile["label"], tile["serial"]) == ("Cooling tower A", "FM-m")
    assert (tile["shape"], tile["word"], tile["seen"]) == ("●", "Reporting", "20 s ago")
    assert tile["seen_at"] == "Fri 20 Nov 2026, 11:07:03 MST"
    assert tile["numbers"] == [
        ("2.50", "gpm now", ""), ("1,234", "gal today", ""), ("20,000", "gal this month", ""),
    ]  # fmt: skip
    assert tile["health"] == [("100.0%", "uptime", ""), ("80–96", "quality", "")]
    assert (tile["href"], tile["finding"], tile["span"]) == ("/devices/m", None, "")
    assert tile["summary"] == (
        "Cooling tower A, FM-m. Reporting, last seen 20 s ago."
        " Uptime 100.0% in 24 h; quality 80–96; flow 2.50 gpm; peak 7.4 gpm"
    )


@cases(
    ("fields", "mark", "amount", "third"),
    [
        ({}, "⬖ Leak", ("54.4 gal/h", "at least, 6 d", "finding"),
         ("$15.67", "a day", "finding")),
        ({"severity": "critical", "cost_per_day": None}, "◆ Leak",
         ("54.4 gal/h", "at least, 6 d", "finding"), ("1,234", "gal today", "")),
        ({"kind": "silent", "unit": "h", "value": 6.2, "cost_per_day": None}, "⬖ Silent",
         ("6 d 1 h", "silent", "finding"), ("1,234", "gal today", "")),
        ({"kind": "missing-data", "unit": "%", "value": 92.9, "cost_per_day": None,
          "severity": "notice"}, "◇ Missing data",
         ("92.9%", "uptime of 24 h", "finding"), ("1,234", "gal today", "")),
    ],
)  # fmt: skip
def test_a_finding_takes_the_first_place_of_a_tile(
    fields: dict[str, Any], mark: str, amount: tuple[str, str, str], third: tuple[str, str, str]
) -> None:
    """Uptime and quality stay on every tile."""
    tile = made(row(finding=leak(**fields), findings=("x",), actual=1000, least=20.0))
    assert f"{tile['finding']['shape']} {tile['finding']['word']}" == mark
    assert tile["numbers"] == [("2.50", "gpm now", ""), amount, third]
    assert tile["health"] == [("69.4%", "uptime", "low"), ("20–96", "quality", "low")]
    assert mark[2:] in tile["summary"]


def test_further_findings_are_counted() -> None:
    tile = made(row(finding=leak(), findings=("continuous-flow", "low-quality", "frost")))
    assert tile["finding"]["word"] == "Leak +2"


@pytest.mark.parametrize(
    ("start_ms", "left"), [(NOW - 2 * DAY, 0), (NOW - 6 * HOUR, 72 * 3), (NOW - 12 * HOUR, 144)]
)
def test_the_span_of_a_finding_lies_on_the_line(start_ms: int, left: int) -> None:
    path = made(row(finding=leak(start_ms=start_ms), findings=("x",)))["span"]
    at, right = (int(part) for part in path.removeprefix("M").split("V")[0].split(" 0H"))
    assert abs(at - left) <= 7
    assert 280 <= right <= 288


def test_notes_are_drawn_on_the_tile_and_in_its_description() -> None:
    at_ms = NOW - 12 * HOUR
    notes = (StatusNote(at_ms, None, "Valve\nreplaced"), StatusNote(at_ms, NOW, "Works"))
    tile = made(row(notes=notes))
    first, second = tile["noted"].removeprefix("M").split("M")
    assert first.endswith(" 100V0")
    assert second.startswith(f"{first}H")  # the same start, and a bar to its end
    assert tile["notes"] == "Note: Works (and 1 other note)"
    assert tile["notes"] in tile["summary"]
    assert made(row(notes=notes), None)["noted"] == ""
    assert made(row())["notes"] == ""


def test_a_gateway_shows_its_radio() -> None:
    tile = made(row(category="Gateway"))
    assert tile["numbers"] == [
        ("−87", "dBm RSSI", ""), ("−104", "dBm signal", ""), ("", "", ""),
    ]  # fmt: skip
    assert "flow" not in tile["summary"]


@pytest.mark.parametrize(
    ("fields", "value", "words"),
    [
        ({"flow": 0.0}, "0", "quiet"),
        ({"flow": None}, "–", "no current flow reading"),
        ({"flow": 0.0456}, "0.0456", "flow 0.0456 gpm"),
    ],
)
def test_flow_quiet_and_none(fields: dict[str, Any], value: str, words: str) -> None:
    tile = made(row(**fields))
    assert tile["numbers"][0][0] == value
    assert f"; {words};" in tile["summary"] + ";"


def test_one_count_of_decimals_down_a_column() -> None:
    rows = [row(str(n), flow=flow) for n, flow in enumerate((18.437, 2.4, 0.0, None, 3.0))]
    shown = [tile["numbers"][0][0] for tile in tiles_of(rows, {}, FleetView(), NOW)]
    assert shown == ["18.4", "2.4", "0", "–", "3.0"]


@cases(("share", "text"), [(1440, "100.0%"), (1439, "99.9%"), (1434, "99.5%"), (0, "0.0%")])
def test_uptime_has_one_form(share: int, text: str) -> None:
    assert made(row(actual=share))["health"][0][0] == text


def test_the_chosen_zone_units_and_window_go_with_the_link() -> None:
    span = SPAN_BY_NAME["7d"]
    tile = made(row("m 1"), span=span, zone="Asia/Kolkata", units=METRIC)
    assert tile["href"] == "/devices/m%201?range=7d&zone=Asia%2FKolkata&units=metric"
    assert tile["seen_at"].endswith("23:37:03 IST")
    assert tile["numbers"][0][:2] == ("9.46", "L/min now")


@cases(
    ("one", "line", "note"),
    [
        (row(last_seen_ms=None, state="no-data"), Spark(288), "Never reported"),
        (row(), Spark(288), "No flow readings in 24 h"),
        (row(), None, ""),
        (row(state="inactive"), LINE, "Inactive"),
    ],
)
def test_a_missing_line_has_a_reason(one: DeviceStatus, line: Spark | None, note: str) -> None:
    tile = made(one, line)
    assert (tile["note"], tile["spark"] is None or note.startswith("No flow")) == (note, True)


def test_a_device_out_of_use_does_not_look_healthy() -> None:
    tile = made(row(state="inactive", flow=None, last_seen_ms=NOW - 30 * DAY))
    assert (tile["state"], tile["word"]) == ("inactive", "Inactive")
    assert {value for value, *_ in tile["health"]} == {"–"}
    assert tile["summary"] == "Meter m, FM-m. Inactive"


def test_a_device_that_was_never_evaluated_shows_no_values() -> None:
    tile = made(row(as_of_ms=None, state="no-data", last_seen_ms=None), None)
    assert (tile["word"], tile["seen"], tile["note"]) == ("Loading", "…", "")


def test_a_strip_fills_each_cell_by_its_share() -> None:
    width, track, full, part = strip((100, 95, 94, 0, NOT_DUE))
    assert width == 47
    assert full == "M0 100v-100h7v100zM10 100v-95h7v95z"
    assert part == "M20 100v-94h7v94z"
    # A bar under every cell that isn't full; none where nothing is expected.
    assert track.count("M") == 3


def test_a_cell_is_full_only_where_nothing_is_missing() -> None:
    cells = Strip(0, 1, (30, 299, 1, 0, 0), (30, 300, 300, 30, 0))
    assert percents(cells) == (100, 99, 1, 0, NOT_DUE)


def test_an_unchanged_line_is_not_sent_again() -> None:
    first = made(row())
    again = made(row(flow=9.0), drawn={"m": first["mark"]})
    assert first["spark"] == [288, "", "M0 0Z", "", "M0 0L1 1"]
    assert (again["spark"], again["mark"]) == (None, first["mark"])


@cases(
    "other",
    [
        Spark(144, line="M0 0L1 1", band="M0 0Z"),
        Spark(288, line="M0 0L1 2", band="M0 0Z"),
        Spark(288, line="M0 0L1 1", band="M0 1Z"),
        Spark(288, line="M0 0L1 1", band="M0 0Z", gaps="M0 0H1Z"),
    ],
)
def test_another_line_is_sent(other: Spark) -> None:
    assert made(row(), other, drawn={"m": made(row())["mark"]})["spark"] is not None
