"""Small files as portals, building controls and services for radio meters write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from tests.ingest.foreign.layout_files import (
    ALL,
    LATER,
    LITRES_PER_GALLON,
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

LOS_ANGELES, SYDNEY = ZoneInfo("America/Los_Angeles"), ZoneInfo("Australia/Sydney")
MONTHS = ("Jan", "Feb", "Mrz", "Apr", "Mai", "Jun")


def eye_on_water() -> bytes:
    """A reading and a flow, each with its unit, a size with an inch sign, a zone in a column."""
    rows = [
        "Account ID,Service ID,Meter ID,Meter Size,Read Time,Timezone,Read Method,Read,Read Unit,"
        "Flow,Flow Unit,Leak,Leak Unit,Continuous Flow"
    ]
    both = zip(times(3600, LOS_ANGELES), registers(0, 5_500), strict=True)
    rows += [
        f'1-22,7,"00812","5/8""",{m:%Y-%m-%d %I:%M %p},US/Pacific,Network,{v:.1f},LITER,'
        f"{litres(r)},LITER,,,"
        for r, (m, v) in enumerate(both)
    ]
    return lines(*rows)


def hourly_usage() -> bytes:
    rows = ['"Reading date & time","Meter number","Hourly usage (L)","Cumulative (kL)"']
    both = zip(times(3600, SYDNEY), registers(0, 5_500), strict=True)
    rows += [
        f'"{m:%d %b %Y %I:%M %p}","ABCD1234",{litres(r)},{v / 1000:.3f}'
        for r, (m, v) in enumerate(both)
    ]
    return lines(*rows)


def clock() -> bytes:
    """Zabbix' history: Unix seconds under a heading that isn't one of times."""
    rows = ['"Host","Item","Instant","Value"']
    rows += [f'"pump-3","Total [l]","{int(m.timestamp())}","{v}"' for m, v in quarters()]
    return lines(*rows)


def hotspots() -> bytes:
    """Helium's uplinks: who received them in a list, milliseconds in reported_at."""
    return lines(*(
        json.dumps({
            "name": "pit-4", "dev_eui": "6081F9", "reported_at": int(m.timestamp() * 1000),
            "decoded": {"payload": {"litres": v, "battery": 88}, "status": "success"},
            "hotspots": [{"rssi": -90, "snr": 4.2, "name": "calm-owl"}], "fcnt": n,
        })
        for n, (m, v) in enumerate(quarters())
    ))  # fmt: skip


def messages() -> bytes:
    """Node-RED's messages: the topic names the meter and its unit."""
    return lines(*(
        json.dumps({
            "topic": "house/water/litres", "payload": v, "_msgid": f"a{n:05x}",
            "timestamp": m.isoformat(),
        })
        for n, (m, v) in enumerate(quarters())
    ))  # fmt: skip


def telemetry() -> bytes:
    """ThingsBoard's telemetry: a quantity with its times and values as texts."""
    rows = [{"ts": int(m.timestamp() * 1000), "value": str(v)} for m, v in quarters()]
    return json.dumps({"volume_l": rows}).encode()


def nodes() -> bytes:
    """OPC UA: two times, a node's name that contains the unit, a state."""
    rows = ["Node,SourceTimestamp,ServerTimestamp,Value,StatusCode"]
    rows += [
        f'"ns=2;s=Well3.Totaliser_m3",{m:%FT%T}.000Z,{m:%FT%T}.120Z,{v / 1000},Good'
        for m, v in quarters()
    ]
    return lines(*rows)


def desigo() -> bytes:
    """A building control: a path that contains the unit, years first with dots, a quality."""
    rows = ["Kennung;Zeitstempel;Wert;Qualität"]
    rows += [f"Geb7'Wasser_m3;{m:%Y.%m.%d %H:%M:%S};1.0{comma(v)};gut" for m, v in quarters()]
    return lines(*rows)


def by_month() -> bytes:
    """A row a meter, a column a month."""
    rows = ["Wohnung;Gerät;" + ";".join(f"{name} 2025" for name in MONTHS)]
    for d in range(3):
        values = ";".join(comma(1_000 * litres(n, d) + 1_000) for n in range(len(MONTHS)))
        rows.append(f"W{d};K-{d};{values}")
    return lines(*rows)


def profile() -> bytes:
    """A load profile: the metering point, the unit and the beginning above the header."""
    rows = ["Zählpunkt;DE00012345;", "Von;01.10.2025 00:00;", "Einheit;Liter;"]
    rows += ["Uhrzeit;Wert;Status"]
    return lines(*rows, *(f"{m:%d.%m.%Y %H:%M};{litres(r)};W" for r, m in enumerate(times(900))))


def records() -> bytes:
    """Airtable's records: all fields within each."""
    rows = [
        {"fields": {"Meter": "A-1", "Read at": int(m.timestamp()), "Reading (L)": v}}
        for m, v in quarters()
    ]
    return json.dumps({"records": rows}).encode()


def units_beside() -> bytes:
    """A column a meter, each with a column of its unit."""
    rows = ["timestamp,W_main,W_main_unit,W_garden,W_garden_unit"]
    rows += [f"{m:%FT%TZ},{litres(r)},L,{litres(r, 1)},L" for r, m in hourly()]
    return lines(*rows)


def turkish() -> bytes:
    rows = ["Sayaç No;Okuma Tarihi;Endeks (m³)"]
    rows += [f"TR-9;{m:%d.%m.%Y %H:%M:%S};{comma(v)}" for m, v in quarters()]
    return lines(*rows, encoding="cp1254")


def chinese() -> bytes:
    rows = ["水表编号,抄表时间,累计流量(m³),瞬时流量(m³/h)"]
    rows += [
        f"CN-3,{m:%Y/%m/%d %H:%M:%S},{v / 1000},{litres(r) / 250}"
        for r, (m, v) in enumerate(quarters())
    ]
    return lines(*rows, encoding="gb18030")


ONE = flowed(LATER)
CASES: Sequence[LayoutCase] = (
    LayoutCase("eye_on_water.csv", eye_on_water, {"00812": flowed(ALL)}),
    LayoutCase("usage_l.csv", hourly_usage, {"ABCD1234": flowed(ALL)}, "zone=Australia/Sydney"),
    LayoutCase("clock.csv", clock, {"pump-3": ONE}),
    LayoutCase("hotspots.ndjson", hotspots, {"6081F9": ONE}),
    LayoutCase("messages.ndjson", messages, {"house/water/litres": ONE}),
    LayoutCase("telemetry.json", telemetry, {"telemetry": ONE}),
    LayoutCase("nodes.csv", nodes, {"ns=2;s=Well3.Totaliser_m3": ONE}),
    LayoutCase("desigo.csv", desigo, {"Geb7'Wasser_m3": ONE}, "zone=UTC"),
    LayoutCase(
        "by_month.csv", by_month,
        {
            f"K-{d}": (flowed(range(6), d) + 6 / LITRES_PER_GALLON) * 1000
            for d in range(3)
        },
        "zone=UTC", "2025-01-01T00:00:00Z",
    ),
    LayoutCase("profile.csv", profile, {"DE00012345": flowed(ALL)}, "zone=UTC"),
    LayoutCase("records.json", records, {"A-1": ONE}),
    LayoutCase(
        "units_beside.csv", units_beside, {"W_main": flowed(ALL), "W_garden": flowed(ALL, 1)}
    ),
    LayoutCase("turkish.csv", turkish, {"TR-9": ONE}, "zone=UTC"),
    LayoutCase("chinese.csv", chinese, {"CN-3": ONE}, "zone=UTC"),
)  # fmt: skip
