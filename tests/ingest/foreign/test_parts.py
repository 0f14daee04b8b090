"""Numbers, times, zones and units in files of other sources."""

from __future__ import annotations

import numpy as np
import pytest

from api.ingest.foreign.column_meanings import guess_meanings
from api.ingest.foreign.columns import column
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
        ("---", ".", None),
        ("<0.1", ".", None),
        ("-0.0", ".", 0.0),
        ("1'234.5", ".", 1234.5),
        ("", ".", None),
        ("inf", ".", "refused"),
        ("12:30", ".", "refused"),
        ("1_0", ".", "refused"),
    ],
)
def test_numbers(text: str, decimal: str, expected: float | str | None) -> None:
    numbers, ok = parse_numbers([text, "1"], decimal)
    result = numbers[0] if ok[0] else "refused"
    assert result == expected or (expected is None and np.isnan(result))


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
        (["2025100106"], "%Y%m%d%H", True, "2025-10-01T06:00:00Z"),
        (["24.12.2025 24:00"], "%d.%m.%Y %H:%M", True, "2025-12-25T00:00:00Z"),
        (["2025-W40-3"], "iso", True, "2025-10-01T00:00:00Z"),
        (["20251001T061500Z"], "iso", True, "2025-10-01T06:15:00Z"),
        (["2025-10-01 06:15 UTC", "Total"], "iso", True, "2025-10-01T06:15:00Z"),
        (["Mi., 1. Oktober 2025 6:15 Uhr MESZ"], "%d %b %Y %H:%M %z", True, "2025-10-01T04:15:00Z"),
        (["1 févr. 2025 13h45"], "%d %b %Y %Hh%M", True, "2025-02-01T13:45:00Z"),
        (["5-Nov-2025 6:05"], "%d-%b-%Y %H:%M", True, "2025-11-05T06:05:00Z"),
    ],
)
def test_times(texts: list[str], form: str, sure: bool, instant: str) -> None:
    assert guess_form(texts, day_first=True) == (form, sure)
    ms, ok, _ = parse_times([*texts, "none"], form)
    read = [text != "Total" for text in texts]
    assert (stamp(int(ms[0])), ok.tolist()) == (instant, [*read, False])


def test_one_impossible_date_among_many_leaves_the_format() -> None:
    texts = [*(f"{day:02}.10.2026 06:00" for day in range(1, 31)), "31.11.2026 06:00"]
    assert guess_form(texts, day_first=True) == ("%d.%m.%Y %H:%M", True)
    ms, ok, _ = parse_times(texts, "%d.%m.%Y %H:%M")
    assert (ms[-1], ok.tolist()) == (0, [True] * 30 + [False])
    assert guess_form(texts[-3:], day_first=True) is None


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_repeated_hour_is_resolved_by_row_order(newest_first: bool) -> None:
    rows = BERLIN_2026[::-1] if newest_first else BERLIN_2026
    wall = np.array([parse_instant(text) for text, _ in rows])
    clock = WallClock(newest_first)
    devices = np.zeros(1, np.int64)
    results = [clock.instants(wall[at : at + 1], "Europe/Berlin", devices)[0] for at in range(6)]
    hours = [1 if second else 2 for _, second in rows]
    assert ((wall - np.array(results)) // 3_600_000).tolist() == hours


def test_an_hourly_meter_may_report_twice_before_the_hour_is_repeated() -> None:
    texts = ("02:56:14", "02:56:28", "02:56:28", "03:56:28")
    wall = np.array([parse_instant(f"2026-10-25T{text}Z") for text in texts])
    instants = WallClock().instants(wall, "Europe/Berlin", np.zeros(4, np.int64))
    assert [stamp(ms)[11:16] for ms in instants.tolist()] == ["00:56", "00:56", "01:56", "02:56"]


def test_a_skipped_local_time_continues_the_count() -> None:
    wall = np.array([parse_instant("2026-03-29T02:30:00Z")])
    result = WallClock().instants(wall, "Europe/Berlin", np.zeros(1, np.int64))
    assert stamp(int(result[0])) == "2026-03-29T01:30:00Z"


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
        ("pulses, 10 L/pulse", "10 l"),
        ("Reading (x100 gal)", "100 gal"),
        ("Zone 5 l/s", "l/s"),
        ("Level", ""),
    ],
)
def test_units_in_headings(heading: str, unit: str) -> None:
    assert unit_in(heading) == unit


def test_values_have_units() -> None:
    assert factor("l/s", "rate") == pytest.approx(15.850323)
    assert factor("m3", "register") == pytest.approx(264.172052)
    for unit, values in (("l", "rate"), ("l/s", "amount"), ("stone", "amount")):
        with pytest.raises(ValueError, match="is no unit of"):
            factor(unit, values)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    text = "Zähler;Straße;Menge\n" + "Z-1;Große Höfe;1,5\n" * 50
    assert guess_encoding(text.encode(encoding)) == encoding


def test_a_text_with_only_a_unit_sign_is_windows_1252() -> None:
    head = "Contatore;Data;Portata (m³/h)\n" + "W-1;2025-10-30 00:00;1,5\n" * 50
    assert guess_encoding(head.encode("cp1252")) == "cp1252"


def test_the_table_below_a_title() -> None:
    text = "Report, November\n\na;b,c;d\n" + "1;2,5;3\n" * 30
    assert guess_delimiter(text) == ";"
    rows = [line.split(";") for line in text.split("\n") if line]
    assert header_row(rows) == 2
    assert header_row(rows[2:]) == 0


@cases(
    ("headings", "device"),
    [
        (("Site Name", "Logger ID"), "Logger ID"),
        (("Device Name", "Device ID"), "Device ID"),
        (("Customer", "Meter"), "Meter"),
        (("Site Name", "Alarm ID"), "Site Name"),
    ],
)
def test_an_identifier_names_a_device_rather_than_its_site(
    headings: tuple[str, str], device: str
) -> None:
    """Both columns tell the series apart."""
    texts = (["2026-01-01 00:00", "2026-01-01 01:00"] * 2, ["Mill", "Mill", "Dam", "Dam"],
             ["A7", "A7", "B2", "B2"], ["0.5", "1", "2", "3"])  # fmt: skip
    names = ("Time", *headings, "Volume (l)")
    columns = [
        column(name, each, ".", day_first=False) for name, each in zip(names, texts, strict=True)
    ]
    place = guess_meanings(columns).place("device")
    assert place is not None
    assert names[place] == device
