"""Small files as offices make them: by hand, by spreadsheets, from systems' export menus."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ingest.foreign.layout_files import (
    ALL,
    LATER,
    LITRES_PER_GALLON,
    PARIS,
    ROME,
    LayoutCase,
    comma,
    flowed,
    hourly,
    lines,
    litres,
    quarters,
    registers,
    times,
    workbook,
)

OCTOBER = "octobre"


def dotted_clock() -> bytes:
    """Three decimals that may be thousands, beside a clock that looks like a fraction."""
    rows = ["Data;Ora;Matricola;Lettura m3"]
    rows += [f"{m:%d/%m/%Y};{m:%H.%M};IT-1;{comma(v - 50_000)}" for m, v in quarters()]
    return lines(*rows)


def unit_behind() -> bytes:
    rows = ["Zähler;Zeit;Stand"]
    return lines(*rows, *(f"U-1;{m:%FT%TZ};5.0{comma(v)} m³" for m, v in quarters()))


def comma_serials() -> bytes:
    """Days of Excel as texts with a decimal comma."""
    rows = ["Contador;Fecha;Lectura (litros)"]
    for m, v in quarters():
        days = (m - datetime(1899, 12, 30, tzinfo=UTC)) / timedelta(days=1)
        rows.append(f"S-1;{days:.9f};{v}".replace(".", ","))
    return lines(*rows)


def spelled() -> bytes:
    rows = ["N° compteur\tDate du relevé\tIndex (litres)"]
    rows += [f"F-9\t{m.day} {OCTOBER} {m:%Y à %Hh%M}\t{v}" for m, v in quarters()]
    return lines(*rows, encoding="utf-16")


def shuffled() -> bytes:
    """Registers of two meters, in no order."""
    rows = [
        json.dumps({"meter": {"id": f"R-{d}"}, "reading": {"at": f"{m:%FT%TZ}", "m3": v / 1000}})
        for d in (0, 1)
        for m, v in zip(times(900), registers(d, 90_000), strict=True)
    ]
    random.Random(1).shuffle(rows)
    return lines(*rows)


def many_meters() -> bytes:
    """Few rows of each of many meters: none alone shows that its numbers only rise."""
    rows = ["matricola,data_ora,volume_litri"]
    rows += [
        f"{n},{m:%FT%TZ},{1000 * n + 7 * hour}"
        for n in range(200_100, 200_140)
        for hour, m in enumerate(times(3600, rows=12))
    ]
    return lines(*rows)


def intervals() -> bytes:
    """The time of a row is an interval; a column a district."""
    rows = ["Datum;Intervall;Nord (m³/h);Süd (m³/h)"]
    for r, m in hourly(ROME):
        until = m + timedelta(hours=1)
        north, south = comma(litres(r)), comma(litres(r, 1))
        rows.append(f"{m:%d.%m.%Y};{m:%H:%M} - {until:%H:%M};{north};{south}")
    return lines(*rows, encoding="cp1252")


def title_block() -> bytes:
    """Meter, zone and unit above the header."""
    rows = ["Meter:;4711;", "Time zone:;Europe/Paris;", "Unit:;m3;", "", "Date;Time;Reading"]
    rows += [
        f"{m:%d.%m.%Y};{m:%H:%M};{comma(v)}"
        for m, v in zip(times(900, PARIS), registers(0, 20_000), strict=True)
    ]
    return lines(*rows)


def pivot() -> bytes:
    """A row a meter, a column a date, a sum at the end."""
    days = [datetime(2025, 10, 1, tzinfo=UTC) + timedelta(days=n) for n in range(28)]
    rows: list[list[Any]] = [["Meter", "Address", *(day.replace(tzinfo=None) for day in days)]]
    for d in range(3):
        values = [value / 1000 for value in registers(d, 30_000)[:28]]
        rows.append([f"P-{d}", f"Main street {d}", *values])
    return workbook(("Readings", rows))


def sheets_of_months() -> bytes:
    """A sheet a month, a column a meter."""
    halves = ("Oktober 2025", range(48)), ("November", range(48, 96))
    one, two = registers(0, 1000), registers(1, 2000)
    head = ["Zeitpunkt", "W-1 (l)", "W-2 (l)"]
    moments = [m.replace(tzinfo=None) for m in times(900)]
    return workbook(
        *((name, [head, *([moments[n], one[n], two[n]] for n in part)]) for name, part in halves)
    )


def guarded() -> bytes:
    """Serial numbers that a spreadsheet mustn't turn into numbers."""
    rows = ["Meter;Time;Reading (kL)"]
    return lines(
        *rows, *(f'="001123";{m:%d/%m/%Y %H:%M};{v / 1000 - 55:.3f}' for m, v in quarters())
    )


def two_cells() -> bytes:
    """Date and time in cells of their own."""
    rows: list[list[Any]] = [["Serial No", "Date", "Time", "Index m3"]]
    for m, v in quarters():
        rows.append(["D-1", m.date(), m.time(), v / 1000])
    return workbook(("Readings", rows))


def graphite() -> bytes:
    rows = [[v, int(m.timestamp())] for m, v in quarters()]
    return json.dumps([{"target": "G-1", "datapoints": rows}]).encode()


