"""Announces devices to Home Assistant by its MQTT discovery, and publishes their state.

One retained message announces a device with its entities; another has its state. A device that is
deactivated or deleted, even while Weir was stopped, is removed: the announcements stored at the
broker show which devices were announced before.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

import orjson
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from api.catalog import BACKEND_VERSION
from api.domain.organization import units_of
from api.ingest.mqtt.broker import ConnectionState, connect, new_client
from api.ingest.mqtt.topics import PREFIX, availability, device_state
from api.insight.worker_thread import WorkerThread
from api.metering.status import State
from api.metering.units import LARGE, shown_unit
from api.settings import Settings
from api.store.base import Device, Grant, Scope, Status, StatusEntry, Store
from api.timez import HOUR_MS, day_start, local_ordinal, now_ms, zone_or_utc

STEP_S: Final = 10.0
WAITING_S: Final = 1.0  # seconds between checks of a connection that is down
LEAKS: Final = frozenset({"continuous-flow", "burst", "night-flow-step"})
_CHUNK: Final = 500
_IN_FLIGHT: Final = 1_000
_ONLINE, _OFFLINE = "online", "offline"

_log = logging.getLogger(__name__)
Message = tuple[str, bytes]


class Entity(NamedTuple):
    """What Home Assistant shows of a device. ``field``: of the state message. ``options``: named as
    in its documentation of the platform. ``unit``: of the stored value."""

    field: str
    name: str
    platform: str
    options: dict[str, Any]
    unit: str = ""


ENTITIES: Final = (
    Entity(
        "water",
        "Water",
        "sensor",
        {
            "device_class": "water",
            "state_class": "total_increasing",
            "suggested_display_precision": 1,
        },
        LARGE,
    ),
    Entity(
        "flow",
        "Flow",
        "sensor",
        {
            "device_class": "volume_flow_rate",
            "state_class": "measurement",
            "suggested_display_precision": 2,
        },
        "gal/min",
    ),
    Entity("leak", "Leak", "binary_sensor", {"device_class": "problem"}),
)


class Names(NamedTuple):
    """``prefix``: Home Assistant's. ``installation``: distinguishes several Weirs at one broker."""

    prefix: str
    installation: str

    @property
    def filter(self) -> str:
        """Returns the topic filter of all announcements, including those of others."""
        return f"{self.prefix}/device/+/config"

    def announcement(self, device_id: str) -> str:
        return f"{self.prefix}/device/{self.installation}_{device_id}/config"

    def device_id(self, topic: str) -> str | None:
        """Returns the device of an announcement by this installation; None for another's."""
        name = topic.removeprefix(f"{self.prefix}/device/").removesuffix("/config")
        installation, _, device_id = name.rpartition("_")
        return device_id if installation == self.installation else None


def announcement(device: Device, names: Names, site: str, units: str) -> Message:
    """Returns the message by which Home Assistant creates the device. ``site``: Weir's address, ""
    if unknown. ``units``: the organization's."""
    link = {"configuration_url": f"{site}/devices/{device.id}"} if site else {}
    topic = device_state(device.organization_id, device.id)
    payload = {
        "device": {
            "identifiers": [f"weir_{device.id}"],
            "name": device.label or device.serial_number,
            "serial_number": device.serial_number,
            **({"model": device.model} if device.model else {}),
            **link,
        },
        "origin": {"name": "Weir", "sw_version": BACKEND_VERSION},
        "availability": [
            {"topic": availability(names.installation)},
            {"topic": topic, "value_template": "{{ value_json.availability }}"},
        ],
        "availability_mode": "all",
        "state_topic": topic,
        "qos": 1,
        "components": {
            entity.field: {
                "platform": entity.platform,
                "unique_id": f"weir_{device.id}_{entity.field}",
                "name": entity.name,
                "value_template": f"{{{{ value_json.{entity.field} }}}}",
                **entity.options,
                **_measured_in(entity, units),
            }
            for entity in ENTITIES
        },
    }
    return names.announcement(device.id), orjson.dumps(payload)


