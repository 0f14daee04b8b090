"""Creates the devices that a foreign file names and the organization lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from api.errors import UserError
from api.ingest.decode import Devices
from api.ingest.foreign.convert import device_names
from api.ingest.foreign.mapping import DEVICE_ZONE, Mapping
from api.ingest.foreign.rows import opened
from api.store.base import Grant, NewDevice, Scope, Store
from api.store.devices import own_config

MOST_NEW: Final = 5_000  # more are another column, taken for the devices
LONGEST_NAME: Final = 200


def create_missing(store: Store, organization_id: str, path: Path, mapping: Mapping) -> list[str]:
    """Their serial numbers. New devices have the mapping's zone. Names that can't be serial numbers
    are left out, and their rows are refused. UserError if there are far too many."""
    existing = Devices(store.ingest_keys(organization_id))
    names = device_names(opened(path, mapping.form, mapping.encoding), mapping)
    new = [name for name in names if existing.find(name) is None and _is_serial(name)]
    if len(new) > MOST_NEW:
        raise UserError(
            f"{path.name} names {len(new):,} devices that aren't there: is {new[0]!r} a device?"
        )
    fields = {} if mapping.zone == DEVICE_ZONE else {"deviceTimeZone": mapping.zone}
    if new:
        store.import_devices(organization_id, [NewDevice(name, fields, None) for name in new])
    return new


def set_register_digits(store: Store, organization_id: str, path: Path, mapping: Mapping) -> None:
    """Give the devices of a file of registers the digits that its mapping names, but those that
    have digits already."""
    if not mapping.digits or not mapping.of_water("register"):
        return
    names = device_names(opened(path, mapping.form, mapping.encoding), mapping)
    scope = Scope(organization_id, Grant(everything=True))
    changed: list[NewDevice] = []
    for device in store.resolve(scope, names):
        config = {} if device is None else own_config(device)
        if device is not None and "registerDigits" not in config:
            config["registerDigits"] = mapping.digits
            changed.append(NewDevice(device.serial_number, {"id": device.id, "config": config}))
    if changed:
        store.import_devices(organization_id, changed)


def _is_serial(name: str) -> bool:
    return name.isprintable() and len(name) <= LONGEST_NAME
