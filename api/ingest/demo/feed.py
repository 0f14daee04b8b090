"""Feeds the demo fleet's readings into the store: history, missed readings, then live ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Protocol

import numpy as np

from api.catalog import FLOW_AMOUNT, METRICS, MINUTE_MS
from api.domain.demo_fleet import Trial
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
from api.insight.finding_evaluator import Evaluator
from api.insight.month_ends import after_import
from api.insight.status_projection import Projection
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
PAUSE_S: Final = 1.0  # seconds between two commits, so that readings are committed in groups

_AMOUNT: Final = METRICS.index(FLOW_AMOUNT)
_REGISTER: Final = 2 + _AMOUNT  # metrics that a register replaces; other quantities follow it


class Taker(Protocol):
    """Receives the fleet's batches."""

    def take(self, batch: Batch) -> Written: ...


@dataclass(frozen=True, slots=True)
class Fleet:
    """The meters in the store: their device keys, and when the fleet was set up."""

    keys: Mapping[str, int]
    origin_ms: int
    organization_id: str = ORGANIZATION_ID

    @classmethod
    def of(cls, store: Store, trial: Trial | None = None) -> Fleet | None:
        """Returns None if the organization or all of its meters are missing. ``trial``: of an
        ordinary organization; None: of the demo organization."""
        own = trial.organization_id if trial else ORGANIZATION_ID
        organization = store.organization(own)
        devices = store.resolve(_everything(own), [one.id for one in FLEET])
        keys = {device.id: device.key for device in devices if device is not None}
        if organization is None or not keys:
            return None
        return cls(keys, trial.origin_ms if trial else organization.created_ms, own)

    @property
    def meters(self) -> list[Character]:
        """The meters that nobody has deleted."""
        return [one for one in FLEET if one.id in self.keys]

    def readings(self, one: Character, from_ms: int, to_ms: int) -> Columns:
        """Returns the readings of a meter; a register replaces the volumes."""
        key, origin = self.keys[one.id], self.origin_ms
        if not one.meter.register:
            return readings(one, key, origin, from_ms, to_ms)
        every = readings(one, key, origin, origin - one.meter.history_ms, to_ms)
        every.values[_AMOUNT] = registers(every.instants, every.values[_AMOUNT], origin)
        return every.taken(every.instants >= from_ms)

    def batch(self, columns: Columns) -> Batch:
        """Returns readings and registers, each as they are sent."""
        with_register = [self.keys[one.id] for one in self.meters if one.meter.register]
        which = np.isin(columns.devices, with_register)
        rows = tuple(
            RegisterRow(row[0], row[1], row[_REGISTER] or 0.0, "", *row[_REGISTER + 1 :])
            for row in columns.taken(which).rows()
        )
        return Batch(columns.taken(~which), len(columns), registers=rows)

    def pieces(self, one: Character, from_ms: int, to_ms: int) -> Iterator[Columns]:
        """Yields one meter's readings of a span, in pieces of about BATCH_ROWS at most."""
        length_ms = BATCH_ROWS * one.meter.cadence_s * 1000
        for start in range(from_ms, to_ms, length_ms):
            yield self.readings(one, start, min(start + length_ms, to_ms))

    def batches(self, spans: Mapping[str, tuple[int, int]]) -> Iterator[Batch]:
        return map(self.batch, self.columns(spans))

    def columns(self, spans: Mapping[str, tuple[int, int]]) -> Iterator[Columns]:
        """Yields every meter's span by meter id; one meter after the other, as the store orders
        them."""
        gathered: list[Columns] = []
        for one in self.meters:
            for piece in self.pieces(one, *spans[one.id]):
                if gathered and sum(map(len, gathered)) + len(piece) > BATCH_ROWS:
                    yield _joined(gathered)
                    gathered = []
                gathered.append(piece)
        if gathered:
            yield _joined(gathered)


def _everything(organization_id: str) -> Scope:
    return Scope(organization_id, Grant(everything=True))


