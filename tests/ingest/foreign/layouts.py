"""Small files in the layouts of real sources, with each device's true volume."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO

from openpyxl import Workbook

from tests.ingest.foreign.layout_files import (
    ALL,
    CHICAGO,
    LATER,
    LITRES_PER_GALLON,
    MADRID,
    NEW_YORK,
    PARIS,
    ROME,
    ROWS,
    LayoutCase,
    flowed,
    lines,
    litres,
    registers,
    times,
)


def german() -> bytes:
    """A utility's export: Windows-1252, semicolons, thousands with dots, a register in litres."""
    rows = ["Zähler;Zeitpunkt;flow_amount;Temperatur;RSSI;Bemerkung"]
    for device in range(2):
        for row, value in enumerate(registers(device, 1_203_386)):
            moment, litre = times(900, ROME)[row], f"{value:,}".replace(",", ".")
            rows.append(
                f"Z-44{device};{moment:%d.%m.%Y %H:%M};{litre};14,{row % 10};-{70 + row % 9};"
            )
    return lines(*rows, encoding="cp1252", end="\r\n")


def ampds() -> bytes:
    """AMPds2: Unix seconds, a counter and rates in litres a minute."""
    values = zip(times(60), registers(0, 40), strict=True)
    return lines(
        "UNIX_TS,counter,avg_rate,inst_rate",
        *(
            f"{moment.timestamp():.0f},{value},{litres(row)}.0,{litres(row)}.5"
            for row, (moment, value) in enumerate(values)
        ),
    )


def weusedto() -> bytes:
    """WEUSEDTO: no header, Unix seconds and millilitres a second."""
    return lines(*(f"{m.timestamp():.0f},{litres(row)}.5" for row, m in enumerate(times(1))))


def swm() -> bytes:
    """DAIAD: semicolons, day first, a register and its differences in litres."""
    rows = ["USER KEY;SWM ID;TIMESTAMP;VOLUME;DIFFERENCE"]
    for device in range(2):
        for row, (m, value) in enumerate(
            zip(times(3600, ROME), registers(device, 900), strict=True)
        ):
            rows.append(
                f"a{device}-key;I11{device};{m:%d/%m/%Y %H:%M:%S};{value};{litres(row, device)}"
            )
    return gzip.compress(lines(*rows))


def amphiro() -> bytes:
    """Showers: an event a row, with duration, volume and flow of its own."""
    rows = ["device,local.date.time,history,volume (l),flow (l/min),duration (s),temperature"]
    for row, moment in enumerate(times(40_000, ROME)):
        volume = 10 + litres(row)
        rows.append(
            f"showerA,{moment:%Y-%m-%d %H:%M:%S},false,{volume},6.5,{volume * 9},3{row % 9}"
        )
    return lines(*rows)


def districts() -> bytes:
    """BWDF: a workbook, a column a district, litres a second by the hour, with holes."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(
        ["Date-time CET-CEST (DD/MM/YYYY HH:mm)", "DMA A (L/s)", "DMA B (L/s)", "DMA C (L/s)"]
    )
    for row, moment in enumerate(times(3600, ROME)):
        values = [litres(row, device) + 0.5 for device in range(3)]
        sheet.append(
            [moment.replace(tzinfo=None), values[0], None if row == 7 else values[1], values[2]]
        )
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def american() -> bytes:
    """Twelve hours, month first, gallons with thousands, newest first."""
    rows = ['"Meter ID","Read Date","Read Time","Usage (gal)"']
    for row, m in reversed(list(enumerate(times(3600, NEW_YORK)))):
        rows.append(f'"10045","{m:%m/%d/%Y}","{m:%I:%M %p}","{1000 + litres(row):,}.25"')
    return lines(*rows)


def uplinks() -> bytes:
    """A network server's log: nested JSON, instants with offsets, a register in cubic metres."""
    rows: list[str] = []
    for m, value in zip(times(900), registers(0, 55_000), strict=True):
        payload = {"volume_m3": value / 1000, "battery": 3.6}
        rows.append(json.dumps({"deviceName": "lora-7", "time": m.isoformat(), "payload": payload}))
    return lines(*rows)


