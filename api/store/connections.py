"""Connections to a Postgres server that are never waited for in vain, and those that lie idle."""

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
READ_PATIENCE_S: Final = 15  # then a page is told so, instead of its thread being held for ever
GRACE_S: Final = 2.0  # in which the server itself may end what takes too long
SILENCE_S: Final = 20.0  # after so long without a word of the answer the server is looked after
LIFELINE: Final[dict[str, Any]] = {  # a host that is gone without a word is noticed, in seconds
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
# The same the other way round: what a host that is gone had locked is free again within a minute.
LIFELINE_THERE: Final = (
    "tcp_keepalives_idle = 10",
    "tcp_keepalives_interval = 5",
    "tcp_keepalives_count = 3",
    "idle_in_transaction_session_timeout = '60s'",
)
TOO_SLOW: Final = "The store is too slow to respond."
SILENT: Final = "The store no longer responds."
MAX_IDLE: Final = 8  # connections kept open between uses, for each process
NAME: Final = "weir"

# Whether the server works at what a session of ours asked; not where it waits for us, because
# then it has answered, or never heard what we are waiting for.
_WORKS: Final = (
    "SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'"
    " FROM pg_stat_activity WHERE pid = %s"
)
_END: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = %s AND usename = current_user AND application_name = %s"
)


class Connection(psycopg.Connection[Row]):
    """``patience_s``: what an answer may take. None: as long as the server works at it, as an
    import or an upgrade may for hours; whether it does is asked on a second connection. What a
    server that hangs was asked is given up with the connection it hangs on."""

    patience_s: float | None = None
    url: str = ""

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        patience_s = timeout or self.patience_s
        try:
            if patience_s is None:
                return super().wait(self._looked_after(gen), interval)
            return super().wait(gen, interval, patience_s)
        except errors._WaitTimeout as error:  # pyright: ignore[reportPrivateUsage]
            self.pgconn.finish()
            raise Unavailable(TOO_SLOW, retry_after_s=5.0) from error

    def _looked_after(self, gen: PQGen[RV]) -> PQGen[RV]:
        """``gen``, which whoever waits for it comes back to ten times a second."""
        missed, look_s = 0, monotonic() + SILENCE_S
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    missed, look_s = 0, monotonic() + SILENCE_S
                elif monotonic() > look_s:
                    missed = 0 if self._is_worked_for() else missed + 1
                    if missed > 1:  # once may be the moment in which the answer is on its way
                        self._give_up()
                    look_s = monotonic() + SILENCE_S
                state = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _is_worked_for(self) -> bool:
        try:
            with self._beside() as other:
                found = other.execute(_WORKS, (self.info.backend_pid,)).fetchone()
        except (psycopg.Error, Unavailable):
            return False
        return found is not None and bool(found[0])

    def _give_up(self) -> None:
        """Close it at both ends, as far as the other one is in reach: what it has locked would
        keep others waiting, who take our place."""
        pid = self.info.backend_pid
        try:
            with self._beside() as other:
                other.execute(_END, (pid, NAME))
        except (psycopg.Error, Unavailable):
            pass  # nobody there to be told
        self.pgconn.finish()
        raise Unavailable(SILENT, retry_after_s=5.0)

    def _beside(self) -> Connection:
        """Another one to the very same server, which doesn't wait long."""
        info = self.info
        address = info.hostaddr or None
        other = connect(self.url, host=info.host, hostaddr=address, port=info.port)
        other.patience_s = CONNECT_TIMEOUT_S
        return other


def connect(url: str, **more: Any) -> Connection:
    """Raises psycopg.OperationalError within seconds where nobody answers."""
    connection = Connection.connect(
        url,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_S,
        application_name=NAME,
        **LIFELINE,
        **more,
    )
    connection.url = url
    return connection


class Idle:
    """The open, unused connections of one process; as many are in use as threads ask at once.

    A connection that can't be made fails at once, with its reason, and is tried again at the next
    request. A forked child starts with none of its parent's, which it must not even close.

    Not psycopg_pool 3.3, which was tried: with no server there its `getconn` waits for its whole
    timeout and then doesn't say why, and a server that was away for 20 s was used 10 s after its
    start, because it connects in threads of its own that pause ever longer between attempts.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []

    def take(self) -> Connection | None:
        """One that is sound, as far as can be told without asking the server."""
        while (connection := self._last()) is not None:
            if not _has_news(connection):
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


def _has_news(connection: Connection) -> bool:
    """Whether an idle connection has something to read: its end, when the server went away."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
