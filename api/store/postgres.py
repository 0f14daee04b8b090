"""The store on a Postgres server: psycopg 3, binary protocol, prepared statements, reconnecting."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic, perf_counter
from typing import Final

import psycopg
from psycopg import errors
from psycopg.types.numeric import Int8BinaryDumper

from api.errors import StoreMissing, Unavailable, UserError
from api.store import distribution
from api.store.base import DISTRIBUTED_ROWS_A_COMMIT, ROWS_A_COMMIT, Replica, Row
from api.store.common_store import CommonStore
from api.store.connections import (
    GRACE_S,
    READ_PATIENCE_S,
    SERVER_KEEPALIVE,
    TOO_SLOW,
    Connection,
    Idle,
    connect,
)
from api.store.dialect_interface import T, Taken
from api.store.ingest import Arriving
from api.store.partitions import Partitions
from api.store.query import Dialect, Kind, Params, Query
from api.store.schema_upgrade import Versioned
from api.store.sql import replication
from api.store.sql.arithmetic import GUARDED, PLAIN, Arithmetic
from api.store.tables import TIME_SERIES, Table
from api.store.web.common_store import CommonWebStore
from api.telemetry.request_record import fetched

LOCK_CLASS: Final = 0x57454952  # Weir's advisory locks among the server's
EVALUATION_CLASS: Final = LOCK_CLASS + 1
LOCK_STRIPES: Final = 256  # a batch may span more devices than the server has lock slots
DIRECTORY_LOCK: Final = -1
LOOK_EVERY_S: Final = 60.0  # seconds between checks whether the store has been distributed


# Each statement reads a few ranges of a primary key. Other plans only look cheaper when the
# planner misjudges arrays or freshly filled tables; JIT compilation never pays.
SESSION: Final = (
    "jit = off",
    "enable_seqscan = off",
    "enable_material = off",
    "enable_hashjoin = off",
    "enable_mergejoin = off",
    "enable_bitmapscan = off",
)

ON_WORKERS: Final = "; ".join(
    f"SET LOCAL {setting}" for setting in ("citus.propagate_set_commands = 'local'", *SESSION)
).encode()

READING: Final = ("default_transaction_read_only = on",)
HURRIED: Final = (f"statement_timeout = '{READ_PATIENCE_S}s'",)

# --- The dialect ---------------------------------------------------------------------------------


def _relation(names: tuple[str, ...]) -> str:
    arrays = ", ".join("?::bigint[]" for _ in names)
    return f"(SELECT * FROM unnest({arrays}) AS u({', '.join(names)}))"  # noqa: S608 - names of ours


def _bind(rows: Sequence[tuple[int, ...]]) -> Params:
    # Literals: joining texts is several times faster than the driver's list of numbers.
    return tuple("{" + ",".join(map(str, column)) + "}" for column in zip(*rows, strict=True))


def _bind_texts(texts: Sequence[str]) -> Params:
    return (list(texts),)


TYPES: Final[dict[Kind, str]] = {
    "int": "BIGINT",
    "small": "INTEGER",
    "real": "DOUBLE PRECISION",
    "text": 'TEXT COLLATE "C"',
    "blob": "BYTEA",
}
COPY_TYPES: Final[dict[Kind, str]] = {
    "int": "int8",
    "small": "int4",
    "real": "float8",
    "text": "text",
    "blob": "bytea",
}


def _columns(table: str) -> Query:
    return Query(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = ?",
        (table,),
    )


DIALECT: Final = Dialect(
    name="postgres",
    like="ILIKE",
    types=TYPES,
    columns=_columns,
    table_suffix="",
    covering_keys=True,
    relation=_relation,
    bind=_bind,
    texts="(SELECT unnest(?::text[]))",
    bind_texts=_bind_texts,
)


@lru_cache(maxsize=1000)
def _native(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


# --- The store -----------------------------------------------------------------------------------

_inherited: list[Idle] = []  # connections kept alive on purpose: see Idle


class PostgresDatabase(Versioned):
    """One database. ``read_only`` sessions can't write. Statements of ``hurried`` sessions have a
    deadline, since a person waits for them; others take the time they need."""

    dialect = DIALECT

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self.url = url
        self.read_only = self.hurried = read_only
        self._own = Idle()

    # --- The seam ---

    def fetch(self, query: Query) -> list[Row]:
        began_s = perf_counter()
        try:
            return self._fetched(query)
        finally:
            fetched(perf_counter() - began_s)

    def _fetched(self, query: Query) -> list[Row]:
        idle = self._idle()
        with _translated():
            used = idle.take()
            if used is not None:
                try:
                    return _fetch_and_return(idle, used, query)
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if not _has_ended(used, error):
                        raise
                    idle.clear()  # the other idle connections have ended as well
            return _fetch_and_return(idle, self._open(), query)

    @contextmanager
    def transaction(self) -> Generator[PostgresTransaction]:
        if self.read_only:
            raise UserError("the store is open for reading only")
        with self._connection() as connection, connection.transaction():
            yield PostgresTransaction(connection)

    def reckon(self, work: Callable[[Arithmetic], T]) -> T:
        try:
            return work(PLAIN)
        except errors.NumericValueOutOfRange:
            return work(GUARDED)

    def settle(self) -> None:
        """Refreshes the statistics. Without them, reads of a new store are 25 times slower until
        autovacuum runs: after a minute or, on a busy server, much later."""
        names = ", ".join(table.name for table in TIME_SERIES)
        with self.transaction() as transaction:
            transaction.run(Query(f"ANALYZE {names}"))

    def close(self) -> None:
        self._idle().clear()

    def upgrade(self) -> tuple[int, int]:
        """Upgrades the schema; on a Citus cluster new tables are distributed like the others."""
        versions = super().upgrade()
        if distribution.is_spread(self):
            distribution.spread(self)
        return versions

    # --- Opening ---

    @contextmanager
    def _connection(self) -> Generator[Connection]:
        """Yields a connection that returns to the pool unless it failed."""
        idle = self._idle()
        with _translated():
            connection = idle.take() or self._open()
            try:
                yield connection
            finally:
                idle.give(connection)

    def _idle(self) -> Idle:
        if self._own.pid != os.getpid():
            _inherited.append(self._own)
            self._own = Idle()
        return self._own

    def _open(self) -> Connection:
        connection = connect(self.url)
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # one plan for any magnitude
        settings = (*SESSION, *(READING if self.read_only else SERVER_KEEPALIVE))
        if self.hurried:
            connection.patience_s = READ_PATIENCE_S + GRACE_S
            settings = (*settings, *HURRIED)
        connection.execute("; ".join(f"SET {setting}" for setting in settings).encode())
        return connection


def _fetch(connection: Connection, query: Query) -> list[Row]:
    sql = _native(query.sql)
    return connection.execute(sql, query.params, prepare=True, binary=True).fetchall()


def _fetch_and_return(idle: Idle, connection: Connection, query: Query) -> list[Row]:
    """Reads, then returns the connection to the pool unless it failed."""
    try:
        return _fetch(connection, query)
    finally:
        idle.give(connection)


def _has_ended(connection: Connection, error: psycopg.Error) -> bool:
    return connection.closed or isinstance(error, (errors.AdminShutdown, errors.CrashShutdown))


class PostgresStore(PostgresDatabase, CommonStore):
    """The store in one database."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        super().__init__(url, read_only=read_only)
        self._partitions = Partitions(self)
        self._spread, self._looked_s = False, -LOOK_EVERY_S

    @contextmanager
    def transaction(self) -> Generator[PostgresTransaction]:
        spread = not self.read_only and self._is_spread()
        with super().transaction() as transaction:
            if spread:
                transaction.plan_on_workers()
            yield transaction

    def distribute(self, shards: int | None = None) -> list[str]:
        names = distribution.spread(self, shards)
        self._looked_s = -LOOK_EVERY_S
        return names

    def rows_a_commit(self) -> int:
        return DISTRIBUTED_ROWS_A_COMMIT if self._is_spread() else ROWS_A_COMMIT

    def _is_spread(self) -> bool:
        if monotonic() >= self._looked_s + LOOK_EVERY_S:
            self._spread, self._looked_s = distribution.is_spread(self), monotonic()
        return self._spread

    def partition(self) -> list[str]:
        return self._partitions.begin()

    def add_partitions(self, instants: Iterable[int]) -> None:
        self._partitions.add_partitions(instants)

    def with_partitions(self, arriving: Arriving, take_in: Callable[[Arithmetic], T]) -> T:
        try:
            return super().with_partitions(arriving, take_in)
        except errors.CheckViolation:  # a partition was missing; nothing was written
            self._partitions.look_again()
            return super().with_partitions(arriving, take_in)

    def drop_before(self, before_ms: int, *, pretend: bool) -> tuple[int, int]:
        return self._partitions.drop_before(before_ms, pretend=pretend)

    @contextmanager
    def claimed(self, keys: Sequence[int]) -> Generator[list[int]]:
        with self.transaction() as transaction:
            yield [key for key in keys if transaction.claim(key)]

    def file(self) -> None:
        return None

    def checkpoint(self) -> None:
        """Does nothing: the server checkpoints by itself."""

    def check_pages(self) -> list[str]:
        raise UserError("check a Postgres server's pages with its own tool, pg_amcheck")

    def replica(self) -> Replica | None:
        ((following, receiving, lag_s),) = self.fetch(replication.status())
        return Replica(receiving, lag_s) if following else None


