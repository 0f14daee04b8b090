"""The engines that the contract is tried on: SQLite and Postgres always, and a Citus cluster where
WEIR_TEST_CITUS names a database on its coordinator (``postgresql://user@host:port/name``).

There, each store is a schema of its own in that database, distributed over the workers at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final
from urllib.parse import urlsplit

import psycopg

from api.store.base import Store
from api.store.open import open_store

COORDINATOR: Final = os.environ.get("WEIR_TEST_CITUS", "")
ENGINES: Final = ("sqlite", "postgres", *(["citus"] if COORDINATOR else []))
SHARDS: Final = 4
_numbers = count(1)


@contextmanager
def schema() -> Iterator[str]:
    """The URL of an empty schema on the coordinator, dropped at the end."""
    name = f"weir_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(_database(), autocommit=True) as connection:
        _prepare(connection)
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{_database()}?options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def made(url: str) -> Store:
    """A store of the present schema behind a test's URL; distributed where that is on Citus."""
    store = open_store(url)
    store.upgrade()
    if COORDINATOR and url.startswith(_database()):
        store.distribute(SHARDS)
    return store


def _database() -> str:
    return COORDINATOR if urlsplit(COORDINATOR).path.strip("/") else f"{COORDINATOR}/postgres"


def _prepare(connection: psycopg.Connection) -> None:
    """A coordinator without workers keeps the shards itself."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS citus")
    nodes = connection.execute("SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards")
    if nodes.fetchone() == (0,):
        connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', inet_server_port())")
        connection.execute(
            "SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true)"
            " FROM pg_dist_node WHERE groupid = 0"
        )
