"""Small files in the layouts of named products."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from tests.ingest.foreign.layout_files import (
    ALL,
    CUBIC_FOOT,
    LATER,
    LITRES_PER_GALLON,
    LayoutCase,
    comma,
    flowed,
    hourly,
    lines,
    litres,
    quarters,
    times,
    workbook,
)

WINTER = ZoneInfo("Etc/GMT+5")


def usgs_rdb() -> bytes:
    """USGS water data: comments, then names and a line of formats, with tabs."""
    head = [
        "# Data provided for site 02395120",
        "#    TS_ID       Parameter Description",
        "#    40346       00060     Discharge, cubic feet per second",
        "#",
        "agency_cd\tsite_no\tdatetime\ttz_cd\t40346_00060\t40346_00060_cd",
        "5s\t15s\t20d\t6s\t14n\t10s",
    ]
    rows = times(900, WINTER)
    return lines(*head, *(
        f"USGS\t02395120\t{m:%Y-%m-%d %H:%M}\tEST\t{litres(r)}\tA" for r, m in enumerate(rows)
    ))  # fmt: skip


def history() -> bytes:
    """Home Assistant's history of a sensor, which was unavailable once."""
    rows = ["entity_id,state,last_changed"]
    rows += [
        f"sensor.water_meter,{v if n != 40 else 'unavailable'},{m:%FT%T}.123Z"
        for n, (m, v) in enumerate(quarters())
    ]
    return lines(*rows)


def storage() -> bytes:
    """The Things Stack's storage integration: each message within a result."""
    return lines(*(
        json.dumps({"result": {
            "end_device_ids": {
                "device_id": "cellar", "application_ids": {"application_id": "water"},
                "dev_eui": "70B3D57ED0000001",
            },
            "received_at": f"{m:%FT%TZ}",
            "uplink_message": {
                "f_port": 2, "f_cnt": n, "frm_payload": "AQ==",
                "decoded_payload": {"volume": v, "unit": "L"},
                "rx_metadata": [{"rssi": -101, "snr": 5}],
            },
        }})
        for n, (m, v) in enumerate(quarters())
    ))  # fmt: skip


def chirpstack() -> bytes:
    """ChirpStack's uplink events."""

    def event(number: int, time: str, volume: int) -> dict[str, Any]:
        return {
            "deduplicationId": f"3ac7e3c4-4401-4b8d-9386-{number:012}", "time": time,
            "deviceInfo": {
                "tenantName": "ChirpStack", "applicationName": "water",
                "deviceProfileName": "meter", "deviceName": "cellar",
                "devEui": "0101010101010101",
            },
            "devAddr": "00189440", "adr": True, "dr": 1, "fCnt": number, "fPort": 1,
            "data": "qg==", "object": {"volume_l": volume},
            "rxInfo": [{"rssi": -36, "snr": 10.5}], "txInfo": {"frequency": 868100000},
        }  # fmt: skip

    return lines(*(
        json.dumps(event(n, f"{m:%FT%T}.532+00:00", v)) for n, (m, v) in enumerate(quarters())
    ))  # fmt: skip


def grafana() -> bytes:
    """Grafana's formatted data: a column a series, values with their units."""
    rows = ['"Time","Cellar","Garden"']
    rows += [f'"{m:%Y-%m-%d %H:%M:%S}","{litres(r)} L","{litres(r, 1)} L"' for r, m in hourly()]
    return lines("sep=,", *rows)


def kiwis() -> bytes:
    """KISTERS' web services: the last comment names the columns."""
    head = ["#ts_id;9823042", "#rows;96", "#Timestamp;Value;Quality Code"]
    return lines(*head, *(f"{m:%FT%T}.000Z;{litres(r)};200" for r, m in enumerate(times(900))))


def aquarius() -> bytes:
    """Aquarius: comments, and each time twice."""
    head = [
        "# Time-series identifier: Discharge.Plant@04VP-R-001",
        "# Location: Mill creek",
        "# Value units: L/s",
        "# CSV data starts at line 6.",
        "ISO 8601 UTC,Timestamp (UTC-05:00),Value,Approval Level,Grade,Qualifiers",
    ]
    rows = enumerate(times(900))
    return lines(*head, *(
        f"{m:%FT%TZ},{m.astimezone(WINTER):%Y-%m-%d %H:%M:%S},{litres(r)},Working,GOOD,"
        for r, m in rows
    ))  # fmt: skip


