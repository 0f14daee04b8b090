"""Numbers, times, zones and units as files write them, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from api.ingest.foreign.dates import guess_form, parse_times
from api.ingest.foreign.encoding import guess_encoding
from api.ingest.foreign.numbers import guess_decimal, parse_numbers
from api.ingest.foreign.table_layout import guess_delimiter, header_row
from api.ingest.foreign.units import factor, unit_in
from api.ingest.foreign.zones import WallClock
from api.timez import parse_instant, stamp
from tests.tables import cases

BERLIN_2026 = [
    ("2026-10-25T01:30:00Z", False),
    ("2026-10-25T02:00:00Z", False),
    ("2026-10-25T02:30:00Z", False),
    ("2026-10-25T02:00:00Z", True),
    ("2026-10-25T02:30:00Z", True),
    ("2026-10-25T03:00:00Z", True),
]


@cases(
    ("texts", "expected"),
    [
        (["1,5", "2,25"], (",", True)),
        (["1.5", "2.25"], (".", True)),
        (["1.203.411"], (",", True)),
        (["1,203,411"], (".", True)),
        (["1.203,4"], (",", True)),
        (["1.203"], (".", False)),
        (["12", "0"], (".", True)),
    ],
)
def test_the_decimal_sign(texts: list[str], expected: tuple[str, bool]) -> None:
    assert guess_decimal(texts) == expected


@cases(
    ("text", "decimal", "expected"),
    [
        ("1.203,5", ",", 1203.5),
        ("1,203.5", ".", 1203.5),
        ("−3", ".", -3.0),
        ("1 203,5", ",", 1203.5),
        ("12,5 m³", ",", 12.5),
        ("7 gal", ".", 7.0),
        ("n/a", ".", None),
        ("", ".", None),
        ("inf", ".", "refused"),
        ("12:30", ".", "refused"),
        ("1_0", ".", "refused"),
    ],
)
def test_numbers(text: str, decimal: str, expected: float | str | None) -> None:
    numbers, ok = parse_numbers([text, "1"], decimal)
    found = numbers[0] if ok[0] else "refused"
    assert found == expected or (expected is None and np.isnan(found))


@cases(
    ("texts", "form", "sure", "instant"),
    [
        (["05.11.2026 06:00"], "%d.%m.%Y %H:%M", True, "2026-11-05T06:00:00Z"),
        (["25/12/2025 23:15:00"], "%d/%m/%Y %H:%M:%S", True, "2025-12-25T23:15:00Z"),
        (["12/25/2025 11:15 PM"], "%m/%d/%Y %I:%M %p", True, "2025-12-25T23:15:00Z"),
        (["11/12/2025", "12/12/2025"], "%d/%m/%Y", True, "2025-12-11T00:00:00Z"),
        (["01/02/2025"], "%d/%m/%Y", False, "2025-02-01T00:00:00Z"),
        (["2025-12-25 23:15:00+01:00"], "iso", True, "2025-12-25T22:15:00Z"),
        (["1764000000"], "epoch_s", True, "2025-11-24T16:00:00Z"),
        (["1764000000000"], "epoch_ms", True, "2025-11-24T16:00:00Z"),
        (["45985.5"], "excel", True, "2025-11-24T12:00:00Z"),
        (["20251124 1200"], "%Y%m%d %H%M", True, "2025-11-24T12:00:00Z"),
        (["5-Nov-2025 6:05"], "%d-%b-%Y %H:%M", True, "2025-11-05T06:05:00Z"),
    ],
)
def test_times(texts: list[str], form: str, sure: bool, instant: str) -> None:
    assert guess_form(texts, day_first=True) == (form, sure)
    ms, ok, _ = parse_times([*texts, "none"], form)
    assert (stamp(int(ms[0])), ok.tolist()) == (instant, [*[True] * len(texts), False])


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_doubled_hour_is_told_apart_by_order(newest_first: bool) -> None:
    rows = BERLIN_2026[::-1] if newest_first else BERLIN_2026
    wall = np.array([parse_instant(text) for text, _ in rows])
    clock = WallClock(newest_first)
    devices = np.zeros(1, np.int64)
    found = [clock.instants(wall[at : at + 1], "Europe/Berlin", devices)[0] for at in range(6)]
    hours = [1 if second else 2 for _, second in rows]
    assert ((wall - np.array(found)) // 3_600_000).tolist() == hours


def test_a_time_that_the_spring_clock_skips_counts_on() -> None:
    wall = np.array([parse_instant("2026-03-29T02:30:00Z")])
    found = WallClock().instants(wall, "Europe/Berlin", np.zeros(1, np.int64))
    assert stamp(int(found[0])) == "2026-03-29T01:30:00Z"


@cases(
    ("heading", "unit"),
    [
        ("Flow (L/min)", "l/min"),
        ("Verbrauch [m³]", "m3"),
        ("volume_l", "l"),
        ("DMA A (L/s)", "l/s"),
        ("usage gallons", "gal"),
        ("flow_gpm", "gal/min"),
        ("m3_per_h", "m3/h"),
        ("flow_amount", ""),
        ("litres (m3)", "m3"),
        ("Level", ""),
    ],
)
def test_units_in_headings(heading: str, unit: str) -> None:
    assert unit_in(heading) == unit


def test_units_are_of_their_values() -> None:
    assert factor("l/s", "rate") == pytest.approx(15.850323)
    assert factor("m3", "register") == pytest.approx(264.172052)
    for unit, values in (("l", "rate"), ("l/s", "amount"), ("stone", "amount")):
        with pytest.raises(ValueError, match="is no unit of"):
            factor(unit, values)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    text = "Zähler;Straße;Menge\n" + "Z-1;Große Höfe;1,5\n" * 50
    assert guess_encoding(text.encode(encoding)) == encoding


def test_a_unit_alone_is_western() -> None:
    head = "Contatore;Data;Portata (m³/h)\n" + "W-1;2025-10-30 00:00;1,5\n" * 50
    assert guess_encoding(head.encode("cp1252")) == "cp1252"


def test_the_table_below_a_title() -> None:
    text = "Report, November\n\na;b,c;d\n" + "1;2,5;3\n" * 30
    assert guess_delimiter(text) == ";"
    rows = [line.split(";") for line in text.split("\n") if line]
    assert header_row(rows) == 2
    assert header_row(rows[2:]) == 0
