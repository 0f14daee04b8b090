"""Creates the devices that a foreign file names and the organization lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from api.errors import UserError
from api.ingest.decode import Devices
from api.ingest.foreign.convert import device_labels, device_names
from api.ingest.foreign.mapping import DEVICE_ZONE, Mapping
from api.ingest.foreign.rows import opened
from api.store.base import Grant, NewDevice, Scope, Store
from api.store.devices import own_config

MOST_NEW: Final = 5_000  # more suggest that the wrong column is taken for the device
LONGEST_NAME: Final = 200


def create_missing(store: Store, organization_id: str, path: Path, mapping: Mapping) -> None:
    """Creates the devices of `missing_devices`."""
    if new := missing_devices(store, organization_id, path, mapping):
        store.import_devices(organization_id, new)


def missing_devices(
    store: Store,
    organization_id: str,
    path: Path,
    mapping: Mapping,
    on_progress: Callable[[], object] = lambda: None,
) -> list[NewDevice]:
    """Returns the devices that a file names and the organization lacks. They have the mapping's
    zone, and the label that the file has for them. Names that can't be serial numbers are left out,
    and their rows are refused. Raises UserError if there are far too many. ``on_progress`` is
    called now and then while the file is read, and may end that by raising."""
    existing = Devices(store.ingest_keys(organization_id))
    labels = device_labels(opened(path, mapping.form, mapping.encoding), mapping, on_progress)
    new = [name for name in labels if existing.find(name) is None and _is_serial(name)]
    if len(new) > MOST_NEW:
        raise UserError(
            f"{path.name} names {len(new):,} devices that aren't there: is {new[0]!r} a device?"
        )
    fields = {} if mapping.zone == DEVICE_ZONE else {"deviceTimeZone": mapping.zone}
    return [NewDevice(name, {**fields, **_label(labels[name])}, None) for name in new]


def _label(text: str) -> dict[str, str]:
    words = " ".join(text.split())
    return {"label": words} if words and _is_serial(words) else {}


def set_register_digits(store: Store, organization_id: str, path: Path, mapping: Mapping) -> None:
    """Sets the mapping's digits on the devices of a file of registers, except where a device
    already has digits."""
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
