"""The world that the contract is tried on, once for each dialect."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.world import World, opened


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Read only: a test that needs to change something makes a world of its own."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('world') / 'weir.sqlite'}"
    else:
        server = request.getfixturevalue("postgres_server")
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE weir_world")
        url = f"{server}/weir_world"
    with opened(url) as world:
        yield world
