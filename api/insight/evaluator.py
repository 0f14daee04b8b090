"""Evaluates the devices that are due: reads their hours, runs the rules, keeps what they find.

A device's state is kept together with its findings, and only where nobody else kept one meanwhile;
what was due stays so until then. So it may be killed, or run twice, at any point.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from threading import Event, Thread
from time import monotonic
from typing import Any, Final, NamedTuple

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.errors import Unavailable
from api.insight.evaluation import Kept, kept, open_findings, row_of
from api.insight.facts import Facts, OfOrganization, ReadingsOfDevice, facts_of
from api.insight.findings import Finding, State, evaluate
from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, configured, estimated
from api.store.base import UNTOUCHED, Device, Due, Evaluated, FindingRow, KeptState, Store
from api.timez import floor_to, now_ms

BATCH: Final = 20  # devices of one transaction
LIST: Final = 50 * BATCH  # asked for at once
PACE_MS: Final = 5 * MINUTE_MS  # the hour under way is looked at no more often than this
POLL_S: Final = 2.0
CLOCK_S: Final = 10.0  # between looks for who fell silent
CHANGED_S: Final = 60.0  # and for devices that were changed
SHARE: Final = 0.05  # of the time, while readings wait to be written
PAUSE_S: Final = 5.0  # while the store is away
AGAIN_S: Final = 600.0  # until a device that could not be evaluated is tried again
KEPT_CADENCES: Final = 120_000

_log = logging.getLogger(__name__)


class Counts(NamedTuple):
    """Devices that were evaluated; findings that are new, and those that have ended."""

    devices: int = 0
    opened: int = 0
    closed: int = 0

    def __add__(self, other: Any) -> Counts:
        return Counts(*(one + two for one, two in zip(self, other, strict=True)))


class _Task(NamedTuple):
    key: int
    due: Due | None


class _Result(NamedTuple):
    evaluated: Evaluated
    counts: Counts


class Evaluator:
    """One a process; not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cadences: dict[int, tuple[int, Cadence]] = {}
        self._failed: dict[int, float] = {}  # device → when it is tried again, monotonic

    # --- What is due ---

    def due(self, at_ms: int) -> list[_Task]:
        """By readings, by settings or facts that were changed."""
        found = self._store.due_findings(LIST, made_before_ms=at_ms - PACE_MS)
        return [_Task(due.key, due) for due in found]

    def silent(self, at_ms: int) -> list[_Task]:
        return [_Task(key, None) for key in self._store.due_by_clock(at_ms, LIST)]

    def changed(self) -> list[_Task]:
        return [_Task(key, None) for key in self._store.changed_since_evaluated(LIST)]

    def run(self, tasks: Sequence[_Task], clock_ms: int | None) -> Counts:
        """One batch in one transaction. ``clock_ms`` None: up to each device's latest reading."""
        with self._store.claimed([task.key for task in tasks]) as mine:
            chosen = [task for task in tasks if task.key in mine]
            results = [self._result(*each, clock_ms) for each in self._prepared(chosen, anew=False)]
            return self._keep(results)

    def run_each(self, tasks: Sequence[_Task], clock_ms: int) -> Counts:
        """The same; where it fails, one by one, so that a device that can't be evaluated keeps no
        other from it. It is tried again after some minutes."""
        well = [task for task in tasks if self._failed.get(task.key, 0.0) <= monotonic()]
        try:
            return self.run(well, clock_ms)
        except Unavailable:
            raise
        except Exception:  # noqa: BLE001 - of some device; which one shows below
            total = Counts()
            for task in well:
                try:
                    total += self.run([task], clock_ms)
                except Unavailable:
                    raise
                except Exception:  # noqa: BLE001
                    self._failed[task.key] = monotonic() + AGAIN_S
                    _log.exception("the findings of device %s can't be made", task.key)
            return total

    def up_to_date(self, organization_id: str | None = None, key: int | None = None) -> Counts:
        """All that is due, up to each device's latest reading."""
        total, seen = Counts(), set[tuple[int, int]]()
        while True:
            found = self._store.due_findings(LIST, organization_id=organization_id, key=key)
            fresh = [due for due in found if (due.key, due.seq) not in seen]
            if not fresh:
                return total
            seen |= {(due.key, due.seq) for due in fresh}
            for start in range(0, len(fresh), BATCH):
                some = [_Task(due.key, due) for due in fresh[start : start + BATCH]]
                total += self.run(some, None)

    # --- From the first reading ---

    def rebuild(self, keys: Sequence[int]) -> Counts:
        total = Counts()
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            tasks = [_Task(due.key, due) for key in some for due in self._due_of(key)]
            tasks += [_Task(key, None) for key in some if key not in {t.key for t in tasks}]
            with self._store.claimed(some) as mine:
                chosen = [task for task in tasks if task.key in mine]
                prepared = self._prepared(chosen, anew=True)
                total += self._keep([self._result(*each, None) for each in prepared])
        return total

    def wrong(self, key: int) -> bool | None:
        """Whether what is kept of a device isn't what its readings say; None where readings are
        due, or it was never evaluated."""
        state = self._store.states_of([key]).get(key)
        if state is None or self._due_of(key):
            return None
        for task, device, facts, _ in self._prepared([_Task(key, None)], anew=True):
            result = self._result(task, device, facts, None, state.as_of_ms)
            stored = {(r.kind, r.opened_ms): r for r in self._store.findings_of(key, 0)}
            changed = result.evaluated.kept
            return bool(result.evaluated.gone) or any(
                _differs(row, stored.get((row.kind, row.opened_ms))) for row in changed
            )
        return None

    def _due_of(self, key: int) -> list[Due]:
        return self._store.due_findings(1, key=key)

    # --- One device ---

    def _prepared(
        self, tasks: Sequence[_Task], *, anew: bool
    ) -> list[tuple[_Task, Device, Facts, KeptState | None]]:
        keys = [task.key for task in tasks]
        devices = {device.key: device for device in self._store.devices_by_key(keys)}
        states, groups = self._store.states_of(keys), self._store.groups_by_device(keys)
        planned, corrections = self._store.maintenance_of(keys), self._store.corrections_of(keys)
        shared = {
            organization: OfOrganization.read(self._store, organization)
            for organization in {device.organization_id for device in devices.values()}
        }
        found: list[tuple[_Task, Device, Facts, KeptState | None]] = []
        for task in tasks:
            device = devices.get(task.key)
            if device is not None:
                cadence = self._cadence(device, task.due, anew=anew)
                facts = facts_of(
                    device,
                    groups.get(task.key, []),
                    shared[device.organization_id],
                    cadence,
                    planned.get(task.key, ()),
                    corrections.get(task.key, ()),
                )
                state = states.get(task.key)
                if anew and state is not None:
                    state = state._replace(basis="", as_of_ms=None)
                found.append((task, device, facts, state))
        return found

    def _result(
        self,
        task: _Task,
        device: Device,
        facts: Facts,
        before: KeptState | None,
        clock_ms: int | None,
    ) -> _Result:
        touched = task.due.from_ms if task.due is not None else UNTOUCHED
        basis = facts.basis
        state = _state(before, basis)
        touched_ms = None if state is None or touched >= UNTOUCHED else touched
        if clock_ms is None and task.due is None and before is not None:
            clock_ms = before.as_of_ms
        if not device.active:
            clock_ms = None
        readings = ReadingsOfDevice(self._store, device.key, facts.cadence)
        evaluation = evaluate(
            facts.device, facts.settings, state, readings, touched_ms=touched_ms, now_ms=clock_ms
        )
        stored = self._store.findings_of(device.key, evaluation.since_ms)
        rows = [row_of(device.key, device.id, f) for f in evaluation.findings]
        judged = kept(rows, stored, evaluation.since_ms)
        made = KeptState(
            device.key,
            0 if before is None else before.version,
            basis,
            device.updated_ms,
            0 if evaluation.state is None else evaluation.state.carried.next_ms,
            clock_ms,
            now_ms() if clock_ms is None else clock_ms,
            _due_ms(device, facts, readings.last_ms, evaluation.findings, clock_ms),
            b"" if evaluation.state is None else evaluation.state.dump(),
        )
        evaluated = Evaluated(made, judged.rows, judged.gone, task.due, open_findings(judged.all))
        return _Result(evaluated, _counted(judged, stored))

    def _keep(self, results: Sequence[_Result]) -> Counts:
        if not results:
            return Counts()
        done = set(self._store.keep_evaluated([each.evaluated for each in results]))
        total = Counts()
        for each in results:
            if each.evaluated.state.key in done:
                total += each.counts
        return total

    def _cadence(self, device: Device, due: Due | None, *, anew: bool) -> Cadence:
        """As configured, else of the 7 days before the day (UTC) of the latest reading, so that it
        changes once a day at most; where those hold too few, of all since."""
        fixed = configured(device.reporting_interval_s)
        if fixed is not None:
            return fixed
        last = self._store.last_hour(device.key, UNTOUCHED)
        if last is None:
            return UNKNOWN
        day_ms = floor_to(last, DAY_MS)
        known = self._cadences.get(device.key)
        untouched = due is None or due.from_ms >= day_ms
        if known is not None and known[0] == day_ms and untouched and not anew:
            return known[1]
        found = estimated(self._store.instants(device.key, day_ms - LOOKED_BACK_MS, day_ms))
        if found is not None:
            while len(self._cadences) >= KEPT_CADENCES:
                self._cadences.pop(next(iter(self._cadences)))
            self._cadences[device.key] = (day_ms, found)
            return found
        since = self._store.instants(device.key, day_ms - LOOKED_BACK_MS, last + HOUR_MS)
        return estimated(since) or UNKNOWN


