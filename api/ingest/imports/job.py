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
from api.ingest.imports.folder import BUSY, ImportFolder, Outcome, harmless
from api.ingest.imports.import_spans import note, own_spans
from api.ingest.imports.undo import carry_out
from api.ingest.new_devices import create_missing
from api.ingest.pipeline import content_digest, import_file
from api.ingest.suspicion import Suspicions, messages_of
from api.store.base import Progress, Store
from api.store.base.audit import AuditEntry
from api.timez import now_ms, stamp

MOST_CAUSES: Final = 500
MOST_REFUSED_ROWS: Final = 100_000  # refused rows kept whole


class Paused(Exception):
    """The user has paused the import."""


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
    created = list(
        dict.fromkeys([*before.created, *create_missing(store, organization, folder.file, mapping)])
    )
    digest = content_digest(folder.file, mapping)
    suspicions, causes = Suspicions(), Counter[tuple[str, str, str]]()
    rejected = _RefusedRows(folder.refused_rows)
    empty, prepared_ms = before.empty, before.prepared_ms
    causes.update({(reason, device, sample): n for reason, device, n, sample in before.causes})
    folder.report(replace(before, state="running", created=created, problem=""))

    def before_batch(batch: Batch) -> None:
        nonlocal prepared_ms
        if folder.pausing:
            raise Paused
        prepared_ms = prepared_ms or now_ms()
        note(folder.spans, list(own_spans(store, batch)))

    def after_batch(batch: Batch) -> None:
        nonlocal empty
        empty += batch.empty
        suspicions.add(batch)
        rejected.add(batch)
        for each in batch.refused:
            causes[each.reason, each.device, each.sample] += each.count
        reached = store.progress(digest, organization) or Progress(digest, organization)
        outcome = _reached(reached, folder, batch.consumed, causes, created)
        folder.report(replace(outcome, empty=empty, prepared_ms=prepared_ms))

    try:
        done = import_file(
            store,
            organization,
            folder.file,
            after_batch,
            mapping=mapping,
            before_batch=before_batch,
        )
    except Paused:
        folder.report(replace(folder.outcome() or before, state="paused"))
        return
    outcome = _reached(done, folder, request.size, causes, created)
    messages = messages_of(suspicions.suspects(store), units_of(store, organization))
    done_ = replace(outcome, state="done", empty=empty, prepared_ms=prepared_ms)
    folder.report(replace(done_, messages=messages))
    _audit(store, folder, "import", {"stored": done.stored, "refused": done.refused})


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


def _reached(
    reached: Progress, folder: ImportFolder, consumed: int, causes: Counter[tuple[str, str, str]],
    created: list[str],
) -> Outcome:  # fmt: skip
    shown = [
        [reason, device, n, sample]
        for (reason, device, sample), n in causes.most_common(MOST_CAUSES)
    ]
    return Outcome(
        "running", reached.position, reached.stored, reached.repeated, reached.refused, consumed,
        causes=shown, created=created,
    )  # fmt: skip


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
