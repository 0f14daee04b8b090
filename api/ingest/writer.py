"""The one way for live sources to write: many hand over, one thread commits for all of them.

What has come during one commit is joined into the next one: a commit costs little more for a
thousand rows than for one. Waiting for more company only made everybody slower, sources that wait
for their receipt most of all. Nobody is told that a row is in before it is.
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
from api.ingest.submission import Fate, Receipt, Submission, progress_of, readings_of, undated_of
from api.store.base import ROWS_A_COMMIT, ReadingRow, Store
from api.telemetry import metrics
from api.timez import now_ms

MOST_WAITING: Final = 50_000  # rows; beyond, sources are told that we are busy
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0  # between attempts while the store is away
STALLED_S: Final = 3.0  # a commit that takes longer is not merely slow
IDLE_S: Final = 1.0  # without work for so long, what was stored goes into the store's file
CHECKPOINT_S: Final = 60.0  # with work it does so often
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
    """Takes submissions from any thread; owns the store's writing from its own.

    ``hooks`` hear of what was stored, after its commit. The store is the caller's to close, after
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
        self.roster = DeviceCache(store)
        self._store, self._most_waiting = store, most_waiting
        self._checkpoint_s, self._checkpointed_s = checkpoint_s, monotonic()
        self._announcer = Announcer(self.roster, hooks)
        self._waiting: deque[_Pending] = deque()
        self._rows, self._rows_a_commit = 0, ROWS_A_COMMIT
        self._give_up_s: float | None = None  # once closing: when to stop trying, monotonic
        self.last_commit_ms: int | None = None
        self._begun_s: float | None = None  # the commit under way, monotonic
        self.trouble = ""  # what keeps the store from taking anything now
        lock = RLock()
        self._work, self._room = Condition(lock), Condition(lock)
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    # --- For sources ---

    def submit(self, submission: Submission, *, wait_s: float = 0.0) -> Future[Receipt]:
        """Hand rows over. The future's receipt comes once they are committed; it holds an error
        where they can't ever be, or weren't before the end: then none of them was acknowledged.

        Busy where too much waits already, after waiting ``wait_s`` for room; who can wait leaves
        half of the room to who can't. Unavailable once closed. While the store is away, what was
        handed over waits.
        """
        pending = _Pending(submission)
        most = self._most_waiting // 2 if wait_s else self._most_waiting
        with self._work:
            self._room.wait_for(lambda: self._closing or self._fits(pending.size, most), wait_s)
            if self._closing:
                raise Unavailable("The writer is stopping.", retry_after_s=2.0)
            if not self._fits(pending.size, most):
                raise Busy("Too many readings are waiting to be written.", retry_after_s=1.0)
            self._waiting.append(pending)
            self._rows += pending.size
            self._work.notify()
        return pending.future

    def position(self, digest: str) -> int:
        """How far a source has come whose submissions carry their progress. Raises Unavailable."""
        reached = self._store.progress(digest, "")
        return 0 if reached is None else reached.position

    def close(self, timeout_s: float = 10.0) -> None:
        """Take nothing more, write what waits and return. What the store can't take within the
        time fails, unacknowledged."""
        with self._work:
            self._give_up_s = monotonic() + timeout_s
            self._work.notify_all()
            self._room.notify_all()
        self._thread.join()
        self._announcer.close(timeout_s)

    @property
    def waiting_rows(self) -> int:
        return self._rows

    @property
    def committing_s(self) -> float:
        """How long the commit under way has taken, trying again included; 0 where there is none."""
        begun_s = self._begun_s
        return 0.0 if begun_s is None else max(monotonic() - begun_s, 1e-6)

    @property
    def ailment(self) -> str:
        """Why the store takes nothing now, "" where it does."""
        return (self.trouble or STALLED) if self.stalled else ""

    @property
    def stalled(self) -> bool:
        """Whether the store takes nothing now. It goes on being tried, so this ends."""
        return bool(self.trouble) or self.committing_s > STALLED_S

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
                self._look_at_store()
            if not group or monotonic() - self._checkpointed_s >= self._checkpoint_s:
                self._checkpoint()

    def _look_at_store(self) -> None:
        with suppress(Unavailable):  # the next commit will tell
            self._rows_a_commit = self._store.rows_a_commit()

    def _checkpoint(self) -> None:
        """Also finds out, where nothing comes, that the store can't be written to any more, or can
        again."""
        try:
            self._store.checkpoint()
        except Unavailable as error:
            self._say(error)
        except Exception:  # noqa: BLE001 - without this thread nothing is stored
            _log.exception("the store's log can't be written back")
        else:
            self._recover()
        self._checkpointed_s = monotonic()

    def _next_group(self) -> list[_Pending] | None:
        """What goes into one transaction; nothing where nothing comes, None once closed and
        empty."""
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
            self._room.notify_all()
        return group

    def _commit(self, group: Sequence[_Pending]) -> None:
        """Until it is in, or it is time to give up. What the store refuses for good is found by
        trying one at a time, so that it takes no other with it."""
        try:
            new = self._insistently(group)
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

    def _insistently(self, group: Sequence[_Pending]) -> list[ReadingRow]:
        submissions = [pending.submission for pending in group]
        rows, undated = readings_of(submissions), undated_of(submissions)
        at_ms = now_ms()
        refusals = [r for submission in submissions for r in submission.refusals(at_ms)]
        progress = progress_of(submissions)
        for pause_s in _pauses():
            if self.trouble and self._out_of_time():
                raise Unavailable(self.trouble)
            began_s = monotonic()
            try:
                new = self._store.add(rows, refusals=refusals, undated=undated, progress=progress)
            except Unavailable as error:
                self._say(error)
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

    def _say(self, error: Unavailable) -> None:
        if not self.trouble:
            _log.warning("no reading can be stored, retrying: %s", error)
        self.trouble = error.detail or error.title

    def _recover(self) -> None:
        if self.trouble:
            _log.warning("readings are stored again")
        self.trouble = ""

    def _acknowledge(self, group: Sequence[_Pending], new: Sequence[ReadingRow]) -> None:
        fresh = set(new)
        for pending in group:
            fates = pending.submission.fates(fresh)
            receipt = Receipt(fates)
            pending.future.set_result(receipt)
            metrics.came(receipt.count().items())
            entries = zip(pending.submission.entries, fates, strict=True)
            stored = [cast("ReadingRow", row) for row, fate in entries if fate is Fate.STORED]
            self._announcer.tell(pending.submission, stored)


def _pauses() -> Iterator[float]:
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
