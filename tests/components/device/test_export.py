"""Rows as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest

from api.catalog import DAY, RAW, RESOLUTION_BY_NAME
from api.client import Client
from api.timez import DAY_MS, zone
from components.device import export
from components.device.export import Order
from components.ranges import Window
from components.units import METRIC
from tests.components.device.service import Bench, bench
from tests.world import ms

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
    return list(csv.DictReader(io.StringIO("".join(export.lines(client, order)))))


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
        "onboard_temperature (degC)": "21.0",
    }


def test_rollups_in_other_units(made: Bench) -> None:
    hourly = RESOLUTION_BY_NAME["1hour"]
    rows = read(made.client, Order(made.device_id, "B-1", hourly, WINDOW, KOLKATA, METRIC))
    assert len(rows) == 7
    gallons = sum(n / 2 for n in range(6, 12))
    assert float(rows[1]["total_flow_amount (m3)"]) == pytest.approx(gallons * 0.003785411784)
    assert float(rows[1]["max_flow_rate (L/min)"]) == pytest.approx(11 * 3.785411784)


def test_days_are_the_zones(made: Bench) -> None:
    window = Window(ms("2026-11-19T18:30Z"), ms("2026-11-20T18:29:59.999Z"))
    (row,) = read(made.client, Order(made.device_id, "B-1", DAY, window, KOLKATA))
    assert row["time_local (Asia/Kolkata)"] == "2026-11-20T00:00:00+05:30"
    assert float(row["total_flow_amount (gal)"]) == pytest.approx(sum(n / 2 for n in range(40)))


def test_no_rows_are_a_header(made: Bench) -> None:
    window = Window(START - 2 * DAY_MS, START - DAY_MS)
    assert read(made.client, Order(made.device_id, "B-1", RAW, window, KOLKATA)) == []
    text = "".join(export.lines(made.client, Order(made.device_id, "B-1", RAW, window, KOLKATA)))
    assert text.startswith("serial_number,time_utc,")


@pytest.mark.parametrize(
    ("serial", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@A1", "'@A1"),
        ("\tx", "'\tx"),
        ("A=1", "A=1"),
    ],
)
def test_a_cell_is_never_a_formula(made: Bench, serial: str, cell: str) -> None:
    rows = read(made.client, Order(made.device_id, serial, RAW, WINDOW, KOLKATA))
    assert rows[0]["serial_number"] == cell
    assert rows[3]["flow_rate (gal/min)"] == "-1.5"  # a number is a number


@pytest.mark.parametrize(
    ("serial", "name"),
    [
        ("FM-10523", "FM-10523_2026-11-20T000000Z_2026-11-20T235959Z_raw.csv"),
        ('../a"b\r\n', "a-b_2026-11-20T000000Z_2026-11-20T235959Z_raw.csv"),
        ("水", "device_2026-11-20T000000Z_2026-11-20T235959Z_raw.csv"),
    ],
)
def test_a_file_is_named_by_device_and_range(serial: str, name: str) -> None:
    assert export.file_name(Order("d", serial, RAW, WINDOW, KOLKATA)) == name
