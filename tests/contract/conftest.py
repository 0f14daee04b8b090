"""The store contents that the contract runs on, once for each database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import psycopg
import pytest

from tests import citus
from tests.world import World, opened


@pytest.fixture(scope="session")
def world_on(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], World]]:
    """``on(dialect)``: the one world of a database, made on first use.

    ``world`` can't hold it, since pytest sets a parametrized fixture up again at each change of its
    parameter, and a test process returns to a database with every file.
    """
    with ExitStack() as open_worlds:

        @cache
        def on(dialect: str) -> World:
            if dialect == "sqlite":
                url = f"sqlite:///{tmp_path_factory.mktemp('world') / 'weir.sqlite'}"
            elif dialect == "citus":
                url = open_worlds.enter_context(citus.schema())
            else:
                server = request.getfixturevalue("postgres_server")
                with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                    connection.execute("CREATE DATABASE weir_world")
                url = f"{server}/weir_world"
            return open_worlds.enter_context(opened(url))

        yield on


@pytest.fixture(scope="session", params=citus.ENGINES)
def world(request: pytest.FixtureRequest, world_on: Callable[[str], World]) -> World:
    """Read only: a test that changes something makes a world of its own."""
    return world_on(request.param)
