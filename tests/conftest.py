"""Fixtures that every room of the tests shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import prometheus_client
import psycopg
import pytest
from hypothesis import settings
from xdist.remote import Producer

from api.store.base import Store
from api.store.open import open_store
from tests import both_ends, citus, fast, servers

# A property is true or not, however busy the machine is.
settings.register_profile("weir", deadline=None)
settings.load_profile("weir")

# How it counts is settled when it is first imported: here, before a test names a folder for it.
assert prometheus_client

TESTS = Path(__file__).parent
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_database_numbers = count(1)


# Browsers and processes that are killed keep their own time: on a machine that is short of it, one
# may miss its moment. Such a test is tried once more, and the run tells that it was.
TIMED = ("browser/", "faults/", "commands/")


def pytest_addoption(parser: pytest.Parser) -> None:
    fast.pytest_addoption(parser)


def pytest_configure(config: pytest.Config) -> None:
    fast.pytest_configure(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fast.select(config, items, _place)
    items.sort(key=lambda item: both_ends.turn(_place(item)))
    for item in items:
        if _place(item).startswith(TIMED):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _place(item: pytest.Item) -> str:
    return str(item.path.relative_to(TESTS))


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> both_ends.FromBothEnds | None:
    return both_ends.FromBothEnds(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real Postgres server, without a database name.

    In a folder of its own: pytest closes the root of its temporary folders to other users each
    time it starts, and a server of another run would lose its files under way.
    """
    with (
        TemporaryDirectory(prefix="weir-postgres-") as folder,
        servers.postgres(Path(folder)) as url,
    ):
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    name = f"weir_{os.getpid()}_{next(_database_numbers)}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
        yield f"{postgres_server}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # pyright: ignore[reportArgumentType]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'weir.sqlite'}"


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    store = open_store(sqlite_url)
    store.upgrade()
    yield store
    store.close()


@pytest.fixture
def citus_url() -> Iterator[str]:
    with citus.schema() as url:
        yield url


@pytest.fixture(params=citus.ENGINES)
def store_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An upgraded, empty store; each test that asks for it runs once on every dialect."""
    store = citus.made(store_url)
    yield store
    store.close()


@pytest.fixture(scope="module", params=citus.FILE_OR_CLUSTER)
def place_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where a module's one store comes, of suites that look at the service, not at dialects."""
    with citus.place(request.param, tmp_path_factory.mktemp("place")) as url:
        yield url


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real meters beside the project; the tests of it run where it is."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real meters are not here: ../shared/data is missing")
    return SHARED_DATA