def ignition() -> bytes:
    """Ignition's data sets: lines of names, kinds and the number of rows."""
    head = ['"#NAMES"', '"t_stamp","Plant/Flow_Lpm"', '"#TYPES"', '"date","D"', '"#ROWS","96"']
    rows = enumerate(times(60))
    return lines(*head, *(f'"{m:%Y-%m-%d %H:%M:%S}","{litres(r)}.0"' for r, m in rows))


def hobo() -> bytes:
    """HOBOware: a title, numbered rows, the offset in the heading."""
    head = [
        '"Plot Title: Cellar"',
        '"#","Date Time, GMT-05:00","Water, L (LGR S/N: 2017, SEN S/N: 2018)","Host Connected"',
    ]
    rows = ((n + 1, m, litres(n)) for n, m in enumerate(times(900, WINTER)))
    return lines(*head, *(f"{n},{m:%m/%d/%y %I:%M:%S %p},{v}," for n, m, v in rows))


def timeline() -> bytes:
    """Group Link's timeline: a register computed from pulses, and what it was computed from."""
    head = (
        "device_id,channel,city,remote_id,reading,raw_pulses_delta,reading_date,reading_time,"
        "latency_max,latency_min,records,multiplier,raw_pulses,discount_offset,result_offset"
    )
    before, rows = 55_000, list[str]()
    for m, v in quarters():
        rows.append(
            f"GL-7,1,Recife,R-1,{v / 1000:.3f},{v - before},{m:%FT%TZ},{m:%FT%TZ},"
            f"60,2,1,0.001,{v},0,0"
        )
        before = v
    return lines(head, *rows)


def spaced() -> bytes:
    """Columns lined up with spaces, as loggers and models print them."""
    rows = [" Meter   Date       Time     Litres"]
    rows += [f" SP-1    {m:%Y-%m-%d %H:%M:%S} {litres(r):>6}" for r, m in hourly()]
    return lines(*rows)


def ready() -> bytes:
    """Kamstrup READy: registers, beside a temperature and a column of units."""
    rows = ["Meter number;Reading date;Volume (m³);Volume unit;Water temp. min (°C);Info code"]
    rows += [f"67661;{m:%d-%m-%Y %H:%M};{comma(v)};m³;9;0" for m, v in quarters()]
    return lines(*rows, end="\r\n", encoding="utf-8-sig")


def izar() -> bytes:
    """Diehl IZAR: the meter, its kind and the unit in columns of texts."""
    rows = ["Gerätename;Gerätetyp;Datum/Uhrzeit;Zählerstand;Einheit;Fehler"]
    rows += [
        f"DME{device};Wasser;{m:%d.%m.%y %H:%M:%S};{comma(v)};m3;Keine"
        for device in (7, 8)
        for m, v in quarters()
    ]
    return lines(*rows, end="\r\n", encoding="cp1252")


def elvaco() -> bytes:
    """Elvaco: decoded values of M-Bus meters, with how many there are."""
    rows = ["serial-number;created;value-data-count;energy;volume[m3];flow[l/h];ext-temp"]
    return lines(*rows, *(f"6701;{m:%F %T};3;;{comma(v)};0;21" for m, v in quarters()))


def metasphere() -> bytes:
    """Flow and pressure of a logger's channels, in UTC by the heading."""
    rows = ["Logger ID,Channel,Timestamp (UTC),Value,Units"]
    rows += [
        f"PM-71,{channel},{m:%d/%m/%Y %T},{value:.3f},{unit}"
        for channel, unit in (("Flow", "l/s"), ("Pressure", "m"))
        for r, m in hourly()
        for value in (litres(r) / 10 if unit == "l/s" else 45.2,)
    ]
    return lines(*rows)


