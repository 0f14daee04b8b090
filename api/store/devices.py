"""A device between its three forms: the directory's row, `Device`, and what an import says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import orjson

from api.catalog import CATEGORIES, DEVICE_FIELDS, DeviceField, FieldKind
from api.store.base import Device, Row
from api.store.tables import DEVICE
from api.timez import parse_instant

IMPORT_FIELDS: Final = (  # what an import may say beyond the interface's fields
    DeviceField("active", "active", "flag"),
    DeviceField("reportingInterval", "reporting_interval_s", "number", required=False),
)
FIELDS: Final = {f.name: f for f in (*DEVICE_FIELDS, *IMPORT_FIELDS)}
PARENT: Final = "parent"  # of an import, and in a device's configuration
GIVEN_BY_STORE: Final = frozenset({"organization_id", "serial_number", "updated_ms"})

DEFAULTS: Final[dict[str, Any]] = {  # of a new device's columns; see also `Birth`
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
    """The device of a row in the order of `COLUMNS`."""
    values = list(row)
    for index, read in _CONVERTED:
        values[index] = read(values[index])
    interval = values[_INTERVAL]
    if interval is not None:
        whole = int(interval) if interval.is_integer() else interval
        values[_CONFIG] = {**(values[_CONFIG] or {}), "reportingInterval": whole}
    return Device(*values)


def in_context(device: Device, groups: Sequence[str], parent: str | None) -> Device:
    """With its groups and its parent's serial number in its configuration; groups not where that
    says something of its own by that name."""
    config = device.config or {}
    added: dict[str, Any] = {}
    if groups and "groups" not in config:
        added["groups"] = list(groups)
    if parent is not None:
        added[PARENT] = parent
    return replace(device, config={**config, **added}) if added else device


# --- What is said → columns ----------------------------------------------------------------------


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


def _own(name: str, value: Any) -> Any:
    """A configuration without the parent, which is stored apart."""
    if name != "config" or PARENT not in value:
        return value
    return {key: each for key, each in value.items() if key != PARENT}


def columns_said(said: dict[str, Any]) -> dict[str, Any]:
    """Column values of an import's fields. Null for a field that can't be null says nothing;
    names that aren't a device's, or that only the store decides, say nothing either."""
    columns: dict[str, Any] = {}
    for name, value in said.items():
        found = FIELDS.get(name)
        if found is None or found.attribute in GIVEN_BY_STORE:
            continue
        if value is not None:
            columns[found.attribute] = _WRITE[found.kind](_own(name, value))
        elif found.attribute in _NULLABLE:
            columns[found.attribute] = None
    if "id" in columns:
        columns["id"] = columns["id"].lower()
    return columns


def parent_said(said: dict[str, Any]) -> tuple[bool, str | None]:
    """Whether an import names a parent or none, and its serial number."""
    for place in (said, said.get("config") or {}):
        if PARENT in place:
            return True, place[PARENT]
    return False, None


@dataclass(frozen=True, slots=True)
class Birth:
    """What a new device gets where nothing is said."""

    organization_id: str
    serial_number: str
    id: str
    now_ms: int
    said: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Every column; ``key`` is null still."""
        created = self.said.get("created_ms", self.now_ms)
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
            **self.said,
        }
