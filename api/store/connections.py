"""Connections to a Postgres server, with deadlines, and the pool of idle ones."""

from __future__ import annotations

import os
import select
import threading
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import errors
from psycopg.abc import RV, PQGen

from api.errors import Unavailable
from api.store.base import Row

CONNECT_TIMEOUT_S: Final = 5
READ_PATIENCE_S: Final = 15  # seconds; then a read fails instead of blocking its thread
GRACE_S: Final = 2.0  # seconds; the server cancels the statement first
PROBE_AFTER_S: Final = 20.0  # seconds without a byte of the result after which the server is probed
KEEPALIVE: Final[dict[str, Any]] = {  # seconds until a vanished host is noticed
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
# The same on the server: it releases the locks of a vanished client within a minute.
SERVER_KEEPALIVE: Final = (
    "tcp_keepalives_idle = 10",
    "tcp_keepalives_interval = 5",
    "tcp_keepalives_count = 3",
    "idle_in_transaction_session_timeout = '60s'",
)
TOO_SLOW: Final = "The store is too slow to respond."
SILENT: Final = "The store no longer responds."
MAX_IDLE: Final = 8  # connections kept open between uses, for each process
NAME: Final = "weir"

# Whether the server is executing our session's statement. A session that waits for its client has
# already responded, or never received the statement.
_WORKS: Final = (
    "SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'"
    " FROM pg_stat_activity WHERE pid = %s"
)
_END: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = %s AND usename = current_user AND application_name = %s"
)


class Connection(psycopg.Connection[Row]):
    """``patience_s`` is the time limit of a statement. None: no limit while the server works on it,
    since an import or an upgrade may take hours; a second connection probes whether it still does.
    If the server hangs, the statement fails and its connection is closed."""

    patience_s: float | None = None
    url: str = ""

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        patience_s = timeout or self.patience_s
        try:
            if patience_s is None:
                return super().wait(self._probed(gen), interval)
            return super().wait(gen, interval, patience_s)
        except errors._WaitTimeout as error:  # pyright: ignore[reportPrivateUsage]
            self.pgconn.finish()
            raise Unavailable(TOO_SLOW, retry_after_s=5.0) from error

    def _probed(self, gen: PQGen[RV]) -> PQGen[RV]:
        """Runs ``gen`` with probes of the server; psycopg resumes it ten times a second."""
        missed, probe_s = 0, monotonic() + PROBE_AFTER_S
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    missed, probe_s = 0, monotonic() + PROBE_AFTER_S
                elif monotonic() > probe_s:
                    missed = 0 if self._server_is_working() else missed + 1
                    if missed > 1:  # after one miss, the response may still be on its way
                        self._give_up()
                    probe_s = monotonic() + PROBE_AFTER_S
                state = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _server_is_working(self) -> bool:
        try:
            with self._second_connection() as other:
                row = other.execute(_WORKS, (self.info.backend_pid,)).fetchone()
        except (psycopg.Error, Unavailable):
            return False
        return row is not None and bool(row[0])

    def _give_up(self) -> None:
        """Closes the connection, also on the server if that is reachable, so that its locks don't
        block the next attempt."""
        pid = self.info.backend_pid
        try:
            with self._second_connection() as other:
                other.execute(_END, (pid, NAME))
        except (psycopg.Error, Unavailable):
            pass  # the server is unreachable
        self.pgconn.finish()
        raise Unavailable(SILENT, retry_after_s=5.0)

    def _second_connection(self) -> Connection:
        """Opens a second connection to the same server, with a short deadline."""
        info = self.info
        address = info.hostaddr or None
        other = connect(self.url, host=info.host, hostaddr=address, port=info.port)
        other.patience_s = CONNECT_TIMEOUT_S
        return other


def connect(url: str, **options: Any) -> Connection:
    """Opens a connection. Raises psycopg.OperationalError within seconds if no server responds."""
    connection = Connection.connect(
        url,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_S,
        application_name=NAME,
        **KEEPALIVE,
        **options,
    )
    connection.url = url
    return connection


class Idle:
    """The idle connections of one process; the number in use isn't limited.

    A failure to connect is raised at once, with its reason, and the next request tries again. A
    forked child starts empty: it must not even close its parent's connections.

    psycopg_pool 3.3.3 was measured instead. Without a server its `getconn` fails after its whole
    timeout (5 s) and without the reason; this fails at once with it. After an outage of 20 s it
    connects 12.7 s late, this 0.2 s, since its threads pause longer and longer between attempts.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []

    def take(self) -> Connection | None:
        """Returns a connection that seems usable without a round trip; None if there is none."""
        while (connection := self._last()) is not None:
            if not _has_input(connection):
                return connection
            connection.close()
        return None

    def give(self, connection: Connection) -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE and not connection.closed:
                self._idle.append(connection)
                return
        connection.close()

    def clear(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _last(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None


def _has_input(connection: Connection) -> bool:
    """Whether an idle connection has unread input, as when the server has closed it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
