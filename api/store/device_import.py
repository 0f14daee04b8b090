"""Plans an import of devices against the organization's current devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from api.errors import Conflict, UserError
from api.metering.mains import Cycle, ancestors
from api.store.base import Imported, NewDevice
from api.store.devices import NewDeviceValues, given_parent, import_columns

Values = dict[str, Any]
"""A device as columns → stored values."""

UNIQUE_WHEN_ACTIVE = (
    ("serial_number", "serial number"),
    ("network_unique_identifier", "networkUniqueIdentifier"),
)
_CLAIMS = ("active", *(column for column, _ in UNIQUE_WHEN_ACTIVE))


@dataclass
class Plan:
    """The devices to create and to update, by key, and the groups to set. ``released`` are updated
    devices that give up a unique identifier, which another device may take. ``moved`` maps devices
    whose upstream meters change to these, nearest first."""

    created: dict[int, Values] = field(default_factory=dict[int, Values])
    updated: dict[int, Values] = field(default_factory=dict[int, Values])
    released: set[int] = field(default_factory=set[int])
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    moved: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    imported: Imported = field(default_factory=lambda: Imported(0, 0))


@dataclass
class Planner:
    """``devices``: the organization's devices by key. ``ids_of_others``: given UUIDs that belong to
    other organizations. ``next_key``: the first free device key. ``ancestors``: (device, ancestor,
    depth) of sub-meters, nearest first. ``defaults``: the organization's for columns of new
    devices."""

    organization_id: str
    devices: dict[int, Values]
    ids_of_others: Mapping[str, str]
    next_key: int
    now_ms: int
    ancestors: Sequence[tuple[int, int, int]] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self._upstream: dict[int, tuple[int, ...]] = {}
        for key, ancestor, _ in self.ancestors:
            self._upstream[key] = (*self._upstream.get(key, ()), ancestor)
        self._by_id: dict[str, int] = {}
        self._by_serial: dict[str, int] = {}
        self._updated_ms = {key: int(each["updated_ms"]) for key, each in self.devices.items()}
        for key in sorted(self.devices):
            self._remember(key, self.devices[key])

    def plan(self, devices: Iterable[NewDevice]) -> Plan:
        """Returns the plan. Raises UserError that names the first device that can't be imported."""
        plan = Plan()
        created = updated = 0
        parents: dict[int, str | None] = {}
        for device in devices:
            given = import_columns(device.fields)
            key = self._find(device.serial_number, given)
            if key is None:
                key, created = self._create(plan, device.serial_number, given), created + 1
            else:
                self._refuse_changed(key, device)
                given = self._with_config(key, given, device)
                self._update(plan, key, given)
                updated += 1
            if device.groups is not None:
                plan.groups[key] = tuple(dict.fromkeys(device.groups))
            has_parent, parent = given_parent(device.fields)
            if has_parent:
                parents[key] = parent
            if device.groups is not None or has_parent:
                self._touch(plan, key)
        self._check_unique()
        self._move(plan, parents)
        plan.imported = Imported(created, updated)
        return plan

    def _find(self, serial: str, given: Values) -> int | None:
        """Returns the device's key: by UUID if one is given, else the active device with that
        serial number, else the newest inactive one."""
        if "id" not in given:
            return self._by_serial.get(serial)
        device_id = given["id"]
        key = self._by_id.get(device_id)
        if key is not None and self.devices[key]["serial_number"] != serial:
            taken = self.devices[key]["serial_number"]
            raise UserError(f"device {serial}: id {device_id} is the id of device {taken}")
        if device_id in self.ids_of_others:
            raise UserError(f"device {serial}: id {device_id} is already in use")
        return key

    def _create(self, plan: Plan, serial: str, given: Values) -> int:
        key, self.next_key = self.next_key, self.next_key + 1
        device_id = given.get("id") or str(uuid4())
        given = {**self.defaults, **given}
        new = NewDeviceValues(self.organization_id, serial, device_id, self.now_ms, given)
        values = {**new.columns(), "key": key}
        plan.created[key] = self.devices[key] = values
        self._remember(key, values)
        return key

    def _update(self, plan: Plan, key: int, given: Values) -> None:
        before = self.devices[key]
        after = {**before, **given}
        if after == before:
            return
        after = self._later(after)
        self.devices[key] = after
        if key in plan.created:
            plan.created[key] = after
        else:
            plan.updated[key] = after
            if before["active"] and any(before[c] != after[c] for c in _CLAIMS):
                plan.released.add(key)
        self._remember(key, after)

    def _with_config(self, key: int, given: Values, device: NewDevice) -> Values:
        if not device.config:
            return given
        text = given.get("config", self.devices[key]["config"])
        before: Values = orjson.loads(text) if text else {}
        after = {**before, **device.config}
        config = {name: value for name, value in after.items() if value is not None}
        return {**given, "config": orjson.dumps(config).decode() if config else None}

    def _refuse_changed(self, key: int, device: NewDevice) -> None:
        """Compares with the stored device, not with an earlier row: a file may name a device
        twice."""
        updated_ms = self._updated_ms.get(key)
        if device.expected_ms is not None and updated_ms != device.expected_ms:
            raise Conflict(
                f"Somebody else has changed device {device.serial_number} meanwhile.",
                reason="changed",
            )

    def _touch(self, plan: Plan, key: int) -> None:
        """Gives the device a new ``updated_ms`` where only its groups or parent change, which other
        tables hold."""
        if key not in plan.created and key not in plan.updated:
            plan.updated[key] = self.devices[key] = self._later(self.devices[key])

    def _later(self, values: Values) -> Values:
        """Returns the values with a later ``updated_ms``, even within the same millisecond."""
        return {**values, "updated_ms": max(self.now_ms, values["updated_ms"] + 1)}

    def _remember(self, key: int, values: Values) -> None:
        self._by_id[values["id"]] = key
        serial = values["serial_number"]
        other = self.devices.get(self._by_serial.get(serial, key))
        if values["active"] or other is None or not other["active"]:
            self._by_serial[serial] = key

    def _move(self, plan: Plan, given: Mapping[int, str | None]) -> None:
        """Runs last, since a file may name a parent before it lists that parent."""
        parents = {key: upstream[0] for key, upstream in self._upstream.items()}
        for key, serial in given.items():
            parents.pop(key, None)
            if serial is not None:
                parents[key] = self._parent(key, serial)
        try:
            after = ancestors(parents)
        except Cycle as cycle:
            keys = [key for key in self.devices if key in cycle.around]
            around = [self.devices[key]["serial_number"] for key in keys]
            raise UserError(
                f"device {around[0]}: a meter can't be upstream of itself ({', '.join(around)})"
            ) from None
        for key in (*self._upstream, *after):
            if self._upstream.get(key, ()) != after.get(key, ()):
                plan.moved[key] = after.get(key, ())

    def _parent(self, key: int, serial: str) -> int:
        parent = self._by_serial.get(serial)
        if parent is None:
            name = self.devices[key]["serial_number"]
            raise UserError(f"device {name}: its parent {serial} is no device of its organization")
        return parent

    def _check_unique(self) -> None:
        for column, called in UNIQUE_WHEN_ACTIVE:
            owners: dict[str, Values] = {}
            for values in self.devices.values():
                if not values["active"]:
                    continue
                other = owners.setdefault(values[column], values)
                if other is not values:
                    raise UserError(
                        f"device {values['serial_number']}: the {called} {values[column]} is"
                        f" taken by active device {other['serial_number']} ({other['id']})"
                    )
