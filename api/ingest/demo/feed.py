"""Feeds the demo fleet's readings into the store: history, missed readings, then live ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from api.catalog import FLOW_AMOUNT, METRICS, MINUTE_MS
from api.ingest.batch import Batch, Columns
from api.ingest.demo.fleet import (
    FLEET,
    LONGEST_GAP_MS,
    MARK,
    ORGANIZATION_ID,
    Character,
    Condition,
)
from api.ingest.demo.meter import last_instant, readings, registers
from api.ingest.pipeline import Feed, OnBatch
from api.store.base import (
    Grant,
    LatestQuery,
    Progress,
    RegisterRow,
    Scope,
    Span,
    Store,
    Written,
)
from api.timez import now_ms

BATCH_ROWS: Final = 100_000
HORIZON_MS: Final = MINUTE_MS
SOURCE: Final = "demo"
PAUSE_S: Final = 1.0  # between two commits, so that readings are committed in groups

_AMOUNT: Final = METRICS.index(FLOW_AMOUNT)
_REGISTER: Final = 2 + _AMOUNT  # in a row; what comes beside a register follows it
_EVERYTHING: Final = Scope(ORGANIZATION_ID, Grant(everything=True))


class Taker(Protocol):
    """Receives the fleet's batches."""

    def take(self, batch: Batch) -> Written: ...


@dataclass(frozen=True, slots=True)
class Fleet:
    """The meters in the store: their device keys, and when the fleet was set up."""

    keys: Mapping[str, int]
    origin_ms: int

    @classmethod
    def of(cls, store: Store) -> Fleet | None:
        """None if the demo organization or one of its meters is missing."""
        organization = store.organization(ORGANIZATION_ID)
        devices = store.resolve(_EVERYTHING, [one.id for one in FLEET])
        keys = {device.id: device.key for device in devices if device is not None}
        if organization is None or len(keys) < len(FLEET):
            return None
        return cls(keys, organization.created_ms)

    def readings(self, one: Character, from_ms: int, to_ms: int) -> Columns:
        """Of a meter with a register, that stands in place of the volumes."""
        key, origin = self.keys[one.id], self.origin_ms
        if not one.meter.register:
            return readings(one, key, origin, from_ms, to_ms)
        every = readings(one, key, origin, origin - one.meter.history_ms, to_ms)
        every.values[_AMOUNT] = registers(every.instants, every.values[_AMOUNT], origin)
        return every.taken(every.instants >= from_ms)

    def batch(self, columns: Columns) -> Batch:
        """Readings and registers, each as they are sent."""
        with_register = [self.keys[one.id] for one in FLEET if one.meter.register]
        which = np.isin(columns.devices, with_register)
        rows = tuple(
            RegisterRow(row[0], row[1], row[_REGISTER] or 0.0, "", *row[_REGISTER + 1 :])
            for row in columns.taken(which).rows()
        )
        return Batch(columns.taken(~which), len(columns), registers=rows)

    def pieces(self, one: Character, from_ms: int, to_ms: int) -> Iterator[Columns]:
        """One meter's readings of a span, cut so that none has many more than BATCH_ROWS."""
        length_ms = BATCH_ROWS * one.meter.cadence_s * 1000
        for start in range(from_ms, to_ms, length_ms):
            yield self.readings(one, start, min(start + length_ms, to_ms))

    def batches(self, spans: Mapping[str, tuple[int, int]]) -> Iterator[Batch]:
        return map(self.batch, self.columns(spans))

    def columns(self, spans: Mapping[str, tuple[int, int]]) -> Iterator[Columns]:
        """Every meter's span, by meter id; one meter after the other, as the store keeps them."""
        gathered: list[Columns] = []
        for one in FLEET:
            for piece in self.pieces(one, *spans[one.id]):
                if gathered and sum(map(len, gathered)) + len(piece) > BATCH_ROWS:
                    yield _joined(gathered)
                    gathered = []
                gathered.append(piece)
        if gathered:
            yield _joined(gathered)


