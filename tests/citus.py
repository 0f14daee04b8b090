"""The engines that the contract is tried on: SQLite and Postgres always, and a Citus cluster where
WEIR_TEST_CITUS names a database on its coordinator (``postgresql://user@host:port/name``).

There, each store is a schema of its own in that database, distributed over the workers at once.
The user needs no more than to own the database, once it has the extension and a node for shards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import errors, sql

from api.store.base import Store
from api.store.open import open_store

COORDINATOR: Final = os.environ.get("WEIR_TEST_CITUS", "")
SERVERS: Final = ("postgres", *(["citus"] if COORDINATOR else []))
ENGINES: Final = ("sqlite", *SERVERS)
FILE_OR_CLUSTER: Final = ("sqlite", *SERVERS[1:])
"""For suites that are about anything else than the dialects, and so otherwise need a file only."""
SHARDS: Final = 4

_PREFIX: Final = "weir_test_"
_PREPARING: Final = "weir_test"


@contextmanager
def schema() -> Iterator[str]:
    """The URL of an empty schema on the coordinator, dropped at the end. Its session holds a lock
    in its name meanwhile: what a run leaves that was ended is without, and the next one's to drop.
    """
    name = f"{_PREFIX}{token_hex(6)}"
    with psycopg.connect(_url(COORDINATOR), autocommit=True) as connection:
        _prepare(connection)
        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))
        connection.execute(_said("CREATE SCHEMA {}", name))
        try:
            yield _url(COORDINATOR, name)
        finally:
            connection.execute(_said("DROP SCHEMA {} CASCADE", name))


@contextmanager
def place(engine: str, folder: Path) -> Iterator[str]:
    """The URL of a new store: a file in the folder, or a schema on the coordinator."""
    if engine == "citus":
        with schema() as url:
            yield url
    else:
        yield f"sqlite:///{folder / 'weir.sqlite'}"


def made(url: str) -> Store:
    """A store of the present schema behind a test's URL; distributed where that is on Citus."""
    store = open_store(url)
    store.upgrade()
    if is_ours(url):
        store.distribute(SHARDS)
    return store


def is_ours(url: str) -> bool:
    """Whether the URL is of one of these schemas."""
    return f"search_path%3D{_PREFIX}" in url


def _url(coordinator: str, schema: str = "") -> str:
    """The coordinator's database, named or its first one, and what sessions there look at."""
    parts = urlsplit(coordinator)
    options = f"options={quote(f'-csearch_path={schema}')}" if schema else ""
    query = "&".join(filter(None, (parts.query, options)))
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/postgres", query=query))


def _said(statement: str, name: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(name))  # pyright: ignore[reportArgumentType]


# --- The database --------------------------------------------------------------------------------


def _prepare(connection: psycopg.Connection) -> None:
    """Make the database one that can be distributed in, as far as it isn't and we may. One process
    of a divided run at a time."""
    lock = (_PREPARING,)
    connection.execute("SELECT pg_advisory_lock(hashtext(%s))", lock)
    try:
        _have_extension(connection)
        _have_node(connection)
        _drop_leftovers(connection)
    except errors.InsufficientPrivilege as error:
        raise RuntimeError(
            "the database that WEIR_TEST_CITUS names needs what only a superuser can do: CREATE"
            f" EXTENSION citus, and a node that takes shards ({error.diag.message_primary})"
        ) from error
    finally:
        connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", lock)


def _have_extension(connection: psycopg.Connection) -> None:
    if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
        connection.execute("CREATE EXTENSION citus")


def _have_node(connection: psycopg.Connection) -> None:
    """A coordinator that was named as such and has no workers takes no shards until it is told to;
    where nothing was said, it makes itself a node that does."""
    nodes = connection.execute("SELECT bool_or(shouldhaveshards) FROM pg_dist_node").fetchone()
    if nodes == (False,):
        connection.execute(
            "SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true)"
            " FROM pg_dist_node WHERE groupid = 0"
        )


def _drop_leftovers(connection: psycopg.Connection) -> None:
    left = connection.execute(
        "SELECT nspname::text FROM pg_namespace"
        " WHERE starts_with(nspname, %s) AND pg_try_advisory_lock(hashtext(nspname))",
        (_PREFIX,),
    )
    for (name,) in left.fetchall():
        connection.execute(_said("DROP SCHEMA {} CASCADE", name))
        connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (name,))
