"""The contents of messages, without a broker: network servers' uplinks, mappings, topics."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import ConfigurationError
from api.ingest import live_rows
from api.ingest.decode import Devices, Rejection
from api.ingest.mqtt import lorawan_mapping, topics
from api.ingest.mqtt.messages import Reader
from api.store.base import NewDevice, RegisterRow
from tests.ingest.mqtt.conftest import Site, eventually
from tests.store.fleet import NOON_MS
from tests.tables import cases

MAPPING = """
[[source]]
format = "chirpstack"
topic = "application/a1/device/+/event/up"
organization = "acme"

[[source]]
format = "things"
topic = "v3/meters@acme/devices/+/up"
organization = "acme"

[[source]]
format = "wmbusmeters"
topic = "wmbusmeters/+"
organization = "acme"

[model.multical21]
register = { path = "total_m3", unit = "m3" }
onboardTemperature = "external_temperature_c"

[model."wm-1"]
flowAmount = { path = "volume.delta", factor = 0.5 }
onboardTemperature = "temperatures.0"
quality = "battery"

[model."wm-2"]
networkRssi = "rssi"
flowRate = "flow"
"""
CHIRPSTACK = "application/a1/device/0101010101010101/event/up"
THINGS = "v3/meters@acme/devices/dev1/up"
DECODED = {"volume": {"delta": 7}, "temperatures": [21.5, 3], "battery": 80}


def chirpstack(**changed: Any) -> dict[str, Any]:
    """An uplink event in the form of ChirpStack v4's JSON."""
    return {
        "deduplicationId": "57433366-50a6-4dc2-8145-2df1bbc70d9e",
        "time": "2026-03-08T12:00:00.250331+00:00",
        "deviceInfo": {
            "tenantName": "acme",
            "applicationId": "a1",
            "deviceProfileName": "wm-1",
            "deviceName": "cellar",
            "devEui": "70b3d57ed0000001",
            "tags": {"site": "north"},
        },
        "devAddr": "00189440",
        "dr": 1,
        "fCnt": 4,
        "fPort": 1,
        "confirmed": False,
        "data": "qg==",
        "object": DECODED,
        "rxInfo": [
            {"gatewayId": "16c001f0", "uplinkId": 4217106255, "rssi": -106, "snr": 5.2},
            {"gatewayId": "16c001f1", "uplinkId": 12, "rssi": -87, "snr": 8.8},
        ],
        "txInfo": {"frequency": 868500000},
    } | changed


def things(**changed: Any) -> dict[str, Any]:
    """An uplink in the form of The Things Stack v3's JSON."""
    uplink = {
        "session_key_id": "AXA50tHUGUucuzS/bCGMNw==",
        "f_cnt": 1,
        "f_port": 1,
        "frm_payload": "gkHe",
        "decoded_payload": DECODED,
        "rx_metadata": [{"gateway_ids": {"gateway_id": "gtw1"}, "rssi": -35, "snr": 5}],
        "received_at": "2026-03-08T12:00:00.250589559Z",
    }
    return {
        "end_device_ids": {"device_id": "dev1", "dev_eui": "70B3D57ED0000001"},
        "correlation_ids": ["as:up:01E0WZGT6Y7657CPFPE5WEYDSQ"],
        "received_at": "2026-03-08T12:00:00.514773143Z",
        "version_ids": {"brand_id": "acme", "model_id": "wm-1"},
        "uplink_message": uplink | changed,
    }


def read(topic: str, message: object) -> Any:
    reader = Reader(lorawan_mapping.parse(_toml(MAPPING)))
    result = reader.read(topic, json.dumps(message).encode())
    assert result is not None
    [item] = result.items
    return item


def _toml(text: str) -> object:
    return tomllib.loads(text)


# --- Uplinks -------------------------------------------------------------------------------------


def test_an_uplink_of_chirpstack_has_its_time_and_strongest_gateway() -> None:
    assert read(CHIRPSTACK, chirpstack()) == {
        "device": "70b3d57ed0000001",
        "recordedAt": "2026-03-08T12:00:00.250331+00:00",
        "networkRssi": -87,
        "flowAmount": 3.5,
        "onboardTemperature": 21.5,
        "quality": 80,
    }