def spanish() -> bytes:
    """Tabs, decimal commas, a title above the header, consumption in cubic metres."""
    rows = ["Informe de consumo horario", "", "Contador\tFecha\tHora\tConsumo (m3)"]
    rows += [
        f"C-1\t{m:%d/%m/%Y}\t{m:%H:%M}\t{litres(row) / 1000:.3f}".replace(".", ",")
        for row, m in enumerate(times(3600, MADRID))
    ]
    return lines(*rows, encoding="utf-16")


def wide_registers() -> bytes:
    """A column a meter, registers in litres, days of Excel as numbers."""
    rows = ["Date,Meter 101,Meter 102"]
    both = zip(times(3600), registers(0, 10_000), registers(1, 20_000), strict=True)
    for moment, one, two in both:
        days = (moment - datetime(1899, 12, 30, tzinfo=UTC)) / timedelta(days=1)
        rows.append(f"{days:.10f},{one},{two}")
    return lines(*rows)


def half_hours() -> bytes:
    """A row a day and a column a half hour, in cubic metres, without any unit given."""
    clocks = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in (0, 30)]
    rows = ["Customer,Serial,Date," + ",".join(clocks)]
    for day in range(2):
        values = (f"{litres(48 * day + place) / 1000:.3f}" for place in range(48))
        rows.append(f"210012345,AA9,{10 + day:02}/10/2025," + ",".join(values))
    return lines(*rows)


def endpoints() -> bytes:
    """An American network: units and zone in columns of their own, a flow that is a volume."""
    rows = [
        "Account_ID,Endpoint_SN,Read_Time,Read_Timezone,Flow,Flow_Unit,Read,Read_Unit",
    ]
    for device in range(2):
        read = 1000.0
        for row, m in enumerate(times(3600, CHICAGO)):
            gallons = litres(row, device) / LITRES_PER_GALLON
            read += gallons
            rows.append(
                f"AC{device},EP-{device},{m:%Y-%m-%d %H:%M:%S},US/Central,{gallons:.6f},Gallons,"
                f"{read:.6f},Gallons"
            )
    return lines(*rows)


def wmbusmeters() -> bytes:
    """wmbusmeters: a driver's name called meter, a target beside the total, two temperatures."""
    same = {"media": "water", "meter": "multical21", "name": "Tap", "id": "76348799"}
    more = {"target_m3": 6.4, "max_flow_m3h": 0.2, "flow_temperature_c": 12}
    more |= {"external_temperature_c": 21, "current_status": ""}
    return lines(
        *(
            json.dumps(same | {"total_m3": value / 1000} | more | {"timestamp": f"{m:%FT%TZ}"})
            for m, value in zip(times(900), registers(0, 55_000), strict=True)
        )
    )


def annotated() -> bytes:
    """InfluxDB's annotated CSV: comments above, the quantity in a column."""
    rows = [
        "#group,false,false,true,false,false,true,true,true",
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string",
        "#default,mean,,,,,,,",
        ",result,table,_start,_time,_value,_field,_measurement,device",
    ]
    for device in range(2):
        for m, value in zip(times(900), registers(device, 9000), strict=True):
            rows.append(
                f",,{device},2025-10-01T00:00:00Z,{m:%FT%TZ},{value},volume_l,water,M-{device}"
            )
    return lines(*rows, end="\r\n")


def tidy() -> bytes:
    """A quantity a row, with its unit."""
    rows = ["meter,datetime,parameter,value,unit"]
    for row, m in enumerate(times(900)):
        rows.append(f"W7,{m.isoformat()},temperature,{10 + row % 5},°C")
        rows.append(f"W7,{m.isoformat()},volume,{litres(row)},L")
    return lines(*rows)


def logger() -> bytes:
    """A data logger: titles above the names, units and kinds below them."""
    rows = [
        '"TOA5","logger","CR1000","1234","CR1000.Std.32","CPU:flow.CR1","999","Table1"',
        '"TIMESTAMP","RECORD","Flow_Tot","BattV_Min"',
        '"TS","RN","L","Volts"',
        '"","","Tot","Min"',
    ]
    rows += [f'"{m:%F %T}",{row},{litres(row)},12.{row % 9}' for row, m in enumerate(times(900))]
    return lines(*rows)


