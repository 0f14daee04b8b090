"""Servers that a test may break, each in a folder of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands.shell import Shell
from tests.faults.loaded_server import WatchedServer

Start = Callable[..., WatchedServer]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Commands and servers of one instance folder, ended after the test."""
    shell = Shell(tmp_path)
    yield shell
    shell.end_all()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start(folder=None, history=False, environ={})`` starts a server and waits until it is
    ready."""
    started: list[WatchedServer] = []

    def begin(
        folder: Path | None = None, *, history: bool = False, url: str = "", **environ: str
    ) -> WatchedServer:
        shell = Shell(folder or tmp_path)
        shell.environ |= environ
        if url:
            shell.url = shell.environ["WEIR_DATABASE"] = url
        loaded = WatchedServer(shell, history=history)
        started.append(loaded)
        loaded.await_up()
        return loaded

    yield begin
    for loaded in started:
        loaded.end()
        loaded.http.close()
        if loaded.server.poll() is None:
            loaded.server.terminate()
            with suppress(subprocess.TimeoutExpired):
                loaded.server.wait(40)
        loaded.shell.end_all()
