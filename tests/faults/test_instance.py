"""The folder for what Weir makes itself, lost while it is in use."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands.shell import eventually
from tests.faults.conftest import Start


@pytest.mark.slow
def test_a_lost_instance_folder_costs_a_moment_and_nothing_more(start: Start) -> None:
    plant = start(history=True)
    plant.begin()
    assert "error" not in plant.wall()
    folder = Path(plant.shell.environ["WEIR_INSTANCE"])
    shutil.rmtree(folder)
    assert plant.old_rates(0, 10).status_code == 200
    assert "error" not in plant.wall()
    plant.await_more()
    eventually(lambda: (folder / "writer.sock").exists(), "the writer was found again")
    assert "error" not in plant.wall()
    eventually(lambda: (folder / "fleet.sqlite").exists(), "the wall's memory was shared again")
    assert "writer.sock was gone and is there again" in plant.settled()
