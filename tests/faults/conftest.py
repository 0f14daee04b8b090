"""Plants that a test may break; each in a folder of its own, ended by its id."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands.shell import Shell
from tests.faults.plant import Looked

Start = Callable[..., Looked]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start(folder=None, history=False, environ={})``: a plant that is up."""
    started: list[Looked] = []

    def begin(
        folder: Path | None = None, *, history: bool = False, url: str = "", **environ: str
    ) -> Looked:
        shell = Shell(folder or tmp_path)
        shell.environ |= environ
        if url:
            shell.url = shell.environ["WEIR_DATABASE"] = url
        plant = Looked(shell, history=history)
        started.append(plant)
        plant.await_up()
        return plant

    yield begin
    for plant in started:
        plant.end()
        plant.http.close()
        if plant.server.poll() is None:
            plant.server.terminate()
            with suppress(subprocess.TimeoutExpired):
                plant.server.wait(40)
        plant.shell.end_all()
