"""Connections to one SQLite file, and the state of the file, its WAL and its index."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, Protocol, cast

import apsw

from api.errors import StoreDamaged, StoreMissing, Unavailable, UserError
from api.store.base import Row
from api.store.dialect_interface import Taken
from api.store.query import Params

BUSY_TIMEOUT_MS: Final = 60_000
STATEMENTS: Final = 200  # statements kept prepared, for each connection
READ_CACHE_KIB: Final = 32 * 1024
WRITE_CACHE_KIB: Final = 64 * 1024
WAL_LIMIT_BYTES: Final = 128 * 1024 * 1024
TAKEN: Final = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)
DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError)
# Errors after which a connection is closed: the file may have been repaired since it was opened.
SPOILT: Final = (*DAMAGED, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)


class _Cursor(Protocol):
    def fetchall(self) -> list[Row]: ...


class Connection(Protocol):
    """The part of apsw's connection in use here; apsw's annotations name a type that our oldest
    Python lacks."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Params = ()) -> _Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Row]) -> _Cursor: ...

    def config(self, op: int, *args: int) -> int: ...

    def close(self) -> None: ...


class _Failed(Protocol):
    """An attribute of apsw's errors that its annotations lack."""

    extendedresult: int


def connect(name: str, flags: int) -> Connection:
    opened = apsw.Connection(name, flags=flags, statementcachesize=STATEMENTS)
    opened.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection = cast(Connection, opened)
    connection.execute("PRAGMA cell_size_check=ON")  # a damaged page fails on its first read
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
    """``log_pages``: size of the WAL, in pages, from which a commit checkpoints it."""
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


class FileState(NamedTuple):
    """The inodes of the file, its WAL and the WAL's index (None if missing), and the file's size
    in bytes."""

    inode: int
    size: int
    wal: int | None = None
    shm: int | None = None

    @classmethod
    def at(cls, path: Path) -> FileState | None:
        name = os.fspath(path)  # runs before every read, where Path objects cost too much
        file = stat_of(name)
        if file is None:
            return None
        wal, shm = stat_of(f"{name}-wal"), stat_of(f"{name}-shm")
        return cls(file.st_ino, file.st_size, wal and wal.st_ino, shm and shm.st_ino)


class Opened(NamedTuple):
    """A connection and the state of its files when it was opened. A connection to a deleted or
    truncated file goes on reading, and accepts writes that will be lost."""

    connection: Connection
    file: FileState

    @property
    def inode(self) -> int:
        return self.file.inode

    def is_on(self, state: FileState) -> bool:
        return state.inode == self.inode and state.size >= self.file.size

    def has_log(self, state: FileState) -> bool:
        """Whether the WAL and its index are still those of the connection."""
        return self.file.wal is None or state[2:] == self.file[2:]

    def may_read(self, state: FileState) -> bool:
        """Whether the connection may be read. One with a deleted WAL may: it alone has the newest
        readings until the writer has saved them and begun a new one."""
        return self.is_on(state) and (self.has_log(state) or None in state[2:])


class Connections:
    """The connections of one process. A forked child opens its own and must not even close its
    parent's: closing would release the parent's locks on the file."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.read_lock = threading.Lock()
        self.write_lock = threading.RLock()
        self.reader: Opened | None = None
        self.reader_checked_s = 0.0  # perf_counter() of the last check of its files
        self.writer: Opened | None = None


def opened_on(path: Path, connection: Connection, state: FileState) -> Opened:
    """Returns ``connection`` with the state of its files. Reads once, since only that opens the
    WAL."""
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    now = FileState.at(path)
    return Opened(connection, state if now is None else state._replace(wal=now.wal, shm=now.shm))


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def stat_of(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


# --- Errors --------------------------------------------------------------------------------------


@contextmanager
def translated() -> Generator[None]:
    """Translates apsw's errors."""
    try:
        yield
    except apsw.Error as error:
        raise_translated(error)


def raise_translated(error: apsw.Error) -> NoReturn:
    """Raises an error of the store for one of apsw's, or the same again if it has none."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            raise Unavailable("The store is busy.", retry_after_s=1.0) from error
        case apsw.CorruptError() | apsw.NotADBError():
            raise StoreDamaged(
                f"The store's file is damaged ({error}). Nothing is stored until it is restored"
                " from a backup."
            ) from error
        case apsw.FullError():
            message = "The disk is full: nothing is stored until space is freed."
            raise Unavailable(message) from error
        case apsw.ReadOnlyError():
            message = "The store's file can't be written: it is read-only."
            raise Unavailable(message) from error
        case (
            apsw.IOError()
            | apsw.CantOpenError()
            | apsw.ProtocolError()
            | apsw.NoMemError()
            | apsw.PermissionsError()
        ):
            raise Unavailable(f"The store can't be read or written: {error}.") from error
        case apsw.ConstraintError():
            if cast(_Failed, error).extendedresult in TAKEN:
                raise Taken from error
            raise UserError(f"the store refuses it: {error}") from error
        case apsw.SQLError() if str(error).startswith("no such table"):
            raise StoreMissing("The store has no schema yet: run weir db upgrade.") from error
        case _:
            raise error
