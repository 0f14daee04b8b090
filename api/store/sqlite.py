"""The embedded store: one SQLite file, read and written with apsw, which includes a recent
SQLite."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, perf_counter
from typing import Final

import apsw
import orjson

from api.errors import StoreDamaged, StoreMissing, Unavailable, UserError
from api.store.base import ROWS_A_COMMIT, Row, StoreFile
from api.store.common_store import CommonStore
from api.store.damage_mark import DamageMark
from api.store.query import Dialect, Params, Query
from api.store.schema_upgrade import Versioned
from api.store.sql.series import Grouped, Ranges, over_one
from api.store.sqlite_connections import (
    DAMAGED,
    SPOILT,
    Connection,
    Connections,
    FileState,
    Opened,
    beside,
    connect,
    open_reader,
    open_writer,
    opened_on,
    raise_translated,
    stat_of,
    translated,
)
from api.store.sqlite_transaction import SqliteTransaction
from api.store.web.common_store import CommonWebStore
from api.telemetry.request_record import fetched

WAL_PAGES: Final = 16_384  # pages between checkpoints (64 MiB): more would slow bulk imports
LOG_PAUSE_S: Final = 10.0
# Reads within one request check the files once: a check costs as much as an empty read. A
# transaction that begins at once checks them before it commits.
LOOK_EVERY_S: Final = 0.005
NEVER_THERE: Final = "There is no store yet: run weir db upgrade."
GONE: Final = "The store's file is missing: put it back, or restore it from a backup."
LOG_GONE: Final = (
    "The store's log (-wal, -shm) was deleted while in use. Nothing is stored for"
    f" {LOG_PAUSE_S:g} seconds."
)
READ_ONLY_DISK: Final = (
    "The store is on a disk that is mounted read-only, where it can't even be read."
)
NOT_CHECKED: Final = (
    "The store's file is damaged. Nothing is stored until a check finds it sound:"
    " restore it from a backup, or repair it and run weir db check."
)


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
    like="LIKE",
    columns=_columns,
    types={"int": "INTEGER", "small": "INTEGER", "real": "REAL", "text": "TEXT", "blob": "BLOB"},
    table_suffix=" STRICT, WITHOUT ROWID",
    covering_keys=False,
    relation=_relation,
    bind=_bind,
    texts="(SELECT value FROM json_each(?))",
    bind_texts=_bind_texts,
)


def _closed(opened: Opened | None) -> None:
    if opened is not None:
        opened.connection.close()


def _rolled_back(writer: Opened | None) -> None:
    if writer is not None and writer.connection.in_transaction:
        writer.connection.execute("ROLLBACK")


_inherited: list[Connections] = []  # connections kept alive on purpose: see Connections


class SqliteFile(Versioned):
    """One file. Reads are serialized: concurrent threads compete for the interpreter's lock and
    take three times as long as one after the other."""

    dialect = DIALECT
    log_pages = WAL_PAGES

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._damage = DamageMark(self.path)
        self._own = Connections()
        self._paused_until_s = 0.0  # on the monotonic clock; set after the WAL was deleted

    # --- The seam ---

    def fetch(self, query: Query) -> list[Row]:
        return self._read(lambda reader: reader.execute(query.sql, query.params).fetchall())

    def fetch_over(self, grouped: Grouped, ranges: Ranges) -> list[Row]:
        # One prepared statement for each range in turn: a join with the ranges would sort every
        # row, because SQLite doesn't know that they are in order.
        queries = [over_one(grouped, low, high) for low, high in ranges]
        if len(queries) < 2:
            return self.fetch(queries[0]) if queries else []

        def each_range(reader: Connection) -> list[Row]:
            reader.execute("BEGIN")
            try:
                params = [query.params for query in queries]
                return reader.executemany(queries[0].sql, params).fetchall()
            finally:
                reader.execute("COMMIT")

        return self._read(each_range)

    def _read(self, work: Callable[[Connection], list[Row]]) -> list[Row]:
        # Without generators as context managers, which cost as much as the shortest statement.
        own, began_s = self._connections(), perf_counter()
        try:
            with own.read_lock:
                if own.reader is None or began_s >= own.reader_checked_s + LOOK_EVERY_S:
                    own.reader = self._current(own.reader, Opened.may_read, open_reader)
                    own.reader_checked_s = began_s
                try:
                    return work(own.reader.connection)
                except SPOILT as error:
                    self._damage.note(own.reader.inode, error)
                    own.reader = _closed(own.reader)
                    raise
        except apsw.Error as error:
            raise_translated(error)
        finally:
            fetched(perf_counter() - began_s)

    @contextmanager
    def transaction(self) -> Generator[SqliteTransaction]:
        with self._writing() as writer:
            looked_s = perf_counter()
            with translated():
                writer.connection.execute("BEGIN IMMEDIATE")
            if perf_counter() >= looked_s + LOOK_EVERY_S:  # it waited for the lock
                self._refuse_unsafe(writer)
            yield SqliteTransaction(writer.connection)
            self._refuse_unsafe(writer)
            with translated():
                writer.connection.execute("COMMIT")
            self._refuse_unsafe(writer)  # the WAL may have been deleted during the commit

    def checkpoint(self) -> None:
        with self._writing() as writer:
            self._refuse_unsafe(writer)
            with translated():
                writer.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def check_pages(self) -> list[str]:
        with translated():
            connection = open_reader(self.path)  # a new connection, without cached pages
            try:
                lines = connection.execute("PRAGMA quick_check(20)").fetchall()
            except DAMAGED as error:  # too damaged to finish the check
                lines = [(str(error),)]
            finally:
                connection.close()
        wrong = [str(line) for (line,) in lines if line != "ok"]
        if not wrong:
            self._damage.clear()
        return wrong

    @contextmanager
    def _writing(self) -> Generator[Opened]:
        """Yields the writing connection, exclusively."""
        if self.read_only:
            raise UserError("the store is open for reading only")
        own = self._connections()
        with own.write_lock:
            try:
                if monotonic() < self._paused_until_s:
                    raise Unavailable(LOG_GONE, retry_after_s=LOG_PAUSE_S)
                self._recheck()
                with translated():
                    own.writer = self._current(own.writer, Opened.is_on, self._open_writer)
                yield own.writer
            except BaseException as error:
                _rolled_back(own.writer)
                if isinstance(error.__cause__, SPOILT):
                    if own.writer is not None:
                        self._damage.note(own.writer.inode, error.__cause__)
                    own.writer = _closed(own.writer)
                raise

    # --- Guards against lost writes --------------------------------------------------------------

    def _refuse_unsafe(self, writer: Opened) -> None:
        """Refuses to write where the next process wouldn't find the data: to a deleted WAL or a
        damaged file. This is also checked within a transaction: one that waited for the lock of a
        deleted WAL must not write to it after it was saved."""
        state = FileState.at(self.path)
        if state is None or state.inode != writer.inode:
            raise StoreMissing(GONE)
        if not writer.has_log(state):
            _rolled_back(writer)
            self._save_log(writer)
        if self._damage.of(state.inode):
            raise StoreDamaged(NOT_CHECKED)

    def _save_log(self, writer: Opened) -> None:
        """Saves a deleted WAL through the connection that still has it open, then closes that.
        Writes pause for a while, so that whatever deletes the files can finish before a new WAL
        begins."""
        own = self._connections()
        with translated():
            log = stat_of(beside(self.path, "-wal"))
            if log is None or log.st_ino == writer.file.wal or not log.st_size:
                [(busy, *_)] = writer.connection.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
                if busy:  # blocked by a long reader: the next attempt saves the rest
                    raise Unavailable(LOG_GONE, retry_after_s=LOG_PAUSE_S)
            else:  # another process has begun a new WAL for the file
                copy = beside(self.path, f"-saved-{writer.file.wal}")
                writer.connection.execute("VACUUM INTO ?", (str(copy),))
        writer.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # nor delete by name
        self._close_all(own)  # connections of one process share the index, even a deleted one
        self._paused_until_s = monotonic() + LOG_PAUSE_S
        raise Unavailable(LOG_GONE, retry_after_s=LOG_PAUSE_S)

    def _recheck(self) -> None:
        """Checks a file that is marked as damaged again, from time to time."""
        file = stat_of(self.path)
        if file is None or not self._damage.of(file.st_ino):
            return
        if not self._damage.is_due():
            raise StoreDamaged(NOT_CHECKED)
        began_s = monotonic()
        try:
            wrong = self.check_pages()
        finally:
            self._damage.checked(monotonic() - began_s)
        if wrong:
            raise StoreDamaged(f"{NOT_CHECKED} ({wrong[0]})")

    def prepare(self) -> None:
        if self.read_only:
            raise UserError("the store is open for reading only")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with translated():
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            connection = connect(str(self.path), flags)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.close()

    def file(self) -> StoreFile:
        opened = self._connections().reader
        here, log = stat_of(self.path), stat_of(beside(self.path, "-wal"))
        return StoreFile(
            self.path,
            None if here is None else here.st_ino,
            None if opened is None else opened.inode,
            max((state.st_mtime for state in (here, log) if state is not None), default=None),
            self._problem(opened),
        )

    def _problem(self, opened: Opened | None) -> str:
        state = FileState.at(self.path)
        if state is None:
            return ""
        if self._damage.of(state.inode):
            return NOT_CHECKED
        lost = opened is not None and opened.is_on(state) and not opened.has_log(state)
        return LOG_GONE if lost else ""

    def settle(self) -> None:
        """Does nothing: SQLite plans seeks by primary key without statistics."""

    def close(self) -> None:
        own = self._connections()
        with own.write_lock:
            self._close_all(own)

    def _close_all(self, own: Connections) -> None:
        with own.read_lock:
            own.reader, own.writer = _closed(own.reader), _closed(own.writer)

    # --- Opening ---

    def _connections(self) -> Connections:
        if self._own.pid != os.getpid():
            _inherited.append(self._own)
            self._own = Connections()
        return self._own

    def _current(
        self,
        opened: Opened | None,
        is_current: Callable[[Opened, FileState], bool],
        open_one: Callable[[Path], Connection],
    ) -> Opened:
        """Returns a connection to the current file at the path."""
        state = FileState.at(self.path)
        if state is None:
            raise StoreMissing(NEVER_THERE if opened is None else GONE)
        if opened is not None and is_current(opened, state):
            if state.size == opened.file.size:
                return opened
            return opened._replace(file=opened.file._replace(size=state.size))
        if opened is not None:
            opened.connection.close()
        self._refuse_read_only_disk()
        return opened_on(self.path, open_one(self.path), state)

    def _open_writer(self, path: Path) -> Connection:
        return open_writer(path, self.log_pages)

    def _refuse_read_only_disk(self) -> None:
        """Refuses a read-only disk: in WAL mode SQLite must create the index even to read, unless
        it exists."""
        index = beside(self.path, "-shm")
        with suppress(FileNotFoundError):  # deleted meanwhile: opening it reports that
            if os.statvfs(self.path).f_flag & os.ST_RDONLY and not index.exists():
                raise Unavailable(READ_ONLY_DISK)


class SqliteStore(SqliteFile, CommonStore):
    """The store in one file."""

    def distribute(self, shards: int | None = None) -> list[str]:
        raise UserError("SQLite can't be distributed: use Postgres with Citus")

    def rows_a_commit(self) -> int:
        return ROWS_A_COMMIT

    def partition(self) -> list[str]:
        raise UserError("SQLite has no partitions: use Postgres")

    def replica(self) -> None:
        return None


class SqliteWebStore(SqliteFile, CommonWebStore):
    """The web's own data in a small file beside the store's, so that it doesn't wait for the write
    lock of a bulk import. Each commit is checkpointed at once: commits are few, and no process does
    it later."""

    log_pages = 1
