"""Small files as historians, databases, networks of radio meters and utilities' portals write
them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from tests.ingest.foreign.layout_files import (
    ALL,
    LATER,
    LITRES_PER_GALLON,
    MADRID,
    LayoutCase,
    comma,
    flowed,
    hourly,
    lines,
    litres,
    quarters,
    registers,
    times,
)

# --- Databases of time series --------------------------------------------------------------------


def victoria() -> bytes:
    """VictoriaMetrics' export: a series a line, its values and times as lists."""
    return lines(*(
        json.dumps({
            "metric": {"__name__": "water_litres_total", "job": "mbus", "meter": f"VM-{d}"},
            "values": registers(d, 7_000),
            "timestamps": [int(m.timestamp() * 1000) for m in times(900)],
        })
        for d in (0, 1)
    ))  # fmt: skip


def prometheus() -> bytes:
    """Prometheus' answer to a range query: each value is a text beside its time."""
    result = [
        {
            "metric": {"__name__": "water_litres_total", "instance": f"10.0.0.{d}:9100"},
            "values": [
                [int(m.timestamp()), str(v)]
                for m, v in zip(times(900), registers(d, 7_000), strict=True)
            ],
        }
        for d in (1, 2)
    ]
    document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    return json.dumps(document).encode()


def influx_shell() -> bytes:
    """InfluxDB's shell: tags in one column, nanoseconds."""
    rows = ["name,tags,time,value"]
    rows += [f"litres,meter=IS-1,{int(m.timestamp())}000000000,{v}" for m, v in quarters()]
    return lines(*rows)


def psql() -> bytes:
    """A table as psql prints it, with a rule below the header and the number of rows at the end."""
    rows = [
        "          time          | meter | volume_l ",
        "------------------------+-------+----------",
    ]
    rows += [f" {m:%F %T}+00 | PQ-1  | {litres(r):8} " for r, m in hourly()]
    return lines(*rows, "(96 rows)", "")


def copied() -> bytes:
    r"""A table as COPY writes it: tabs, no header, \N for null."""
    return lines(*(
        f"{m:%F %T}+00\tCP-1\t{v}\t\\N" for m, v in quarters()
    ))  # fmt: skip


# --- Historians and control systems --------------------------------------------------------------


def wincc() -> bytes:
    """WinCC's log: a variable a row, times twice, the second as millionths of days."""
    rows = ['"VarName";"TimeString";"VarValue";"Validity";"Time_ms"']
    for m, v in quarters():
        days = (m.replace(tzinfo=None) - datetime(1899, 12, 30)) / timedelta(days=1)  # noqa: DTZ001
        text = f"{days * 1e6:.6f}".replace(".", ",")
        rows.append(f'"Brunnen_1_m3";"{m:%d.%m.%Y %H:%M:%S}";{comma(v)};1;{text}')
    return lines(*rows, end="\r\n")


def insight() -> bytes:
    """AVEVA's narrow form: an operation, a tag and OPC's quality in each row."""
    rows = ["Operation,TagName,DateTime,Format,Value,OpcQuality"]
    rows += [f"original,FIT201.Total_L,{m:%FT%T}.000Z,raw,{v},192" for m, v in quarters()]
    return lines(*rows)


def tags() -> bytes:
    """PI's sampled values: tags side by side, English months, words where a value is missing."""
    rows = ["Timestamp,WTP:FT101.PV,WTP:FT102.PV", ",m3/h,m3/h"]
    missing = {5: "No Data", 9: "I/O Timeout", 13: "Bad Input"}
    rows += [
        f"{m:%d-%b-%y %H:%M:%S},{missing.get(r, litres(r))},{litres(r, 1)}" for r, m in hourly()
    ]
    return lines(*rows)


def provider() -> bytes:
    """Ignition's tag history: milliseconds, and tags with their provider in brackets."""
    rows = ['"t_stamp","[default]Plant/Well 1/Total_L","[default]Plant/Well 2/Total_L"']
    both = zip(times(900), registers(0, 9_000), registers(1, 4_000), strict=True)
    rows += [f"{int(m.timestamp() * 1000)},{one}.0,{two}.0" for m, one, two in both]
    return lines(*rows)


def units_above() -> bytes:
    """A row of units in brackets, above the names."""
    rows = ["[-];[-];[l]", "Zeit;Messstelle;Menge"]
    return lines(*rows, *(f"{m:%d.%m.%Y %H:%M};MS 4;{litres(r)}" for r, m in hourly()))


def gateway() -> bytes:
    """A gateway's log: lines of descriptions and units below the names."""
    rows = ["<time>;Cold 1;Cold 2", "Description:;Kitchen;Bath", "Unit:;m3;m3"]
    both = zip(times(900), registers(0, 9_000), registers(1, 4_000), strict=True)
    rows += [f"{m:%F %T};{one / 1000:.3f};{two / 1000:.3f}" for m, one, two in both]
    return lines(*rows)