def test_an_uplink_of_the_things_stack_has_its_network_servers_time() -> None:
    assert read(THINGS, things()) == {
        "device": "70B3D57ED0000001",
        "recordedAt": "2026-03-08T12:00:00.250589559Z",
        "networkRssi": -35,
        "flowAmount": 3.5,
        "onboardTemperature": 21.5,
        "quality": 80,
    }


def test_a_telegram_of_wmbusmeters_has_a_register_with_its_unit() -> None:
    telegram = {
        "media": "water", "meter": "multical21", "name": "cellar", "id": "76348799",
        "total_m3": 6.408, "external_temperature_c": 23, "timestamp": "2026-03-08T12:00:22Z",
        "rssi_dbm": -47,
    }  # fmt: skip
    item = read("wmbusmeters/cellar", telegram)
    assert item == {
        "device": "76348799",
        "recordedAt": "2026-03-08T12:00:22Z",
        "networkRssi": -47,
        "register": 6.408,
        "registerUnit": "m3",
        "onboardTemperature": 23,
    }
    row = live_rows.decoded(item, Devices({"76348799": 7}), NOON_MS)
    assert row == RegisterRow(7, NOON_MS + 22_000, 6.408, "m3", None, None, -47.0, 23.0)


def test_a_devices_tag_overrides_the_model_of_its_profile() -> None:
    info = chirpstack()["deviceInfo"] | {"tags": {"model": "wm-2"}}
    item = read(CHIRPSTACK, chirpstack(deviceInfo=info, object={"flow": 2, "rssi": -50}))
    assert (item["flowRate"], item["networkRssi"]) == (2, -50)


@cases(
    ("topic", "message", "reason"),
    [
        (CHIRPSTACK, [], "not a JSON object"),
        (CHIRPSTACK, {}, "not an uplink"),
        (CHIRPSTACK, {"deviceInfo": 7}, "not an uplink"),
        (THINGS, {"end_device_ids": {"dev_eui": "70B3"}, "join_accept": {}}, "not an uplink"),
        (CHIRPSTACK, chirpstack(object=None), "no decoded object"),
        (THINGS, things(decoded_payload=None), "no decoded object"),
        (CHIRPSTACK, chirpstack(deviceInfo={"devEui": "aa", "deviceProfileName": "other"}),
         "no mapping for the model"),
        (CHIRPSTACK, chirpstack(object={"alarm": 1}), "no field that the model maps"),
        (CHIRPSTACK, chirpstack(object={"temperatures": []}), "no field that the model maps"),
        (CHIRPSTACK, chirpstack(object={"volume": [1]}), "no field that the model maps"),
    ],
)  # fmt: skip
def test_a_message_without_a_reading_has_its_reason(topic: str, message: Any, reason: str) -> None:
    item = read(topic, message)
    assert isinstance(item, Rejection)
    assert item.reason == reason


def test_uplinks_of_both_are_stored_by_a_real_broker(site: Site, tmp_path: Path) -> None:
    eui = {"networkUniqueIdentifier": "70B3D57ED0000001"}
    site.store.import_devices("acme", [NewDevice("S-1", eui)])
    file = tmp_path / "mapping.toml"
    file.write_text(MAPPING)
    with site.listening(WEIR_MQTT_MAPPING=str(file)):
        site.send(
            (CHIRPSTACK, json.dumps(chirpstack()).encode()),
            (THINGS, json.dumps(things(decoded_payload={"battery": 70})).encode()),
            (THINGS, json.dumps(things(decoded_payload={"battery": "low"})).encode()),
        )
        eventually(lambda: len(site.rows(1)) == 2)
        eventually(lambda: site.reasons() == {"quality has the wrong type": 1})
    assert [(row[0] - NOON_MS, row[3], row[4], row[6]) for row in site.rows(1)] == [
        (250, 3.5, 80.0, -87.0),
        (250, None, 70.0, -35.0),
    ]
    assert {refusal.source for refusal in site.store.refusals()} == {"mqtt things"}


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["deviceInfo", "devEui", "object", "rxInfo", "rssi", "uplink_message",
                         "end_device_ids", "dev_eui", "decoded_payload", "rx_metadata", "volume",
                         "delta", "tags", "version_ids", "model_id", "temperatures", "flowRate"]),
        inner, max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.sampled_from([CHIRPSTACK, THINGS, "weir/v1/acme/N-1/up"]))
