"""Small files as utilities, portals and scripts write them: what `layouts` has no example of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ingest.foreign.layout_files import (
    ALL,
    BERLIN,
    CHICAGO,
    CUBIC_FOOT,
    LATER,
    LITRES_PER_GALLON,
    LayoutCase,
    flowed,
    grouped,
    hourly,
    lines,
    litres,
    quarters,
    registers,
    times,
    workbook,
    zipped,
)

AUTUMN = datetime(2025, 10, 25, 22, tzinfo=UTC)  # midnight in Berlin, a day of 25 hours
HOURS = [(datetime(2025, 10, 1) + timedelta(days=n // 24), n % 24) for n in ALL]  # noqa: DTZ001


# --- JSON in one piece ---------------------------------------------------------------------------


def objects() -> list[dict[str, Any]]:
    return [{"ts": f"{m:%FT%TZ}", "meter": "J1", "volume_l": litres(r)} for r, m in hourly()]


def by_meter() -> bytes:
    meters = [
        {
            "meterId": f"N{d}",
            "unit": "L",
            "readings": [{"time": f"{m:%FT%TZ}", "value": litres(r, d)} for r, m in hourly()],
        }
        for d in (0, 1)
    ]
    return json.dumps(
        {"site": "Works", "generated": "2025-11-01T00:00:00Z", "meters": meters}
    ).encode()


def columns() -> bytes:
    table = {
        "time": [m.timestamp() for _, m in hourly()],
        "consumption_l": [litres(r) for r, _ in hourly()],
    }
    return json.dumps(table, indent=1).encode()


def table() -> bytes:
    rows = [["timestamp", "meter", "register_m3"]]
    rows += [[f"{m:%F %TZ}", "L1", v / 1000] for m, v in quarters()]  # type: ignore[list-item]
    return json.dumps(rows).encode()


# --- A row a day or a month ----------------------------------------------------------------------


def hour_ending() -> bytes:
    heads = ",".join(f"HE{hour}" for hour in range(1, 25))
    rows = [f"Meter No,Read Date,UOM,{heads},Total"]
    for day in range(4):
        values = [litres(24 * day + hour) for hour in range(24)]
        rows.append(f"5501,10/{day + 1:02}/2025,L,{','.join(map(str, values))},{sum(values)}")
    return lines(*rows)


def numbered_hours() -> bytes:
    rows = ["MeterID,Date," + ",".join(f"{hour}" for hour in range(1, 25))]
    for day in range(4):
        values = (str(litres(24 * day + hour)) for hour in range(24))
        rows.append(f"H-7,2025-10-{day + 1:02}," + ",".join(values))
    return lines(*rows)


def hour_column() -> bytes:
    rows = ["Meter;Datum;Stunde;Verbrauch [l]"]
    rows += [f"K-1;{day:%d.%m.%Y};{hour + 1};{litres(n)}" for n, (day, hour) in enumerate(HOURS)]
    return lines(*rows)


def month_rows() -> bytes:
    rows = ["Meter,Month," + ",".join(f"{day}" for day in range(1, 32))]
    for month in (7, 8, 10):
        values = (str(litres(day, month)) for day in range(31))
        rows.append(f"D-1,2025-{month:02}," + ",".join(values))
    return lines(*rows)


def year_month_day() -> bytes:
    rows = ["Year,Month,Day,Hour,Flow (L)"]
    rows += [f"{m.year},{m.month},{m.day},{m.hour},{litres(r)}" for r, m in hourly()]
    return lines(*rows)


# --- Times ---------------------------------------------------------------------------------------


def interval_end() -> bytes:
    rows = ["Meter,Interval End,Usage (gal)"]
    for n, (day, hour) in enumerate(HOURS):
        rows.append(f"E-1,{day:%Y-%m-%d} {hour + 1:02}:00,{litres(n)}")
    return lines(*rows)


def autumn() -> bytes:
    rows = ["Zähler;Zeit;Verbrauch in Liter"]
    for n in ALL:
        m = (AUTUMN + timedelta(minutes=15 * n)).astimezone(BERLIN)
        rows.append(f"S-1;{m:%d.%m.%Y %H:%M};{litres(n)}")
    return lines(*rows, encoding="cp850", end="\r\n")


def months_of(names: str, form: str, joint: str, encoding: str) -> bytes:
    name = names.split()
    rows = [f"Compteur{joint}Date{joint}Index (l)"]
    for m, value in quarters():
        text = m.replace(month=m.month).strftime(form.replace("%b", name[m.month - 1]))
        rows.append(f"F-1{joint}{text}{joint}{value}")
    return lines(*rows, encoding=encoding)


def french() -> bytes:
    names = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
    return months_of(names, "%d %b %Y %H:%M", ";", "cp1252")


def german_months() -> bytes:
    names = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    return months_of(names, "%d. %b %Y %H:%M:%S", ";", "utf-8-sig")


def dutch() -> bytes:
    names = "jan feb mrt apr mei jun jul aug sep okt nov dec"
    return months_of(names, "%d-%b-%Y %H:%M", "\t", "utf-8")


def spanish_months() -> bytes:
    names = "ene feb mar abr may jun jul ago sep oct nov dic"
    return months_of(names, "%d/%b/%Y %H:%M", ";", "utf-8")


def weeks() -> bytes:
    rows = ["meter,week date,volume_l"]
    for n in ALL:
        day = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=n)
        rows.append("W-9,{}-W{:02}-{},{}".format(*day.isocalendar(), litres(n)))
    return lines(*rows)


def nanoseconds() -> bytes:
    rows = ["name,time,meter_id,litres"]
    return lines(
        *rows, *(f"water,{int(m.timestamp())}000000000,N-1,{litres(r)}" for r, m in hourly())
    )


def microseconds() -> bytes:
    return lines(
        "time_us|sensor|total_l",
        *(f"{m.timestamp() * 1e6:.1f}|U-1|{value}" for m, value in quarters()),
    )


def offsets_by_row() -> bytes:
    rows = ["Meter;Timestamp;Consumption (l)"]
    for n in ALL:
        m = (AUTUMN + timedelta(minutes=15 * n)).astimezone(BERLIN)
        text = f"{m:%d.%m.%Y %H:%M:%S %z}"
        rows.append(f"O-1;{text[:-2]}:{text[-2:]};{litres(n)}")
    return lines(*rows)


def zone_names() -> bytes:
    rows = ["Meter,Read Time,Usage (gal)"]
    rows += [f"Z-1,{m:%m/%d/%Y %I:%M %p} {m:%Z},{litres(r)}" for r, m in hourly(CHICAGO)]
    return lines(*rows)


def noon() -> bytes:
    rows = ["Device,When,Gallons"]
    for r, m in hourly(CHICAGO):
        text = f"{m:%A, %B %d, %Y %I:%M:%S %p}".replace(" PM", "\u202fp.m.").replace(
            " AM", "\u202fa.m."
        )
        rows.append(f'P-1,"{text}",{litres(r)}')
    return lines(*rows)


def apple_serials() -> bytes:
    rows = ["Meter,Date,Litres"]
    for r, m in hourly():
        days = (m - datetime(1904, 1, 1, tzinfo=UTC)) / timedelta(days=1)
        rows.append(f"X-4,{days:.8f},{litres(r)}")
    return lines(*rows)


# --- Numbers and tables --------------------------------------------------------------------------


def portal() -> bytes:
    """Titles, sep=, two rows of names, status letters, a repeated header, gaps and a total."""
    title = [f"{name};;;;" for name in ("Waterworks", "Export", "Period: October", "User: x")]
    head = ["Meter;Time;Index;State;Temp", ";;m³;;°C"]
    rows: list[str] = []
    for place, (m, value) in enumerate(quarters()):
        number = grouped(value + 1_000_000, ".", ",") if place != 5 else "---"
        rows.append(
            f"T-1;{m:%d.%m.%Y %H:%M};{number};{'EAV'[place % 3]};{'n/a' if place % 4 else '<0,1'}"
        )
        if place == 40:
            rows += ["", *head]
    return lines("sep=;", *title, "", *head, *rows, "Total;;;;", encoding="utf-16")


def narrow_spaces() -> bytes:
    rows = ["Compteur;Horodatage;Relevé (L)"]
    rows += [
        f"R-1;{m:%Y-%m-%dT%H:%M:%SZ};{grouped(value, chr(0xA0), ',', 0)},0"
        for m, value in quarters()
    ]
    return lines(*rows, encoding="cp1252")


def apostrophes() -> bytes:
    rows = ["Zähler,Zeit,Stand l"]
    rows += [f"C-2,{m:%FT%TZ},{grouped(v + 1e6, chr(39), '.')}" for m, v in quarters()]
    return lines(*rows)


def pulses() -> bytes:
    rows = ["sensor,ts,pulses (10 L/pulse)"]
    return lines(*rows, *(f"I-1,{m:%FT%TZ},{litres(r)}" for r, m in hourly()))


def thousands_of_gallons() -> bytes:
    rows = ["Account,Meter Number,Read Date/Time,Reading (x10 gal),Estimated"]
    total = 41_000
    for r, m in hourly():
        total += litres(r)
        rows.append(f'1200,77001,{m:%FT%TZ},"{total:,}",{"N" if r else "Y"}')
    return lines(*rows)


def sheets() -> bytes:
    names = ("Meter 1", "Meter 2")
    tables = [
        (
            name,
            [
                ["Time", "Volume [l]"],
                *([m.replace(tzinfo=None), litres(r, d)] for r, m in hourly()),
            ],
        )
        for d, name in enumerate(names)
    ]
    return workbook(("Cover", [["Water report"], ["Printed", "today"]]), *tables)


def merged() -> bytes:
    rows: list[list[Any]] = [["Consumption by hour"], [], ["Meter", "Date", "Hour", "Litres"]]
    for d in (0, 1):
        for n, (day, hour) in enumerate(HOURS):
            rows.append(
                [
                    f"M-{d}" if n == 0 else None,
                    f"{day:%d/%m/%Y}" if hour == 0 else None,
                    f"{hour:02}:00",
                    litres(n, d),
                ]
            )
    return workbook(("Hours", rows))


def texts() -> bytes:
    rows = [["Serial", "Read at", "Reading m3"]]
    rows += [
        ["00123", f"{m:%d.%m.%Y %H:%M}", f"{v / 1000:.3f}".replace(".", ",")] for m, v in quarters()
    ]
    return workbook(("Data", rows))


def packed() -> bytes:
    return zipped("export/usage.csv", lines("meter,time,litres", *(
        f"V-1,{m:%FT%TZ},{litres(r)}" for r, m in hourly()
    )))  # fmt: skip


def current_and_previous() -> bytes:
    rows = ["Acct,Serial No.,Previous Read,Current Read,Usage CCF,Days,Read Date,Status"]
    for n in ALL:
        day = datetime(2025, 6, 1, tzinfo=UTC) + timedelta(days=n)
        before = 500 + sum(litres(row) for row in range(n))
        rows.append(f"9,B-1,{before},{before + litres(n)},{litres(n)},1,{day:%m/%d/%Y},A")
    return lines(*rows)


def two_headers() -> bytes:
    head = ["Meter A;;Meter B;", "Index;Flow;Index;Flow"]
    rows = [f"Time;{head[0]}", f";{head[1]}", ";l;l/h;l;l/h"]
    both = zip(times(3600), registers(0, 900), registers(1, 700), strict=True)
    for r, (m, one, two) in enumerate(both):
        rows.append(f"{m:%FT%TZ};{one};{litres(r)};{two};{litres(r, 1)}")
    return lines(*rows)


def points() -> bytes:
    """Telegraf's line protocol written as a row a field."""
    rows = ["timestamp;measurement;meter;value;unit"]
    for r, m in hourly():
        rows += [f"{m:%FT%TZ};battery;Q-1;3.6;V", f"{m:%FT%TZ};flow volume;Q-1;{litres(r)};l"]
    return lines(*rows)


