"""The latest values of many devices, against a walk over the raw rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from api import timez
from tests import truth
from tests.contract.test_datapoints import RAW_FIELDS
from tests.tables import cases
from tests.world import FOREIGN, GATEWAY, LONE, METER, OLD, QUIET, TWIN, World, ms

METRICS = ("uptime", "lastSeen", "lastDatapoint", "quality")
DAY = ms("2026-03-08T00:00Z")
HOUR = 3_600_000
DAY_MS = 24 * HOUR


def ask(world: World, ids: str, metrics: str, from_ms: int, to_ms: int, **more: str) -> Any:
    ends = {"from": timez.stamp(from_ms, fraction=True), "to": timez.stamp(to_ms, fraction=True)}
    return world.json("/flow/latest", {"ids": ids, "metrics": metrics, **ends, **more})


def entry(world: World, id: str, from_ms: int, to_ms: int, uptime: str, quality: str) -> Any:
    """The expected entry of a device, recounted; ``quality`` is the resolution of its quality."""
    device, readings = world.devices[id], world.readings.get(id, [])
    inside = truth.bounds(from_ms, to_ms)
    rows = truth.raw(readings, inside)
    last = rows[-1] if rows else None
    length = truth.LENGTHS[uptime] * 60_000
    graded = (
        [(row["quality"], row["quality"]) for row in rows]
        if quality == "raw"
        else [
            (row["min_quality"], row["max_quality"])
            for row in truth.buckets(readings, quality, inside)
        ]
    )
    stamp = last and truth.stamp(last["t"], None, fraction=True)
    return {
        "deviceId": id,
        "serialNumber": device.serial_number,
        "networkUniqueIdentifier": device.network_unique_identifier,
        "lastSeen": stamp,
        "uptime": {
            "actual": len(truth.buckets(readings, uptime, inside)),
            "expected": sum(1 for t in range(-(-from_ms // length) * length, to_ms + 1, length)),
        },
        "quality": {
            "min": truth.least(low for low, _ in graded),
            "max": truth.most(high for _, high in graded),
        },
        "lastDatapoint": last
        and {"recordedAt": stamp, **{field: last[name] for field, name in RAW_FIELDS.items()}},
    }


WINDOWS = {  # window → the resolution of quality
    "a closed day": (DAY, DAY + DAY_MS - 1, "1hour"),
    "an aligned closed day": (DAY, DAY + DAY_MS, "1hour"),
    "cut inside buckets": (DAY + 6 * HOUR + 1234, DAY + 11 * HOUR + 55_555, "1hour"),
    "exactly an hour": (DAY + 7 * HOUR, DAY + 8 * HOUR, "1hour"),
    "under an hour": (DAY + 7 * HOUR, DAY + 8 * HOUR - 1, "10min"),
    "under ten minutes": (DAY + 7 * HOUR, DAY + 7 * HOUR + 599_999, "5min"),
    "under five minutes": (DAY + 7 * HOUR, DAY + 7 * HOUR + 299_999, "1min"),
    "under a minute": (DAY + 7 * HOUR, DAY + 7 * HOUR + 59_999, "raw"),
    "an instant": (DAY + 12 * HOUR, DAY + 12 * HOUR, "raw"),
    "weeks": (DAY - 30 * DAY_MS, DAY + 10 * DAY_MS, "1hour"),
    "a hole": (DAY + 60 * DAY_MS, DAY + 61 * DAY_MS, "1hour"),
}


@cases("uptime", ["1min", "5min", "10min", "1hour"])
@cases(("from_ms", "to_ms", "quality"), WINDOWS.values())
def test_every_metric_of_every_device(
    world: World, from_ms: int, to_ms: int, quality: str, uptime: str
) -> None:
    ids = (QUIET, LONE, METER, TWIN, OLD, GATEWAY)
    reply = ask(world, ",".join(ids), ",".join(METRICS), from_ms, to_ms, uptimeResolution=uptime)
    owed = [entry(world, id, from_ms, to_ms, uptime, quality) for id in ids]
    assert reply == {
        "range": {
            "from": truth.stamp(from_ms, None, fraction=True),
            "to": truth.stamp(to_ms, None, fraction=True),
        },
        "qualityResolution": quality,
        "uptimeResolution": uptime,
        "expectedBuckets": owed[0]["uptime"]["expected"],
        "data": owed,
    }


@cases("metrics", [chosen for n in range(1, 5) for chosen in combinations(METRICS, n)])
def test_an_entry_has_only_the_requested_metrics(world: World, metrics: tuple[str, ...]) -> None:
    reply = ask(world, METER, ",".join(metrics), DAY, DAY + DAY_MS)
    (result,) = reply["data"]
    names = {"deviceId", "serialNumber", "networkUniqueIdentifier"}
    assert set(result) == names | set(metrics)
    assert reply["qualityResolution"] == ("1hour" if "quality" in metrics else None)
    assert reply["uptimeResolution"] == ("1min" if "uptime" in metrics else None)
    assert reply["expectedBuckets"] == (1441 if "uptime" in metrics else 0)


def test_the_window_defaults_to_the_last_day(world: World) -> None:
    before = timez.now_ms()
    fields = {"ids": METER, "metrics": "uptime"}
    ends = world.json("/flow/latest", fields)["range"]
    first, last = (datetime.fromisoformat(ends[name]) for name in ("from", "to"))
    assert last - first == timedelta(days=1)
    assert before <= timez.from_datetime(last) <= timez.now_ms()
    to = world.json("/flow/latest", {**fields, "to": "2026-03-09T00:00:00Z"})["range"]
    assert to == {"from": "2026-03-08T00:00:00.000Z", "to": "2026-03-09T00:00:00.000Z"}
    start = world.json("/flow/latest", {**fields, "from": "2026-03-09T00:00:00Z"})["range"]
    assert start["from"] == "2026-03-09T00:00:00.000Z"
    assert start["to"] >= ends["to"]


def test_the_window_cannot_start_before_the_first_instant(world: World) -> None:
    fields = {"ids": METER, "metrics": "uptime", "to": "0001-01-01T00:00:00Z"}
    assert world.json("/flow/latest", fields)["range"]["from"] == "0001-01-01T00:00:00.000Z"


@cases(
    ("ids", "owed"),
    [
        (f"{TWIN},{METER}", [TWIN, METER]),
        (f"{METER},{TWIN}", [METER, TWIN]),
        (f"M-1,{TWIN},net-m1,{METER.upper()},L/1", [METER, TWIN, LONE]),
        (f"O-1,net-o1,{OLD}", [OLD]),
        ("O-1,net-o1", []),
        (f"{FOREIGN},net-f1,no-such,\0,{METER}", [METER]),
        ("no-such", []),
    ],
)
def test_entries_keep_the_request_s_order_each_device_once(
    world: World, ids: str, owed: list[str]
) -> None:
    body = ask(world, ids, "lastSeen", DAY, DAY + DAY_MS)["data"]
    assert [entry["deviceId"] for entry in body] == owed


def test_of_two_events_at_one_instant_the_one_stored_last_counts(world: World) -> None:
    noon = DAY + 12 * HOUR
    (result,) = ask(world, TWIN, "lastDatapoint", noon, noon)["data"]
    assert result["lastDatapoint"]["flowRate"] == 2


@settings(deadline=None)
@given(
    start=st.integers(DAY - 2 * DAY_MS, DAY + 2 * DAY_MS),
    length=st.integers(0, 3 * DAY_MS),
    uptime=st.sampled_from(["1min", "5min", "10min", "1hour"]),
    id=st.sampled_from([METER, TWIN, LONE]),
)
def test_actual_never_exceeds_expected_and_is_the_datapoints_count(
    world: World, start: int, length: int, uptime: str, id: str
) -> None:
    reply = ask(world, id, "uptime", start, start + length, uptimeResolution=uptime)
    result = reply["data"][0]["uptime"]
    counted = world.json(
        f"/flow/datapoints/{id}",
        {"resolution": uptime, "count": "true", **reply["range"]},
    )
    assert result["actual"] == counted["count"] <= result["expected"] == reply["expectedBuckets"]