def _measured_in(entity: Entity, units: str) -> dict[str, str]:
    name = shown_unit(entity.unit, units).name
    return {"unit_of_measurement": name} if name else {}


def state(entry: StatusEntry, water: float | None, units: str) -> Message:
    """``water``: gallons since the first reading. ``units``: as in the announcement. Unknown values
    are null."""
    device, status, findings = entry
    is_online = status is not None and status.state in (State.REPORTING, State.DEGRADED)
    flow = None if status is None else status.flow
    payload = {
        "availability": _ONLINE if is_online else _OFFLINE,
        "water": None if water is None else round(shown_unit(LARGE, units).shown(water), 3),
        "flow": None if flow is None else round(shown_unit("gal/min", units).shown(flow), 4),
        "leak": "ON" if LEAKS & set(findings) else "OFF",
    }
    return device_state(device.organization_id, device.id), orjson.dumps(payload)


class _Before(NamedTuple):
    """Gallons before the local day that begins at ``day_ms``, as of ``at_ms``. ``today``: those of
    that day then; ``updated_ms``: the device's last change."""

    day_ms: int
    gallons: float | None
    at_ms: int
    today: float
    updated_ms: int


class Volumes:
    """Gallons that devices have measured since their first reading. The sum up to today is updated
    once an hour, since late readings change it; at once for the first readings of a device, where
    today's volume falls (a late register moves water of a gap to an earlier day), and where the
    device has changed (a register's settings, an exchange)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._before: dict[int, _Before] = {}

    def total(self, device: Device, status: Status | None) -> float | None:
        if status is None:
            return None
        tz = zone_or_utc(device.time_zone)
        day_ms, at_ms = day_start(tz, local_ordinal(tz, status.as_of_ms)), now_ms()
        before = self._before.get(device.key)
        today = status.volume_today or 0.0
        if before is None or _is_outdated(before, device, day_ms, today, at_ms):
            gallons = self._sum(device, day_ms)
            before = _Before(day_ms, gallons, at_ms, today, device.updated_ms)
        elif before.gallons is None and status.seen_ms is not None:
            before = before._replace(gallons=self._sum(device, day_ms))
        self._before[device.key] = before._replace(today=today)
        parts = [part for part in (before.gallons, status.volume_today) if part is not None]
        return sum(parts) if parts else None

    def _sum(self, device: Device, day_ms: int) -> float | None:
        first_ms = self._store.first_hour(device.key)
        if first_ms is None or first_ms >= day_ms:
            return None
        return self._store.gallons_in(device, [(first_ms, day_ms - 1)])


def _is_outdated(before: _Before, device: Device, day_ms: int, today: float, at_ms: int) -> bool:
    return (
        before.day_ms != day_ms
        or at_ms - before.at_ms > HOUR_MS
        or today < before.today
        or before.updated_ms != device.updated_ms
    )


class _Announced(NamedTuple):
    device_id: str
    state_topic: str


def _state_topic(payload: bytes) -> str:
    """Returns the state topic of an announcement; "" if Weir didn't make it."""
    try:
        topic = orjson.loads(payload)["state_topic"]
    except (ValueError, LookupError, TypeError):
        return ""
    return topic if isinstance(topic, str) and topic.startswith(f"{PREFIX}/") else ""


