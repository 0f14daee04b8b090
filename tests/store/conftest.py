"""Stores for the contract: one per module, since tests make devices of their own; or an empty one
for tests of a whole store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest

from api.store.base import Store
from tests import citus

_databases = count(1)


@pytest.fixture(scope="module", params=citus.ENGINES)
def module_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('store') / 'weir.sqlite'}"
        return
    if request.param == "citus":
        with citus.schema() as url:
            yield url
        return
    server = str(request.getfixturevalue("postgres_server"))
    name = f"weir_module_{next(_databases)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
        yield f"{server}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="module")
def store(module_url: str) -> Iterator[Store]:
    opened = citus.made(module_url)
    yield opened
    opened.close()


@pytest.fixture
def empty_store(store_url: str) -> Iterator[Store]:
    opened = citus.made(store_url)
    yield opened
    opened.close()


@pytest.fixture(params=["citus"])
def cluster_url(request: pytest.FixtureRequest) -> str:
    """An empty schema on a cluster, for tests of what only a cluster has."""
    if (
        not citus.COORDINATOR
    ):  # Debian has no Citus package, so tests need a cluster named in the environment
        pytest.skip("WEIR_TEST_CITUS names no database on a Citus coordinator")
    return str(request.getfixturevalue("citus_url"))


@pytest.fixture
def acme(store: Store) -> str:
    """A new organization's id."""
    return store.create_organization("Acme").id
