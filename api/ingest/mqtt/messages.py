"""Decodes one message of the broker to payloads of one organization, or a reason for refusal.
Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, cast

from api.catalog import UUID_FORM
from api.ingest.decode import DEVICE, NOT_JSON, Devices, Rejection
from api.ingest.json_lines import parse_payload
from api.ingest.mqtt.lorawan_mapping import Mappings, Source
from api.ingest.mqtt.lorawan_uplinks import payload_of
from api.ingest.mqtt.topics import PREFIX, UP_FILTER, matches

MAX_BYTES: Final = 1 << 20
MAX_READINGS: Final = 10_000  # bytes of one message

TOO_BIG: Final = "message too big"
TOO_MANY: Final = f"more than {MAX_READINGS:,} readings in a message"
NO_ORGANIZATION: Final = "unknown organization"
OTHER_DEVICE: Final = "device doesn't match the topic"
OTHER_TOPIC: Final = "topic that the key may not publish to"

Item = dict[str, Any] | Rejection
"""A payload that names its device, for `decode_json`, or why there is none."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A decoded message. ``organization_id`` is the topic's, whether it exists or not."""

    organization_id: str
    source: str
    items: list[Item] = field(default_factory=list[Item])


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the messages of every subscribed topic."""

    mappings: Mappings = field(default_factory=Mappings)

    @property
    def filters(self) -> tuple[str, ...]:
        return (UP_FILTER, *(source.topic for source in self.mappings.sources))

    def organization_id(self, topic: str) -> str | None:
        """Returns the organization of a topic; None for a topic without a subscription."""
        if topic.startswith(PREFIX):
            levels = topic.split("/")
            return levels[2] if len(levels) == 5 and levels[4] == "up" else None
        source = self._source(topic)
        return source.organization_id if source else None

    def read(self, topic: str, payload: bytes) -> Reading | None:
        """Returns None for a topic without a subscription, such as an old session's."""
        organization_id = self.organization_id(topic)
        if organization_id is None:
            return None
        source = None if topic.startswith(PREFIX) else self._source(topic)
        if source is None:
            return Reading(organization_id, "mqtt", _own(topic.split("/")[3], payload))
        item = _checked(payload) or payload_of(parse_payload(payload), source, self.mappings)
        return Reading(organization_id, f"mqtt {source.format}", [item])

    def _source(self, topic: str) -> Source | None:
        matching = (source for source in self.mappings.sources if matches(source.topic, topic))
        return next(matching, None)


def _checked(payload: bytes) -> Rejection | None:
    return Rejection(TOO_BIG, "") if len(payload) > MAX_BYTES else None


def _own(device: str, payload: bytes) -> list[Item]:
    """Reads an object or an array of objects. The topic names the device, so payloads needn't."""
    if len(payload) > MAX_BYTES:
        return [Rejection(TOO_BIG, device)]
    value = parse_payload(payload)
    if not isinstance(value, list):
        return [_named(value, device)]
    listed = cast("list[object]", value)
    if len(listed) > MAX_READINGS:
        return [Rejection(TOO_MANY, device)]
    return [_named(entry, device) for entry in listed]


def _named(value: object, device: str) -> Item:
    if not isinstance(value, dict):
        return Rejection(NOT_JSON, device)
    payload = cast("dict[str, Any]", value)
    if payload.setdefault(DEVICE, device) != device:
        return Rejection(OTHER_DEVICE, device)
    return payload


def spelled(devices: Devices, device: str) -> str:
    """Returns the device's identifier in the directory's spelling: network servers write an EUI in
    lower or upper case, each consistently."""
    if UUID_FORM.fullmatch(device):
        return device
    spellings = (device, device.upper(), device.lower())
    return next((one for one in spellings if devices.exactly(one) is not None), device)