class HomeAssistant(WorkerThread):
    """`start` returns at once; `stop` tells Home Assistant that Weir is offline."""

    name = "home-assistant"
    result = "devices of Home Assistant"

    def __init__(self, settings: Settings, store: Store) -> None:
        super().__init__()
        self._settings, self._store = settings, store
        installation = re.sub(r"[^A-Za-z0-9-]", "-", settings.mqtt_client_id)
        self._names = Names(settings.mqtt_home_assistant, installation)
        self._state = ConnectionState("devices to Home Assistant", settings, _log)
        self._client = new_client(settings, f"{settings.mqtt_client_id}-home-assistant")
        self._volumes = Volumes(store)
        self._published: dict[str, bytes] = {}  # by topic, since connecting
        self._announced: dict[str, _Announced] = {}  # at the broker, by topic
        self._lock = Lock()

    @property
    def problem(self) -> str:
        return self._state.problem

    def start(self) -> None:
        client = self._client
        client.max_inflight_messages_set(_IN_FLIGHT)
        client.will_set(availability(self._names.installation), _OFFLINE, qos=1, retain=True)
        client.on_connect = self._connected
        client.on_connect_fail = self._unreached
        client.on_disconnect = self._disconnected
        client.on_message = self._received
        connect(client, self._settings, session_s=0, receive_maximum=_IN_FLIGHT)
        super().start()

    def stop(self) -> None:
        super().stop()
        if self._state.is_up:
            gone = self._client.publish(availability(self._names.installation), _OFFLINE, 1, True)
            gone.wait_for_publish(WAITING_S)
        client = self._client
        client.disconnect()
        client.loop_stop()
        # No reference cycle: paho closes its last sockets when it is collected.
        client.on_connect = client.on_connect_fail = None
        client.on_disconnect = client.on_message = None

    def step(self) -> float:
        """Publishes what has changed since the last step."""
        if not self._state.is_up:
            return WAITING_S
        current: set[str] = set()
        for entry, units in self._entries():
            total = self._volumes.total(entry.device, entry.status)
            current.add(entry.device.id)
            self._publish(
                *announcement(entry.device, self._names, self._settings.public_url, units)
            )
            self._publish(*state(entry, total, units))
        self._take_back(current)
        return STEP_S

    def _entries(self) -> Iterator[tuple[StatusEntry, str]]:
        """Yields the status of every active device of every active organization, with its units."""
        for organization in self._store.organizations():
            if not organization.active:
                continue
            units = units_of(self._store, organization.id)
            scope = Scope(organization.id, Grant(everything=True))
            keys = self._store.device_keys(organization.id)
            for start in range(0, len(keys), _CHUNK):
                devices = self._store.devices_by_key(keys[start : start + _CHUNK])
                active: Sequence[Device] = [device for device in devices if device.active]
                for entry in self._store.statuses_of(scope, active):
                    yield entry, units

    def _publish(self, topic: str, payload: bytes) -> None:
        if self._published.get(topic) == payload:
            return
        self._published[topic] = payload
        self._client.publish(topic, payload, qos=1, retain=True)

    def _take_back(self, current: set[str]) -> None:
        """Makes Home Assistant remove the devices that are no longer active."""
        with self._lock:
            gone = {t: it for t, it in self._announced.items() if it.device_id not in current}
            for topic in gone:
                del self._announced[topic]
        for topic, announced in gone.items():
            for retained in (topic, announced.state_topic):
                self._published.pop(retained, None)
                self._client.publish(retained, b"", qos=1, retain=True)

    # --- paho's thread ---

    def _connected(
        self, client: Client, _: Any, __: ConnectFlags, reason: ReasonCode, ___: Properties | None
    ) -> None:
        if reason.is_failure:
            self._state.down(f"refused ({reason})")
            return
        self._published.clear()  # the broker may have lost the announcements
        client.subscribe(self._names.filter, qos=1)
        client.publish(availability(self._names.installation), _ONLINE, qos=1, retain=True)
        self._state.up()

    def _unreached(self, _: Client, __: Any) -> None:
        self._state.down("can't be reached")

    def _disconnected(
        self, _: Client, __: Any, ___: DisconnectFlags, reason: ReasonCode, ____: Properties | None
    ) -> None:
        if not self._stopping.is_set():
            self._state.lost(reason)

    def _received(self, _: Client, __: Any, message: MQTTMessage) -> None:
        """Handles an announcement, including Weir's own: those stored at the broker are what may
        need to be removed."""
        device_id = self._names.device_id(message.topic)
        if device_id is None:
            return
        with self._lock:
            if message.payload:
                state_topic = _state_topic(bytes(message.payload))
                if state_topic:
                    self._announced[message.topic] = _Announced(device_id, state_topic)
            else:
                self._announced.pop(message.topic, None)
