"""The fast loop (`make test-fast`): the tests to run between two edits.

`--fast` leaves out every test that needs a browser, a server or a process of its own, and runs the
other tests on one database only. Tests are left out by the fixtures they use and by the table
below. A test that is missing there and starts a process fails with a message that names the table,
so it can't become stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any, Final

import pytest

SERVER_FIXTURES: Final = frozenset({"postgres_server", "chromium", "broker", "redis_server"})

LEFT_OUT: Final = (
    "auth/test_keyset",
    "benchmarks",
    "browser",
    "client/test_endpoints",
    "client/test_transport",
    "commands",
    "faults",
    "ingest/mqtt",
    "ingest/test_demo_feed",
    "ingest/test_files",
    "ingest/test_ipc",
    "insight/alerts/test_outbox",
    "insight/alerts/test_receivers",
    "insight/test_status",
    "openapi",
    "pages",
    "real",
    "remote",
    "security",
    "server/test_isolation",
    "server/test_shared_state",
    "store/test_concurrency",
    "store/test_extremes",
    "store/test_frozen",
    "store/test_growth",
    "store/test_postgres",
    "store/test_reading",
    "store/test_registers",
    "store/test_replica",
    "store/test_sqlite_log",
    "test_deploy",
    "test_package",
    "test_scripts",
    "test_servers",
    "web/auth/test_callbacks",
    "web/auth/test_demo",
    "web/auth/test_revoked",
    "web/auth/test_scope",
    "web/auth/test_server",
    "web/embed",
    "web/rendering",
    "web/test_modules",
)
"""Folders and files whose tests start servers or processes, or read much data, without a fixture
that shows it: prefixes of paths below `tests/`."""

_FORBIDDEN: Final = {"subprocess.Popen": "process", "socket.bind": "server"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast", action="store_true", help="only tests without browser, server, process"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--fast"):
        config.pluginmanager.register(_Guard(), "fast-guard")


def select(
    config: pytest.Config, items: list[pytest.Item], place: Callable[[pytest.Item], str]
) -> None:
    """Leave only the fast tests in `items`; report the others as deselected."""
    if not config.getoption("--fast"):
        return
    selected = [item for item in items if is_fast(item, place(item))]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(selected)])
    items[:] = selected


def is_fast(item: pytest.Item, place: str) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    dialects = (
        set() if callspec is None else {v for v in callspec.params.values() if isinstance(v, str)}
    )
    return (
        not place.startswith(LEFT_OUT)
        and not fixtures & SERVER_FIXTURES
        and not dialects & {"postgres", "citus"}
        and item.get_closest_marker("slow") is None
    )


class _Guard:
    """Refuses child processes and servers while a test runs; pytest's plugins may use them."""

    def __init__(self) -> None:
        self._running = False
        sys.addaudithook(self._refuse)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._running = True
        try:
            return (yield)
        finally:
            self._running = False

    def _refuse(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._running and event in _FORBIDDEN:
            raise RuntimeError(f"a fast test starts no {_FORBIDDEN[event]}: see tests/fast.py")
