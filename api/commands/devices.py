"""`flask devices`: the devices of an organization."""

from __future__ import annotations

from pathlib import Path

import click

from api.commands.command_base import Group, everything, opened, organization, warn
from api.errors import UserError
from api.store.base import NewDevice

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
        found = store.resolve(everything(organization_id), wanted)
        for identifier, each in zip(wanted, found, strict=True):
            if each is None:
                raise UserError(f"no device {identifier} in this organization")
        serials = [each.serial_number for each in found if each is not None]
        upstream = serials[1] if parent is not None else None
        store.import_devices(organization_id, [NewDevice(serials[0], {"parent": upstream})])
    return {"device": serials[0], "parent": upstream}