# --- Radio networks ------------------------------------------------------------------------------


def thingpark() -> bytes:
    """ThingPark's uplinks: all within one object, numbers among texts."""
    return lines(*(
        json.dumps({"DevEUI_uplink": {
            "Time": m.isoformat(timespec="milliseconds"), "DevEUI": "70B3D5E75E00A1B2",
            "FPort": "2", "FCntUp": str(n), "LrrRSSI": "-97.0", "LrrSNR": "8.5",
            "payload": {"index_l": v, "battery_v": 3.6},
        }})
        for n, (m, v) in enumerate(quarters())
    ))  # fmt: skip


def states() -> bytes:
    """ioBroker's history: values with their times and whether they were acknowledged."""
    rows = [
        {"val": v / 1000, "ack": True, "ts": int(m.timestamp() * 1000), "q": 0, "from": "x.0"}
        for m, v in quarters()
    ]
    return json.dumps({"id": "mbus.0.water.m3", "values": rows}).encode()


def subscribed() -> bytes:
    """What mosquitto_sub prints: time, topic and payload, without a header."""
    return lines(*(f"{m:%FT%T%z} meters/MQ-1/litres {v}" for m, v in quarters()))


# --- Offices and portals -------------------------------------------------------------------------


def sap() -> bytes:
    """SAP's list of readings: dates and times of day as numbers, without leading zeros."""
    rows = ["Equipment;Zählwerk;Ablesedatum;Ablesezeit;Zählerstand;Maßeinheit"]
    rows += [
        f"10004711;001;{m:%Y%m%d};{int(f'{m:%H%M%S}')};{comma(v)};M3"
        for m, v in zip(times(3600), registers(0, 88_000), strict=True)
    ]
    return lines(*rows, encoding="cp1252", end="\r\n")


def intervals() -> bytes:
    """A meter's day in a row, its hours as V1 to V24 beside a state of each."""
    heads = "|".join(f"V{hour}|S{hour}" for hour in range(1, 25))
    rows = [f"MeterID|IntervalLength|StartDate|{heads}"]
    for day in range(4):
        values = "|".join(f"{litres(24 * day + hour)}|A" for hour in range(24))
        rows.append(f"IT-90|60|2025-10-{day + 1:02}|{values}")
    return lines(*rows)


def veolia() -> bytes:
    """A French portal: an index and the day's consumption in litres, newest first."""
    rows = [
        "Date de relevé;Index relevé (litres);Consommation du jour (litres);Index Mesuré/Estimé"
    ]
    total, days = 1_234_000, list[str]()
    for n in range(96):
        day = datetime(2025, 10, 1, 19) - timedelta(days=95 - n)  # noqa: DTZ001
        total += litres(n)
        days.append(f"{day:%Y-%m-%d %H:%M:%S};{total};{litres(n)};Mesuré")
    return lines(*rows, *reversed(days))


def canal() -> bytes:
    """A Spanish portal: the kind of period in a column, hours that end."""
    rows = ["Contador;Periodicidad;Fecha/Hora;Consumo (litros)"]
    rows += [f"Y20DG012345;Horario;{m:%d/%m/%Y %H:%M:%S};{litres(r)},0" for r, m in hourly(MADRID)]
    return lines(*rows, encoding="utf-8-sig")


def endpoints_report() -> bytes:
    """Reading, consumption, temperature and battery of each endpoint."""
    rows = [
        "Timestamp UTC,Endpoint,Meter Serial Number,MIU Serial Number,Meter Reading,"
        "Meter Consumption,Temperature,Battery Level"
    ]
    rows += [
        f"{m:%F %T},E{d},61{d}55,MI-{d},{v},{litres(r, d)},{12 + r % 3},{98 - r % 2}"
        for d in (3, 4)
        for r, (m, v) in enumerate(zip(times(3600), registers(d, 5_000), strict=True))
    ]
    return lines(*rows)


def observations() -> bytes:
    """CUAHSI's values: a local time, its offset and UTC, codes of site, variable and quality."""
    rows = [
        "ValueID,DataValue,ValueAccuracy,LocalDateTime,UTCOffset,DateTimeUTC,SiteCode,"
        "VariableCode,VariableUnitsAbbreviation,CensorCode,QualityControlLevelCode"
    ]
    rows += [
        f"{88_000 + r},{litres(r)},,{m:%F %T},-7,{m + timedelta(hours=7):%F %T},LR_FB,"
        "Discharge,L/s,nc,1"
        for r, m in hourly()
    ]
    return lines(*rows)


