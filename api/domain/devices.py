"""The list of the devices in a scope."""

from __future__ import annotations

from typing import NamedTuple

from api.domain.identify import storable
from api.store.base import Device, DeviceQuery, Directory, Scope


class DevicePage(NamedTuple):
    """``total`` counts all matches, ignoring limit and offset; None where it wasn't requested."""

    devices: list[Device]
    total: int | None


def list_devices(
    directory: Directory, scope: Scope, query: DeviceQuery, *, counted: bool
) -> DevicePage:
    """Returns the matching devices in order. Devices out of scope are left out without an error."""
    names = (query.serial_number, query.network_unique_identifier)
    if not all(storable(name) for name in names if name is not None):
        return DevicePage([], 0 if counted else None)
    devices = directory.devices(scope, query)
    if not counted:
        return DevicePage(devices, None)
    whole = query.limit is None and query.offset == 0
    return DevicePage(devices, len(devices) if whole else directory.count_devices(scope, query))