def _state(before: KeptState | None, basis: str) -> State | None:
    """None where it must begin anew: there is none, or it was made of other facts."""
    if before is None or before.basis != basis or not before.data:
        return None
    try:
        return State.load(before.data)
    except ValueError:
        return None


def _due_ms(
    device: Device,
    facts: Facts,
    last_ms: int | None,
    found: Sequence[Finding],
    clock_ms: int | None,
) -> int | None:
    """When silence may show. Of a device that is silent already its hours are counted again after
    an hour, or a twentieth of the silence."""
    if last_ms is None or not device.active:
        return None
    silent = [each for each in found if each.kind == "silent" and each.end_ms is None]
    if silent and clock_ms is not None:
        return clock_ms + max(HOUR_MS, (clock_ms - silent[0].start_ms) // 20)
    earliest = last_ms + facts.device.silent_after_ms + MINUTE_MS
    return earliest if clock_ms is None else max(earliest, clock_ms + MINUTE_MS)


def _counted(judged: Kept, stored: Sequence[FindingRow]) -> Counts:
    before = {(row.kind, row.opened_ms): row for row in stored}
    opened = [row for row in judged.rows if (row.kind, row.opened_ms) not in before]
    ended = [
        row
        for row in judged.rows
        if row.end_ms is not None
        and ((old := before.get((row.kind, row.opened_ms))) is None or old.end_ms is None)
    ]
    return Counts(1, len(opened), len(ended))


def _differs(made: FindingRow, stored: FindingRow | None) -> bool:
    if stored is None:
        return True
    fields = ("start_ms", "end_ms", "severity", "unit", "words", "state")
    numbers = ("value", "usual", "gallons", "cost_per_day", "usual_per_day")
    return any(getattr(made, name) != getattr(stored, name) for name in fields) or not all(
        _near(getattr(made, name), getattr(stored, name)) for name in numbers
    )


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


class EvaluatorThread:
    """Runs an evaluator beside a writer until it is stopped. ``busy``: whether readings wait to be
    written; they come first."""

    def __init__(self, store: Store, busy: Callable[[], bool] = lambda: False) -> None:
        self._evaluator = Evaluator(store)
        self._busy = busy
        self._stop = Event()
        self._clock_s = self._changed_s = 0.0
        self._thread = Thread(target=self._run, name="findings", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        trouble = False
        while not self._stop.is_set():
            try:
                worked = self._round()
            except Unavailable as error:
                if not trouble:
                    _log.warning("findings can't be updated: %s", error)
                trouble = True
                self._stop.wait(PAUSE_S)
            except Exception:  # noqa: BLE001 - nobody else would keep them up
                _log.exception("findings can't be updated; retrying")
                self._stop.wait(PAUSE_S)
            else:
                if trouble:
                    _log.warning("findings are updated again")
                trouble = False
                self._stop.wait(0.0 if worked else POLL_S)

    def _round(self) -> bool:
        """Whether anything was done."""
        tasks = {task.key: task for task in self._more()}
        tasks |= {task.key: task for task in self._evaluator.due(now_ms())}
        chosen, counts = list(tasks.values()), Counts()
        for start in range(0, len(chosen), BATCH):
            if self._stop.is_set():
                break
            began_s = monotonic()
            counts += self._evaluator.run_each(chosen[start : start + BATCH], now_ms())
            if self._busy():
                self._stop.wait((monotonic() - began_s) * (1 / SHARE - 1))
        return counts.devices > 0

    def _more(self) -> list[_Task]:
        found: list[_Task] = []
        if monotonic() >= self._clock_s:
            self._clock_s = monotonic() + CLOCK_S
            found += self._evaluator.silent(now_ms())
        if monotonic() >= self._changed_s:
            self._changed_s = monotonic() + CHANGED_S
            found += self._evaluator.changed()
        return found
