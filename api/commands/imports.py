"""`weir readings imports`, `run-import` and `undo-import`: of imports started in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from api.commands.arguments import ORG, organization
from api.commands.command import warn
from api.commands.store_access import opened, settings
from api.errors import UserError


@click.argument("import_id", metavar="ID")
def run_import(import_id: str) -> None:
    """Run, continue or undo an import that was started in the browser. The service starts this
    itself.

    An import whose process was killed continues after its last commit.
    """
    from api.ingest.imports.folder import ImportFolders
    from api.ingest.imports.job import run

    folder = ImportFolders(Path(settings().instance)).any(import_id)
    with opened() as store:
        run(store, folder)


@ORG
def list_imports(organization_id: str) -> object:
    """List the imports that were started in the browser, on this host, the latest first."""
    from api.ingest.imports.service import ImportService

    with opened(read_only=True) as store:
        organization(store, organization_id)
        imports = ImportService(store, Path(settings().instance), lambda id: None)
        return [
            {
                "id": each["id"],
                "name": each["name"],
                "begun": each["createdAt"],
                "state": each["state"],
                "stored": each["outcome"]["stored"],
                "created": len(each["outcome"]["created"]),
            }
            for each in imports.recent(organization_id)["data"]
        ]


@click.argument("import_id", metavar="ID")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def undo_import(import_id: str, pretend: bool) -> object:
    """Undo an import that was started in the browser: delete the readings that it stored, and the
    devices that it created if they have no other readings, notes or settings."""
    from api.ingest.imports.folder import ImportFolders
    from api.ingest.imports.job import run
    from api.ingest.imports.service import ImportService
    from api.ingest.imports.undo import plan

    instance = Path(settings().instance)
    folder = ImportFolders(instance).any(import_id)
    with opened(read_only=pretend) as store:
        if pretend:
            undo = plan(store, folder)
            devices = [device.serial_number for device in undo.devices]
            return {"id": import_id, "readings": undo.readings, "devices": devices}
        imports = ImportService(store, instance, lambda id: None)
        imports.undo(folder.request().organization_id, import_id)
        run(store, folder)
    done = folder.outcome()
    if done is None or done.state != "undone":
        raise UserError(f"the import isn't undone: {done.problem if done else 'it is gone'}")
    for message in done.messages:
        warn(message)
    return {"id": import_id, "readings": done.removed, "devices": done.deleted}
