"""Converts between a directory row, a `Device`, and the fields of an import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import orjson

from api.catalog import CATEGORIES, DEVICE_FIELDS, DeviceField, FieldKind
from api.store.base import Device, Row
from api.store.tables import DEVICE
from api.timez import parse_instant

IMPORT_FIELDS: Final = (  # import fields that the interface doesn't have
    DeviceField("active", "active", "flag"),
    DeviceField("reportingInterval", "reporting_interval_s", "number", required=False),
)
FIELDS: Final = {f.name: f for f in (*DEVICE_FIELDS, *IMPORT_FIELDS)}
PARENT: Final = "parent"  # in an import, and in a device's configuration
GIVEN_BY_STORE: Final = frozenset({"organization_id", "serial_number", "updated_ms"})

DEFAULTS: Final[dict[str, Any]] = {  # defaults of a new device; see also `NewDeviceValues`
    "category": CATEGORIES[0],
    "installed": 1,
    "active": 1,
    "cost_per_gallon": "{}",
    "alerts_active": 0,
    "k_factor": "{}",
    "time_zone": "UTC",
    "model": "",
    "billing_subscriptions": "[]",
}
_NULLABLE: Final = frozenset(c.name for c in DEVICE.columns if not c.required)

COLUMNS: Final = tuple(f.name for f in fields(Device))
"""The device table's columns in the order of `Device`."""


# --- Row → Device --------------------------------------------------------------------------------


def _object(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


_READ: dict[FieldKind, Callable[[Any], Any]] = {
    "flag": bool,
    "object": _object,
    "texts": lambda text: tuple(orjson.loads(text)),
}
_CONVERTED: Final = tuple(
    (COLUMNS.index(f.attribute), _READ[f.kind]) for f in FIELDS.values() if f.kind in _READ
)
_CONFIG = COLUMNS.index("config")
_INTERVAL = COLUMNS.index("reporting_interval_s")


def device_from(row: Row) -> Device:
    """Converts a row in the order of `COLUMNS`."""
    values = list(row)
    for index, read in _CONVERTED:
        values[index] = read(values[index])
    interval = values[_INTERVAL]
    if interval is not None:
        whole = int(interval) if interval.is_integer() else interval
        values[_CONFIG] = {**(values[_CONFIG] or {}), "reportingInterval": whole}
    return Device(*values)


def in_context(device: Device, groups: Sequence[str], parent: str | None) -> Device:
    """Returns the device with its groups and its parent's serial number in its configuration. A
    ``groups`` entry of its own configuration has precedence."""
    config = device.config or {}
    added: dict[str, Any] = {}
    if groups and "groups" not in config:
        added["groups"] = list(groups)
    if parent is not None:
        added[PARENT] = parent
    return replace(device, config={**config, **added}) if added else device


def own_config(device: Device) -> dict[str, Any]:
    """Returns the configuration without what is stored elsewhere, to be changed and imported
    again."""
    elsewhere = ("reportingInterval", "groups", PARENT)
    return {name: each for name, each in (device.config or {}).items() if name not in elsewhere}


# --- Import fields → columns ---------------------------------------------------------------------


def _instant(value: Any) -> int:
    return value if isinstance(value, int) else parse_instant(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


_WRITE: dict[FieldKind, Callable[[Any], Any]] = {
    "text": str,
    "instant": _instant,
    "flag": int,
    "object": _json,
    "texts": _json,
    "number": float,
}


def _without_parent(name: str, value: Any) -> Any:
    """Removes the parent, which is stored separately, from a configuration."""
    if name != "config" or PARENT not in value:
        return value
    return {key: each for key, each in value.items() if key != PARENT}


def import_columns(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the column values of an import's fields. Ignores null for a field that can't be null,
    unknown names, and fields that only the store sets."""
    columns: dict[str, Any] = {}
    for name, value in values.items():
        field_ = FIELDS.get(name)
        if field_ is None or field_.attribute in GIVEN_BY_STORE:
            continue
        if value is not None:
            columns[field_.attribute] = _WRITE[field_.kind](_without_parent(name, value))
        elif field_.attribute in _NULLABLE:
            columns[field_.attribute] = None
    if "id" in columns:
        columns["id"] = columns["id"].lower()
    return columns


def given_parent(fields: dict[str, Any]) -> tuple[bool, str | None]:
    """Returns whether an import gives a parent (possibly None), and its serial number."""
    for place in (fields, fields.get("config") or {}):
        if PARENT in place:
            return True, place[PARENT]
    return False, None


@dataclass(frozen=True, slots=True)
class NewDeviceValues:
    """A new device: ``given`` column values, and defaults for the others."""

    organization_id: str
    serial_number: str
    id: str
    now_ms: int
    given: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Returns every column; ``key`` is still null."""
        created = self.given.get("created_ms", self.now_ms)
        return {
            **dict.fromkeys(COLUMNS),
            **DEFAULTS,
            "id": self.id,
            "organization_id": self.organization_id,
            "serial_number": self.serial_number,
            "network_unique_identifier": self.serial_number,
            "label": self.serial_number,
            "created_ms": created,
            "installed_on_ms": created,
            "updated_ms": self.now_ms,
            **self.given,
        }
