"""Converts uplinks of ChirpStack v4, The Things Stack v3 and wmbusmeters to Weir's payloads. Pure.

The first two deliver a frame in JSON: an object decoded by the network server's codec, with radio
metadata. A frame's time is when the network server received it. wmbusmeters delivers one flat
object.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from api.catalog import NETWORK_RSSI
from api.ingest.decode import DEVICE, NOT_JSON, REGISTER, Rejection
from api.ingest.mqtt.lorawan_mapping import Format, Mappings, Place, Source

NOT_AN_UPLINK: Final = "not an uplink"
NO_OBJECT: Final = "no decoded object"
NO_MODEL: Final = "no mapping for the model"
NOTHING_MAPPED: Final = "no field that the model maps"

_INSTANT: Final = "recordedAt"
_Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """The common part of both formats. ``decoded`` None: the server has no codec for the device."""

    device: str
    model: str
    recorded_at: str | None
    decoded: _Table | None
    rssi: Sequence[Any]


def payload_of(message: object, source: Source, mappings: Mappings) -> _Table | Rejection:
    """Returns a payload with LatestDatapoint's names. The strongest gateway's RSSI becomes
    networkRssi, unless the model maps that itself."""
    if not isinstance(message, dict):
        return Rejection(NOT_JSON, "")
    frame = _FRAMES[source.format](cast("_Table", message))
    if not frame.device:
        return Rejection(NOT_AN_UPLINK, "")
    if frame.decoded is None:
        return Rejection(NO_OBJECT, frame.device)
    model = mappings.models.get(source.model or frame.model)
    if model is None:
        return Rejection(NO_MODEL, frame.device)
    measured = {field: _value(frame.decoded, place) for field, place in model.items()}
    if all(value is None for value in measured.values()):
        return Rejection(NOTHING_MAPPED, frame.device)
    if REGISTER in model and model[REGISTER].unit:
        measured["registerUnit"] = model[REGISTER].unit
    radio = {NETWORK_RSSI.field: _strongest(frame.rssi)}
    return {DEVICE: frame.device, _INSTANT: frame.recorded_at, **radio, **measured}


def _chirpstack(message: _Table) -> Frame:
    """``event/up`` in JSON: the model is the device profile's name, or the device's tag "model"."""
    info = _table(message.get("deviceInfo"))
    gateways = _tables(message.get("rxInfo"))
    model = _table(info.get("tags")).get("model") or info.get("deviceProfileName")
    decoded = message.get("object")
    return Frame(
        device=_text(info.get("devEui")),
        model=_text(model),
        recorded_at=message.get("time"),
        decoded=cast("_Table", decoded) if isinstance(decoded, dict) else None,
        rssi=[gateway.get("rssi") for gateway in gateways],
    )


def _things(message: _Table) -> Frame:
    """``…/up`` of the Application Server: the model is the one of the device repository."""
    uplink = _table(message.get("uplink_message"))
    ids = _table(message.get("end_device_ids"))
    gateways = _tables(uplink.get("rx_metadata"))
    versions = _table(message.get("version_ids") or uplink.get("version_ids"))
    decoded = uplink.get("decoded_payload")
    return Frame(
        device=_text(ids.get("dev_eui")) if uplink else "",
        model=_text(versions.get("model_id")),
        recorded_at=uplink.get("received_at") or message.get("received_at"),
        decoded=cast("_Table", decoded) if isinstance(decoded, dict) else None,
        rssi=[gateway.get("rssi") for gateway in gateways],
    )


def _wmbusmeters(message: _Table) -> Frame:
    """One flat object per telegram: the model is the driver's name."""
    return Frame(
        device=_text(message.get("id")),
        model=_text(message.get("meter")),
        recorded_at=message.get("timestamp"),
        decoded=message,
        rssi=[message.get("rssi_dbm")],
    )


_FRAMES: Final[Mapping[Format, Any]] = {
    "chirpstack": _chirpstack,
    "things": _things,
    "wmbusmeters": _wmbusmeters,
}


def _value(decoded: _Table, place: Place) -> Any:
    """Returns None if the field is missing. A value that isn't a number is kept, to be refused
    later."""
    value: Any = decoded
    for step in place.path:
        if isinstance(value, dict):
            value = cast("_Table", value).get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit():
            listed = cast("list[Any]", value)
            value = listed[int(step)] if int(step) < len(listed) else None
        else:
            return None
    return _scaled(value, place.factor) if _is_number(value) else value


def _scaled(value: float, factor: float) -> float:
    if factor == 1.0:
        return value
    try:
        return value * factor
    except OverflowError:  # an integer larger than any float: refused as not finite
        return math.inf


def _strongest(rssi: Sequence[Any]) -> float | None:
    numbers: list[float] = [value for value in rssi if _is_number(value)]
    return max(numbers, default=None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table(value: object) -> _Table:
    return cast("_Table", value) if isinstance(value, dict) else {}


def _tables(value: object) -> list[_Table]:
    return (
        [_table(entry) for entry in cast("list[object]", value)] if isinstance(value, list) else []
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
