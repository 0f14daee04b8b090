"""A device's rows as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest

from api.catalog import DAY, RAW, RESOLUTION_BY_NAME
from api.client import Client
from api.client.annotations import Annotation
from api.timez import DAY_MS, zone
from components.ranges import Window
from components.units import METRIC
from tests.components.device.service import Bench, bench
from tests.tables import cases
from tests.world import ms
from web.downloads import device, routes
from web.downloads.device import Order

START = ms("2026-11-20T00:00Z")
WINDOW = Window(START, START + DAY_MS - 1)
KOLKATA = zone("Asia/Kolkata")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("export")) as opened:
        opened.write(
            [(START + n * 600_000, -1.5 if n == 3 else float(n), n / 2) for n in range(40)]
        )
        yield opened


def read(client: Client, order: Order) -> list[dict[str, str]]:
    text = "".join(routes.csv_lines(device.rows(client, order)))
    return list(csv.DictReader(io.StringIO(text)))


def test_raw_rows_with_both_times_and_units(made: Bench) -> None:
    rows = read(made.client, Order(made.device_id, "B-1", RAW, WINDOW, KOLKATA))
    assert len(rows) == 40
    assert rows[3] == {
        "serial_number": "B-1",
        "time_utc": "2026-11-20T00:30:00.000Z",
        "time_local (Asia/Kolkata)": "2026-11-20T06:00:00.000+05:30",
        "flow_rate (gal/min)": "-1.5",
        "flow_duration (s)": "60.0",
        "flow_amount (gal)": "1.5",
        "quality (percent)": "90.0",
        "signal_strength (dBm)": "-90.0",
        "network_rssi (dBm)": "-80.0",
        "onboard_temperature (degF)": "69.8",
    }


def test_rollups_in_other_units(made: Bench) -> None:
    hourly = RESOLUTION_BY_NAME["1hour"]
    rows = read(made.client, Order(made.device_id, "B-1", hourly, WINDOW, KOLKATA, METRIC))
    assert len(rows) == 7
    gallons = sum(n / 2 for n in range(6, 12))
    assert float(rows[1]["total_flow_amount (m3)"]) == pytest.approx(gallons * 0.003785411784)
    assert float(rows[1]["max_flow_rate (L/min)"]) == pytest.approx(11 * 3.785411784)


def note(text: str, from_ms: int, to_ms: int | None = None) -> Annotation:
    return Annotation("note", text, "d", "B-1", None, from_ms, to_ms, text, 0, "key")


@cases(
    ("resolution", "notes", "expected"),
    [
        ("raw", [], {}),
        ("raw", [note("at", START + 600_000)], {1: "at"}),
        ("raw", [note("between", START + 600_001)], {2: "between"}),
        ("raw", [note("span", START + 1, START + 1_200_001)], {1: "span", 2: "span"}),
        ("raw", [note("of\nlines", START), note("b", START)], {0: "b; of lines"}),
        ("raw", [note("before", START - 1)], {0: "before"}),
        ("1hour", [note("in it", START + 3_599_999)], {0: "in it"}),
        ("1hour", [note("at its edge", START + 3_600_000)], {1: "at its edge"}),
        ("1hour", [note("s", START + 1, START + 3_600_000)], {0: "s"}),
        ("day", [note("that day", START + 3_600_000)], {0: "that day"}),
    ],
)
def test_a_note_is_in_its_row_or_the_next_one(
    made: Bench, resolution: str, notes: list[Annotation], expected: dict[int, str]
) -> None:
    order = Order(made.device_id, "B-1", RESOLUTION_BY_NAME[resolution], WINDOW, zone("UTC"))
    text = "".join(routes.csv_lines(device.rows(made.client, order, notes)))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {n: row["notes"] for n, row in enumerate(rows) if row["notes"]} == expected
    assert list(rows[0])[-1] == "notes"


def test_days_are_local(made: Bench) -> None:
    window = Window(ms("2026-11-19T18:30Z"), ms("2026-11-20T18:29:59.999Z"))
    (row,) = read(made.client, Order(made.device_id, "B-1", DAY, window, KOLKATA))
    assert row["time_local (Asia/Kolkata)"] == "2026-11-20T00:00:00+05:30"
    assert float(row["total_flow_amount (gal)"]) == pytest.approx(sum(n / 2 for n in range(40)))


def test_without_rows_there_is_a_header(made: Bench) -> None:
    window = Window(START - 2 * DAY_MS, START - DAY_MS)
    order = Order(made.device_id, "B-1", RAW, window, KOLKATA)
    assert read(made.client, order) == []
    text = "".join(routes.csv_lines(device.rows(made.client, order)))
    assert text.startswith("serial_number,time_utc,")


def test_a_serial_number_is_never_a_formula_and_a_number_never_a_text(made: Bench) -> None:
    rows = read(made.client, Order(made.device_id, "-1", RAW, WINDOW, KOLKATA))
    assert rows[3]["serial_number"] == "'-1"
    assert rows[3]["flow_rate (gal/min)"] == "-1.5"


def test_the_hours_of_a_week_are_168_rows() -> None:
    week: list[list[float | None]] = [
        [float(day * 24 + hour) for hour in range(24)] for day in range(7)
    ]
    week[6][23] = None
    order = Order("d", "B-1", RAW, WINDOW, KOLKATA, METRIC)
    text = "".join(routes.csv_lines(device.hours(order, week)))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == [
        "serial_number",
        "weekday_local (Asia/Kolkata)",
        "hour_local (Asia/Kolkata)",
        "mean_flow_rate (L/min)",
    ]
    assert len(rows) == 1 + 168
    assert rows[1 + 24][1:3] == ["Tue", "00:00"]
    assert float(rows[1 + 24][3]) == pytest.approx(24 * 3.785411784)
    assert rows[-1] == ["B-1", "Sun", "23:00", ""]


@pytest.mark.parametrize(
    ("serial", "name"),
    [
        ("FM-10523", "weir_FM-10523_2026-11-20T000000Z_2026-11-20T235959Z_raw"),
        ('../a"b\r\n', "weir_a-b_2026-11-20T000000Z_2026-11-20T235959Z_raw"),
        ("水", "weir_水_2026-11-20T000000Z_2026-11-20T235959Z_raw"),
    ],
)
def test_a_file_is_named_by_device_and_range(made: Bench, serial: str, name: str) -> None:
    assert device.rows(made.client, Order("d", serial, RAW, WINDOW, KOLKATA)).name == name


@cases(
    ("resolution", "compare", "columns"),
    [("1hour", "day", 2), ("day", "device:B-1", 2), ("raw", "day", 0), ("10min", "usual", 0)],
)
def test_rows_have_their_comparison(
    made: Bench, resolution: str, compare: str, columns: int
) -> None:
    """Compared with itself each row has no difference."""
    order = Order(
        made.device_id, "B-1", RESOLUTION_BY_NAME[resolution], WINDOW, KOLKATA, compare=compare
    )
    rows = read(made.client, order)
    extra = [name for name in rows[0] if "difference" in name or "_of_" in name]
    assert len(extra) == columns
    if compare.startswith("device:"):
        assert {row["difference (gal)"] for row in rows} == {"0.0"}
    elif columns:
        assert {row["difference (gal)"] for row in rows} == {""}  # the day before has no readings