def historian() -> bytes:
    """A tag's name with a unit; qualities that are codes rather than percents."""
    rows = ["TagName,DateTime,Value,QualityDetail"]
    rows += [f"FT101.TOTAL_M3,{m:%F %T}.000,{v / 1000},192" for m, v in quarters()]
    return lines(*rows)


def short_header() -> bytes:
    """Rows end with a delimiter that the header lacks; -9999 marks what is missing."""
    rows = ["Meter,Time,Volume (l)"]
    rows += [f"T-1,{m:%FT%TZ},{litres(r) or -9999}," for r, m in hourly()]
    return lines(*rows)


def both_ways() -> bytes:
    rows = ["Meter,Timestamp (UTC),Reverse Total (m3),Forward Total (m3)"]
    return lines(*rows, *(f"EM-1,{m:%F %T},0.000,{v / 1000:.3f}" for m, v in quarters()))


def pulses_in_title() -> bytes:
    """Logger and weight of a pulse above the header, numbered rows."""
    rows = ["Logger;LT-7;;", "Impulswertigkeit;10 l/Imp;;", ";;;", "Nr;Datum;Uhrzeit;Impulse"]
    rows += [f"{r + 1};{m:%d.%m.%Y};{m:%H:%M};{litres(r)}" for r, m in hourly()]
    return lines(*rows)


def late_thousands() -> bytes:
    """Only the last numbers have two dots, which prove that none is a decimal sign."""
    rows = ["Zähler;Zeit;Stand (Liter)"]
    rows += [f"T-9;{m:%d.%m.%Y %H:%M};{v + 944_500:,}".replace(",", ".") for m, v in quarters()]
    return lines(*rows)


def first_of_months() -> bytes:
    """Days first, though no number is above 12."""
    rows = ["Meter Serial,Period Start,Period End,Consumption l"]
    for month in range(1, 10):
        row = f"01/{month:02}/2025,01/{month + 1:02}/2025,{litres(month)}"
        rows += [f"SN-{d},{row}" for d in range(4)]
    return lines(*rows)


def padded() -> bytes:
    """Five digits that start again at 0."""
    rows = ["Endpoint ID,Read Time,Reading (gal)"]
    rows += [f"15500,{m:%FT%TZ},{(99_700 + 5 * r) % 100_000:05}" for r, m in hourly()]
    return lines(*rows)


def statistics() -> bytes:
    """Home Assistant's statistics: Unix seconds in a column named start."""
    rows = ["statistic_id,unit,start,state,sum"]
    rows += [f"sensor.water,L,{m.timestamp():.1f},{v}.0,{v - 9}.0" for m, v in quarters()]
    return lines(*rows)


def one_line() -> bytes:
    days = [f"{m:%FT%TZ}" for _, m in hourly()]
    return json.dumps({"dates": days, "volume_l": [litres(r) for r, _ in hourly()]}).encode()


MANY = {str(n): 77 / LITRES_PER_GALLON for n in range(200_100, 200_140)}
ONE, TWO = flowed(LATER), flowed(LATER, 1)
CASES: Sequence[LayoutCase] = (
    LayoutCase("ore.csv", dotted_clock, {"IT-1": ONE}, "zone=UTC"),
    LayoutCase("einheit.csv", unit_behind, {"U-1": ONE}),
    LayoutCase("seriales.csv", comma_serials, {"S-1": ONE}),
    LayoutCase("releves.txt", spelled, {"F-9": ONE}, "zone=UTC"),
    LayoutCase("shuffled.ndjson", shuffled, {"R-0": ONE, "R-1": TWO}),
    LayoutCase("many.csv", many_meters, MANY),
    LayoutCase(
        "bezirke.csv", intervals, {"Nord": flowed(ALL), "Süd": flowed(ALL, 1)}, "zone=Europe/Rome"
    ),
    LayoutCase("block.csv", title_block, {"4711": ONE}),
    LayoutCase(
        "pivot.xlsx", pivot, {f"P-{d}": flowed(range(1, 28), d) for d in range(3)}, "zone=UTC"
    ),
    LayoutCase("monate.xlsx", sheets_of_months, {"W-1": ONE, "W-2": TWO}, "zone=UTC"),
    LayoutCase("guarded.csv", guarded, {"001123": ONE}, "zone=UTC"),
    LayoutCase("cells.xlsx", two_cells, {"D-1": ONE}, "zone=UTC"),
    LayoutCase("short.csv", short_header, {"T-1": flowed(ALL)}, first="2025-10-01T02:00:00Z"),
    LayoutCase("ways.csv", both_ways, {"EM-1": ONE}),
    LayoutCase("title.csv", pulses_in_title, {"LT-7": flowed(ALL, scale=10)}, "zone=UTC"),
    LayoutCase("late.csv", late_thousands, {"T-9": ONE}, "zone=UTC"),
    LayoutCase(
        "billing_months.csv",
        first_of_months,
        {f"SN-{d}": flowed(range(1, 10)) for d in range(4)},
        "zone=UTC",
        "2025-01-01T00:00:00Z",
    ),
    LayoutCase("padded.csv", padded, {"15500": 5.0 * 95}),
    LayoutCase("statistics.csv", statistics, {"sensor.water": ONE}),
    LayoutCase("one_line.json", one_line, {"one_line": flowed(ALL)}),
    LayoutCase("graphite.json", graphite, {"G-1": ONE}),
    LayoutCase("historian.csv", historian, {"FT101.TOTAL_M3": ONE}, "zone=UTC"),
)
