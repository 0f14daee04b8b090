"""A cache of the service's responses for the next refresh: keyed by principal, shared by the worker
processes of this machine. Losing it loses no data.

A `Memory` holds books, one a principal and subject ("states:24h"). A book maps devices to named
tuples of what JSON can hold. Where a folder is given, books are shared through one SQLite file in
it; each process keeps them in memory too and reads only what others have written since.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import orjson

MAX_BOOKS: Final = 64
MAX_LOCAL: Final = 4_000
KEPT_MS: Final = 3 * 24 * 3_600_000
FILE_NAME: Final = "fleet.sqlite"
SET_BACK_MS: Final = 10_000  # of a clock: less is what clocks do
AGAIN_S: Final = 60.0  # after which a file that gave trouble is tried again

T = TypeVar("T", bound=tuple[Any, ...])

_log = logging.getLogger(__name__)

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS learnt (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  principal TEXT NOT NULL, subject TEXT NOT NULL, device TEXT NOT NULL,
  at_ms INTEGER NOT NULL, value BLOB NOT NULL,
  UNIQUE (principal, subject, device));
CREATE INDEX IF NOT EXISTS learnt_since ON learnt (principal, subject, seq);
"""
_SINCE: Final = "SELECT seq, device, value FROM learnt WHERE principal=? AND subject=? AND seq>?"
_PUT: Final = (
    "INSERT OR REPLACE INTO learnt (principal, subject, device, at_ms, value) VALUES (?,?,?,?,?)"
)


class _File:
    """The shared file. Any trouble with it ends the sharing for a minute, not the page. Where the
    file was taken away, its readers begin again with the next one (``generation``)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._away_until_s = 0.0
        self.generation = 0

    def since(self, principal: str, subject: str, seq: int) -> list[tuple[int, str, bytes]]:
        with self._lock:
            try:
                found = self._open().execute(_SINCE, (principal, subject, seq)).fetchall()
            except (sqlite3.Error, OSError) as error:
                return self._give_up(error)
        return found

    def put(self, rows: list[tuple[str, str, str, int, bytes]]) -> None:
        with self._lock:
            try:
                with self._open() as connection:
                    connection.executemany(_PUT, rows)
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)

    def forget_after(self, now_ms: int) -> None:
        with self._lock:
            try:
                with self._open() as connection:
                    connection.execute("DELETE FROM learnt WHERE at_ms > ?", (now_ms,))
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)

    @property
    def usable(self) -> bool:
        return monotonic() >= self._away_until_s

    def _open(self) -> sqlite3.Connection:
        """At first need, so that it belongs to the process that uses it; and where it isn't the
        file at that path any more."""
        if self._connection is not None and not self._is_there():
            self._let_go()
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            connection = sqlite3.connect(self._path, timeout=0.5, check_same_thread=False)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(_SCHEMA)
            newest = connection.execute("SELECT MAX(at_ms) FROM learnt").fetchone()[0] or 0
            with connection:
                connection.execute("DELETE FROM learnt WHERE at_ms < ?", (newest - KEPT_MS,))
            self._connection, self._inode = connection, self._path.stat().st_ino
        return self._connection

    def _is_there(self) -> bool:
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self.generation += 1

    def _give_up(self, error: Exception) -> list[tuple[int, str, bytes]]:
        if not _passing(error):
            self._let_go()
            self._away_until_s = monotonic() + AGAIN_S
            _log.warning("the fleet's memory isn't shared by the workers for now: %s", error)
        return []


def _passing(error: Exception) -> bool:
    """Another process is writing just now: next time it may work."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


class Book(Generic[T]):
    """One principal's knowledge of one subject, by device id. Thread-safe. Holding `sweeping`
    means to be the one of this process who asks for what is missing."""

    def __init__(
        self, principal: str, subject: str, make: Callable[[Iterable[Any]], T], file: _File | None
    ) -> None:
        self._name = (principal, subject)
        self._make = make
        self._file = file
        self._seq = self._generation = 0
        self._values: dict[str, T] = {}
        self._lock = Lock()
        self.sweeping = Lock()

    def pull(self) -> Mapping[str, T]:
        """All values, with what other processes have learnt meanwhile. Look up, don't iterate:
        others may add to it."""
        if self._file is not None and self._file.usable:
            with self._lock:
                for seq, device, value in self._since(self._file):
                    self._seq = max(self._seq, seq)
                    with suppress(TypeError):  # a row in the shape of another version of Weir
                        self._values[device] = self._make(orjson.loads(value))
        return self._values

    def _since(self, file: _File) -> list[tuple[int, str, bytes]]:
        found = file.since(*self._name, self._seq)
        if self._generation == file.generation:
            return found
        self._generation, self._seq = file.generation, 0
        return file.since(*self._name, 0)

    def put(self, values: Mapping[str, T], at_ms: int) -> None:
        self._values.update(values)
        if self._file is not None and self._file.usable and values:
            self._file.put(
                [(*self._name, id, at_ms, orjson.dumps(list(v))) for id, v in values.items()]
            )


class Memory:
    """Books, and what only this process remembers (`local`): bounded, the least used goes first."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = _File(folder / FILE_NAME) if folder is not None else None
        self._books: OrderedDict[tuple[str, str], Book[Any]] = OrderedDict()
        self._local: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()
        self._latest_ms = 0

    def look(self, now_ms: int) -> None:
        """Told before it is used what time it is. Where the clock was set back, what is known is
        of a time to come, and would count as fresh until then: it is asked anew."""
        with self._lock:
            set_back = now_ms < self._latest_ms - SET_BACK_MS
            self._latest_ms = now_ms if set_back else max(self._latest_ms, now_ms)
            if not set_back:
                return
            self._books.clear()
            self._local.clear()
        if self._file is not None and self._file.usable:
            self._file.forget_after(now_ms)

    def book(self, principal: str, subject: str, make: Callable[[Iterable[Any]], T]) -> Book[T]:
        """``make`` turns what JSON held into the book's named tuple (`T._make`)."""
        key = (principal, subject)
        with self._lock:
            book = self._books.setdefault(key, Book(principal, subject, make, self._file))
            self._books.move_to_end(key)
            if len(self._books) > MAX_BOOKS:
                self._books.popitem(last=False)
        return book

    def local(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._local:
                self._local.move_to_end(key)
            return self._local.get(key)

    def keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._local[key] = value
            self._local.move_to_end(key)
            if len(self._local) > MAX_LOCAL:
                self._local.popitem(last=False)
