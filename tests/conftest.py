"""Fixtures for all folders of tests."""

from __future__ import annotations

import gc
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
from tests import both_ends, citus, fast, servers

# A property doesn't depend on how busy the machine is, so examples have no deadline. Tables state
# the known cases; half of the usual number of examples looks for others in each run.
settings.register_profile("weir", deadline=None, max_examples=50)
settings.load_profile("weir")

# How it counts is fixed when it is first imported: import it before a test sets a folder for it.
assert prometheus_client

TESTS = Path(__file__).parent
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_database_numbers = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    fast.pytest_addoption(parser)


def pytest_configure(config: pytest.Config) -> None:
    fast.pytest_configure(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fast.select(config, items, _place)
    items.sort(key=lambda item: both_ends.turn(_place(item)))
    for item in items:
        # What waits for a browser, a server or a process has time limits, which a busy machine may
        # miss. Such a test is repeated once, and the run's report names it.
        if not fast.is_fast(item, _place(item)):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """The tests live until the end, so garbage collection need not look at them again."""
    gc.collect()
    gc.freeze()


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

    It has a folder of its own: pytest closes the root of its temporary folders to other users at
    each start, so a running server of another run would lose its files.
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
    store = citus.made(sqlite_url)
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
    """An upgraded, empty store; a test that uses it runs once for each database."""
    store = citus.made(store_url)
    yield store
    store.close()


@pytest.fixture(scope="module", params=citus.FILE_OR_CLUSTER)
def place_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL for a module's single store, in suites that test the service and not the
    databases."""
    with citus.place(request.param, tmp_path_factory.mktemp("place")) as url:
        yield url


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real meters beside the project; tests that use it are skipped elsewhere."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real meters are not here: ../shared/data is missing")
    return SHARED_DATA
