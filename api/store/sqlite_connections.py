"""Connections to one SQLite file, and what lies at its path: the file, its log and its index."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast

import apsw

from api.errors import StoreDamaged, StoreMissing, Unavailable, UserError
from api.store.base import Row
from api.store.core import Taken
from api.store.sql.query import Params

BUSY_TIMEOUT_MS: Final = 60_000
STATEMENTS: Final = 200  # kept prepared, for each connection
READ_CACHE_KIB: Final = 32 * 1024
WRITE_CACHE_KIB: Final = 64 * 1024
WAL_LIMIT_BYTES: Final = 128 * 1024 * 1024
TAKEN: Final = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)
DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError)
# After these a connection isn't used again: what it was opened on may have been mended since.
SPOILT: Final = (*DAMAGED, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)


class _Cursor(Protocol):
    def fetchall(self) -> list[Row]: ...


class Connection(Protocol):
    """The part of apsw's connection in use here. Its own annotations name a type that the oldest
    Python we run on doesn't have."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Params = ()) -> _Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: Sequence[Row]) -> _Cursor: ...

    def config(self, op: int, *args: int) -> int: ...

    def close(self) -> None: ...


class _Failed(Protocol):
    """What apsw's annotations don't say of its errors."""

    extendedresult: int


def connect(name: str, flags: int) -> Connection:
    opened = apsw.Connection(name, flags=flags, statementcachesize=STATEMENTS)
    opened.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection = cast(Connection, opened)
    connection.execute("PRAGMA cell_size_check=ON")  # a damaged page fails where it is first read
    return connection


def open_reader(path: Path) -> Connection:
    uri = path.absolute().as_uri() + "?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = connect(uri, flags)
    connection.execute("PRAGMA query_only=ON")
    connection.execute(f"PRAGMA cache_size=-{READ_CACHE_KIB}")
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def open_writer(path: Path, log_pages: int) -> Connection:
    """``log_pages``: committed ones in the log, after which a commit writes them back."""
    connection = connect(str(path), apsw.SQLITE_OPEN_READWRITE)
    for pragma in (
        "synchronous=FULL",
        f"wal_autocheckpoint={log_pages}",
        f"journal_size_limit={WAL_LIMIT_BYTES}",
        "secure_delete=OFF",
        "temp_store=MEMORY",
        f"cache_size=-{WRITE_CACHE_KIB}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


# --- Files ---------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What lies at the store's path: inodes, and the file's size in bytes. ``wal`` and
    ``shm``, its log and the log's index, are None where there is none."""

    inode: int
    size: int
    wal: int | None = None
    shm: int | None = None

    @classmethod
    def at(cls, path: Path) -> Found | None:
        file = stat_of(path)
        if file is None:
            return None
        wal, shm = stat_of(beside(path, "-wal")), stat_of(beside(path, "-shm"))
        return cls(file.st_ino, file.st_size, wal and wal.st_ino, shm and shm.st_ino)


class Opened(NamedTuple):
    """A connection and the files it was opened on: a deleted file keeps answering, and takes
    writes that nobody will read. A file that has been cut short since goes on answering from
    memory, and takes them too."""

    connection: Connection
    file: Found

    @property
    def inode(self) -> int:
        return self.file.inode

    def is_on(self, found: Found) -> bool:
        return found.inode == self.inode and found.size >= self.file.size

    def has_log(self, found: Found) -> bool:
        """Whether the log and its index are still those that the connection has open."""
        return self.file.wal is None or found[2:] == self.file[2:]

    def may_read(self, found: Found) -> bool:
        """A log that was deleted is still read: the newest readings are there alone, until the
        writer has saved them and begun another."""
        return self.is_on(found) and (self.has_log(found) or None in found[2:])


class Connections:
    """The connections of one process. A forked child makes its own and must not touch, nor even
    close, its parent's: closing would drop the parent's locks on the file."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.read_lock = threading.Lock()
        self.write_lock = threading.RLock()
        self.reader: Opened | None = None
        self.writer: Opened | None = None


def opened_on(path: Path, connection: Connection, found: Found) -> Opened:
    """Reads, since only that opens the log, and takes note of which one it is."""
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    now = Found.at(path)
    return Opened(connection, found if now is None else found._replace(wal=now.wal, shm=now.shm))


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


# --- Errors --------------------------------------------------------------------------------------


@contextmanager
def translated() -> Generator[None]:
    """apsw's errors as ours."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable("The store is busy.", retry_after_s=1.0) from error
    except DAMAGED as error:
        raise StoreDamaged(
            f"The store's file is damaged ({error}). Nothing is stored until it is restored from a"
            " backup."
        ) from error
    except apsw.FullError as error:
        raise Unavailable("The disk is full: nothing is stored until space is freed.") from error
    except apsw.ReadOnlyError as error:
        raise Unavailable("The store's file can't be written: it is read-only.") from error
    except (
        apsw.IOError,
        apsw.CantOpenError,
        apsw.ProtocolError,
        apsw.NoMemError,
        apsw.PermissionsError,
    ) as error:
        raise Unavailable(f"The store can't be read or written: {error}.") from error
    except apsw.ConstraintError as error:
        if cast(_Failed, error).extendedresult in TAKEN:
            raise Taken from error
        raise UserError(f"the store refuses it: {error}") from error
    except apsw.SQLError as error:
        if str(error).startswith("no such table"):
            raise StoreMissing("The store has no schema yet: run flask db upgrade.") from error
        raise