class PostgresWebStore(PostgresDatabase, CommonWebStore):
    """The web's own tables in the same database. Imports don't lock them."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        super().__init__(url, read_only=read_only)
        self.hurried = True


class PostgresTransaction:
    """`api.store.dialect_interface.Transaction`. Takes advisory locks in ascending order and holds
    them to the end, so that transactions can't deadlock."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def fetch(self, query: Query) -> list[Row]:
        return _fetch(self._connection, query)

    def run(self, query: Query) -> None:
        with _translated():
            self._connection.execute(_native(query.sql), query.params)

    def plan_on_workers(self) -> None:
        """Makes the workers of a Citus cluster plan this transaction's statements as this session
        does. They receive only the settings that are local to a transaction."""
        self._connection.execute(ON_WORKERS)

    def insert(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        types = {column.name: COPY_TYPES[column.kind] for column in table.columns}
        copy_in = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        with (
            _translated(),
            self._connection.cursor() as cursor,
            cursor.copy(copy_in.encode()) as copy,
        ):
            copy.set_types([types[name] for name in columns])
            for row in rows:
                copy.write_row(row)

    def lock_devices(self, keys: Sequence[int]) -> None:
        self._lock(sorted({key % LOCK_STRIPES for key in keys}))

    def lock_directory(self) -> None:
        self._lock([DIRECTORY_LOCK])

    def claim(self, key: int) -> bool:
        """Locks a device for evaluation until the end; False if another evaluator has it. Writes of
        readings don't wait for this lock."""
        row = self._connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", (EVALUATION_CLASS, key % 2**31)
        ).fetchone()
        return bool(row and row[0])

    def _lock(self, numbers: Sequence[int]) -> None:
        self._connection.execute(
            "SELECT pg_advisory_xact_lock(%s::int, u.number)"
            " FROM unnest(%s::int[]) WITH ORDINALITY AS u(number, place)",
            (LOCK_CLASS, numbers),
        )


@contextmanager
def _translated() -> Generator[None]:
    """Translates psycopg's errors."""
    try:
        yield
    except (errors.UndefinedTable, errors.InvalidCatalogName) as error:
        raise StoreMissing("The store has no schema yet: run weir db upgrade.") from error
    except errors.UniqueViolation as error:
        raise Taken from error
    except errors.ReadOnlySqlTransaction as error:
        raise UserError(f"the store refuses it: {error.diag.message_primary}") from error
    except (errors.QueryCanceled, errors.LockNotAvailable) as error:
        raise Unavailable(TOO_SLOW, retry_after_s=5.0) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise Unavailable("The store can't be reached.", retry_after_s=1.0) from error
