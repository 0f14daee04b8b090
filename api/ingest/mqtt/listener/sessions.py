"""Sessions of clients, kept across restarts: a client with a session resends what wasn't
acknowledged.

A session holds no messages. It has a number, which identifies repeated deliveries of a client.
Sessions are in a small SQLite file; when it can't be written, they end with their connections.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from api import timez
from api.errors import ConfigurationError

FILE: Final = "mqtt_sessions.sqlite"
MOST_SESSIONS: Final = 10_000  # sessions; beyond, those disconnected longest are dropped
LONGEST_S: Final = 30 * 86_400
_BUSY_S: Final = 1.0
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS session (
    key_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    lasts_s INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    connected INTEGER NOT NULL,
    address TEXT NOT NULL,
    PRIMARY KEY (key_id, client_id)
) WITHOUT ROWID"""

_log = logging.getLogger(__name__)


class Session(NamedTuple):
    """``seen_ms``: when its client connected or left."""

    key_id: str
    client_id: str
    number: int
    lasts_s: int
    seen_ms: int
    connected: bool
    address: str


class Sessions:
    """Thread-safe. Raises ConfigurationError if the file can't be opened."""

    def __init__(
        self,
        folder: Path,
        now_ms: Callable[[], int] = timez.now_ms,
        most: int = MOST_SESSIONS,
    ) -> None:
        self._now_ms, self._most, self._lock = now_ms, most, Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = _opened(folder / FILE)
            self._file.execute("PRAGMA journal_mode = wal")
            self._file.execute("PRAGMA synchronous = normal")
            self._file.execute(_TABLE)
            # After a kill the times at which clients left are unknown: they count from now.
            self._file.execute("DELETE FROM session WHERE lasts_s = 0")
            self._file.execute(
                "UPDATE session SET connected = 0, seen_ms = ? WHERE connected", (now_ms(),)
            )
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"WEIR_INSTANCE: {folder / FILE}: {error}") from None

    def begin(
        self, key_id: str, client_id: str, lasts_s: int, address: str, *, clean: bool
    ) -> tuple[int, bool]:
        """Returns the session's number, and whether it existed. ``clean``: an earlier one is
        deleted."""
        at_ms = self._now_ms()
        with self._lock:
            number = None if clean else self._resumed(key_id, client_id, at_ms)
            resumed, number = number is not None, number or secrets.randbits(48) + 1
            row = (key_id, client_id, number, min(lasts_s, LONGEST_S), at_ms, True, address)
            self._change("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._make_room()
        return number, resumed

    def end(self, number: int, lasts_s: int) -> None:
        """Ends a connection; its session is kept for ``lasts_s``."""
        with self._lock:
            if lasts_s == 0:
                self._change("DELETE FROM session WHERE number = ?", (number,))
                return
            self._change(
                "UPDATE session SET connected = 0, lasts_s = ?, seen_ms = ? WHERE number = ?",
                (min(lasts_s, LONGEST_S), self._now_ms(), number),
            )

    def clear(self) -> None:
        """Deletes all sessions: their earlier messages can't be recognized any longer."""
        with self._lock:
            self._change("DELETE FROM session", ())

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _resumed(self, key_id: str, client_id: str, at_ms: int) -> int | None:
        query = (
            "SELECT number FROM session WHERE key_id = ? AND client_id = ? AND lasts_s > 0"
            " AND (connected OR seen_ms + 1000 * lasts_s > ?)"
        )
        try:
            row = self._file.execute(query, (key_id, client_id, at_ms)).fetchone()
            return row[0] if row else None
        except sqlite3.Error as error:
            _log.warning("sessions of MQTT clients can't be read: %s", error)
            return None

    def _make_room(self) -> None:
        self._change(
            "DELETE FROM session WHERE (key_id, client_id) IN (SELECT key_id, client_id FROM"
            " session WHERE NOT connected ORDER BY seen_ms"
            " LIMIT max(0, (SELECT count(*) FROM session) - ?))",
            (self._most,),
        )

    def _change(self, statement: str, values: tuple[Any, ...]) -> None:
        try:
            self._file.execute(statement, values)
        except sqlite3.Error as error:  # a full disk: the session ends with its connection
            _log.warning("sessions of MQTT clients can't be saved: %s", error)


def read_sessions(folder: Path) -> list[Session]:
    """Returns every session, connected ones first; none if no listener has run here."""
    path = folder / FILE
    if not path.exists():
        return []
    with closing(_opened(path)) as file:
        rows = file.execute(
            "SELECT key_id, client_id, number, lasts_s, seen_ms, connected, address FROM session"
            " ORDER BY connected DESC, seen_ms DESC"
        ).fetchall()
    return [Session(*row)._replace(connected=bool(row[5])) for row in rows]


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, _BUSY_S, isolation_level=None, check_same_thread=False)
