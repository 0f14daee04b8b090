"""`flask readings`: what devices measured, from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from api.catalog import RAW
from api.commands.arguments import audited, instant, one_device, organization
from api.commands.command import Group, Outcome, warn, when
from api.commands.progress import bar
from api.commands.store_access import opened, reevaluate, settings
from api.errors import UserError
from api.store.base import Progress, Span, Store
from api.store.retention import months_before
from api.suggestions import did_you_mean
from api.timez import now_ms

if TYPE_CHECKING:
    from api.ingest.batch import Batch

group = Group("readings", help="Readings.")

NOTHING_STORED: Final = 1  # exit statuses of an import
MANY_REFUSED: Final = 3
MOST_REFUSED: Final = 0.01  # of the rows read


@group.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--org", "organization_id", required=True, help="The organization's id.")
@click.option(
    "--allow-refused", is_flag=True, help="Exit with status 0 however many rows are refused."
)
@click.option(
    "--replace",
    is_flag=True,
    help="Delete each device's readings between its first and last row of the file first.",
)
@click.option(
    "--pretend", is_flag=True, help="With --replace: only report how many would be deleted."
)
def import_files(
    files: tuple[Path, ...],
    organization_id: str,
    allow_refused: bool,
    replace: bool,
    pretend: bool,
) -> object:
    """Import readings from CSV or NDJSON files, plain or .gz.

    Columns, in any case: device (any identifier), recorded_at (ISO 8601; UTC without an offset)
    and any of the measured quantities; empty is null. An interrupted import resumes where it
    stopped; a complete file can be imported again, and its rows count as repeated.

    Exit status: 1 where no row is in the store, 3 where more than 1 % of the rows were refused.
    """
    from api.ingest import files as reading
    from api.ingest.source import inspect

    for path in files:  # before any of them is begun
        reading.check(inspect(path))
    if pretend and not replace:
        raise UserError("--pretend needs --replace")
    with opened(read_only=pretend) as store:
        organization(store, organization_id)
        if pretend:
            from api.commands.replace_readings import spans_of

            return [row for path in files for row in spans_of(store, organization_id, path)]
        done = [_import(store, organization_id, path, replace=replace) for path in files]
    refused = sum(progress.refused for progress in done)
    if refused:
        warn(f"refused rows: {refused:,}; see flask readings refused")
    counts = {
        "read": sum(progress.position for progress in done),
        "stored": sum(progress.stored for progress in done),
        "repeated": sum(progress.repeated for progress in done),
        "refused": refused,
    }
    return Outcome(counts, _exit_status(counts, allow_refused=allow_refused))


def _exit_status(counts: Mapping[str, int], *, allow_refused: bool) -> int:
    """A repeated row is in the store already, so a file that is imported again succeeds."""
    if not counts["stored"] and not counts["repeated"]:
        warn("no row was stored")
        return NOTHING_STORED
    too_many = counts["refused"] > MOST_REFUSED * counts["read"]
    return MANY_REFUSED if too_many and not allow_refused else 0


def _import(store: Store, organization_id: str, path: Path, *, replace: bool) -> Progress:
    from api.ingest.decode import COLUMN_OF
    from api.ingest.pipeline import import_file

    if replace:
        from api.commands.replace_readings import clear

        clear(store, organization_id, path)
    unknown: set[str] = set()
    with bar(path.name, total=path.stat().st_size, unit="B") as progress_bar:

        def on_batch(batch: Batch) -> None:
            unknown.update(batch.unknown)
            progress_bar.update(batch.consumed - progress_bar.n)

        progress = import_file(store, organization_id, path, on_batch, anew=replace)
    if unknown:
        named = ", ".join(did_you_mean(name, COLUMN_OF) for name in sorted(unknown)[:10])
        warn(f"{path}: unknown columns are ignored: {named}")
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
    """List the devices that send readings without a time, and how many of them."""
    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        return [
            {
                "device": device.serial_number,
                "count": device.count,
                "first": when(device.first_ms),
                "last": when(device.last_ms),
                "organizationId": device.organization_id,
            }
            for device in store.clockless(organization_id)
        ]


@group.command()
@click.option(
    "--older-than",
    "months",
    type=click.IntRange(1, 1200),
    help="Whole months (UTC) of raw readings to keep. Default: WEIR_RAW_MONTHS.",
)
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def prune(months: int | None, pretend: bool) -> object:
    """Let old raw readings go; their rollups stay.

    From then on readings from before are refused. For a timer, once a day or a month.
    """
    keep_months = months or settings().raw_months
    if not keep_months:
        raise UserError("set --older-than or WEIR_RAW_MONTHS: how many months to keep")
    with opened() as store:
        before_ms = max(months_before(now_ms(), keep_months), store.raw_from_ms() or 0)
        return {"before": when(before_ms), "gone": store.prune(before_ms, pretend=pretend)}


@group.command()
@click.option("--org", "organization_id", required=True, help="The organization's id.")
@click.option("--device", "identifier", required=True, help="The device, by any identifier.")
@click.option("--from", "first", required=True, help="From when on, ISO 8601.")
@click.option("--to", "end", required=True, help="Up to when (not included), ISO 8601.")
@click.option("--reason", required=True, help="Why, for the audit log.")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def delete(
    organization_id: str, identifier: str, first: str, end: str, reason: str, pretend: bool
) -> object:
    """Delete a device's readings of a span, for good. Rollups, status and findings follow.

    To have readings not count but stay, use `flask corrections create` instead.
    """
    from_ms, to_ms = instant("--from", first), instant("--to", end)
    if to_ms <= from_ms:
        raise UserError("--to must be after --from")
    with opened(read_only=pretend) as store:
        organization(store, organization_id)
        device = one_device(store, organization_id, identifier)
        gone = store.count(device, RAW, Span(from_ms, to_ms - 1))
        span = {"device": device.serial_number, "from": when(from_ms), "to": when(to_ms)}
        if not pretend:
            audit = audited(
                organization_id, "readings", "delete", device.id,
                before=span | {"readings": gone}, reason=reason,
            )  # fmt: skip
            gone = store.delete_readings(device, from_ms, to_ms, audit)
            reevaluate(store, organization_id, [device.key])
    return span | {"readings": gone}
