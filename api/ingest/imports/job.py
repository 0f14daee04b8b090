"""The process that runs an import, or undoes it, and records its progress."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

from api.domain.organization import units_of
from api.errors import WeirError
from api.ingest.batch import Batch
from api.ingest.file_lock import Held, held
from api.ingest.imports.folder import BUSY, ImportFolder, Outcome, Paused, harmless
from api.ingest.imports.import_spans import note, own_spans
from api.ingest.imports.undo import carry_out
from api.ingest.new_devices import missing_devices
from api.ingest.pipeline import content_digest, import_file
from api.ingest.suspicion import Suspicions, messages_of
from api.store.base import Progress, Store
from api.store.base.audit import AuditEntry
from api.timez import now_ms, stamp

MOST_CAUSES: Final = 500
MOST_REFUSED_ROWS: Final = 100_000  # refused rows kept whole


def run(store: Store, folder: ImportFolder) -> None:
    """Does what the folder's request says. Does nothing while another process does, or where the
    work is done."""
    try:
        with held(folder.path / "job.lock", "this import"):
            outcome = folder.outcome()
            if outcome is None or outcome.state not in BUSY:
                return
            try:
                if folder.request().goal == "undo":
                    _undo(store, folder)
                else:
                    _import(store, folder)
            except WeirError as error:
                folder.report(
                    replace(folder.outcome() or Outcome(), state="failed", problem=str(error))
                )
    except Held:
        return


def _import(store: Store, folder: ImportFolder) -> None:
    request, mapping = folder.request(), folder.mapping()
    organization = request.organization_id
    before = folder.outcome() or Outcome()
    try:
        created = _with_new_devices(store, folder, before)
        reports = _Reports(store, folder, content_digest(folder.file, mapping), before, created)
        done = import_file(
            store,
            organization,
            folder.file,
            reports.after_batch,
            mapping=mapping,
            before_batch=reports.before_batch,
        )
    except Paused:
        folder.report(replace(folder.outcome() or before, state="paused"))
        return
    suspects = reports.suspicions.suspects(store)
    messages = messages_of(suspects, units_of(store, organization))
    outcome = reports.outcome(done, request.size)
    folder.report(replace(outcome, state="done", messages=messages))
    _audit(store, folder, "import", {"stored": done.stored, "refused": done.refused})


def _with_new_devices(store: Store, folder: ImportFolder, before: Outcome) -> list[str]:
    """Creates the devices that the organization lacks, unless that is done. Returns the serial
    numbers of all that this import created; they are on disk before they are in the store, so that
    an undo deletes them even after a kill."""
    running = replace(before, state="running", problem="")
    folder.report(running)
    if before.prepared_ms:
        return before.created
    organization, mapping = folder.request().organization_id, folder.mapping()
    missing = missing_devices(store, organization, folder.file, mapping, folder.raise_if_pausing)
    created = list(dict.fromkeys([*before.created, *(each.serial_number for each in missing)]))
    folder.report(replace(running, created=created))
    if missing:
        store.import_devices(organization, missing)
    return created


class _Reports:
    """Reports the progress of an import after each batch, continuing what ``before`` it was
    interrupted had reported."""

    def __init__(
        self,
        store: Store,
        folder: ImportFolder,
        digest: str,
        before: Outcome,
        created: list[str],
    ) -> None:
        self.suspicions = Suspicions()
        self._store, self._folder, self._digest, self._created = store, folder, digest, created
        self._organization = folder.request().organization_id
        self._rejected = _RefusedRows(folder.refused_rows)
        self._empty, self._prepared_ms = before.empty, before.prepared_ms
        self._causes = Counter[tuple[str, str]]()
        self._samples: dict[tuple[str, str], str] = {}
        for reason, device, n, sample in before.causes:
            self._count(reason, device, n, sample)

    def before_batch(self, batch: Batch) -> None:
        self._folder.raise_if_pausing()
        self._prepared_ms = self._prepared_ms or now_ms()
        note(self._folder.spans, list(own_spans(self._store, batch)))

    def after_batch(self, batch: Batch) -> None:
        self._empty += batch.empty
        self.suspicions.add(batch)
        self._rejected.add(batch)
        for each in batch.refused:
            self._count(each.reason, each.device, each.count, each.sample)
        reached = self._store.progress(self._digest, self._organization)
        reached = reached or Progress(self._digest, self._organization)
        self._folder.report(self.outcome(reached, batch.consumed))

    def _count(self, reason: str, device: str, n: int, sample: str) -> None:
        self._causes[reason, device] += n
        self._samples.setdefault((reason, device), sample)

    def outcome(self, reached: Progress, consumed: int) -> Outcome:
        return Outcome(
            read=reached.position,
            stored=reached.stored,
            repeated=reached.repeated,
            refused=reached.refused,
            bytes=consumed,
            causes=[
                [*cause, n, self._samples[cause]]
                for cause, n in self._causes.most_common(MOST_CAUSES)
            ],
            created=self._created,
            empty=self._empty,
            prepared_ms=self._prepared_ms,
        )


class _RefusedRows:
    """The refused rows as in the file, for people to correct; only the first ones are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = sum(1 for _ in path.open("rb")) if path.exists() else 0

    def add(self, batch: Batch) -> None:
        rows = batch.refused_rows[: max(0, MOST_REFUSED_ROWS - self._rows)]
        if not rows:
            return
        self._rows += len(rows)
        with self._path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([harmless(cell) for cell in row] for row in rows)


def _undo(store: Store, folder: ImportFolder) -> None:
    done = carry_out(store, folder)
    folder.report(done)
    counts = {"removed": done.removed, "kept": max(0, done.stored - done.removed)}
    _audit(store, folder, "undo import", {**counts, "devices": len(done.deleted)})


def _audit(store: Store, folder: ImportFolder, action: str, after: dict[str, int]) -> None:
    request = folder.request()
    entry = AuditEntry(
        now_ms(), request.organization_id, request.by, "readings", action, request.name,
        {"begun": stamp(request.created_ms)}, after, "",
    )  # fmt: skip
    store.record([entry])
