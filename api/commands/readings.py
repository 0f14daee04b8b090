"""`weir readings`: imports readings from files, and deletes them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from api.catalog import RAW
from api.commands.arguments import (
    ORG,
    UNITS,
    audited,
    instant,
    one_device,
    organization,
    units_of,
)
from api.commands.command import Group, Outcome, warn, when
from api.commands.imports import list_imports, run_import, undo_import
from api.commands.progress import bar
from api.commands.store_access import opened, settings
from api.errors import UserError
from api.store.base import Progress, Span, Store
from api.store.retention import months_before
from api.suggestions import did_you_mean
from api.timez import now_ms

if TYPE_CHECKING:
    from api.commands.foreign_files import Choice
    from api.ingest.batch import Batch
    from api.ingest.suspicion import Suspicions

group = Group("readings", help="Readings.")
group.command("imports")(list_imports)
group.command("run-import")(run_import)
group.command("undo-import")(undo_import)

NOTHING_STORED: Final = 1  # exit statuses of an import
MANY_REFUSED: Final = 3
MOST_REFUSED: Final = 0.01  # share of the rows read


@group.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@ORG
@click.option("--mapping", default="", metavar="NAME", help="Read the files by a saved mapping.")
@click.option("--guess", is_flag=True, help="Read each file by what its rows seem to mean.")
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE",
    help="Change a setting of the mapping: zone=Europe/Rome, column.Flow.unit=l/s.",
)  # fmt: skip
@click.option("--preview", is_flag=True, help="Print the mapping and 20 rows; store nothing.")
@click.option("--save", default="", metavar="NAME", help="Save the mapping under a name.")
@click.option("--create-devices", "create", is_flag=True, help="Create devices that are missing.")
@click.option(
    "--watch", "folder", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Import every file that appears in a folder, until Ctrl-C.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="With --watch: only the files that are there now.")
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
    preview: bool,
    create: bool,
    folder: Path | None,
    once: bool,
    allow_refused: bool,
    replace: bool,
    pretend: bool,
    **chosen: Any,
) -> object:
    """Import readings from files: Weir's own format, or any other by a mapping.

    Weir's own format is CSV or NDJSON, plain or .gz. Columns, in any case: device (any identifier),
    recorded_at (ISO 8601; UTC without an offset) and any of the measured quantities; empty is null.
    An interrupted import resumes where it stopped; a complete file can be imported again, and its
    rows count as repeated.

    --preview shows how another CSV, TSV, JSON or XLSX file is read; --set corrects a guess,
    --save saves the mapping, --mapping uses it.

    Exit status: 1 where no row is in the store, 3 where more than 1 % of the rows were refused.
    """
    from api.commands.foreign_files import Choice, show

    choice = Choice(**chosen)
    if bool(files) == bool(folder):
        raise UserError("name files, or a folder to watch")
    _check_replacing(replace, pretend, other=choice.foreign or folder is not None)
    with opened(read_only=pretend or preview) as store:
        organization(store, organization_id)
        if preview:
            return _one(show(store, organization_id, path, choice) for path in files)
        job = ImportJob(store, organization_id, choice, create=create, replace=replace)
        if folder:
            return job.watch(folder, once=once)
        job.check(files)
        if pretend:
            return job.replaced(files)
        return _outcome([job.take(path) for path in files], allow_refused=allow_refused)


def _check_replacing(replace: bool, pretend: bool, *, other: bool) -> None:
    """``other``: the files may be of another form than Weir's own."""
    if pretend and not replace:
        raise UserError("--pretend needs --replace")
    if replace and other:
        raise UserError("--replace is for files of Weir's own form")


def _one(shown: Iterable[object]) -> object:
    """Prints the results of several previews: nothing, or their JSON."""
    results = [each for each in shown if each is not None]
    return results[0] if len(results) == 1 else results or None


def _outcome(done: Sequence[Progress], *, allow_refused: bool) -> Outcome:
    refused = sum(progress.refused for progress in done)
    if refused:
        warn(f"refused rows: {refused:,}; see weir readings refused")
    counts = {
        "read": sum(progress.position for progress in done),
        "stored": sum(progress.stored for progress in done),
        "repeated": sum(progress.repeated for progress in done),
        "refused": refused,
    }
    return Outcome(counts, _exit_status(counts, allow_refused=allow_refused))


