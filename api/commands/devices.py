"""`flask devices`: the devices of an organization."""

from __future__ import annotations

from pathlib import Path

import click

from api.catalog import COARSEST_STORED, RAW
from api.commands.arguments import audited, everything, organization
from api.commands.command import Group, warn, when
from api.commands.store_access import opened, settings
from api.errors import UserError
from api.ingest.file_lock import only_writer
from api.store.base import Device, DeviceQuery, NewDevice, Span, Store

group = Group("devices", help="Devices.")


@group.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--org", "organization_id", required=True, help="The organization's id.")
def import_file(file: Path, organization_id: str) -> object:
    """Create or update devices from a JSON array of them. The serial number tells which."""
    from api.commands.device_file import read

    devices = read(file, organization_id)
    for warning in devices.warnings:
        warn(warning)
    with opened() as store:
        organization(store, organization_id)
        imported = store.import_devices(organization_id, devices.devices)
    return {"created": imported.created, "updated": imported.updated}


_org = click.option("--org", "organization_id", required=True, help="The organization's id.")


@group.command("list")
@_org
@click.option("--inactive", is_flag=True, help="Only the inactive ones.")
def list_all(organization_id: str, inactive: bool) -> object:
    """List an organization's devices, active and inactive."""
    with opened(read_only=True) as store:
        organization(store, organization_id)
        query = DeviceQuery(active=False if inactive else None, order_by="serialNumber")
        return [
            {
                "serialNumber": device.serial_number,
                "label": device.label,
                "active": device.active,
                "groups": (device.config or {}).get("groups", []),
                "lastHour": when(_last_hour(store, device)),
                "id": device.id,
            }
            for device in store.devices(everything(organization_id), query)
        ]


def _last_hour(store: Store, device: Device) -> int | None:
    bounds = store.bounds(device, COARSEST_STORED, Span())
    return None if bounds is None else bounds[1]


@group.command()
@click.argument("identifier", metavar="DEVICE")
@_org
def deactivate(identifier: str, organization_id: str) -> object:
    """Take a device out of lists, sums and uptime. Its readings stay; `activate` undoes it."""
    return _set_active(identifier, organization_id, active=False)


@group.command()
@click.argument("identifier", metavar="DEVICE")
@_org
def activate(identifier: str, organization_id: str) -> object:
    """Bring an inactive device back. Name it by its id; see `flask devices list --inactive`."""
    return _set_active(identifier, organization_id, active=True)


def _set_active(identifier: str, organization_id: str, *, active: bool) -> object:
    with opened() as store:
        device = _device(store, organization_id, identifier)
        if device.active is not active:
            audit = audited(
                organization_id, "device", "activate" if active else "deactivate", device.id,
                before={"active": device.active}, after={"active": active},
            )  # fmt: skip
            store.set_device_active(device, active, audit)
    return {"id": device.id, "serialNumber": device.serial_number, "active": active}


@group.command()
@click.argument("identifier", metavar="DEVICE")
@_org
@click.option("--reason", required=True, help="Why, for the audit log.")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def delete(identifier: str, organization_id: str, reason: str, pretend: bool) -> object:
    """Delete a device with its readings and all that is known of it, for good.

    Not while a writer runs: stop the server first, or deactivate the device instead.
    """
    if pretend:
        with opened(read_only=True) as store:
            return _extent(store, _device(store, organization_id, identifier))
    with only_writer(settings()), opened() as store:
        device = _device(store, organization_id, identifier)
        counts = _extent(store, device)
        audit = audited(
            organization_id, "device", "delete", device.id, before=counts, reason=reason
        )
        store.delete_device(device, audit)
    return counts


def _device(store: Store, organization_id: str, identifier: str) -> Device:
    """Active, or an inactive one by its id or by a serial number that no other device has."""
    organization(store, organization_id)
    scope = everything(organization_id)
    (device,) = store.resolve(scope, [identifier])
    if device is None:
        query = DeviceQuery(active=None, serial_number=identifier, limit=2)
        same = store.devices(scope, query)
        device = same[0] if len(same) == 1 else None
    if device is None:
        raise UserError(f"{identifier}: device not found; see flask devices list")
    return device


def _extent(store: Store, device: Device) -> dict[str, object]:
    return {
        "id": device.id,
        "serialNumber": device.serial_number,
        "readings": store.count(device, RAW, Span()),
    }


@group.command()
@click.argument("device")
@click.argument("parent", required=False)
@click.option("--none", "none", is_flag=True, help="Take it from its main.")
@click.option("--org", "organization_id", required=True, help="The organization's id.")
def parent(device: str, parent: str | None, none: bool, organization_id: str) -> object:
    """Put DEVICE downstream of the meter PARENT. Sums then count its water once, at the main.

    Both by serial number, network identifier or UUID.
    """
    if none == (parent is not None):
        raise click.UsageError("name a PARENT, or --none")
    with opened() as store:
        organization(store, organization_id)
        wanted = [device] if parent is None else [device, parent]
        resolved = store.resolve(everything(organization_id), wanted)
        for identifier, each in zip(wanted, resolved, strict=True):
            if each is None:
                raise UserError(f"no device {identifier} in this organization")
        serials = [each.serial_number for each in resolved if each is not None]
        upstream = serials[1] if parent is not None else None
        store.import_devices(organization_id, [NewDevice(serials[0], {"parent": upstream})])
    return {"device": serials[0], "parent": upstream}
