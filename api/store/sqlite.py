"""The embedded store: one SQLite file, by apsw, which brings its own current SQLite."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple, Protocol, cast

import apsw
import orjson

from api.errors import StoreDamaged, StoreMissing, Unavailable, UserError
from api.store.base import Row, StoreFile
from api.store.common import CommonStore
from api.store.core import Taken
from api.store.sql.query import Dialect, Params, Query, insert
from api.store.sql.series import Grouped, Ranges, over_one
from api.store.tables import Table
from api.store.versioned import Versioned
from api.store.web.common import CommonWebStore
from api.telemetry.request_record import fetched

BUSY_TIMEOUT_MS: Final = 60_000
STATEMENTS: Final = 200  # kept prepared, for each connection
READ_CACHE_KIB: Final = 32 * 1024
WRITE_CACHE_KIB: Final = 64 * 1024
WAL_PAGES: Final = 16_384  # between checkpoints: 64 MiB, so that bulk batches don't wait for them
WAL_LIMIT_BYTES: Final = 128 * 1024 * 1024
TAKEN: Final = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)
NEVER_THERE: Final = "There is no store yet: flask db upgrade."
GONE: Final = "The store's file is gone: put it back, or restore it from a backup."
READ_ONLY_DISK: Final = (
    "The store lies on a disk that is mounted read-only, where it can't even be read."
)
DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError)
# After these a connection isn't used again: what it was opened on may have been mended since.
SPOILT: Final = (*DAMAGED, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)


# --- The dialect ---------------------------------------------------------------------------------


def _relation(names: tuple[str, ...]) -> str:
    columns = ", ".join(f"value ->> {index} AS {name}" for index, name in enumerate(names))
    return f"(SELECT {columns} FROM json_each(?))"  # noqa: S608 - names of ours


def _bind(rows: Sequence[tuple[int, ...]]) -> Params:
    return (orjson.dumps(rows).decode(),)


def _bind_texts(texts: Sequence[str]) -> Params:
    return (orjson.dumps(texts).decode(),)


def _columns(table: str) -> Query:
    return Query("SELECT name FROM pragma_table_info(?)", (table,))


DIALECT: Final = Dialect(
    name="sqlite",
    columns=_columns,
    types={"int": "INTEGER", "small": "INTEGER", "real": "REAL", "text": "TEXT", "blob": "BLOB"},
    table_suffix=" STRICT, WITHOUT ROWID",
    covering_keys=False,
    relation=_relation,
    bind=_bind,
    texts="(SELECT value FROM json_each(?))",
    bind_texts=_bind_texts,
)


# --- Connections ---------------------------------------------------------------------------------


class _Cursor(Protocol):
    def fetchall(self) -> list[Row]: ...


class _Connection(Protocol):
    """The part of apsw's connection in use here. Its own annotations name a type that the oldest
    Python we run on doesn't have."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Params = ()) -> _Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: Sequence[Row]) -> _Cursor: ...

    def close(self) -> None: ...


class _Failed(Protocol):
    """What apsw's annotations don't say of its errors."""

    extendedresult: int


def _connect(name: str, flags: int) -> _Connection:
    opened = apsw.Connection(name, flags=flags, statementcachesize=STATEMENTS)
    opened.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection = cast(_Connection, opened)
    connection.execute("PRAGMA cell_size_check=ON")  # a damaged page fails where it is first read
    return connection


class _Found(NamedTuple):
    """What lies at the store's path."""

    inode: int
    size: int


class _Opened(NamedTuple):
    """A connection and the file it was opened on: a deleted file keeps answering, and takes
    writes that nobody will read. A file that has been cut short since goes on answering from
    memory, and takes them too."""

    connection: _Connection
    file: _Found

    @property
    def inode(self) -> int:
        return self.file.inode

    def is_on(self, found: _Found) -> bool:
        return found.inode == self.inode and found.size >= self.file.size


