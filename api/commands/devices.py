"""`flask devices`: the devices of an organization."""

from __future__ import annotations

from pathlib import Path

import click

from api.commands.command_base import Group, opened, organization, warn

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
