"""What the undo of an import deletes: its readings, and the devices that it created and nobody has
used otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from api.domain import device_changes
from api.domain.device_changes import Editor
from api.ingest.imports.folder import ImportFolder, Outcome
from api.ingest.imports.import_spans import OwnSpan, noted
from api.ingest.pipeline import content_digest
from api.insight.reevaluation import reevaluate
from api.store.base import Device, Grant, Progress, Scope, Store
from api.timez import now_ms

NAMED: Final = 5  # devices named in a message


@dataclass(frozen=True, slots=True)
class Undo:
    """``spans``: what is deleted, last noted first, each with its device and its readings.
    ``stay``: readings that can't be told from others that arrived since. ``devices``: those that go
    with them; ``others``: the serial numbers of created ones that stay."""

    spans: Sequence[tuple[OwnSpan, Device, int]]
    stay: int
    devices: Sequence[Device]
    others: Sequence[str]

    @property
    def readings(self) -> int:
        return sum(there for _, _, there in self.spans)


def plan(store: Store, folder: ImportFolder) -> Undo:
    """Changes nothing."""
    outcome, spans = folder.outcome() or Outcome(), noted(folder.spans)
    by_key = {each.key: each for each in store.devices_by_key(sorted({s.key for s in spans}))}
    own: list[tuple[OwnSpan, Device, int]] = []
    for span in reversed(spans):  # spans noted later lie between earlier ones
        device = by_key.get(span.key)
        if device is not None:  # else deleted since, with its readings
            there = span.stored(store, device)
            if 0 < there <= span.readings:
                own.append((span, device, there))
    counts = Counter[int]()
    for span, _, there in own:
        counts[span.key] += there
    scope = Scope(folder.request().organization_id, Grant(everything=True))
    created = [device for device in store.resolve(scope, outcome.created) if device is not None]
    created = device_changes.named(store, scope, [device.id for device in created])
    unused = device_changes.unused(
        store, scope, [d for d in created if d.updated_ms <= outcome.prepared_ms]
    )
    gone = [
        device for device in unused if device_changes.stored(store, device) == counts[device.key]
    ]
    others = {device.serial_number for device in created} - {d.serial_number for d in gone}
    stay = max(0, outcome.stored - outcome.removed - counts.total())
    return Undo(own, stay, gone, sorted(others))


def carry_out(store: Store, folder: ImportFolder) -> Outcome:
    """Deletes what the plan says, and what the import has noted. Returns the new outcome. What is
    deleted is reported after each step, so that an undo that is killed continues its counts."""
    request, undo = folder.request(), plan(store, folder)
    outcome = _reported(folder, replace(folder.outcome() or Outcome(), state="undoing"))
    gone = {device.key for device in undo.devices}
    for span, device, there in undo.spans:
        if device.key not in gone:
            deleted = store.delete_readings(device, span.from_ms, span.to_ms + 1, [])
            removed = outcome.removed + (there if span.registers else deleted)
            outcome = _reported(folder, replace(outcome, removed=removed))
    scope = Scope(request.organization_id, Grant(everything=True))
    for device in undo.devices:
        removed = outcome.removed + device_changes.stored(store, device)
        reason = f"The import of {request.name} was undone."
        device_changes.delete(store, scope, device, reason, Editor(request.by, now_ms()))
        deleted = [*outcome.deleted, device.serial_number]
        outcome = _reported(folder, replace(outcome, removed=removed, deleted=deleted))
    digest = content_digest(folder.file, folder.mapping())
    store.write([], progress=Progress(digest, request.organization_id, complete=True))
    reevaluate(store, {device.key for _, device, _ in undo.spans} - gone)
    folder.spans.unlink(missing_ok=True)
    folder.refused_rows.unlink(missing_ok=True)
    return replace(outcome, state="undone", messages=list(_messages(undo)))


def _reported(folder: ImportFolder, outcome: Outcome) -> Outcome:
    folder.report(outcome)
    return outcome


def _messages(undo: Undo) -> Iterable[str]:
    if undo.stay:
        yield f"{undo.stay:,} readings stay: others have the same times."
    if undo.others:
        names = ", ".join(undo.others[:NAMED]) + (" …" if len(undo.others) > NAMED else "")
        yield f"New devices with other readings, notes or settings stay: {names}."
