"""The undo of a CSV file of devices, from what the audit log says that it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.domain import device_changes
from api.domain.device_changes import DeviceChange, Editor, require_whole
from api.domain.device_csv import MOST_ROWS, REASON, UNDO_REASON
from api.domain.device_fields import values_of
from api.errors import NotFound
from api.store.base import AuditEntry, AuditQuery, Device, Scope, Store


@dataclass(frozen=True, slots=True)
class Undone:
    """``restored`` and ``deleted``: numbers of devices. ``stay``: the serial numbers of those that
    were changed or used since, and aren't touched."""

    restored: int
    deleted: int
    stay: Sequence[str]


def latest(store: Store, scope: Scope) -> int:
    """Returns when the latest file was imported. Raises NotFound where none was."""
    entries = store.audit(AuditQuery(scope.organization_id, "device", text=REASON, limit=MOST_ROWS))
    at_ms = next((entry.at_ms for entry in entries if entry.reason == REASON), None)
    if at_ms is None:
        raise NotFound("No CSV file of devices was imported.")
    return at_ms


def undo(store: Store, scope: Scope, at_ms: int, editor: Editor) -> Undone:
    """Gives the devices that the file of that time changed their values back, and deletes those
    that it created. Raises NotFound where no file was imported then."""
    require_whole(scope)
    query = AuditQuery(scope.organization_id, "device", from_ms=at_ms, to_ms=at_ms, limit=MOST_ROWS)
    entries = [entry for entry in store.audit(query) if entry.reason == REASON]
    if not entries:
        raise NotFound("No CSV file of devices was imported at this time.")
    created = {entry.subject: entry for entry in entries if entry.action == "create"}
    changed = {entry.subject: entry for entry in entries if entry.action != "create"}
    before, others = _as_left(store, scope, changed)
    changes = [
        DeviceChange(device, _fields(changed[device.id].before), device.updated_ms)
        for device in before
    ]
    restored = device_changes.change(store, scope, changes, editor, UNDO_REASON)
    new, stay = _as_left(store, scope, created)
    gone = [
        device
        for device in device_changes.unused(store, scope, new)
        if not device_changes.stored(store, device)
    ]
    for device in gone:
        device_changes.delete(store, scope, device, UNDO_REASON, editor)
    left = {each.serial_number for each in (*others, *stay, *new)}
    return Undone(restored, len(gone), sorted(left - {each.serial_number for each in gone}))


def _as_left(
    store: Store, scope: Scope, entries: Mapping[str, AuditEntry]
) -> tuple[list[Device], list[Device]]:
    """Returns the devices that are as the file left them, and those that aren't. Deleted ones are
    in neither."""
    names = list(entries)
    devices = device_changes.in_context(store, scope, store.resolve(scope, names))
    same, differing = list[Device](), list[Device]()
    for name, device in zip(names, devices, strict=True):
        if device is not None:
            values, left = values_of(device), _fields(entries[name].after)
            as_left = all(values[field] == left[field] for field in left if field in values)
            (same if as_left else differing).append(device)
    return same, differing


def _fields(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the fields of an entry's state, without the names that it has for readers."""
    ignored = ("name", "serialNumber")
    return {name: value for name, value in (state or {}).items() if name not in ignored}