def test_no_odd_message_stops_the_decoder(message: object, topic: str) -> None:
    reader = Reader(lorawan_mapping.parse(_toml(MAPPING)))
    assert reader.read(topic, json.dumps(message).encode()) is not None


@given(
    st.booleans(),
    st.sampled_from([[], ["volume"], ["volume", "delta"], ["battery"], ["temperatures"]]),
    JSON | st.integers(-(10**400), 10**400),
)
def test_no_odd_value_stops_the_decoder(ours: bool, path: list[str], value: object) -> None:
    decoded: Any = value
    for step in reversed(path):
        decoded = {step: decoded}
    messages = [{"rssi": value}]
    item = (
        read(CHIRPSTACK, chirpstack(object=decoded, rxInfo=messages))
        if ours
        else read(THINGS, things(decoded_payload=decoded, rx_metadata=messages))
    )
    if not isinstance(item, Rejection):
        assert live_rows.decoded(item, Devices({"70B3D57ED0000001": 1}), NOON_MS)


def test_an_overflowing_number_is_refused_as_not_finite() -> None:
    item = read(CHIRPSTACK, chirpstack(object={"volume": {"delta": 10**400}}))
    assert item["flowAmount"] == math.inf


# --- The mapping file ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("x = 1", "unknown: x"),
        ("[[source]]\nformat = 'lora'", "format must be one of chirpstack, things"),
        ("[[source]]\nformat = 'things'\ntopic = 'a/#/b'", "'a/#/b' isn't"),
        ("[[source]]\nformat = 'things'\ntopic = 'weir/v1/+/+/up'", "outside weir/v1"),
        ("[[source]]\nformat = 'things'\ntopic = '#'", "outside weir/v1"),
        ("[[source]]\nformat = 'things'\ntopic = 'a'", "must name its organization"),
        ("[[source]]\nformat='things'\ntopic='a'\norganization='o'\nmodel='m'", "unknown model: m"),
        ("[model.m]", "maps no field"),
        ("[model.m]\nflow = 'x'", "unknown: flow"),
        ("[model.m]\nflowRate = 'a..b'", "needs a path"),
        ("[model.m]\nflowRate = {path='a', factor='b'}", "factor must be a number"),
        ("[model.m]\nflowRate = {path='a', factor=nan}", "factor must be a number"),
        ("[model", "WEIR_MQTT_MAPPING"),
    ],
)  # fmt: skip
def test_an_error_in_the_mapping_stops_the_start_with_one_line(
    tmp_path: Path, text: str, fields: str
) -> None:
    file = tmp_path / "mapping.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        lorawan_mapping.load(str(file))
    assert fields in str(caught.value)
    assert str(caught.value).startswith("WEIR_MQTT_MAPPING")


def test_json_equals_toml_and_a_missing_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps(_toml(MAPPING)))
    assert lorawan_mapping.load(str(file)) == lorawan_mapping.parse(_toml(MAPPING))
    assert lorawan_mapping.load("") == lorawan_mapping.Mappings()
    with pytest.raises(ConfigurationError, match="No such file"):
        lorawan_mapping.load(str(tmp_path / "none.toml"))


def test_the_documented_mapping_is_valid() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "realtime.md").read_text("utf-8")
    shown = text.split("```toml\n")[1].split("```")[0]
    result = lorawan_mapping.parse(_toml(shown))
    assert [source.format for source in result.sources] == ["chirpstack", "things", "wmbusmeters"]


# --- Topics --------------------------------------------------------------------------------------


@cases(
    ("wanted", "topic", "fits"),
    [
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a/b/d", False),
        ("a/+", "a/b/c", False),
        ("a/+/c", "a/b", False),
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),
        ("+/b", "$SYS/b", False),
        ("a", "a", True),
    ],
)
def test_filters_match_as_in_brokers(wanted: str, topic: str, fits: bool) -> None:
    assert topics.matches(wanted, topic) is fits