MONTHS = {"D-1": sum(flowed(range(31), month) for month in (7, 8, 10)) * 1.0}
ONE = flowed(ALL)
CASES: Sequence[LayoutCase] = (
    LayoutCase("objects.json", lambda: json.dumps(objects()).encode(), {"J1": ONE}),
    LayoutCase("pages.json", lambda: json.dumps({"data": objects()}).encode(), {"J1": ONE}),
    LayoutCase("by_meter.json", by_meter, {"N0": ONE, "N1": flowed(ALL, 1)}),
    LayoutCase("columns.json", columns, {"columns": ONE}),
    LayoutCase("table.json.gz", lambda: gzip.compress(table()), {"L1": flowed(LATER)}),
    LayoutCase("hour_ending.csv", hour_ending, {"5501": ONE}),
    LayoutCase("hours.csv", numbered_hours, {"H-7": ONE}),
    LayoutCase("stunden.csv", hour_column, {"K-1": ONE}, "zone=UTC"),
    LayoutCase("months.csv", month_rows, MONTHS, first="2025-07-01T00:00:00Z"),
    LayoutCase("calendar.csv", year_month_day, {"calendar": ONE}),
    LayoutCase("ends.csv", interval_end, {"E-1": ONE * LITRES_PER_GALLON}),
    LayoutCase("autumn.csv", autumn, {"S-1": ONE}, "zone=Europe/Berlin", "2025-10-25T22:00:00Z"),
    LayoutCase("mois.csv", french, {"F-1": flowed(LATER)}),
    LayoutCase("monate.csv", german_months, {"F-1": flowed(LATER)}),
    LayoutCase("maanden.tsv", dutch, {"F-1": flowed(LATER)}),
    LayoutCase("meses.csv", spanish_months, {"F-1": flowed(LATER)}),
    LayoutCase("weeks.csv", weeks, {"W-9": ONE}, first="2025-01-01T00:00:00Z"),
    LayoutCase("influx.csv", nanoseconds, {"N-1": ONE}),
    LayoutCase("micro.psv", microseconds, {"U-1": flowed(LATER)}),
    LayoutCase("offsets.csv", offsets_by_row, {"O-1": ONE}, first="2025-10-25T22:00:00Z"),
    LayoutCase("zones.csv", zone_names, {"Z-1": ONE * LITRES_PER_GALLON}),
    LayoutCase(
        "noon.csv", noon, {"P-1": ONE * LITRES_PER_GALLON}, "zone=America/Chicago",
    ),
    LayoutCase("serials.csv", apple_serials, {"X-4": ONE}, "time_format=excel_1904"),
    LayoutCase("portal.csv", portal, {"T-1": flowed(LATER) * 1000}),
    LayoutCase("releve.csv", narrow_spaces, {"R-1": flowed(LATER)}),
    LayoutCase("stand.csv", apostrophes, {"C-2": flowed(LATER)}),
    LayoutCase("pulses.csv", pulses, {"I-1": ONE * 10}),
    LayoutCase("tens.csv", thousands_of_gallons, {"77001": flowed(LATER) * LITRES_PER_GALLON * 10}),
    LayoutCase("sheets.xlsx", sheets, {"Meter 1": ONE, "Meter 2": flowed(ALL, 1)}),
    LayoutCase("merged.xlsx", merged, {"M-0": ONE, "M-1": flowed(ALL, 1)}),
    LayoutCase("texts.xlsx", texts, {"00123": flowed(LATER)}),
    LayoutCase("packed.zip", packed, {"V-1": ONE}),
    LayoutCase(
        "billing.csv", current_and_previous, {"B-1": ONE * LITRES_PER_GALLON * 100 * CUBIC_FOOT},
        first="2025-06-01T00:00:00Z",
    ),
    LayoutCase(
        "two_headers.csv", two_headers, {"Meter A": flowed(LATER), "Meter B": flowed(LATER, 1)}
    ),
    LayoutCase("points.csv", points, {"Q-1": ONE}),
)  # fmt: skip
