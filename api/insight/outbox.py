"""Sends queued messages: at least once, in order within a thread, again after a failure.

A message is claimed for a while, sent, and settled. If the process is killed in between, the
message is sent again under the same id when the claim ends. Each receiver has at most one message
in progress, so that one that hangs doesn't delay the others.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

import orjson

from api.errors import Unavailable, WeirError
from api.insight.alerts.management import shown
from api.insight.receivers import KIND_BY_NAME
from api.insight.receivers.kind import Answer, Means, Message
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.store.base import AuditEntry, Store
from api.store.base.alerts import MessageRow, ReceiverRow
from api.timez import now_ms as clock_ms

RETRIES_S: Final = (30, 300, 1_800, 7_200, 28_800, 86_400)  # then it counts as dead
CLAIM_MS: Final = 60_000
BATCH: Final = 100
AT_ONCE: Final = 8  # receivers at once
WRITER: Final = "writer"  # author in the audit log
NEVER_SENT: Final = "The first message of this alert was never delivered."
UNREADABLE: Final = "The receiver's secret can't be read: WEIR_SECRET_KEY changed. Enter it again."

_log = logging.getLogger(__name__)


class Outbox:
    def __init__(self, store: Store, means: Means, *, clock: Callable[[], int] = clock_ms) -> None:
        self._store, self._means, self._clock = store, means, clock
        self._seal = ReceiverSeal(means.settings.secret)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="alert message")
        self._lock = Lock()
        self._queues: dict[str, deque[MessageRow]] = {}  # receivers with a message in progress

    def send(self) -> int:
        """Starts sending what is due, and returns before it is sent. Returns how many."""
        now_ms = self._clock()
        messages = self._store.claim_messages(now_ms, now_ms + CLAIM_MS, BATCH)
        for message in messages:
            self._hand_over(message)
        return len(messages)

    def send_all(self) -> dict[str, int]:
        """Sends everything that is due. Returns how many were sent, failed, and were dropped."""
        counts = {"sent": 0, "failed": 0, "dropped": 0}
        seen: set[str] = set()
        while True:
            now_ms = self._clock()
            messages = self._store.claim_messages(now_ms, now_ms + CLAIM_MS, BATCH)
            fresh = [each for each in messages if each.id not in seen]
            if not fresh:
                return counts
            seen.update(each.id for each in fresh)
            futures: list[Future[str]] = [self._pool.submit(self._one, each) for each in fresh]
            for future in futures:
                counts[{"sent": "sent", "dropped": "dropped"}.get(future.result(), "failed")] += 1

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _hand_over(self, message: MessageRow) -> None:
        with self._lock:
            queue = self._queues.get(message.receiver_id)
            if queue is not None:
                queue.append(message)
                return
            self._queues[message.receiver_id] = deque((message,))
        self._pool.submit(self._drain, message.receiver_id)

    def _drain(self, receiver_id: str) -> None:
        while True:
            with self._lock:
                queue = self._queues[receiver_id]
                if not queue:
                    del self._queues[receiver_id]
                    return
                message = queue.popleft()
            if message.due_ms > self._clock():  # otherwise its claim has ended: it is sent again
                try:
                    self._one(message)
                except Unavailable:
                    pass  # its claim ends; then it is sent again, under the same id
                except Exception as error:  # noqa: BLE001 - the next ones are sent all the same
                    _log.error("message %s can't be sent: %s", message.id, type(error).__name__)

    # --- One message ---

    def _one(self, message: MessageRow) -> str:
        """Sends one message. Returns its state afterwards."""
        receivers = self._store.alert_receivers(message.organization_id)
        receiver = next((each for each in receivers if each.id == message.receiver_id), None)
        if receiver is None:
            return self._settled(message, "dropped", "The receiver was deleted.")
        if not receiver.enabled and message.event != "test":
            return self._settled(message, "dropped", "The receiver is off.")
        if message.place > 0 and not self._store.first_was_sent(message):
            return self._settled(message, "dropped", NEVER_SENT)
        answer = self._sent(message, receiver)
        message = message._replace(attempts=message.attempts + 1)
        if answer.ok:
            return self._settled(message, "sent", answer.text)
        if answer.gone:
            self._switch_off(receiver, f"It responded {answer.text}")
        last = message.attempts > len(RETRIES_S) or message.event == "test"
        if answer.gone or answer.hopeless or last:
            return self._settled(message, "dead", answer.text)
        due_ms = self._clock() + RETRIES_S[message.attempts - 1] * 1000
        self._store.settle_message(message._replace(due_ms=due_ms, response=answer.text))
        return "queued"

    def _switch_off(self, receiver: ReceiverRow, why: str) -> None:
        at_ms = self._clock()
        off = receiver._replace(enabled=0, trouble=why, updated_ms=at_ms)
        entry = AuditEntry(
            at_ms, receiver.organization_id, WRITER, "receiver", "switch off", receiver.id,
            shown(receiver), shown(off), why,
        )  # fmt: skip
        self._store.keep_receiver(off, [entry])

    def _settled(self, message: MessageRow, state: str, text: str) -> str:
        done = message._replace(state=state, response=text, done_ms=self._clock())
        self._store.settle_message(done)
        return state

    def _sent(self, message: MessageRow, receiver: ReceiverRow) -> Answer:
        kind, secret = KIND_BY_NAME.get(receiver.kind), self._seal.open(receiver.secret)
        if kind is None:
            return Answer(False, f"There is no receiver of kind {receiver.kind}.", hopeless=True)
        if secret is None:
            return Answer(False, UNREADABLE, hopeless=True)
        config: dict[str, Any] = orjson.loads(receiver.config) | {"name": receiver.name}
        whole = Message(
            message,
            orjson.loads(message.body),
            config,
            secret,
            self._means.settings.site,
            message.place == 0,
        )
        try:
            return kind.send(whole, self._means)
        except WeirError as error:
            return Answer(False, str(error))
        except Exception as error:  # noqa: BLE001
            # Without the error's text: it may contain an address, which may contain a secret.
            _log.error("a receiver of kind %s failed: %s", receiver.kind, type(error).__name__)
            return Answer(False, "An unexpected error: see the log of the writer.")
