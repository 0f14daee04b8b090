"""Announcements to Home Assistant: each device, its measurements, and its removal.

The models below are the options of Home Assistant's documentation (device discovery payload, MQTT
sensor and binary sensor, availability) as its release 2026.11 checks them; an unknown one fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, Literal

import jinja2
import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from api.ingest.mqtt import home_assistant
from api.ingest.mqtt.home_assistant import HomeAssistant, Names, Volumes, announcement, state
from api.insight.status_projection import Projection
from api.store.base import Device, NewDevice, RegisterRow, StatusEntry, Store
from api.timez import DAY_MS, HOUR_MS, now_ms
from tests.ingest.mqtt.conftest import Site, eventually
from tests.ingest.mqtt.test_publisher import hearing
from tests.store.fleet import everything, reading

NAMES = Names("homeassistant", "weir")
TOPIC = r"homeassistant/device/[a-zA-Z0-9_-]+/config"  # Home Assistant's TOPIC_MATCHER

Text = Annotated[str, Field(min_length=1)]
Topic = Annotated[str, Field(pattern=r"^[^+#]{1,200}$")]
Template = Annotated[str, Field(pattern=r"^\{\{ value_json\.\w+ \}\}$")]


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DeviceInfo(Options):
    identifiers: Annotated[list[Text], Field(min_length=1)]
    name: Text | None = None
    serial_number: Text | None = None
    manufacturer: Text | None = None
    model: Text | None = None
    sw_version: Text | None = None
    configuration_url: Annotated[str, Field(pattern=r"^(https?|homeassistant)://")] | None = None


class Origin(Options):
    name: Text
    sw_version: Text | None = None
    support_url: Text | None = None


class Availability(Options):
    topic: Topic
    payload_available: Text = "online"
    payload_not_available: Text = "offline"
    value_template: Template | None = None


class Entity(Options):
    unique_id: Text
    name: Text | None = None
    value_template: Template
    entity_category: Literal["diagnostic"] | None = None


VOLUMES = Literal["L", "gal", "m³", "ft³", "CCF", "MCF", "mL", "fl. oz."]
FLOWS = Literal["m³/h", "m³/min", "m³/s", "ft³/min", "L/h", "L/min", "L/s", "gal/min", "gal/h"]


class Water(Entity):
    platform: Literal["sensor"]
    device_class: Literal["water"]
    state_class: Literal["total", "total_increasing"]  # the only class allowed for water
    unit_of_measurement: VOLUMES
    suggested_display_precision: Annotated[int, Field(ge=0)] | None = None


class Flow(Entity):
    platform: Literal["sensor"]
    device_class: Literal["volume_flow_rate"]
    state_class: Literal["measurement"]
    unit_of_measurement: FLOWS
    suggested_display_precision: Annotated[int, Field(ge=0)] | None = None


class Binary(Entity):
    platform: Literal["binary_sensor"]
    device_class: Literal["problem", "moisture"]
    payload_on: Text = "ON"
    payload_off: Text = "OFF"


class Discovery(Options):
    device: DeviceInfo
    origin: Origin
    availability: list[Availability]
    availability_mode: Literal["all", "any", "latest"]
    state_topic: Topic
    qos: Literal[0, 1, 2]
    components: dict[Annotated[str, Field(pattern=r"^\w+$")], Water | Flow | Binary]


@pytest.fixture
def device(sqlite_store: Store) -> Device:
    sqlite_store.create_organization("Acme", organization_id="acme")
    sqlite_store.import_devices("acme", [NewDevice("S-1")])
    [made] = sqlite_store.resolve(everything("acme"), ["S-1"])
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("changes", "site", "units", "units_shown"),
    [
        ({}, "", "us", ("gal", "gal/min")),
        ({"label": ""}, "https://weir.example", "us", ("gal", "gal/min")),
        ({"label": "Kitchen “west” \U0001f6b0", "model": "wm-1"}, "http://10.0.0.7:8050/weir",
         "metric", ("m³", "L/min")),
    ],
)  # fmt: skip
def test_an_announcement_follows_home_assistants_documentation(
    device: Device, changes: dict[str, Any], site: str, units: str, units_shown: tuple[str, str]
) -> None:
    topic, payload = announcement(replace(device, **changes), NAMES, site, units)
    assert re.fullmatch(TOPIC, topic)
    assert NAMES.device_id(topic) == device.id
    result = TypeAdapter(Discovery).validate_json(payload)
    assert result.device.name == changes.get("label", device.label) or device.serial_number
    assert {name: one.unique_id for name, one in result.components.items()} == {
        name: f"weir_{device.id}_{name}" for name in ("water", "flow", "leak")
    }
    entities = {name: one.model_dump() for name, one in result.components.items()}
    assert entities["water"]["state_class"] == "total_increasing"
    assert tuple(entities[n]["unit_of_measurement"] for n in ("water", "flow")) == units_shown


def _status(store: Store, device: Device, **changes: Any) -> Any:
    Projection(store).all_due()
    status = store.status_of(everything("acme"), device).status
    assert status is not None
    return replace(status, **changes)


def _shown(entry: StatusEntry, water: float | None, units: str = "us") -> dict[str, str]:
    """Each entity's state, by Home Assistant's own templates."""
    _, payload = state(entry, water, units)
    _, announced = announcement(entry.device, NAMES, "", units)
    discovery = json.loads(announced)
    templates = {name: one["value_template"] for name, one in discovery["components"].items()}
    templates["available"] = discovery["availability"][1]["value_template"]
    variables = {"value_json": json.loads(payload)}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    return {name: environment.from_string(t).render(variables) for name, t in templates.items()}


@pytest.mark.parametrize(
    ("state_name", "flow", "findings", "water", "units", "expected"),
    [
        ("reporting", 1.23456, (), 12.5, "us", ("12.5", "1.2346", "OFF", "online")),
        ("degraded", 0.0, ("silent",), 0.0, "us", ("0.0", "0.0", "OFF", "online")),
        ("reporting", 2.0, ("continuous-flow",), 1 / 3, "us", ("0.333", "2.0", "ON", "online")),
        ("silent", None, ("burst",), 7.0, "us", ("7.0", "None", "ON", "offline")),  # None: unknown
        ("no-data", None, (), None, "us", ("None", "None", "OFF", "offline")),
        ("reporting", 2.0, (), 1000.0, "metric", ("3.785", "7.5708", "OFF", "online")),
    ],
)
def test_the_state_is_what_the_templates_read(
    sqlite_store: Store, device: Device, state_name: str, flow: float | None,
    findings: tuple[str, ...], water: float | None, units: str, expected: tuple[str, ...],
) -> None:  # fmt: skip
    status = _status(sqlite_store, device, state=state_name, flow=flow)
    shown = _shown(StatusEntry(device, status, findings), water, units)
    assert tuple(shown[name] for name in ("water", "flow", "leak", "available")) == expected


def test_a_new_devices_first_readings_count_at_once_also_those_of_earlier_days(
    sqlite_store: Store, device: Device
) -> None:
    volumes = Volumes(sqlite_store)
    assert volumes.total(device, _status(sqlite_store, device)) is None
    sqlite_store.write([reading(device, now_ms() - 3 * 86_400_000, flow_amount=10.0)])
    assert volumes.total(device, _status(sqlite_store, device)) == 10.0


def test_water_that_moves_to_an_earlier_day_is_never_missing(
    sqlite_store: Store, device: Device
) -> None:
    """A register's gap over midnight, what a late register changes in it, and the settings."""
    volumes, midnight = Volumes(sqlite_store), now_ms() // DAY_MS * DAY_MS
    totals = list[float | None]()

    def counted(hours: float, register: float) -> None:
        at_ms = midnight + round(hours * HOUR_MS)
        sqlite_store.write([], registers=[RegisterRow(device.key, at_ms, register)])
        totals.append(volumes.total(device, _status(sqlite_store, device)))

    counted(-20, 0.0)
    counted(0.2, 100.0)
    counted(-1, 99.5)  # more of it flowed yesterday than an even spread says
    assert totals[1:] == [100.0, 100.0]
    at_end = NewDevice("S-1", {"config": {"registerGap": "end", "registerUnit": "l"}})
    sqlite_store.import_devices("acme", [at_end])
    [changed] = sqlite_store.resolve(everything("acme"), ["S-1"])
    assert changed is not None
    total = volumes.total(changed, _status(sqlite_store, changed))
    assert total == pytest.approx(100 / 3.785411784)


