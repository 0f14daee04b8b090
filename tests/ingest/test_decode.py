"""Which rows are readings and which are refused, in texts and in JSON."""

from __future__ import annotations

from typing import Any

import pytest

from api.catalog import DAY_MS, METRICS
from api.ingest.decode import Devices, Rejection, decode_json, decode_text
from api.store.base import RegisterRow
from tests.tables import cases

UUID = "1f8730a9-5d67-4895-9215-6e247087ea00"
DEVICES = Devices({UUID: 7, "FM-1": 7, "70B3D57ED0051A2C": 7, "FM-2": 8})
NOW = 1_700_000_000_000  # 2023-11-14T22:13:20Z
T = "2023-11-14T10:00:00Z"
T_MS = 1_699_956_000_000


def text(**fields: str) -> object:
    return decode_text({"device": "FM-1", "recorded_at": T, **fields}, DEVICES, NOW)


def json(payload: object) -> object:
    if isinstance(payload, dict):
        payload = {"device": "FM-1", "recorded_at": T, **payload}
    return decode_json(payload, DEVICES, NOW)


def reading(at: int = T_MS, key: int = 7, **values: float) -> tuple[Any, ...]:
    return (key, at, *(values.get(metric.name) for metric in METRICS))


@cases(
    ("written", "value"),
    [
        ("1.5", 1.5),
        ("-65650", -65650.0),
        ("+2", 2.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("00012", 12.0),
        ("0.132086026179", 0.132086026179),
        ("1e308", 1e308),
    ],
)
def test_any_finite_number_is_taken_as_written(written: str, value: float) -> None:
    assert text(flow_rate=written) == reading(flow_rate=value)


@cases(
    ("written", "reason"),
    [
        ("nan", "flow_rate is not a finite number"),
        ("-Infinity", "flow_rate is not a finite number"),
        ("INF", "flow_rate is not a finite number"),
        ("1e999", "flow_rate is not a finite number"),
        ("1_000", "flow_rate is not a number"),
        ("1,5", "flow_rate is not a number"),
        ("0x10", "flow_rate is not a number"),
        ("٣", "flow_rate is not a number"),
        ("1-2", "flow_rate is not a number"),
        ("e5", "flow_rate is not a number"),
        ("null", "flow_rate is not a number"),
        ("true", "flow_rate is not a number"),
    ],
)
def test_other_texts_are_refused_as_numbers(written: str, reason: str) -> None:
    assert text(flow_rate=written) == Rejection(reason, "FM-1")


@cases(
    ("written", "at_ms"),
    [
        ("2023-11-14T10:00:00Z", T_MS),
        ("2023-11-14T10:00:00", T_MS),
        ("2023-11-14 10:00:00", T_MS),
        ("2023-11-14T11:00:00+01:00", T_MS),
        ("2023-11-14T10:00:00.250Z", T_MS + 250),
        ("2023-11-14T10:00:00.2509999Z", T_MS + 250),
        ("2023-11-14", T_MS - 10 * 3_600_000),
        ("2000-01-01T00:00:00Z", 946_684_800_000),
        ("2023-11-15T22:13:20Z", NOW + DAY_MS),
    ],
)
def test_instants_without_an_offset_are_utc(written: str, at_ms: int) -> None:
    assert text(recorded_at=written, quality="1") == reading(at_ms, quality=1.0)


@cases(
    ("written", "reason"),
    [
        ("", "no valid timestamp"),
        ("yesterday", "no valid timestamp"),
        ("1699956000", "no valid timestamp"),
        ("2023-02-29T10:00:00Z", "no valid timestamp"),
        ("2023-11-14T25:00:00Z", "no valid timestamp"),
        ("1999-12-31T23:59:59.999Z", "before 2000-01-01"),
        ("2023-11-15T22:13:20.001Z", "more than 24 h in the future"),
    ],
)
def test_other_instants_are_refused(written: str, reason: str) -> None:
    assert text(recorded_at=written, quality="1") == Rejection(reason, "FM-1")


@cases(
    ("identifier", "key"),
    [
        (UUID, 7),
        (UUID.upper(), 7),
        ("FM-1", 7),
        (" FM-1 ", 7),
        ("70B3D57ED0051A2C", 7),
        ("FM-2", 8),
        ("fm-1", None),
        ("FM-3", None),
        ("70b3d57ed0051a2c", None),
    ],
)
def test_a_device_is_named_by_any_of_its_identifiers(identifier: str, key: int | None) -> None:
    result = text(device=identifier, quality="1")
    if key is None:
        assert result == Rejection("unknown device", identifier)
    else:
        assert result == reading(key=key, quality=1.0)


def test_a_uuid_counts_before_an_equal_serial_number() -> None:
    devices = Devices({UUID: 1, UUID.upper(): 2})
    assert (devices.find(UUID.upper()), devices.exactly(UUID.upper())) == (1, 1)


def test_every_quantity_has_its_column_and_field_name() -> None:
    columns = {metric.name: float(n) for n, metric in enumerate(METRICS)}
    fields = {metric.field: float(n) for n, metric in enumerate(METRICS)}
    assert json(columns) == json(fields) == reading(**columns)


def test_the_instant_has_both_names() -> None:
    payload = {"device": "FM-1", "recordedAt": T, "flowRate": 1}
    assert decode_json(payload, DEVICES, NOW) == reading(flow_rate=1.0)


@cases(
    ("payload", "reason"),
    [
        (None, "not a JSON object"),
        ([], "not a JSON object"),
        ("text", "not a JSON object"),
        ({}, "no measured field"),
        ({"flow_rate": None}, "no measured field"),
        ({"colour": 5}, "no measured field"),
        ({"flow_rate": "1"}, "flow_rate has the wrong type"),
        ({"flow_rate": True}, "flow_rate has the wrong type"),
        ({"flow_rate": [1]}, "flow_rate has the wrong type"),
        ({"flow_rate": ""}, "flow_rate has the wrong type"),
        ({"flow_rate": float("nan")}, "flow_rate is not a finite number"),
        ({"flow_rate": 10**400}, "flow_rate is not a finite number"),
        ({"flow_rate": 1, "flowRate": 1}, "flow_rate is given twice"),
        ({"flow_rate": 1, "recorded_at": 1_699_956_000_000}, "no valid timestamp"),
        ({"flow_rate": 1, "recorded_at": None}, "no valid timestamp"),
        ({"flow_rate": 1, "device": "nobody's"}, "unknown device"),
        ({"flow_rate": 1, "device": None}, "no device"),
        ({"flow_rate": 1, "device": ""}, "no device"),
        ({"flow_rate": 1, "device": 12}, "device has the wrong type"),
    ],
)
def test_json_of_another_kind_is_refused_with_its_reason(payload: object, reason: str) -> None:
    result = json(payload)
    assert isinstance(result, Rejection)
    assert result.reason == reason


@pytest.mark.parametrize("nothing", [{"flow_rate": ""}, {"flow_rate": "  "}, {}])
def test_a_row_without_a_value_is_not_a_reading(nothing: dict[str, str]) -> None:
    assert text(**nothing) == Rejection("no measured field", "FM-1")


@cases(
    ("fields", "owed"),
    [
        ({"register": 12}, RegisterRow(7, T_MS, 12.0)),
        ({"register": 1.5, "registerUnit": "M3"}, RegisterRow(7, T_MS, 1.5, "m3")),
        (
            {"register": 1, "quality": 80, "flowRate": 3},  # which is derived
            RegisterRow(7, T_MS, 1.0, quality=80.0),
        ),
        ({"register": -0.0}, RegisterRow(7, T_MS, 0.0)),
        (
            {"register": -0.5, "registerUnit": "m3"},
            Rejection("register is negative, and a register counts up from 0", "FM-1"),
        ),
        ({"register": 1e16}, Rejection("register is beyond 1,000,000,000,000,000", "FM-1")),
        ({"register": "12"}, Rejection("register has the wrong type", "FM-1")),
        (
            {"register": 1, "registerUnit": "barrel"},
            Rejection("register_unit is not a unit of registers", "FM-1"),
        ),
        ({"registerUnit": "m3"}, Rejection("no measured field", "FM-1")),
    ],
)
def test_a_register_is_read_with_its_other_values(
    fields: dict[str, object], owed: RegisterRow | Rejection
) -> None:
    assert decode_json({"device": "FM-1", "recordedAt": T, **fields}, DEVICES, NOW) == owed