def _exit_status(counts: Mapping[str, int], *, allow_refused: bool) -> int:
    """A repeated row is in the store already, so importing a file again succeeds."""
    if not counts["stored"] and not counts["repeated"]:
        warn("no row was stored")
        return NOTHING_STORED
    too_many = counts["refused"] > MOST_REFUSED * counts["read"]
    return MANY_REFUSED if too_many and not allow_refused else 0


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The options of one import command."""

    store: Store
    organization_id: str
    choice: Choice
    create: bool = False
    replace: bool = False

    def check(self, paths: Iterable[Path]) -> None:
        """Raises UserError, before any import begins, if one of the files can't be read."""
        from api.ingest import files as reading
        from api.ingest.source import inspect

        for path in paths:
            if self.choice.foreign:
                self.choice.of(path)
            else:
                try:
                    reading.check(inspect(path))
                except UserError as error:
                    hint = "weir readings import --preview shows how a file of another form is read"
                    raise UserError(f"{error}; {hint}") from None

    def replaced(self, paths: Iterable[Path]) -> list[object]:
        """Returns what `replace` would delete, a row for each device of each file."""
        from api.commands.replace_readings import spans_of

        return [row for path in paths for row in spans_of(self.store, self.organization_id, path)]

    def take(self, path: Path) -> Progress:
        from api.ingest.pipeline import import_file
        from api.ingest.suspicion import Suspicions

        mapping = self.choice.of(path).mapping if self.choice.foreign else None
        if self.replace:
            from api.commands.replace_readings import clear

            clear(self.store, self.organization_id, path)
        if self.create and mapping is not None:
            from api.ingest.new_devices import create_missing

            create_missing(self.store, self.organization_id, path, mapping)
        unknown, suspicions, empty = set[str](), Suspicions(), 0
        with bar(path.name, total=path.stat().st_size, unit="B") as progress_bar:

            def on_batch(batch: Batch) -> None:
                nonlocal empty
                empty += batch.empty
                unknown.update(batch.unknown)
                suspicions.add(batch)
                progress_bar.update(batch.consumed - progress_bar.n)

            progress = import_file(
                self.store,
                self.organization_id,
                path,
                on_batch,
                restart=self.replace,
                mapping=mapping,
            )
        if unknown:
            warn(f"{path}: unknown columns are ignored: {_named(unknown)}")
        if empty:
            warn(f"{path}: {empty:,} rows without a value are left out")
        self._report(path, suspicions)
        return progress

    def _report(self, path: Path, suspicions: Suspicions) -> None:
        """Stores what is suspicious about the file's readings, and warns of it."""
        from api.ingest.suspicion import messages_of, report
        from api.timez import now_ms

        suspects = suspicions.suspects(self.store)
        report(self.store, suspects, now_ms())
        for message in messages_of(suspects, units_of(self.store, self.organization_id, None)):
            warn(f"{path}: {message}")

    def watch(self, folder: Path, *, once: bool) -> None:
        """Imports each file of a folder; with ``once`` it ends with status 1 if one failed."""
        from api.commands.foreign_files import watch

        self.choice.check()
        if not watch(folder, self.take_and_report, once=once):
            click.get_current_context().exit(1)

    def take_and_report(self, path: Path) -> None:
        """Imports a watched file and prints a line; nothing where its rows are in the store
        already."""
        from api.ingest.pipeline import content_digest

        mapping = self.choice.of(path).mapping if self.choice.foreign else None
        earlier = self.store.progress(content_digest(path, mapping), self.organization_id)
        if earlier is not None and earlier.complete:
            return
        done = self.take(path)
        click.echo(
            f"{path.name}: {done.stored:,} stored, {done.repeated:,} repeated,"
            f" {done.refused:,} refused"
        )


def _named(columns: Iterable[str]) -> str:
    """The first ten, each with the column that was meant."""
    from api.ingest.decode import COLUMN_OF

    return ", ".join(did_you_mean(name, COLUMN_OF) for name in sorted(columns)[:10])


@contextmanager
def _store_of(organization_id: str | None) -> Generator[Store]:
    """The store, to read only. Fails for an organization that doesn't exist."""
    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        yield store


@group.command()
@click.option("--org", "organization_id", help="Only this organization's.")
def refused(organization_id: str | None) -> object:
    """List refused readings: what, why and how often, newest first."""
    with _store_of(organization_id) as store:
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
@UNITS
def suspicious(organization_id: str | None, units: str | None) -> object:
    """List the devices whose readings are stored but suspicious, and why, newest first."""
    from api.metering.units import words_in

    with _store_of(organization_id) as store:
        return [
            {
                "device": report.device,
                "reason": report.reason,
                "first": when(report.first_seen_ms),
                "last": when(report.last_seen_ms),
                "sample": words_in(report.sample, units_of(store, report.organization_id, units)),
                "organizationId": report.organization_id,
            }
            for report in store.suspicions(organization_id)
        ]


@group.command()
@click.option("--org", "organization_id", help="Only this organization's.")
def undated(organization_id: str | None) -> object:
    """List the devices that send readings without a time, and the number of these."""
    with _store_of(organization_id) as store:
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
    """Delete old raw readings; their rollups stay.

    From then on, readings of that time are refused. Meant for a timer, once a day or a month.
    """
    keep_months = months or settings().raw_months
    if not keep_months:
        raise UserError("set --older-than or WEIR_RAW_MONTHS: how many months to keep")
    with opened() as store:
        before_ms = max(months_before(now_ms(), keep_months), store.raw_from_ms() or 0)
        return {"before": when(before_ms), "gone": store.prune(before_ms, pretend=pretend)}


@group.command()
@ORG
@click.option("--device", "identifier", required=True, help="The device, by any identifier.")
@click.option("--from", "first", required=True, help="From when on, ISO 8601.")
@click.option("--to", "end", required=True, help="Up to when (not included), ISO 8601.")
@click.option("--reason", required=True, help="Why, for the audit log.")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def delete(
    organization_id: str, identifier: str, first: str, end: str, reason: str, pretend: bool
) -> object:
    """Delete a device's readings of a span, for good. Rollups, status and findings follow.

    To keep them but not count them, use `weir corrections create` instead.
    """
    from api.insight.reevaluation import reevaluate

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
            reevaluate(store, [device.key])
    return span | {"readings": gone}
