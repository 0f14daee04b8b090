"""Evaluates the devices that are due: reads their hours, runs the rules, saves their findings.

A device's state and findings are saved in one transaction, unless another evaluator has saved them
meanwhile; the device stays due until then. So it may be killed, or run twice, at any point.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.errors import Unavailable
from api.insight.finding_inputs import Facts, OfOrganization, ReadingsOfDevice, facts_of
from api.insight.findings import Finding, State, evaluate
from api.insight.status_projection import near
from api.insight.stored_findings import Merged, merge_stored, open_findings, row_of
from api.insight.tariffs import expected_volumes
from api.insight.worker_thread import WorkerThread
from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, configured, estimated
from api.store.base import UNTOUCHED, Device, Due, Evaluated, EvaluationState, FindingRow, Store
from api.timez import floor_to, now_ms

BATCH: Final = 20  # devices per transaction
LIST: Final = 50 * BATCH  # devices read at once
HOUR_INTERVAL_MS: Final = 5 * MINUTE_MS  # between evaluations of the current hour
BEHIND_INTERVAL_MS: Final = 20_000  # between those of a device whose history is being imported
POLL_S: Final = 2.0
CLOCK_S: Final = 10.0  # seconds between checks for silent devices
CHANGED_S: Final = 60.0  # seconds between checks for changed devices
SHARE: Final = 0.05  # share of the time, while readings wait to be written
AGAIN_S: Final = 600.0  # seconds until a device whose evaluation failed is tried again
MAX_CADENCES: Final = 120_000

_log = logging.getLogger(__name__)


class Counts(NamedTuple):
    """Numbers of evaluated devices, new findings and ended findings."""

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
    """One per process; not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cadences: dict[int, tuple[int, Cadence]] = {}
        self._failed: dict[int, float] = {}  # device → next attempt, on the monotonic clock

    # --- Due devices ---

    def due(self, at_ms: int) -> list[_Task]:
        """Returns devices with new readings or with changed settings."""
        due_rows = self._store.due_findings(
            LIST,
            made_before_ms=at_ms - HOUR_INTERVAL_MS,
            behind_before_ms=at_ms - BEHIND_INTERVAL_MS,
        )
        return [_Task(due.key, due) for due in due_rows]

    def silent(self, at_ms: int) -> list[_Task]:
        return [_Task(key, None) for key in self._store.due_by_clock(at_ms, LIST)]

    def changed(self) -> list[_Task]:
        return [_Task(key, None) for key in self._store.changed_since_evaluated(LIST)]

    def run(self, tasks: Sequence[_Task], clock_ms: int | None) -> Counts:
        """Evaluates one batch in one transaction. ``clock_ms`` None: up to each device's latest
        reading."""
        with self._store.claimed([task.key for task in tasks]) as mine:
            chosen = [task for task in tasks if task.key in mine]
            results = [
                self._result(*each, clock_ms) for each in self._prepared(chosen, recompute=False)
            ]
            return self._save(results)

    def run_each(self, tasks: Sequence[_Task], clock_ms: int) -> Counts:
        """Like `run`. If the batch fails, its devices are evaluated one by one, so that only the
        faulty one is skipped. It is tried again after some minutes."""
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
        """Evaluates everything that is due, up to each device's latest reading."""
        total, seen = Counts(), set[tuple[int, int]]()
        while True:
            due_rows = self._store.due_findings(LIST, organization_id=organization_id, key=key)
            fresh = [due for due in due_rows if (due.key, due.seq) not in seen]
            if not fresh:
                return total
            seen |= {(due.key, due.seq) for due in fresh}
            for start in range(0, len(fresh), BATCH):
                some = [_Task(due.key, due) for due in fresh[start : start + BATCH]]
                total += self.run(some, None)

    def run_due(self, key: int, clock_ms: int) -> Counts:
        """Evaluates one device, if it is due."""
        return self.run_each([_Task(due.key, due) for due in self._due_of(key)], clock_ms)

    # --- From the first reading ---

    def rebuild(self, keys: Sequence[int]) -> Counts:
        total = Counts()
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            tasks = [_Task(due.key, due) for key in some for due in self._due_of(key)]
            tasks += [_Task(key, None) for key in some if key not in {t.key for t in tasks}]
            with self._store.claimed(some) as mine:
                chosen = [task for task in tasks if task.key in mine]
                prepared = self._prepared(chosen, recompute=True)
                total += self._save([self._result(*each, None) for each in prepared])
        return total

    def wrong(self, key: int) -> bool | None:
        """Whether a device's stored findings differ from an evaluation of its readings; None if it
        is due or was never evaluated."""
        state = self._store.states_of([key]).get(key)
        if state is None or self._due_of(key):
            return None
        for task, device, facts, _ in self._prepared([_Task(key, None)], recompute=True):
            result = self._result(task, device, facts, None, state.as_of_ms)
            stored = {(r.kind, r.opened_ms): r for r in self._store.findings_of(key, 0)}
            changed = result.evaluated.findings
            return bool(result.evaluated.gone) or any(
                _differs(row, stored.get((row.kind, row.opened_ms))) for row in changed
            )
        return None

    def _due_of(self, key: int) -> list[Due]:
        return self._store.due_findings(1, key=key)

    # --- One device ---

    def _prepared(
        self, tasks: Sequence[_Task], *, recompute: bool
    ) -> list[tuple[_Task, Device, Facts, EvaluationState | None]]:
        keys = [task.key for task in tasks]
        devices = {device.key: device for device in self._store.devices_by_key(keys)}
        states, groups = self._store.states_of(keys), self._store.groups_by_device(keys)
        planned, corrections = self._store.maintenance_of(keys), self._store.corrections_of(keys)
        shared = {
            organization: OfOrganization.read(self._store, organization)
            for organization in {device.organization_id for device in devices.values()}
        }
        has_tariffs = any(each.prices.tariffs for each in shared.values())
        volumes = expected_volumes(self._store, list(devices.values())) if has_tariffs else {}
        prepared: list[tuple[_Task, Device, Facts, EvaluationState | None]] = []
        now = now_ms()
        for task in tasks:
            device = devices.get(task.key)
            if device is not None:
                cadence = self._cadence(device, task.due, recompute=recompute)
                facts = facts_of(
                    device,
                    groups.get(task.key, []),
                    shared[device.organization_id],
                    cadence,
                    planned.get(task.key, ()),
                    corrections.get(task.key, ()),
                    at_ms=now,
                    month_volume=volumes.get(task.key),
                )
                state = states.get(task.key)
                if recompute and state is not None:
                    state = state._replace(basis="", as_of_ms=None)
                prepared.append((task, device, facts, state))
        return prepared

    def _result(
        self,
        task: _Task,
        device: Device,
        facts: Facts,
        before: EvaluationState | None,
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
        readings = ReadingsOfDevice(self._store, device, facts.cadence)
        evaluation = evaluate(
            facts.device, facts.settings, state, readings, touched_ms=touched_ms, now_ms=clock_ms
        )
        stored = self._store.findings_of(device.key, evaluation.since_ms)
        rows = [row_of(device.key, device.id, f) for f in evaluation.findings]
        merged = merge_stored(rows, stored, evaluation.since_ms)
        made = EvaluationState(
            device.key,
            0 if before is None else before.version,
            basis,
            device.updated_ms,
            0 if evaluation.state is None else evaluation.state.carried.next_ms,
            clock_ms,
            now_ms() if clock_ms is None else clock_ms,
            _due_ms(device, facts, readings.last_ms, evaluation.findings, clock_ms),
            _dumped(evaluation.state, before, touched_ms, basis),
        )
        evaluated = Evaluated(made, merged.rows, merged.gone, task.due, open_findings(merged.all))
        return _Result(evaluated, _counted(merged, stored))

    def _save(self, results: Sequence[_Result]) -> Counts:
        if not results:
            return Counts()
        done = set(self._store.save_evaluations([each.evaluated for each in results]))
        total = Counts()
        for each in results:
            if each.evaluated.state.key in done:
                total += each.counts
        return total

    def _cadence(self, device: Device, due: Due | None, *, recompute: bool) -> Cadence:
        """Returns the configured cadence, else an estimate from the 7 days before the day (UTC) of
        the latest reading, so that it changes at most once a day; if those have too few readings,
        from all since."""
        fixed = configured(device.reporting_interval_s)
        if fixed is not None:
            return fixed
        last = self._store.last_hour(device.key, UNTOUCHED)
        if last is None:
            return UNKNOWN
        day_ms = floor_to(last, DAY_MS)
        cached = self._cadences.get(device.key)
        untouched = due is None or due.from_ms >= day_ms
        if cached is not None and cached[0] == day_ms and untouched and not recompute:
            return cached[1]
        estimate = estimated(self._store.instants(device.key, day_ms - LOOKED_BACK_MS, day_ms))
        if estimate is not None:
            while len(self._cadences) >= MAX_CADENCES:
                self._cadences.pop(next(iter(self._cadences)))
            self._cadences[device.key] = (day_ms, estimate)
            return estimate
        since = self._store.instants(device.key, day_ms - LOOKED_BACK_MS, last + HOUR_MS)
        return estimated(since) or UNKNOWN


def _state(before: EvaluationState | None, basis: str) -> State | None:
    """Returns the stored state; None if there is none or its facts or settings have changed."""
    if before is None or before.basis != basis or not before.data:
        return None
    try:
        return State.load(before.data)
    except ValueError:
        return None


def _dumped(
    state: State | None, before: EvaluationState | None, touched_ms: int | None, basis: str
) -> bytes:
    """Returns the state as it is stored. Within the current hour it doesn't change, so it isn't
    packed again, which takes as long as the rules."""
    if state is None:
        return b""
    if before is not None and before.data and before.basis == basis:
        unseen = touched_ms is None or touched_ms >= before.next_ms
        if unseen and state.carried.next_ms == before.next_ms:
            return before.data
    return state.dump()


def _due_ms(
    device: Device,
    facts: Facts,
    last_ms: int | None,
    findings: Sequence[Finding],
    clock_ms: int | None,
) -> int | None:
    """Returns when the device may become silent. A silent device is evaluated again after an hour,
    or after a twentieth of its silence."""
    if last_ms is None or not device.active:
        return None
    silent = [each for each in findings if each.kind == "silent" and each.end_ms is None]
    if silent and clock_ms is not None:
        return clock_ms + max(HOUR_MS, (clock_ms - silent[0].start_ms) // 20)
    earliest = last_ms + facts.device.silent_after_ms + MINUTE_MS
    return earliest if clock_ms is None else max(earliest, clock_ms + MINUTE_MS)


def _counted(merged: Merged, stored: Sequence[FindingRow]) -> Counts:
    before = {(row.kind, row.opened_ms): row for row in stored}
    opened = [row for row in merged.rows if (row.kind, row.opened_ms) not in before]
    ended = [
        row
        for row in merged.rows
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
        near(getattr(made, name), getattr(stored, name)) for name in numbers
    )


class EvaluatorThread(WorkerThread):
    """Runs an evaluator beside a writer until it is stopped. ``busy``: whether readings wait to be
    written, which has priority."""

    name = result = "findings"

    def __init__(self, store: Store, busy: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self._evaluator = Evaluator(store)
        self._busy = busy
        self._clock_s = self._changed_s = 0.0

    def step(self) -> float:
        """Evaluates the devices that are due. Returns the seconds until the next step."""
        tasks = {task.key: task for task in self._more()}
        tasks |= {task.key: task for task in self._evaluator.due(now_ms())}
        chosen, counts = list(tasks.values()), Counts()
        for start in range(0, len(chosen), BATCH):
            if self._stopping.is_set():
                break
            began_s = monotonic()
            counts += self._evaluator.run_each(chosen[start : start + BATCH], now_ms())
            if self._busy():
                self._stopping.wait((monotonic() - began_s) * (1 / SHARE - 1))
        return 0.0 if counts.devices else POLL_S

    def _more(self) -> list[_Task]:
        tasks: list[_Task] = []
        if monotonic() >= self._clock_s:
            self._clock_s = monotonic() + CLOCK_S
            tasks += self._evaluator.silent(now_ms())
        if monotonic() >= self._changed_s:
            self._changed_s = monotonic() + CHANGED_S
            tasks += self._evaluator.changed()
        return tasks
