"""The side of a web worker."""

from __future__ import annotations

import select
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final

from api import framing
from api.errors import Busy, Unavailable
from api.ingest.ipc import messages
from api.ingest.ipc.server import RECEIPT_S
from api.ingest.submission import Receipt, Submission

MOST_IDLE: Final = 8
MOST_AT_ONCE: Final = 3  # of a worker's threads; the one more that it has answers reads
TURN_S: Final = 2.5  # what one more may wait for its turn, less than it takes to call it a stall
AWAY_S: Final = 2.0  # a writer that died is back after about so long


class IpcClient:
    """Sends submissions to the writer. Thread-safe; connections are reused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[socket.socket] = []
        self._lock, self._turns = Lock(), BoundedSemaphore(MOST_AT_ONCE)

    def __call__(self, submission: Submission) -> Receipt:
        """Wait for the receipt. Raises Busy if the writer is; Unavailable if there is none, or if
        it stopped before it responded: then the rows may be stored, and sending them again reports
        them as repeated."""
        question = messages.of_submission(submission)
        with self._turn(), self._connected() as connection:
            try:
                framing.send(connection, question)
                answer = framing.receive(connection)
            except (OSError, framing.BrokenFrame):
                answer = None
            if answer is None:
                raise _Gone("The writer stopped before confirming the readings. Send them again.")
        return messages.to_receipt(answer)

    def close(self) -> None:
        """Close idle connections; the next submission connects again."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _turn(self) -> Generator[None]:
        """However long the store makes writers wait, not every thread waits."""
        if not self._turns.acquire(timeout=TURN_S):
            raise Busy("The writer is busy.", retry_after_s=1.0)
        try:
            yield
        finally:
            self._turns.release()

    @contextmanager
    def _connected(self) -> Generator[socket.socket]:
        connection = self._unused() or self._open()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _unused(self) -> socket.socket | None:
        """One that the writer hasn't closed meanwhile."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            news = select.poll()
            news.register(connection, select.POLLIN)
            if not news.poll(0):
                return connection
            connection.close()

    def _open(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(RECEIPT_S + 5)
        try:
            with framing.address(self._path) as where:
                connection.connect(where)
        except OSError:
            connection.close()
            raise _Gone(
                "No writer is running on this host: start flask writer or flask serve."
            ) from None
        return connection


class _Gone(Unavailable):
    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after_s=AWAY_S)
