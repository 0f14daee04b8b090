"""The store's log deleted, and a page of its file overwritten, while readings come in by the
hundred: what was acknowledged is there afterwards, and nothing is that can't be kept."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.commands.shell import children, eventually
from tests.faults.conftest import Start
from tests.faults.plant import Looked, checkpointed, copied, put_in_place
from tests.faults.test_store_file import asked, await_right, spoil_a_page, stored


def ready(plant: Looked) -> dict[str, Any]:
    return json.loads(plant.shell.get("/readyz")[1])


def kill_all(plant: Looked) -> None:
    """At once, as a machine does that loses its power."""
    everyone = [plant.server.pid]
    for pid in everyone:
        everyone += [child for child in children(pid) if child not in everyone]
    for pid in everyone:
        os.kill(pid, signal.SIGKILL)
    plant.server.communicate(timeout=40)


@pytest.mark.slow
@pytest.mark.parametrize("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_a_log_deleted_under_load_costs_nothing_that_was_acknowledged(
    start: Start, suffixes: tuple[str, ...]
) -> None:
    plant = start()
    plant.begin()
    for suffix in suffixes:
        plant.path.with_name(plant.path.name + suffix).unlink()
    eventually(lambda: "log" in str(plant.tried()[1]), "senders were told")
    assert plant.tried()[0] == 503
    eventually(lambda: ready(plant)["status"] == "degraded", "readiness said it")
    kill_all(plant)
    plant.end()
    plant.assert_true()


@pytest.mark.slow
def test_after_a_deleted_log_readings_are_stored_again_by_itself(start: Start) -> None:
    plant = start()
    plant.begin()
    for suffix in ("-wal", "-shm"):
        plant.path.with_name(plant.path.name + suffix).unlink()
    plant.await_refusals()
    plant.await_more()
    log = plant.settled()
    assert log.count("no reading can be stored") == 1
    assert log.count("readings are stored again") == 1


@pytest.mark.slow
def test_a_plain_copy_of_the_file_has_what_was_stored_a_moment_ago(
    start: Start, tmp_path: Path
) -> None:
    plant = start()
    plant.begin()
    plant.end()  # senders rest: the writer is idle

    def is_whole() -> bool:
        shutil.copyfile(plant.path, tmp_path / "copy.sqlite")
        return plant.acknowledged <= set(stored(tmp_path / "copy.sqlite"))

    eventually(is_whole, "the file had it all")


@pytest.mark.slow
def test_a_page_overwritten_under_load_lets_nothing_more_in_until_a_check_passes(
    start: Start, tmp_path: Path
) -> None:
    plant = start(history=True)
    plant.begin()
    plant.await_more()
    checkpointed(plant.path)
    copied(plant.path, tmp_path / "backup")
    spoil_a_page(plant.path)
    assert set(asked(plant)) == {True, False}  # a reader meets it
    plant.await_refusals()
    before = len(plant.acknowledged)
    refused = plant.statuses.count(503)
    eventually(lambda: plant.statuses.count(503) > refused + 40, "senders tried again and again")
    assert len(plant.acknowledged) == before
    assert "damaged" in str(plant.tried()[1])
    assert "damaged" in str(ready(plant)["checks"]["file"])
    code, out, _ = plant.shell.run("db", "check", "--json")
    assert (code, json.loads(out)["sound"]) == (1, False)
    assert len(plant.acknowledged) == before
    plant.end()
    put_in_place(tmp_path / "backup", plant.path)
    await_right(plant)
    eventually(lambda: plant.tried()[0] == 200, "readings were stored again")
    assert plant.shell.ask("db", "check")["sound"]
    plant.server.terminate()
    assert "The store's file is damaged" in plant.server.communicate(timeout=40)[1]
