"""The process that carries out an import, or undoes it, and reports how far it is."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

from api.errors import WeirError
from api.ingest.batch import Batch
from api.ingest.file_lock import Held, held
from api.ingest.imports.folder import BUSY, ImportFolder, Outcome, harmless
from api.ingest.imports.import_spans import note, noted, own_spans
from api.ingest.new_devices import create_missing
from api.ingest.pipeline import content_digest, import_file
from api.ingest.suspicion import Suspicions
from api.insight.reevaluation import reevaluate
from api.store.base import Progress, Store
from api.store.base.audit import AuditEntry
from api.timez import now_ms, stamp

MOST_CAUSES: Final = 500
MOST_REFUSED_ROWS: Final = 100_000  # kept whole


class Paused(Exception):
    """The reader wants the import to pause."""


def run(store: Store, folder: ImportFolder) -> None:
    """Do what the folder's request asks for. Nothing where another process is at it, or was."""
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
    causes.update({(reason, device, sample): n for reason, device, n, sample in before.causes})
    folder.report(replace(before, state="running", created=created, problem=""))

    def before_batch(batch: Batch) -> None:
        if folder.pausing:
            raise Paused
        note(folder.spans, list(own_spans(store, batch)))

    def after_batch(batch: Batch) -> None:
        suspicions.add(batch)
        rejected.add(batch)
        for each in batch.refused:
            causes[each.reason, each.device, each.sample] += each.count
        reached = store.progress(digest, organization) or Progress(digest, organization)
        folder.report(_reached(reached, folder, batch.consumed, causes, created))

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
    folder.report(replace(outcome, state="done", messages=suspicions.messages(store)))
    _audit(store, folder, "import", {"stored": done.stored, "refused": done.refused})


class _RefusedRows:
    """The refused rows as they stand in the file, for people to correct; the first ones."""

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
    outcome = folder.outcome() or Outcome()
    organization = folder.request().organization_id
    removed, remaining, keys = 0, 0, list[int]()
    spans = noted(folder.spans)
    devices = {
        device.key: device for device in store.devices_by_key(sorted({s.key for s in spans}))
    }
    for span in reversed(spans):  # later ones lie between the instants of earlier ones
        device = devices.get(span.key)
        if device is None:  # deleted since, with its readings
            continue
        there = span.stored(store, device)
        if there > span.readings:
            remaining += span.readings
        elif there:
            deleted = store.delete_readings(device, span.from_ms, span.to_ms + 1, [])
            removed += there if span.registers else deleted
            keys.append(span.key)
    store.write(
        [],
        progress=Progress(
            content_digest(folder.file, folder.mapping()), organization, complete=True
        ),
    )
    if keys:
        reevaluate(store, keys)
    folder.spans.unlink(missing_ok=True)
    folder.refused_rows.unlink(missing_ok=True)
    left = outcome.stored - removed
    message = f"{left:,} readings stay: others stand at the same times." if left > 0 else ""
    folder.report(
        replace(outcome, state="undone", removed=removed, messages=[message] if message else [])
    )
    _audit(store, folder, "undo import", {"removed": removed, "kept": left})


def _audit(store: Store, folder: ImportFolder, action: str, after: dict[str, int]) -> None:
    request = folder.request()
    entry = AuditEntry(
        now_ms(), request.organization_id, request.by, "readings", action, request.name,
        {"begun": stamp(request.created_ms)}, after, "",
    )  # fmt: skip
    store.record([entry])