def _joined(pieces: Sequence[Columns]) -> Columns:
    return Columns(
        np.concatenate([piece.devices for piece in pieces]),
        np.concatenate([piece.instants for piece in pieces]),
        np.concatenate([piece.values for piece in pieces], axis=1),
    )


# --- History -------------------------------------------------------------------------------------


def history(fleet: Fleet) -> Iterator[Columns]:
    """Each meter's history up to when the fleet was set up."""
    origin = fleet.origin_ms
    starts = {one.id: origin - one.meter.history_ms for one in FLEET}
    ends = {one.id: last_instant(one, origin, origin) for one in FLEET}
    return fleet.columns({id: (start, ends[id]) for id, start in starts.items()})


def seed(store: Store, fleet: Fleet, on_batch: OnBatch) -> Progress:
    """Store the history, resuming an interrupted seeding."""
    start = store.progress(MARK, ORGANIZATION_ID) or Progress(MARK, ORGANIZATION_ID)
    left = _without_first(history(fleet), start.position)
    batches = map(fleet.batch, left)
    return Feed(store, ORGANIZATION_ID, SOURCE).take_all(batches, start, on_batch)


def _without_first(pieces: Iterator[Columns], skip: int) -> Iterator[Columns]:
    for piece in pieces:
        if skip < len(piece):
            yield piece.taken(np.arange(skip, len(piece)))
        skip = max(0, skip - len(piece))


# --- Live ----------------------------------------------------------------------------------------


def catch_up(store: Store, fleet: Fleet, now: int, taker: Taker | None = None) -> Written:
    """Fill each meter's gap from its last reading up to ``now``, seven days at most."""
    earliest = now - LONGEST_GAP_MS
    devices = [d for d in store.resolve(_EVERYTHING, [one.id for one in FLEET]) if d is not None]
    latest = store.latest(devices, LatestQuery(Span(earliest, None), last=True))
    spans: dict[str, tuple[int, int]] = {}
    for one in FLEET:
        last = latest[fleet.keys[one.id]].last
        start = earliest if last is None else last[0] + 1
        spans[one.id] = start, last_instant(one, fleet.origin_ms, now)
    taker = taker or Feed(store, ORGANIZATION_ID, SOURCE)
    written = [taker.take(batch) for batch in fleet.batches(spans) if batch.read]
    return Written(sum(w.stored for w in written), sum(w.repeated for w in written))


def live(
    store: Store,
    fleet: Fleet,
    start_ms: int,
    wait: Callable[[float], bool],
    taker: Taker | None = None,
) -> None:
    """Send each reading when it is due, from ``start_ms`` on, until ``wait(seconds)`` returns true.

    Meters that were silent at the start stay silent.
    """
    taker = taker or Feed(store, ORGANIZATION_ID, SOURCE)
    while True:
        end_ms = max(start_ms + HORIZON_MS, now_ms())  # after a long sleep, one wide step
        due = _in_order(fleet, start_ms, end_ms)
        while len(due):
            if wait(max(PAUSE_S, (int(due.instants[0]) - now_ms()) / 1000)):
                return
            come = due.instants <= now_ms()
            if come.any():
                taker.take(fleet.batch(due.taken(come)))
            due = due.taken(~come)
        start_ms = end_ms
        if wait(PAUSE_S):
            return


def _in_order(fleet: Fleet, from_ms: int, to_ms: int) -> Columns:
    """The whole fleet's readings in a span, ascending in time."""
    sending = (one for one in FLEET if one.meter.condition is not Condition.SILENT)
    alive = (one for one in sending if last_instant(one, fleet.origin_ms, to_ms) == to_ms)
    columns = _joined([fleet.readings(one, from_ms, to_ms) for one in alive])
    return columns.taken(np.argsort(columns.instants, kind="stable"))