def index() -> bytes:
    """French: 13h45, decimal commas, a register and a rate."""
    rows = ["Date et heure;Index (m³);Débit (m³/h);Alarme"]
    for row, (m, value) in enumerate(zip(times(3600, PARIS), registers(0, 55_000), strict=True)):
        numbers = f"{value / 1000:.3f};{litres(row) / 1000:.3f}".replace(".", ",")
        rows.append(f"{m:%d/%m/%Y %Hh%M};{numbers};0")
    return lines(*rows, encoding="latin-1")


def radio() -> bytes:
    """Pipes, a register whose unit stands in a column, month first with hyphens."""
    rows = ["MIU_ID|READING_DATE|READING|UNITS|RSSI"]
    for row, (m, value) in enumerate(zip(times(3600, CHICAGO), registers(0, 7_000), strict=True)):
        gallons = value / LITRES_PER_GALLON
        rows.append(f"1550001|{m:%m-%d-%Y %H:%M:%S}|{gallons:.6f}|GAL|-{90 + row % 9}")
    return lines(*rows)


CASES: Sequence[LayoutCase] = (
    LayoutCase(
        "german.csv", german, {"Z-440": flowed(LATER), "Z-441": flowed(LATER, 1)},
        "zone=Europe/Rome",
    ),
    LayoutCase("ampds.csv", ampds, {"ampds": flowed(ALL)}),
    LayoutCase(
        "feed.csv", weusedto,
        {"feed": (flowed(ALL) + 0.5 * ROWS / LITRES_PER_GALLON) / 1000},
        "column.column 2.unit=ml/s",
    ),
    LayoutCase(
        "swm.csv.gz", swm, {"a0-key": flowed(ALL), "a1-key": flowed(ALL, 1)}, "zone=Europe/Rome"
    ),
    LayoutCase(
        "showers.csv", amphiro, {"showerA": flowed(ALL) + 10 * ROWS / LITRES_PER_GALLON},
        "zone=Europe/Rome",
    ),
    LayoutCase(
        "Inflow.xlsx", districts,
        {
            "DMA A": (flowed(ALL) + 0.5 * ROWS / LITRES_PER_GALLON) * 3600,
            "DMA B": (flowed(ALL, 1) + (47.5 - litres(7, 1)) / LITRES_PER_GALLON) * 3600,
            "DMA C": (flowed(ALL, 2) + 0.5 * ROWS / LITRES_PER_GALLON) * 3600,
        },
        "zone=Europe/Rome",
    ),
    LayoutCase(
        "usage.csv", american, {"10045": ROWS * 1000.25 + sum(litres(row) for row in ALL)},
        "zone=America/New_York",
    ),
    LayoutCase("uplinks.ndjson", uplinks, {"lora-7": flowed(LATER)}),
    LayoutCase("consumo.tsv", spanish, {"C-1": flowed(ALL)}, "zone=Europe/Madrid"),
    LayoutCase(
        "wide.csv", wide_registers, {"Meter 101": flowed(LATER), "Meter 102": flowed(LATER, 1)}
    ),
    LayoutCase(
        "days.csv", half_hours, {"AA9": flowed(ALL)}, "zone=Europe/London", "2025-10-09T23:00:00Z"
    ),
    LayoutCase("endpoints.csv", endpoints, {"EP-0": flowed(ALL), "EP-1": flowed(ALL, 1)}),
    LayoutCase("wmbusmeters.ndjson", wmbusmeters, {"76348799": flowed(LATER)}),
    LayoutCase("annotated.csv", annotated, {"M-0": flowed(LATER), "M-1": flowed(LATER, 1)}),
    LayoutCase("tidy.csv", tidy, {"W7": flowed(ALL)}),
    LayoutCase("logger.dat", logger, {"logger": flowed(ALL)}, "zone=UTC"),
    LayoutCase("index.csv", index, {"index": flowed(LATER)}, "zone=Europe/Paris"),
    LayoutCase("radio.txt", radio, {"1550001": flowed(LATER)}, "zone=America/Chicago"),
)  # fmt: skip