def polish() -> bytes:
    rows = ["Nr wodomierza;Data odczytu;Godzina;Stan [m3];Zużycie [m3]"]
    before = 55_000
    for m, v in quarters():
        rows.append(f"PL-77;{m:%Y-%m-%d};{m:%H:%M};{comma(v)};{comma(v - before)}")
        before = v
    return lines(*rows, encoding="cp1250")


def russian() -> bytes:
    rows = ["Прибор учёта;Дата и время;Показания, м3;Расход, м3"]
    before = 55_000
    for m, v in quarters():
        rows.append(f"ПУ-12;{m:%d.%m.%Y %H:%M};{comma(v)};{comma(v - before)}")
        before = v
    return lines(*rows, encoding="cp1251")


def swedish() -> bytes:
    rows = ["Anläggning;Mätare;Från;Till;Förbrukning (liter)"]
    rows += [
        f"735999;SE-5;{m:%Y-%m-%d %H:%M};{m + timedelta(hours=1):%Y-%m-%d %H:%M};{litres(r)}"
        for r, m in hourly()
    ]
    return lines(*rows, encoding="latin-1")


def energy() -> bytes:
    """Home Assistant's energy page: a row a sensor, a column a day."""
    days = [f"2025-10-{day:02}" for day in range(1, 29)]
    rows = ["entity_id,type,unit," + ",".join(days)]
    for d in (0, 1):
        values = ",".join(str(litres(n, d)) for n in range(28))
        rows.append(f"sensor.water_{d},water,L,{values}")
    return lines(*rows)


ONE, TWO = flowed(LATER), flowed(LATER, 1)
CASES: Sequence[LayoutCase] = (
    LayoutCase("victoria.jsonl", victoria, {"VM-0": ONE, "VM-1": TWO}),
    LayoutCase(
        "prometheus.json", prometheus,
        {"10.0.0.1:9100": TWO, "10.0.0.2:9100": flowed(LATER, 2)},
    ),
    LayoutCase("shell.csv", influx_shell, {"meter=IS-1": ONE}),
    LayoutCase("psql.txt", psql, {"PQ-1": flowed(ALL)}, refused=1),
    LayoutCase("copied.txt", copied, {"CP-1": ONE}, "column.column 3.unit=l"),
    LayoutCase("wincc.csv", wincc, {"Brunnen_1_m3": ONE}, "zone=UTC"),
    LayoutCase("insight.csv", insight, {"FIT201.Total_L": ONE}),
    LayoutCase(
        "tags.csv", tags,
        {
            "WTP:FT101.PV": (flowed(ALL) - sum(map(litres, (5, 9, 13))) / LITRES_PER_GALLON) * 1000,
            "WTP:FT102.PV": flowed(ALL, 1) * 1000,
        },
        "zone=UTC",
    ),
    LayoutCase(
        "provider.csv", provider,
        {"[default]Plant/Well 1/Total_L": ONE, "[default]Plant/Well 2/Total_L": TWO},
    ),
    LayoutCase("units_above.csv", units_above, {"MS 4": flowed(ALL)}, "zone=UTC"),
    LayoutCase("gateway.csv", gateway, {"Cold 1": ONE, "Cold 2": TWO}, "decimal=."),
    LayoutCase("thingpark.ndjson", thingpark, {"70B3D5E75E00A1B2": ONE}),
    LayoutCase("iobroker.json", states, {"mbus.0.water.m3": ONE}),
    LayoutCase("subscribed.log", subscribed, {"meters/MQ-1/litres": ONE}),
    LayoutCase("sap.csv", sap, {"10004711": ONE}, "zone=UTC"),
    LayoutCase("v24.psv", intervals, {"IT-90": flowed(ALL)}, "zone=UTC"),
    LayoutCase("veolia.csv", veolia, {"veolia": ONE}, "zone=UTC", "2025-06-28T19:00:00Z"),
    LayoutCase("canal.csv", canal, {"Y20DG012345": flowed(ALL)}, "zone=Europe/Madrid"),
    LayoutCase(
        "report.csv", endpoints_report, {"MI-3": flowed(ALL, 3), "MI-4": flowed(ALL, 4)},
        "column.Meter Consumption.unit=l",
    ),
    LayoutCase(
        "observations.csv", observations, {"LR_FB": flowed(ALL) * 3600},
        first="2025-10-01T07:00:00Z",
    ),
    LayoutCase("polish.csv", polish, {"PL-77": ONE}, "zone=UTC"),
    LayoutCase("russian.csv", russian, {"ПУ-12": ONE}, "zone=UTC"),
    LayoutCase("swedish.csv", swedish, {"SE-5": flowed(ALL)}, "zone=UTC"),
    LayoutCase(
        "energy.csv", energy,
        {f"sensor.water_{d}": flowed(range(28), d) for d in (0, 1)}, "zone=UTC",
    ),
)  # fmt: skip
