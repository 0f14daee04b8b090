"""The common pipeline of every source: stores decoded batches, counts them, and can resume."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from api.errors import UserError
from api.ingest import files, source
from api.ingest.batch import Batch
from api.ingest.decode import Devices
from api.ingest.foreign import convert
from api.ingest.foreign.mapping import Mapping, to_toml
from api.ingest.foreign.rows import opened
from api.ingest.new_devices import set_register_digits
from api.ingest.prefetch import prefetched
from api.store.base import (
    DeviceQuery,
    Grant,
    Progress,
    Refusal,
    Scope,
    Store,
    Written,
)
from api.timez import now_ms

OnBatch = Callable[[Batch], object]
"""Called with every batch after its commit."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A source of readings; ``source`` names it in the table of refusals."""

    store: Store
    organization_id: str
    source: str

    def take(self, batch: Batch, progress: Progress | None = None) -> Written:
        """Writes one batch, with its refusals, in one transaction."""
        at_ms = now_ms()
        refusals = [
            Refusal(self.organization_id, self.source, r.reason, r.device, r.sample, at_ms, r.count)
            for r in batch.refused
        ]
        rows, registers = batch.columns.rows(), batch.registers
        return self.store.write(rows, registers=registers, refusals=refusals, progress=progress)

    def take_all(
        self,
        batches: Iterable[Batch],
        start: Progress,
        on_batch: OnBatch,
        before_batch: OnBatch = lambda batch: None,
    ) -> Progress:
        """Writes the rest of a finite source, storing the progress with every batch."""
        now = start
        with _collector_paused():
            for batch in batches:
                before_batch(batch)
                now = replace(
                    now,
                    position=now.position + batch.read,
                    refused=now.refused + batch.refused_count,
                )
                written = self.take(batch, now)
                now = replace(
                    now,
                    stored=now.stored + written.stored,
                    repeated=now.repeated + written.repeated,
                    refused=now.refused + written.too_old,
                )
                on_batch(batch)
        done = replace(now, complete=True)
        self.store.write([], progress=done)
        return done


def import_file(
    store: Store, organization_id: str, path: Path, on_batch: OnBatch, *, restart: bool = False,
    mapping: Mapping | None = None, before_batch: OnBatch = lambda batch: None,
) -> Progress:  # fmt: skip
    """Imports a file. Returns its position and counts, earlier attempts included.

    ``mapping``: the meaning of its rows, if it isn't in Weir's own format. ``before_batch`` is
    called with every batch before it is stored, and may end the import by raising.

    Progress is stored under the content's digest: an interrupted import of the same file continues
    after its last commit. A complete one, or one with ``restart``, starts again, and rows already
    stored count as repeated. Raises UserError if the file can't be read to its end; complete rows
    before the defect are kept.
    """
    if mapping is not None:
        set_register_digits(store, organization_id, path, mapping)
    devices = Devices(store.ingest_keys(organization_id))
    make, file, what = _reading(store, organization_id, path, devices, mapping)
    digest = content_digest(path, mapping)
    start = Progress(digest, organization_id) if restart else _start(store, organization_id, digest)
    arguments = (file, *what, now_ms(), start.position)
    batches = prefetched(make, *arguments) if file.long else make(*arguments)
    feed = Feed(store, organization_id, f"file {path.name}")
    try:
        with closing(batches):
            return feed.take_all(batches, start, on_batch, before_batch)
    except files.Damaged as error:
        reached = store.progress(start.digest, organization_id) or start
        raise UserError(f"{error}; the {reached.position:,} rows before it are stored") from None


def content_digest(path: Path, mapping: Mapping | None = None) -> str:
    """Returns the digest of a file's content as read by a mapping: another mapping gives other
    readings."""
    if mapping is None:
        return source.digest(path)
    both = source.digest(path) + to_toml(mapping)
    return sha256(both.encode()).hexdigest()


def _reading(
    store: Store, organization_id: str, path: Path, devices: Devices, mapping: Mapping | None
) -> tuple[Callable[..., Generator[Batch]], source.SourceFile, tuple[object, ...]]:
    """Returns how the file is read: the function, the file, and its first arguments."""
    if mapping is None:
        return files.batches, source.inspect(path), (devices,)
    query, scope = DeviceQuery(active=None), Scope(organization_id, Grant(everything=True))
    zones = {device.key: device.time_zone for device in store.devices(scope, query)}
    file = opened(path, mapping.form, mapping.encoding)
    return convert.batches, file, (mapping, convert.Places(devices, zones))


@contextmanager
def _collector_paused() -> Generator[None]:
    """Pauses the garbage collector: rows form no cycles, and searching for them takes a sixth of
    the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _start(store: Store, organization_id: str, digest: str) -> Progress:
    earlier = store.progress(digest, organization_id)
    if earlier is None or earlier.complete:
        return Progress(digest, organization_id)
    return earlier
