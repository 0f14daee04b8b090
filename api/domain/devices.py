"""The list of devices that a scope shows."""

from __future__ import annotations

from typing import NamedTuple

from api.domain.identify import storable
from api.store.base import Device, DeviceQuery, Directory, Scope


class DevicePage(NamedTuple):
    """``total`` counts what matches before limit and offset; None where it wasn't asked for."""

    devices: list[Device]
    total: int | None


def list_devices(
    directory: Directory, scope: Scope, query: DeviceQuery, *, counted: bool
) -> DevicePage:
    """The devices that match, in order; what is out of scope is left out, never an error."""
    names = (query.serial_number, query.network_unique_identifier)
    if not all(storable(name) for name in names if name is not None):
        return DevicePage([], 0 if counted else None)
    devices = directory.devices(scope, query)
    if not counted:
        return DevicePage(devices, None)
    whole = query.limit is None and query.offset == 0
    return DevicePage(devices, len(devices) if whole else directory.count_devices(scope, query))