def test_a_device_without_a_status_is_unknown_and_offline(device: Device) -> None:
    shown = _shown(StatusEntry(device, None, ()), None)
    assert shown == {"water": "None", "flow": "None", "leak": "OFF", "available": "offline"}


# --- At a broker ---------------------------------------------------------------------------------


@contextmanager
def announcing(site: Site, **more: str) -> Iterator[HomeAssistant]:
    settings = site.settings(WEIR_MQTT_HOME_ASSISTANT="homeassistant", **more)
    thread = HomeAssistant(settings, site.store)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


def test_devices_are_announced_changed_and_removed_also_while_weir_is_stopped(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_assistant, "STEP_S", 0.05)
    first, second = site.devices
    at_ms = now_ms()
    site.store.write([
        reading(first, at_ms - 3 * 86_400_000, flow_amount=10.0),
        reading(first, at_ms - 60_000, flow_rate=2.0, flow_amount=0.5),
    ])  # fmt: skip
    Projection(site.store).all_due()
    now: dict[str, bytes] = {}
    with hearing(site.broker, "#") as messages:

        def retained() -> dict[str, bytes]:
            now.update(messages)
            return {topic: payload for topic, payload in now.items() if payload}

        def shows(*wanted: Device) -> bool:
            topics = {NAMES.announcement(one.id) for one in wanted}
            return {t for t in retained() if t.startswith("homeassistant/")} == topics

        with announcing(site):
            eventually(lambda: shows(first, second))
            place = f"weir/v1/acme/{first.id}/state"
            eventually(lambda: place in retained())
            assert json.loads(now[place])["water"] == 10.5
            assert now["weir/v1/weir/availability"] == b"online"
            site.store.write([reading(first, now_ms(), flow_rate=4.0, flow_amount=1.0)])
            Projection(site.store).all_due()
            eventually(lambda: json.loads(retained()[place])["water"] == 11.5)
            site.store.set_device_active(second, False, ())
            eventually(lambda: shows(first))
            eventually(lambda: f"weir/v1/acme/{second.id}/state" not in retained())
        eventually(lambda: retained()["weir/v1/weir/availability"] == b"offline")
        with announcing(site, WEIR_MQTT_CLIENT_ID="other"):
            other = Names("homeassistant", "other").announcement(first.id)
            eventually(lambda: other in retained())
        site.store.delete_device(first, ())
        with announcing(site):
            eventually(lambda: NAMES.announcement(first.id) not in retained())
            assert other in retained()  # of another installation
