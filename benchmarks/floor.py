"""Plain drivers in processes of their own, on which the floors and the other ways run.

SQLite's floor is Python's own sqlite3, which uses another SQLite library than Weir. Two libraries
on one file in one process break each other's locks, so each floor is a child process that measures
its own time, around the work only. Postgres' floor is psycopg, in the same way; so is a peer with
an engine and threads of its own.

A floor's page cache is as large as that of Weir's readers; otherwise Weir would win by that alone.

`python -m benchmarks.floor URL [write]` serves tasks from its standard input: it reads a pickled
``(task, *arguments)`` and writes a pickled result.
"""

from __future__ import annotations

import gc
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import orjson

from benchmarks.stopwatch import clock

_CACHE_KIB = 32 * 1024
now = clock()

Statement = tuple[str, Sequence[Any]]
"""SQL with ``?`` for each parameter, and the parameters."""


class Floor:
    """The parent's end of one child. Every call waits for its result."""

    def __init__(self, url: str, *, writes: bool = False) -> None:
        command = [sys.executable, "-m", "benchmarks.floor", url, *(["write"] if writes else [])]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def fetch(self, statements: Sequence[Statement]) -> float:
        """Returns the seconds to fetch all rows of each statement and dump them as one JSON
        document."""
        return self._ask("fetch", list(statements))

    def ladder(self, rungs: Sequence[tuple[Statement, Statement]], budget: int) -> float:
        """Returns the seconds to count rung by rung until one exceeds the budget, and to fetch and
        dump the rows of the one before. A rung is (its count, its rows)."""
        return self._ask("ladder", list(rungs), budget)

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> float:
        """Returns the seconds to execute one statement for all rows in one transaction."""
        return self._ask("write", sql, list(rows))

    def forget(self) -> None:
        """Empties its page cache, as if it had just been opened (SQLite only; others have none
        here)."""
        self._ask("forget")

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        return self._ask("rows", statement)

    def close(self) -> None:
        self._child.communicate()  # it ends with its input

    def _ask(self, *request: Any) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        pickle.dump(request, self._child.stdin)
        self._child.stdin.flush()
        try:
            return pickle.load(self._child.stdout)
        except EOFError:
            raise RuntimeError("the floor's process ended; its own error stands above") from None


# --- The child -----------------------------------------------------------------------------------


def serve(url: str, *, writes: bool) -> None:
    connection = _connect(url, writes)
    tasks = {
        "fetch": _fetch,
        "ladder": _ladder,
        "write": _write,
        "rows": _rows,
        "forget": _forget,
    }
    gc.freeze()
    while True:
        try:
            name, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(tasks[name](connection, *arguments), sys.stdout.buffer)
        sys.stdout.buffer.flush()


class _Postgres:
    """A psycopg connection with sqlite3's methods, in psycopg's fastest mode: prepared, binary."""

    def __init__(self, url: str) -> None:
        import psycopg  # most floors are SQLite's, and start in half the time without it

        connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self._cursor = connection.cursor(binary=True)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        return self._cursor.execute(sql.replace("?", "%s").encode(), parameters or None)

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cursor.executemany(sql.replace("?", "%s").encode(), rows)


Connection = sqlite3.Connection | _Postgres | Any  # DuckDB's own has sqlite3's methods already


def _connect(url: str, writes: bool) -> Connection:
    scheme, _, path = url.partition(":///")
    if scheme == "duckdb":
        return import_module("duckdb").connect(path, read_only=True)
    if scheme != "sqlite":
        return _Postgres(url)
    mode = "rwc" if writes else "ro"
    connection = sqlite3.connect(f"file:{path}?mode={mode}", uri=True, isolation_level=None)
    connection.execute("PRAGMA busy_timeout=5000")
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    if writes:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    return connection


def _fetch(connection: Connection, statements: Sequence[Statement]) -> float:
    start = now()
    rows = [row for s in statements for row in connection.execute(*s).fetchall()]
    orjson.dumps(rows)
    return now() - start


def _ladder(
    connection: Connection, rungs: Sequence[tuple[Statement, Statement]], budget: int
) -> float:
    start = now()
    chosen = rungs[0][1]
    for count, rows in rungs:
        if connection.execute(*count).fetchall()[0][0] > budget:
            break
        chosen = rows
    orjson.dumps(connection.execute(*chosen).fetchall())
    return now() - start


def _write(connection: Connection, sql: str, rows: Sequence[Sequence[Any]]) -> float:
    start = now()
    connection.execute("BEGIN")
    connection.executemany(sql, rows)
    connection.execute("COMMIT")
    return now() - start


def _rows(connection: Connection, statement: Statement) -> list[tuple[Any, ...]]:
    return connection.execute(*statement).fetchall()


def _forget(connection: Connection) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA shrink_memory")


if __name__ == "__main__":
    serve(sys.argv[1], writes=sys.argv[2:] == ["write"])