def by_hand() -> bytes:
    """A workbook made by hand: a title, buildings above the headings, totals at the end."""
    rows: list[Sequence[Any]] = [
        ["Water 2025"], [], ["", "Building A", "", "Building B"],
        ["Date", "Reading m3", "Note", "Reading m3"],
    ]  # fmt: skip
    for n, (m, v) in enumerate(quarters()):
        rows.append([m.replace(tzinfo=None), v / 1000, "new seal" if n == 5 else "", v / 500])
    return workbook(("Q4", [*rows, ["Total", 1.5, "", 2.5]]))


def with_sums() -> bytes:
    """Columns of meters, and one of their sum."""
    rows = ["Datum;Haupthaus [l];Turnhalle [l];Summe"]
    rows += [
        f"{m:%d.%m.%Y %H:%M};{a};{b};{a + b}" for r, m in hourly()
        for a, b in ((litres(r), litres(r, 1)),)
    ]  # fmt: skip
    return lines(*rows)


def japanese() -> bytes:
    rows = ["メーター番号,日付,時刻,使用量(L)"]
    rows += [f"JP-7,{m:%Y年%m月%d日},{m:%H時%M分},{litres(r)}" for r, m in hourly()]
    return lines(*rows, encoding="cp932")


def czech() -> bytes:
    rows = ["Vodoměr;Datum a čas;Spotřeba (l)"]
    rows += [f"CZ-1;{m.day}. {m.month}. {m:%Y %H:%M};{litres(r)}" for r, m in hourly()]
    return lines(*rows)


CASES: Sequence[LayoutCase] = (
    LayoutCase(
        "discharge.rdb", usgs_rdb, {"02395120": flowed(ALL) * CUBIC_FOOT * LITRES_PER_GALLON * 900},
        "column.40346_00060.unit=ft3/s",
    ),
    LayoutCase(
        "history.csv", history, {"sensor.water_meter": flowed(LATER)}, "column.state.unit=l"
    ),
    LayoutCase("storage.ndjson", storage, {"70B3D57ED0000001": flowed(LATER)}),
    LayoutCase("events.ndjson", chirpstack, {"0101010101010101": flowed(LATER)}),
    LayoutCase(
        "grafana.csv", grafana, {"Cellar": flowed(ALL), "Garden": flowed(ALL, 1)}, "zone=UTC"
    ),
    LayoutCase("kiwis.csv", kiwis, {"kiwis": flowed(ALL)}, "column.Value.unit=l"),
    LayoutCase("aquarius.csv", aquarius, {"aquarius": flowed(ALL) * 900}),
    LayoutCase("ignition.csv", ignition, {"ignition": flowed(ALL)}, "zone=UTC"),
    LayoutCase("spaced.txt", spaced, {"SP-1": flowed(ALL)}, "zone=UTC"),
    LayoutCase("hobo.csv", hobo, {"hobo": flowed(ALL)}),
    LayoutCase(
        "timeline.csv", timeline, {"GL-7": flowed(ALL)}, "column.raw_pulses_delta.unit=l"
    ),
    LayoutCase("ready.csv", ready, {"67661": flowed(LATER)}, "zone=UTC"),
    LayoutCase("izar.csv", izar, {"DME7": flowed(LATER), "DME8": flowed(LATER)}, "zone=UTC"),
    LayoutCase("elvaco.csv", elvaco, {"6701": flowed(LATER)}, "zone=UTC"),
    LayoutCase("metasphere.csv", metasphere, {"PM-71": flowed(ALL) * 360}),
    LayoutCase(
        "by_hand.xlsx", by_hand,
        {"Building A": flowed(LATER), "Building B": flowed(LATER, scale=2)}, "zone=UTC", refused=2,
    ),
    LayoutCase(
        "sums.csv", with_sums, {"Haupthaus": flowed(ALL), "Turnhalle": flowed(ALL, 1)}, "zone=UTC"
    ),
    LayoutCase(
        "japanese.csv", japanese, {"JP-7": flowed(ALL)}, "zone=Asia/Tokyo", "2025-09-30T15:00:00Z"
    ),
    LayoutCase("czech.csv", czech, {"CZ-1": flowed(ALL)}, "zone=UTC"),
)  # fmt: skip
