"""Stores received messages and acknowledges them after the commit, in order.

Uses two threads: one decodes messages and submits them to the writer, one waits for the commits and
acknowledges. Used for messages from a broker and from Weir's own listener.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as Pending
from queue import SimpleQueue
from threading import Event, Thread
from typing import Final, NamedTuple

from api.errors import Busy, Unavailable
from api.ingest.mqtt.intake import Intake, Message
from api.ingest.mqtt.receive_queue import Inbox
from api.ingest.submission import Receipt, Submission
from api.ingest.writer import Writer
from api.telemetry import metrics

STOP_S: Final = 5.0
_AGAIN_S: Final = 1.0

_log = logging.getLogger(__name__)


class Batch(NamedTuple):
    """Messages in the order of arrival, those of this shard, and the futures of their commits."""

    messages: Sequence[Message]
    ours: Sequence[Message]
    futures: Sequence[Future[Receipt]]


class Committer:
    """``acknowledge`` is called, in a thread of its own, with messages whose readings are stored or
    recorded as refused, in the order of arrival. ``is_ours``: whether this process stores the
    message; others are only acknowledged."""

    def __init__(
        self,
        intake: Intake,
        writer: Writer,
        inbox: Inbox,
        acknowledge: Callable[[Sequence[Message]], None],
        is_ours: Callable[[Message], bool] = lambda message: True,
    ) -> None:
        self.intake, self._writer, self._inbox = intake, writer, inbox
        self._acknowledge, self._is_ours = acknowledge, is_ours
        self._under_way: SimpleQueue[Batch | None] = SimpleQueue()
        self._stopping, self._given_up = Event(), Event()
        self._threads = [
            Thread(target=self._take_in, name="mqtt-decoder", daemon=True),
            Thread(target=self._acknowledge_all, name="mqtt-acknowledger", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, timeout_s: float = STOP_S) -> None:
        """Takes no more messages; acknowledges those committed within the time."""
        self._stopping.set()
        self._inbox.close()
        self._threads[0].join()
        self._under_way.put(None)
        self._threads[1].join(timeout_s)
        self._given_up.set()
        self._threads[1].join()

    # --- The decoder's thread ---

    def _take_in(self) -> None:
        while messages := self._inbox.take():
            ours = [message for message in messages if self._is_ours(message)]
            submissions = self._with_retries(ours)
            if submissions is None:
                return
            futures = [f for s in submissions if (f := self._submitted(s)) is not None]
            if len(futures) < len(submissions):
                return
            self._under_way.put(Batch(messages, ours, futures))

    def _with_retries(self, messages: Sequence[Message]) -> list[Submission] | None:
        """Retries while the store is down or the journal's disk is full. Returns None when
        stopping."""
        logged = ""
        while True:
            try:
                return self.intake.submissions(messages)
            except (Unavailable, OSError) as error:
                if str(error) != logged:
                    logged = str(error)
                    _log.warning("messages can't be received at the moment, retrying: %s", logged)
            except Exception as error:  # noqa: BLE001 - without this thread nothing comes in
                if repr(error) != logged:
                    logged = repr(error)
                    _log.exception("messages can't be received, retrying")
            if self._stopping.wait(_AGAIN_S):
                return None

    def _submitted(self, submission: Submission) -> Future[Receipt] | None:
        """Submits, waiting for capacity as long as needed. Returns None when stopping."""
        while not self._stopping.is_set():
            try:
                return self._writer.submit(submission, wait_s=_AGAIN_S)
            except Busy:
                continue
            except Unavailable:  # the writer stops before this thread
                return None
        return None

    # --- The acknowledger's thread ---

    def _acknowledge_all(self) -> None:
        while (batch := self._under_way.get()) is not None:
            try:
                self._settle(batch)
            except (CancelledError, Unavailable):
                return  # unacknowledged, like all that follow: the broker redelivers them
            self._inbox.settled(batch.messages)
            self._acknowledge(batch.messages)
            metrics.acknowledged(len(batch.ours), len(batch.messages) - len(batch.ours))

    def _settle(self, batch: Batch) -> None:
        """Returns once everything is stored. Messages that the store refuses for good are
        identified one by one and recorded as refusals, so that the broker doesn't deliver them
        forever."""
        try:
            for future in batch.futures:
                self._wait(future)
        except (CancelledError, Unavailable):
            raise
        except Exception:  # noqa: BLE001 - the writer has logged it
            for message in batch.ours:
                self._settle_alone(message)

    def _settle_alone(self, message: Message) -> None:
        """Stores one message by itself. If it was stored before, its readings count as repeated."""
        try:
            self._store(self.intake.submissions([message._replace(again=True)], resubmitted=True))
        except (CancelledError, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - kept with the refusal
            reason = f"can't be stored: {type(error).__name__}"
            self._store(self.intake.as_refused(message, reason))

    def _store(self, submissions: Sequence[Submission]) -> None:
        for submission in submissions:
            future = self._submitted(submission)
            if future is None:
                raise Unavailable("The writer is stopping.")
            self._wait(future)

    def _wait(self, future: Future[Receipt]) -> None:
        while not self._given_up.is_set():
            try:
                future.result(_AGAIN_S)
                return
            except Pending:
                if future.done():  # the writer's own error, not the message's
                    raise
        raise CancelledError
