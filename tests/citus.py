"""The databases that the contract runs on: SQLite and Postgres always, and a Citus cluster if
WEIR_TEST_CITUS names a database on its coordinator (``postgresql://user@host:port/name``).

There, each store is a schema of its own in that database, distributed over the workers. The user
needs only to own the database, once it has the extension and a node for shards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
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
"""For suites that don't test the dialects and so need only a file otherwise."""
SHARDS: Final = 4

_PREFIX: Final = "weir_test_"
_PREPARING: Final = "weir_test"


@contextmanager
def schema() -> Iterator[str]:
    """The URL of an empty schema on the coordinator, dropped at the end. Its session holds an
    advisory lock meanwhile: the next run drops schemas without one, which a killed run left."""
    name = f"{_PREFIX}{token_hex(6)}"
    with psycopg.connect(_url(COORDINATOR), autocommit=True) as connection:
        _prepare(connection)
        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))
        connection.execute(_with_name("CREATE SCHEMA {}", name))
        try:
            yield _url(COORDINATOR, name)
        finally:
            connection.execute(_with_name("DROP SCHEMA {} CASCADE", name))


@contextmanager
def place(engine: str, folder: Path) -> Iterator[str]:
    """The URL of a new store: a file in the folder, or a schema on the coordinator."""
    if engine == "citus":
        with schema() as url:
            yield url
    else:
        yield f"sqlite:///{folder / 'weir.sqlite'}"


def made(url: str) -> Store:
    """A store of the present schema at a test's URL; distributed if that is on Citus. A new file is
    copied, which takes a fifth of the time of its upgrade."""
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not path.exists():
        path.write_bytes(_empty_file())
    store = open_store(url)
    store.upgrade()
    if is_ours(url):
        store.distribute(SHARDS)
    return store


@cache
def _empty_file() -> bytes:
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/weir.sqlite")
        store.upgrade()
        store.close()
        return Path(folder, "weir.sqlite").read_bytes()


def is_ours(url: str) -> bool:
    """Whether the URL is of a schema made here."""
    return f"search_path%3D{_PREFIX}" in url


def _url(coordinator: str, schema: str = "") -> str:
    """The coordinator's database (named, or the default one) with the search path of its
    sessions."""
    parts = urlsplit(coordinator)
    options = f"options={quote(f'-csearch_path={schema}')}" if schema else ""
    query = "&".join(filter(None, (parts.query, options)))
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/postgres", query=query))


def _with_name(statement: str, name: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(name))  # pyright: ignore[reportArgumentType]


# --- The database --------------------------------------------------------------------------------


def _prepare(connection: psycopg.Connection) -> None:
    """Make the database ready for distribution, as far as the user may. Test processes take
    turns."""
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
    """A coordinator named as such without workers takes no shards by default. If no coordinator is
    named, make this node one that takes shards."""
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
        connection.execute(_with_name("DROP SCHEMA {} CASCADE", name))
        connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (name,))