class _Connections:
    """The connections of one process. A forked child makes its own and must not touch, nor even
    close, its parent's: closing would drop the parent's locks on the file."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.read_lock = threading.Lock()
        self.write_lock = threading.RLock()
        self.reader: _Opened | None = None
        self.writer: _Opened | None = None


def _closed(opened: _Opened | None) -> None:
    if opened is not None:
        opened.connection.close()


def _undone(writer: _Opened | None, error: BaseException) -> _Opened | None:
    """After a transaction that failed: rolled back, and let go of where the file is to blame."""
    if writer is not None and writer.connection.in_transaction:
        writer.connection.execute("ROLLBACK")
    return _closed(writer) if isinstance(error.__cause__, SPOILT) else writer


_inherited: list[_Connections] = []  # kept alive on purpose: see _Connections


class SqliteFile(Versioned):
    """One file. Reads go one at a time: threads that step statements side by side
    fight for the interpreter's lock and take three times as long as in turn."""

    dialect = DIALECT

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._own = _Connections()

    # --- The seam ---

    def fetch(self, query: Query) -> list[Row]:
        with self._reading() as reader:
            return reader.execute(query.sql, query.params).fetchall()

    def fetch_over(self, grouped: Grouped, ranges: Ranges) -> list[Row]:
        # One prepared statement, range after range: a join with the ranges would have to sort
        # every row, because SQLite can't know that they come in order.
        queries = [over_one(grouped, low, high) for low, high in ranges]
        if len(queries) < 2:
            return self.fetch(queries[0]) if queries else []
        with self._reading() as reader:
            reader.execute("BEGIN")
            try:
                params = [query.params for query in queries]
                return reader.executemany(queries[0].sql, params).fetchall()
            finally:
                reader.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Generator[_Connection]:
        own, began_s = self._connections(), perf_counter()
        try:
            with _translated(), own.read_lock:
                own.reader = self._current(own.reader, self._open_reader)
                try:
                    yield own.reader.connection
                except SPOILT:
                    own.reader = _closed(own.reader)
                    raise
        finally:
            fetched(perf_counter() - began_s)

    @contextmanager
    def transaction(self) -> Generator[SqliteTransaction]:
        if self.read_only:
            raise UserError("the store is open for reading only")
        own = self._connections()
        with own.write_lock:
            try:
                with _translated():
                    own.writer = self._current(own.writer, self._open_writer)
                    writer = own.writer.connection
                    writer.execute("BEGIN IMMEDIATE")
                yield SqliteTransaction(writer)
                with _translated():
                    writer.execute("COMMIT")
            except BaseException as error:
                own.writer = _undone(own.writer, error)
                raise

    def prepare(self) -> None:
        if self.read_only:
            raise UserError("the store is open for reading only")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _translated():
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            connection = _connect(str(self.path), flags)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.close()

    def file(self) -> StoreFile:
        opened = self._connections().reader
        log = self.path.with_name(f"{self.path.name}-wal")
        there = [found for found in (_stat(self.path), _stat(log)) if found is not None]
        here = _stat(self.path)
        return StoreFile(
            self.path,
            None if here is None else here.st_ino,
            None if opened is None else opened.inode,
            max((found.st_mtime for found in there), default=None),
        )

    def settle(self) -> None:
        """Nothing: every read is a seek by primary key, which SQLite plans without statistics."""

    def close(self) -> None:
        own = self._connections()
        with own.read_lock, own.write_lock:
            for opened in (own.reader, own.writer):
                if opened is not None:
                    opened.connection.close()
            own.reader = own.writer = None

    # --- Opening ---

    def _connections(self) -> _Connections:
        if self._own.pid != os.getpid():
            _inherited.append(self._own)
            self._own = _Connections()
        return self._own

    def _current(self, opened: _Opened | None, connect: Callable[[], _Connection]) -> _Opened:
        """A connection to the file that is there now."""
        found = self._found(NEVER_THERE if opened is None else GONE)
        if opened is not None and opened.is_on(found):
            return opened if found == opened.file else opened._replace(file=found)
        if opened is not None:
            opened.connection.close()
        self._refuse_read_only_disk()
        return _Opened(connect(), found)

    def _refuse_read_only_disk(self) -> None:
        """Also to read a file, SQLite writes beside it, unless somebody else has begun to."""
        index = self.path.with_name(f"{self.path.name}-shm")
        with suppress(FileNotFoundError):  # gone since it was found: opening it will say so
            if os.statvfs(self.path).f_flag & os.ST_RDONLY and not index.exists():
                raise Unavailable(READ_ONLY_DISK)

    def _found(self, unless: str) -> _Found:
        try:
            there = self.path.stat()
        except FileNotFoundError:
            raise StoreMissing(unless) from None
        return _Found(there.st_ino, there.st_size)

    def _open_reader(self) -> _Connection:
        uri = self.path.absolute().as_uri() + "?mode=ro"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = _connect(uri, flags)
        connection.execute("PRAGMA query_only=ON")
        connection.execute(f"PRAGMA cache_size=-{READ_CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
        return connection

    def _open_writer(self) -> _Connection:
        connection = _connect(str(self.path), apsw.SQLITE_OPEN_READWRITE)
        for pragma in (
            "synchronous=FULL",
            f"wal_autocheckpoint={WAL_PAGES}",
            f"journal_size_limit={WAL_LIMIT_BYTES}",
            "secure_delete=OFF",
            "temp_store=MEMORY",
            f"cache_size=-{WRITE_CACHE_KIB}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


class SqliteStore(SqliteFile, CommonStore):
    """The store in one file."""

    def distribute(self, shards: int) -> list[str]:
        raise UserError("a file can't be distributed: that takes Postgres with Citus")

    def partition(self) -> list[str]:
        raise UserError("a file has no partitions: that takes Postgres")

    def replica(self) -> None:
        return None


class SqliteWebStore(SqliteFile, CommonWebStore):
    """What the web itself writes, in a small file of its own beside the store's: a bulk import
    holds the store's one write lock for as long as a batch takes, and comes back at once."""


class SqliteTransaction:
    """`api.store.core.Transaction`. BEGIN IMMEDIATE already holds the one write lock there is."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def fetch(self, query: Query) -> list[Row]:
        with _translated():
            return self._connection.execute(query.sql, query.params).fetchall()

    def run(self, query: Query) -> None:
        with _translated():
            self._connection.execute(query.sql, query.params)

    def insert(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        with _translated():
            self._connection.executemany(insert(table.name, columns), rows)

    def lock_devices(self, keys: Sequence[int]) -> None:
        pass

    def lock_directory(self) -> None:
        pass


@contextmanager
def _translated() -> Generator[None]:
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
        raise Unavailable("The disk is full: nothing is stored until there is room.") from error
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
            raise StoreMissing("The store has no schema yet: flask db upgrade.") from error
        raise
