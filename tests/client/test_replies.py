"""Replies of other servers of the interface: what may be missing, what may be added, what is
invalid."""

from __future__ import annotations

from typing import Any

import pytest

from api.catalog import FLOW_RATE, RAW
from api.client import replies
from api.errors import UnexpectedAnswer
from tests.tables import cases

DEVICE = {
    "id": "9f0c0000-0000-4000-8000-000000000001",
    "category": "EndDevice",
    "serialNumber": "FM-1",
    "created": "2026-01-01T00:00:00Z",
    "updated": "2026-01-01T00:00:00Z",
    "label": "Kitchen",
    "installedOn": "2026-01-02T00:00:00+01:00",
    "installed": True,
    "costPerGallon": {},
    "alertsActive": False,
    "kFactor": {},
    "deviceTimeZone": "Europe/Rome",
    "model": "FX",
    "networkUniqueIdentifier": "net-1",
}


def test_a_device_with_the_required_fields_alone() -> None:
    (device,) = replies.device_page({"data": [DEVICE], "total": 7.0}).devices
    assert device.installed_on_ms == 1_767_308_400_000
    assert device.config == {}
    assert device.reporting_interval_s is None


def test_a_server_without_paging_replies_with_an_array() -> None:
    page = replies.device_page([DEVICE, {**DEVICE, "future": [1, 2]}])
    assert page.total == 2


@cases(
    ("field", "value", "attribute", "read"),
    [
        ("label", "", "label", "FM-1"),
        ("label", None, "label", "FM-1"),
        ("deviceTimeZone", None, "time_zone", "UTC"),
        ("installedOn", "yesterday", "installed_on_ms", None),
        ("config", None, "config", {}),
        ("config", {"reportingInterval": 900}, "reporting_interval_s", 900),
        ("config", {"reportingInterval": "15 min"}, "reporting_interval_s", None),
        ("config", {"reportingInterval": 0}, "reporting_interval_s", None),
        ("config", {"reportingInterval": True}, "reporting_interval_s", None),
        ("costPerGallon", 3, "cost_per_gallon", {}),
    ],
)
def test_odd_fields_of_a_device_are_read_leniently(
    field: str, value: Any, attribute: str, read: Any
) -> None:
    (device,) = replies.device_page([{**DEVICE, field: value}]).devices
    assert getattr(device, attribute) == read


def test_row_objects_in_any_order_with_any_columns() -> None:
    body = {
        "resolution": "1hour",
        "data": [
            {"bucket_1hour": "2026-03-08T06:00:00Z", "avg_flow_rate": 2, "p95_flow_rate": 9.5},
            {"bucket_1hour": "2026-03-08T00:00:00-05:00", "avg_flow_rate": None, "note": "first"},
        ],
    }
    series = replies.series(body)
    assert list(series.times_ms) == [1_772_946_000_000, 1_772_949_600_000]
    assert series.values("avg_flow_rate") == [None, 2]
    assert series.columns["p95_flow_rate"] == [None, 9.5]
    assert series.values("max_flow_rate") == [None, None]
    assert (series.count, series.truncated, series.timezone) == (None, False, None)


def test_an_empty_reply_is_an_empty_series() -> None:
    series = replies.series({"resolution": "raw", "data": [], "count": 0, "truncated": False})
    assert len(series) == 0
    assert series.resolution is RAW
    assert series.values("flow_rate") == []


def test_the_same_instant_may_occur_twice() -> None:
    rows = [{"recorded_at": "2026-03-08T00:00:00.120Z", "flow_rate": v} for v in (3, 1)]
    series = replies.series({"resolution": "raw", "data": rows})
    assert series.values("flow_rate") == [3, 1]


def test_latest_with_its_nulls() -> None:
    body = {
        "range": {"from": "2026-03-08T00:00:00Z", "to": "2026-03-09T00:00:00Z"},
        "qualityResolution": None,
        "uptimeResolution": None,
        "expectedBuckets": 0,
        "data": [
            {
                "deviceId": "d",
                "serialNumber": "s",
                "networkUniqueIdentifier": "n",
                "lastSeen": None,
                "quality": {"min": None, "max": None},
                "lastDatapoint": None,
            },
            {
                "deviceId": "e",
                "serialNumber": "t",
                "lastDatapoint": {"recordedAt": "2026-03-08T12:00:00Z", "flowRate": 1.5},
            },
        ],
    }
    never, seen = replies.latest(body).entries
    assert never.last_seen_ms is never.quality_max is never.last_datapoint_ms is None
    assert seen.last_seen_ms == seen.last_datapoint_ms == 1_772_971_200_000
    assert seen.last_datapoint[FLOW_RATE] == 1.5


SERIES = {"resolution": "raw", "data": [{"recorded_at": "2026-03-08T00:00:00Z", "flow_rate": 1}]}


@cases(
    ("parse", "body", "names"),
    [
        (replies.series, [], "answer"),
        (replies.series, {**SERIES, "resolution": "2min"}, "2min"),
        (replies.series, {**SERIES, "resolution": None}, "resolution"),
        (replies.series, {**SERIES, "data": {}}, "data"),
        (replies.series, {**SERIES, "data": [1]}, "data"),
        (replies.series, {**SERIES, "data": [{"flow_rate": 1}]}, "recorded_at"),
        (replies.series, {**SERIES, "data": [{"recorded_at": "today"}]}, "recorded_at"),
        (replies.series, {**SERIES, "data": [{"recorded_at": None}]}, "recorded_at"),
        (
            replies.series,
            {**SERIES, "data": [{"recorded_at": "2026-03-08", "flow_rate": "12"}]},
            "flow_rate",
        ),
        (
            replies.series,
            {"resolution": "raw", "columns": {"recorded_at": [0, 1], "flow_rate": [1.0]}},
            "flow_rate",
        ),
        (replies.device_page, {"data": []}, "total"),
        (replies.device_page, [{**DEVICE, "id": 3}], "id"),
        (replies.device_page, [None], "device"),
        (replies.organizations, {"id": "x"}, "answer"),
        (replies.organizations, [{"id": "x"}], "name"),
        (replies.latest, {"data": []}, "range"),
        (replies.latest, {"range": {"from": "2026-03-08"}, "data": []}, "to"),
        (replies.count, {"resolution": "raw"}, "count"),
        (replies.count, {"count": True}, "count"),
    ],
)
def test_an_invalid_reply_is_named(parse: Any, body: Any, names: str) -> None:
    with pytest.raises(UnexpectedAnswer, match=names):
        parse(body)