def _joined(pieces: Sequence[Columns]) -> Columns:
    return Columns(
        np.concatenate([piece.devices for piece in pieces]),
        np.concatenate([piece.instants for piece in pieces]),
        np.concatenate([piece.values for piece in pieces], axis=1),
    )


# --- History -------------------------------------------------------------------------------------


def history(fleet: Fleet) -> Iterator[Columns]:
    """Yields each meter's history up to when the fleet was set up."""
    origin = fleet.origin_ms
    starts = {one.id: origin - one.meter.history_ms for one in fleet.meters}
    ends = {one.id: last_instant(one, origin, origin) for one in fleet.meters}
    return fleet.columns({id: (start, ends[id]) for id, start in starts.items()})


def seed(store: Store, fleet: Fleet, on_batch: OnBatch) -> Progress:
    """Stores the history, and evaluates it before it counts as complete; resumes an interrupted
    seeding."""
    start = store.progress(MARK, fleet.organization_id) or Progress(MARK, fleet.organization_id)
    left = _without_first(history(fleet), start.position)
    batches = chain(map(fleet.batch, left), _evaluated(store, fleet))
    return Feed(store, fleet.organization_id, SOURCE).take_all(batches, start, on_batch)


def _evaluated(store: Store, fleet: Fleet) -> Iterator[Batch]:
    """Makes statuses, findings and month ends, so that the first page shows them. Yields empty
    batches, at which it may be interrupted."""
    Projection(store).all_due()
    evaluator, keys = Evaluator(store), sorted(fleet.keys.values())
    none = np.empty(0, np.int64)
    nothing = Columns(none, none, np.empty((len(METRICS), 0)))
    for key in keys:
        yield Batch(nothing, 0)
        evaluator.run_due(key, now_ms())
    after_import(store, keys, now_ms())


def _without_first(pieces: Iterator[Columns], skip: int) -> Iterator[Columns]:
    for piece in pieces:
        if skip < len(piece):
            yield piece.taken(np.arange(skip, len(piece)))
        skip = max(0, skip - len(piece))


# --- Live ----------------------------------------------------------------------------------------


def catch_up(store: Store, fleet: Fleet, now: int, taker: Taker | None = None) -> Written:
    """Fills each meter's gap from its last reading up to ``now``, seven days at most."""
    earliest = now - LONGEST_GAP_MS
    devices = [
        d
        for d in store.resolve(_everything(fleet.organization_id), list(fleet.keys))
        if d is not None
    ]
    latest = store.latest(devices, LatestQuery(Span(earliest, None), last=True))
    spans: dict[str, tuple[int, int]] = {}
    for one in fleet.meters:
        last = latest[fleet.keys[one.id]].last
        start = earliest if last is None else last[0] + 1
        spans[one.id] = start, last_instant(one, fleet.origin_ms, now)
    taker = taker or Feed(store, fleet.organization_id, SOURCE)
    written = [taker.take(batch) for batch in fleet.batches(spans) if batch.read]
    return Written(sum(w.stored for w in written), sum(w.repeated for w in written))


def live(
    store: Store,
    fleet: Fleet,
    start_ms: int,
    wait: Callable[[float], bool],
    taker: Taker | None = None,
) -> None:
    """Sends each reading when it is due, from ``start_ms`` on, until ``wait(seconds)`` returns
    true.

    Meters that were silent at the start stay silent.
    """
    taker = taker or Feed(store, fleet.organization_id, SOURCE)
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
    """Returns the whole fleet's readings in a span, ascending in time."""
    sending = (one for one in fleet.meters if one.meter.condition is not Condition.SILENT)
    alive = (one for one in sending if last_instant(one, fleet.origin_ms, to_ms) == to_ms)
    columns = _joined([fleet.readings(one, from_ms, to_ms) for one in alive])
    return columns.taken(np.argsort(columns.instants, kind="stable"))
