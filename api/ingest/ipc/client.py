"""The web worker's side."""

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
MOST_AT_ONCE: Final = 3  # of a worker's four ingest threads; a fourth request gets Busy
SLOT_WAIT_S: Final = 2.5  # for a further thread, shorter than `STALLED_S`
AWAY_S: Final = 2.0  # seconds to wait for a writer that restarts


class IpcClient:
    """Sends submissions to the writer. Thread-safe; connections are reused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[socket.socket] = []
        self._lock, self._slots = Lock(), BoundedSemaphore(MOST_AT_ONCE)

    def __call__(self, submission: Submission) -> Receipt:
        """Sends rows and waits for the receipt. Raises Busy if the writer is; Unavailable if there
        is none, or if it stopped before it responded: the rows may then be stored, and sending them
        again reports them as repeated."""
        request = messages.of_submission(submission)
        with self._slot(), self._connected() as connection:
            try:
                framing.send(connection, request)
                response = framing.receive(connection)
            except (OSError, framing.BrokenFrame):
                response = None
            if response is None:
                raise _Gone("The writer stopped before confirming the readings. Send them again.")
        return messages.to_receipt(response)

    def close(self) -> None:
        """Closes idle connections; the next submission connects again."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _slot(self) -> Generator[None]:
        """Limits the threads that wait for the store, so that one is always free."""
        if not self._slots.acquire(timeout=SLOT_WAIT_S):
            raise Busy("The writer is busy.", retry_after_s=1.0)
        try:
            yield
        finally:
            self._slots.release()

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
        """Returns an idle connection that the writer hasn't closed."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            poll = select.poll()
            poll.register(connection, select.POLLIN)
            if not poll.poll(0):
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
                "No writer is running on this host: start weir writer or weir serve."
            ) from None
        return connection


class _Gone(Unavailable):
    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after_s=AWAY_S)
