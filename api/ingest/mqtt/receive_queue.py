"""The queue between the thread that receives messages and the one that decodes them.

Receive Maximum limits how many messages the broker sends before acknowledgements, but not their
size, nor those of QoS 0. So their memory is counted until they are settled, and `put` blocks when
the queue is full, which makes the broker wait. The broker closes a connection that is silent for
long, and redelivers unacknowledged messages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Condition, RLock
from typing import Final

from api.ingest.mqtt.intake import Message

BATCH_MESSAGES: Final = 1_000
BATCH_BYTES: Final = 1 << 20  # since a message may have ten thousand readings
MOST_BYTES: Final = 64 << 20  # bytes of all unsettled messages
LINGER_S: Final = 0.003  # seconds: collects messages that arrive together


class Inbox:
    """Thread-safe. ``parts``: the number of shards, one of which this process decodes."""

    def __init__(self, shards: int = 1, *, most_bytes: int = MOST_BYTES) -> None:
        self._most_messages, self._batch_bytes = BATCH_MESSAGES * shards, BATCH_BYTES * shards
        self._most_bytes = most_bytes
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._closed = False
        lock = RLock()
        self._has_messages, self._has_room = Condition(lock), Condition(lock)

    def put(self, message: Message) -> None:
        """Adds a message; blocks while the inbox is full, unless closed."""
        with self._has_messages:
            self._has_room.wait_for(lambda: self._bytes < self._most_bytes or self._closed)
            self._bytes += message.size
            self._messages.append(message)
            self._has_messages.notify()

    def put_all(self, messages: Sequence[Message]) -> None:
        """Adds messages without waiting. Check `is_full` before."""
        with self._has_messages:
            self._bytes += sum(message.size for message in messages)
            self._messages.extend(messages)
            self._has_messages.notify()

    @property
    def is_full(self) -> bool:
        return self._bytes >= self._most_bytes

    def take(self) -> list[Message]:
        """Returns all messages that have arrived; none when closed."""
        with self._has_messages:
            self._has_messages.wait_for(lambda: self._messages or self._closed)
            self._has_messages.wait_for(self._enough, LINGER_S)
            taken, size = list[Message](), 0
            while self._messages and len(taken) < self._most_messages and not self._closed:
                size += len(self._messages[0].payload)
                if taken and size > self._batch_bytes:
                    break
                taken.append(self._messages.popleft())
            return taken

    def _enough(self) -> bool:
        return len(self._messages) >= self._most_messages or self._closed

    def settled(self, messages: Sequence[Message]) -> None:
        """Releases the memory of settled messages."""
        with self._has_room:
            self._bytes -= sum(message.size for message in messages)
            self._has_room.notify()

    def close(self) -> None:
        with self._has_messages:
            self._closed = True
            self._has_messages.notify_all()
            self._has_room.notify_all()
