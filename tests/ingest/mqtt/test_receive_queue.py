"""The queue of messages to decode: taken in batches, bounded by their memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from api.ingest.mqtt.intake import Message
from api.ingest.mqtt.receive_queue import BATCH_BYTES, BATCH_MESSAGES, Inbox
from tests.ingest.mqtt.conftest import PATIENCE_S
from tests.tables import cases


def message(size: int = 1, qos: int = 1) -> Message:
    return Message("weir/v1/acme/N-1/up", b"x" * size, 1, qos, False, 0, 0.0)


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@cases(
    ("sizes", "parts", "batches"),
    [
        ([1] * 10, 1, [10]),
        ([1] * (BATCH_MESSAGES + 7), 1, [BATCH_MESSAGES, 7]),
        ([1] * (BATCH_MESSAGES + 7), 3, [BATCH_MESSAGES + 7]),
        ([BATCH_BYTES // 2] * 5, 1, [2, 2, 1]),
        ([BATCH_BYTES * 2, 1, BATCH_BYTES * 2], 1, [1, 1, 1]),  # one is always taken
    ],
)
def test_messages_are_taken_in_bounded_batches(
    sizes: list[int], parts: int, batches: list[int]
) -> None:
    inbox = Inbox(parts)
    for size in sizes:
        inbox.put(message(size))
    assert [len(inbox.take()) for _ in batches] == batches


@pytest.mark.parametrize("qos", [0, 1])
def test_a_full_queue_blocks_until_a_message_is_settled(qos: int) -> None:
    one = message(qos=qos)
    inbox = Inbox(most_bytes=3 * one.size)
    for _ in range(3):
        inbox.put(one)
    further = started(lambda: inbox.put(one))
    taken = inbox.take()
    further.join(0.2)
    assert (len(taken), further.is_alive()) == (3, True)  # taken but not settled
    inbox.settled(taken)
    further.join(PATIENCE_S)
    assert inbox.take() == [one]


def test_closing_releases_every_waiter() -> None:
    full, empty = Inbox(most_bytes=1), Inbox()
    full.put(message())
    ends: list[object] = []
    waiting = [started(lambda: full.put(message())), started(lambda: ends.extend(empty.take()))]
    full.close()
    empty.close()
    for thread in waiting:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in waiting)
    assert ends == full.take() == []
