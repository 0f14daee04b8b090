"""The spans of time that hold only readings of one import, so that an undo deletes no others.

Spans are recorded before their readings are stored. An undo deletes a span only if it holds exactly
as many readings as the import stored there. If others have arrived since, the span stays, and the
report says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from api.catalog import RAW
from api.ingest.batch import Batch, Ints
from api.store.base import Device, Instant, Span, Store

MOST_EXISTING: Final = 200_000  # stored instants read between a batch's first and last


@dataclass(frozen=True, slots=True)
class OwnSpan:
    """A span of a device (by its key), both ends included, with ``readings`` of the import, or with
    its ``registers``, of which there are as many."""

    key: int
    from_ms: int
    to_ms: int
    readings: int
    registers: bool = False

    def stored(self, store: Store, device: Device) -> int:
        """Returns how many the device has there now, including other readings between its
        registers."""
        span = Span(self.from_ms, self.to_ms)
        if not self.registers:
            return store.count(device, RAW, span)
        return store.count_registers(device, span) + store.count_beside_registers(device, span)


def own_spans(store: Store, batch: Batch) -> Iterator[OwnSpan]:
    """Yields the spans of a batch before it is stored. Readings at instants at which the device
    already has one are in no span, nor are those beyond the limit of instants read."""
    yield from _own_spans(store, sorted(row[:2] for row in set(batch.columns.rows())))
    instants = sorted({row[:2] for row in batch.registers})
    yield from (replace(span, registers=True) for span in _own_spans(store, instants))


def _own_spans(store: Store, rows: Sequence[Instant]) -> Iterator[OwnSpan]:
    by_key: dict[int, list[int]] = {}
    for key, instant in rows:
        by_key.setdefault(key, []).append(instant)
    devices = {device.key: device for device in store.devices_by_key(sorted(by_key))}
    for key, own in by_key.items():
        instants = np.array(own, np.int64)
        existing = _existing(store, devices[key], int(instants[0]), int(instants[-1]))
        if existing is not None:
            yield from _between(key, instants, existing)


def _existing(store: Store, device: Device, from_ms: int, to_ms: int) -> Ints | None:
    span = Span(from_ms, to_ms)
    if not store.count(device, RAW, span, at_most=1):
        return np.empty(0, np.int64)
    rows = store.rows(device, RAW, span, limit=MOST_EXISTING, metrics=())
    return None if len(rows) == MOST_EXISTING else np.array([row[0] for row in rows], np.int64)


def _between(key: int, instants: Ints, existing: Ints) -> Iterator[OwnSpan]:
    fresh = instants[~np.isin(instants, existing)]
    if not len(fresh):
        return
    after = np.searchsorted(existing, fresh)
    starts = np.flatnonzero(np.r_[True, after[1:] != after[:-1]])
    ends = np.r_[starts[1:], len(fresh)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield OwnSpan(key, int(fresh[start]), int(fresh[end - 1]), end - start)


def note(path: Path, spans: Sequence[OwnSpan]) -> None:
    """Adds spans to an import's list; they are on disk before this returns."""
    with path.open("a", encoding="utf-8") as file:
        for span in spans:
            file.write(json.dumps(astuple(span)) + "\n")
        file.flush()
        os.fsync(file.fileno())


def noted(path: Path) -> list[OwnSpan]:
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return list(dict.fromkeys(OwnSpan(*json.loads(line)) for line in lines))
