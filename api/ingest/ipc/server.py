"""The writer's side of the local interface."""

from __future__ import annotations

import logging
import socket
from concurrent.futures import CancelledError, TimeoutError
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from api import framing
from api.errors import Internal, ServiceError, Unavailable
from api.ingest.ipc import messages
from api.ingest.writer import Writer

RECEIPT_S: Final = 6.0  # seconds to wait for a commit, which blocks a web worker's thread
END_S: Final = 5.0
LOOK_S: Final = 2.0  # seconds between checks that the socket still exists
_WAITING_CONNECTIONS: Final = 128

_log = logging.getLogger(__name__)


class IpcServer:
    """A socket at ``path`` and a thread per connection. Its owner holds the writer lock, so an
    existing socket belongs to a dead process."""

    def __init__(self, writer: Writer, path: Path) -> None:
        self._writer, self._path = writer, path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connections: dict[socket.socket, Thread] = {}
        self._lock, self._closing = Lock(), False
        self._thread = Thread(target=self._accept, name="ipc", daemon=True)

    def start(self) -> None:
        """Raises OSError if the socket can't be created."""
        self._listen()
        self._thread.start()

    def _listen(self) -> None:
        self._path.unlink(missing_ok=True)
        with framing.address(self._path) as where:
            self._socket.bind(where)
        self._path.chmod(0o600)
        self._socket.listen(_WAITING_CONNECTIONS)
        self._socket.settimeout(LOOK_S)

    def stop(self) -> None:
        """Accepts no more requests; those in progress finish before this returns."""
        with self._lock:
            self._closing = True
            connections = dict(self._connections)
        self._path.unlink(missing_ok=True)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        for thread in connections.values():
            thread.join(END_S)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                self._restore_socket()
                continue
            except OSError:
                return
            thread = Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._connections[connection] = thread
            thread.start()

    def _restore_socket(self) -> None:
        """Recreates the socket if its folder was deleted."""
        if self._path.exists():
            return
        with self._lock:
            if self._closing:
                return
            self._socket.close()
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._listen()
            except OSError as error:
                _log.warning("%s can't be created again: %s", self._path, error)
                return
        _log.warning("%s was deleted; created it again", self._path)

    def _serve(self, connection: socket.socket) -> None:
        try:
            while (request := framing.receive(connection)) is not None:
                framing.send(connection, self._response(request))
        except (OSError, framing.BrokenFrame) as error:
            _log.info("a web worker disconnected: %s", error)
        finally:
            with self._lock:
                del self._connections[connection]
            connection.close()

    def _response(self, request: bytes) -> bytes:
        try:
            self._refuse_while_stalled()
            future = self._writer.submit(messages.to_submission(request))
            try:
                return messages.of_receipt(future.result(RECEIPT_S))
            except TimeoutError:
                future.cancel()
                raise Unavailable(self._writer.problem or _SLOW, retry_after_s=5.0) from None
        except ServiceError as error:
            return messages.of_error(error)
        except (Exception, CancelledError):  # noqa: BLE001 - its batch alone fails; all others go on
            _log.exception("readings from a web worker can't be stored")
            return messages.of_error(Internal("The readings can't be stored; see the log."))

    def _refuse_while_stalled(self) -> None:
        """Refuses at once while the store is blocked: waiting threads can't serve reads."""
        if self._writer.stalled:
            raise Unavailable(self._writer.problem or _SLOW, retry_after_s=5.0)


_SLOW: Final = "The store is too slow to confirm the readings. Send them again."
