"""`flask readings`: what devices measured, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from api.commands.command_base import Group, opened, organization, settings, warn, when
from api.commands.progress import bar
from api.errors import UserError
from api.store.base import Progress, Store
from api.store.retention import months_before
from api.timez import now_ms

if TYPE_CHECKING:
    from api.ingest.batch import Batch

group = Group("readings", help="Readings.")


@group.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--org", "organization_id", required=True, help="The organization's id.")
def import_files(files: tuple[Path, ...], organization_id: str) -> object:
    """Take readings in from CSV or NDJSON files, plain or .gz.

    Columns: device (any identifier), recorded_at (ISO 8601; UTC unless it says otherwise) and any
    of the measured quantities; empty is null. An interrupted import goes on where it stood; a
    file that was read to its end is read again, and its rows count as repeated.
    """
    from api.ingest import files as reading
    from api.ingest.source import look_at

    for path in files:  # before any of them is begun
        reading.check(look_at(path))
    with opened() as store:
        organization(store, organization_id)
        done = [_import(store, organization_id, path) for path in files]
    refused = sum(progress.refused for progress in done)
    if refused:
        warn(f"refused rows: {refused:,}; flask readings refused says why")
    return {
        "read": sum(progress.position for progress in done),
        "stored": sum(progress.stored for progress in done),
        "repeated": sum(progress.repeated for progress in done),
        "refused": refused,
    }


def _import(store: Store, organization_id: str, path: Path) -> Progress:
    from api.ingest.pipeline import import_file

    unknown: set[str] = set()
    with bar(path.name, total=path.stat().st_size, unit="B") as shown:

        def watch(batch: Batch) -> None:
            unknown.update(batch.unknown)
            shown.update(batch.consumed - shown.n)

        progress = import_file(store, organization_id, path, watch)
    if unknown:
        warn(f"{path}: nothing is known of {', '.join(sorted(unknown)[:10])}: ignored")
    return progress


@group.command()
@click.option("--org", "organization_id", help="Only this organization's.")
def refused(organization_id: str | None) -> object:
    """List what was refused, why and how often, newest first."""
    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        return [
            {
                "reason": summary.reason,
                "device": summary.device,
                "count": summary.count,
                "source": summary.source,
                "firstSeen": when(summary.first_seen_ms),
                "lastSeen": when(summary.last_seen_ms),
                "sample": summary.sample,
                "organizationId": summary.organization_id,
            }
            for summary in store.refusals(organization_id)
        ]


@group.command()
@click.option("--org", "organization_id", help="Only this organization's.")
def undated(organization_id: str | None) -> object:
    """List the devices that sent readings without an instant, which are of when they came."""
    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        return [
            {
                "device": found.serial_number,
                "count": found.count,
                "first": when(found.first_ms),
                "last": when(found.last_ms),
                "organizationId": found.organization_id,
            }
            for found in store.clockless(organization_id)
        ]


@group.command()
@click.option(
    "--older-than",
    "months",
    type=click.IntRange(1, 1200),
    help="Whole months (UTC) of raw readings to keep; WEIR_RAW_MONTHS unless given.",
)
@click.option("--pretend", is_flag=True, help="Only say what would go.")
def prune(months: int | None, pretend: bool) -> object:
    """Let old raw readings go; their rollups stay.

    From then on readings from before are refused. For a timer, once a day or a month.
    """
    kept = months or settings().raw_months
    if not kept:
        raise UserError("how many months? --older-than, or WEIR_RAW_MONTHS")
    with opened() as store:
        before_ms = max(months_before(now_ms(), kept), store.raw_from_ms() or 0)
        return {"before": when(before_ms), "gone": store.prune(before_ms, pretend=pretend)}
