"""Writes for all live sources: any thread submits rows, one thread commits them.

Submissions that arrive during a commit are joined into the next one, since a commit of a thousand
rows costs little more than one of a single row. Waiting for more rows before a commit was slower
for everyone. A row is acknowledged only after its commit.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, RLock, Thread
from time import monotonic, sleep
from typing import Final, cast

from api.errors import Busy, Unavailable
from api.ingest.announcer import Announcer, Hook
from api.ingest.device_cache import DeviceCache
from api.ingest.submission import (
    Receipt,
    RowResult,
    Submission,
    progress_of,
    readings_of,
    registers_of,
    undated_of,
)
from api.store.base import ROWS_A_COMMIT, Added, ReadingRow, RegisterRow, Store
from api.telemetry import metrics
from api.timez import now_ms

MOST_WAITING: Final = 50_000  # rows; beyond, submit raises Busy
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0  # seconds between attempts while the store is unavailable
STALLED_S: Final = 3.0  # seconds; a longer commit counts as stalled
IDLE_S: Final = 1.0  # seconds without work, until the store is checkpointed
CHECKPOINT_S: Final = 60.0  # seconds between checkpoints under load
STALLED: Final = "The store is locked or too slow."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Pending:
    submission: Submission
    future: Future[Receipt] = field(default_factory=Future[Receipt])

    @property
    def size(self) -> int:
        return max(1, len(self.submission.entries))


class Writer:
    """Accepts submissions from any thread and writes them in its own.

    ``hooks`` are called with stored readings after their commit. The caller closes the store after
    `close`.
    """

    def __init__(
        self,
        store: Store,
        hooks: Sequence[Hook] = (),
        *,
        most_waiting: int = MOST_WAITING,
        checkpoint_s: float = CHECKPOINT_S,
    ) -> None:
        self.device_cache = DeviceCache(store)
        self._store, self._most_waiting = store, most_waiting
        self._checkpoint_s, self._checkpointed_s = checkpoint_s, monotonic()
        self._announcer = Announcer(self.device_cache, hooks)
        self._waiting: deque[_Pending] = deque()
        self._rows, self._rows_a_commit = 0, ROWS_A_COMMIT
        self._give_up_s: float | None = None  # once closing: when to stop trying, monotonic
        self.last_commit_ms: int | None = None
        self._begun_s: float | None = None  # start of the current commit, on the monotonic clock
        self.problem = ""  # why the store can't be written now
        lock = RLock()
        self._work, self._has_room = Condition(lock), Condition(lock)
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    # --- For sources ---

    def submit(self, submission: Submission, *, wait_s: float = 0.0) -> Future[Receipt]:
        """Submits rows. The future gets their receipt after the commit, or an exception if they
        can't be stored or weren't before `close`; then none of them is acknowledged.

        Raises Busy if too many rows wait, after waiting ``wait_s`` for capacity; sources that can
        wait leave half of the capacity to those that can't. Raises Unavailable once closed.
        Submissions wait while the store is unavailable.
        """
        pending = _Pending(submission)
        most = self._most_waiting // 2 if wait_s else self._most_waiting
        with self._work:
            self._has_room.wait_for(lambda: self._closing or self._fits(pending.size, most), wait_s)
            if self._closing:
                raise Unavailable("The writer is stopping.", retry_after_s=2.0)
            if not self._fits(pending.size, most):
                raise Busy("Too many readings are waiting to be written.", retry_after_s=1.0)
            self._waiting.append(pending)
            self._rows += pending.size
            self._work.notify()
        return pending.future

    def position(self, digest: str) -> int:
        """Returns the saved position of a source with progress. Raises Unavailable."""
        reached = self._store.progress(digest, "")
        return 0 if reached is None else reached.position

    def close(self, timeout_s: float = 10.0) -> None:
        """Accepts no more submissions, writes those waiting, and returns. Those not written within
        the time fail, unacknowledged."""
        with self._work:
            self._give_up_s = monotonic() + timeout_s
            self._work.notify_all()
            self._has_room.notify_all()
        self._thread.join()
        self._announcer.close(timeout_s)

    @property
    def waiting_rows(self) -> int:
        return self._rows

    @property
    def committing_s(self) -> float:
        """Returns the seconds that the current commit has taken, including retries; 0 if there is
        none."""
        begun_s = self._begun_s
        return 0.0 if begun_s is None else max(monotonic() - begun_s, 1e-6)

    @property
    def stall_reason(self) -> str:
        """Returns why the store can't be written now, "" if it can."""
        return (self.problem or STALLED) if self.stalled else ""

    @property
    def stalled(self) -> bool:
        """Whether the store can't be written now; the writer keeps retrying."""
        return bool(self.problem) or self.committing_s > STALLED_S

    # --- The thread ---

    @property
    def _closing(self) -> bool:
        return self._give_up_s is not None

    def _fits(self, size: int, most: int) -> bool:
        return not self._waiting or self._rows + size <= most

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            if group:
                self._begun_s = monotonic()
                self._commit(group)
                self._begun_s = None
                self._update_commit_size()
            if not group or monotonic() - self._checkpointed_s >= self._checkpoint_s:
                self._checkpoint()

    def _update_commit_size(self) -> None:
        with suppress(Unavailable):  # the next commit reports it
            self._rows_a_commit = self._store.rows_a_commit()

    def _checkpoint(self) -> None:
        """Checkpoints the store. Without new readings this also detects whether it is writable."""
        try:
            self._store.checkpoint()
        except Unavailable as error:
            self._set_problem(error)
        except Exception:  # noqa: BLE001 - without this thread nothing is stored
            _log.exception("the store's log can't be written back")
        else:
            self._recover()
        self._checkpointed_s = monotonic()

    def _next_group(self) -> list[_Pending] | None:
        """Returns the submissions of the next transaction; empty if none arrive in time, None once
        closed and empty."""
        with self._work:
            self._work.wait_for(lambda: self._waiting or self._closing, IDLE_S)
            if not self._waiting:
                return None if self._closing else []
            group, rows = list[_Pending](), 0
            while self._waiting and (
                not group or rows + self._waiting[0].size <= self._rows_a_commit
            ):
                pending = self._waiting.popleft()
                rows += pending.size
                if pending.future.set_running_or_notify_cancel():
                    group.append(pending)
            self._rows -= rows
            self._has_room.notify_all()
        return group

    def _commit(self, group: Sequence[_Pending]) -> None:
        """Commits a group, retrying until it is stored or the writer is closed. If the store
        refuses it for good, each submission is tried alone, so that only the invalid one fails."""
        try:
            new = self._add_with_retries(group)
        except Exception as error:  # noqa: BLE001 - the batch's own: it would fail for ever
            if len(group) > 1:
                for pending in group:
                    self._commit([pending])
                return
            if not isinstance(error, Unavailable):
                _log.exception("readings from %s can't be stored", group[0].submission.source)
            group[0].future.set_exception(error)
        else:
            self._acknowledge(group, new)

    def _add_with_retries(self, group: Sequence[_Pending]) -> Added:
        submissions = [pending.submission for pending in group]
        rows, undated = readings_of(submissions), undated_of(submissions)
        registers = registers_of(submissions)
        at_ms = now_ms()
        refusals = [r for submission in submissions for r in submission.refusals(at_ms)]
        progress = progress_of(submissions)
        for pause_s in _pauses():
            if self.problem and self._out_of_time():
                raise Unavailable(self.problem)
            began_s = monotonic()
            try:
                new = self._store.add(
                    rows,
                    registers=registers,
                    refusals=refusals,
                    undated=undated,
                    progress=progress,
                )
            except Unavailable as error:
                self._set_problem(error)
                self._pause(pause_s)
            else:
                self._recover()
                self.last_commit_ms = now_ms()
                metrics.committed(monotonic() - began_s)
                return new
        raise AssertionError("there is always another pause")

    def _out_of_time(self) -> bool:
        return self._give_up_s is not None and monotonic() >= self._give_up_s

    def _pause(self, pause_s: float) -> None:
        with self._work:
            if self._give_up_s is None:
                self._work.wait_for(lambda: self._closing, pause_s)
                return
        sleep(max(0.0, min(pause_s, self._give_up_s - monotonic())))

    def _set_problem(self, error: Unavailable) -> None:
        if not self.problem:
            _log.warning("no reading can be stored, retrying: %s", error)
        self.problem = error.detail or error.title

    def _recover(self) -> None:
        if self.problem:
            _log.warning("readings are stored again")
        self.problem = ""

    def _acknowledge(self, group: Sequence[_Pending], new: Added) -> None:
        fresh = {*new.readings, *new.registers}
        for pending in group:
            row_results = pending.submission.row_results(fresh)
            receipt = Receipt(row_results)
            pending.future.set_result(receipt)
            metrics.count_rows(receipt.count().items())
            entries = zip(pending.submission.entries, row_results, strict=True)
            stored = [
                new.registers[row] if isinstance(row, RegisterRow) else cast("ReadingRow", row)
                for row, result in entries
                if result is RowResult.STORED
            ]
            self._announcer.announce(pending.submission, stored)


def _pauses() -> Iterator[float]:
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
