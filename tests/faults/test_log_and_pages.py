"""The store's log deleted, and a page of its file overwritten, under a load of hundreds of
readings: acknowledged readings are kept, and nothing is stored that could be lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import CommandLine
from tests.commands.shell import children, eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import WatchedServer, checkpointed, copied, put_in_place
from tests.faults.test_store_file import await_right, old_reads_hold, spoil_a_page, stored


def ready(loaded: WatchedServer) -> dict[str, Any]:
    return json.loads(loaded.shell.get("/readyz")[1])


def kill_all(loaded: WatchedServer) -> None:
    """Kill all processes at once, as a loss of power does."""
    everyone = [loaded.server.pid]
    for pid in everyone:
        everyone += [child for child in children(pid) if child not in everyone]
    for pid in everyone:
        os.kill(pid, signal.SIGKILL)
    loaded.server.communicate(timeout=40)


@pytest.mark.slow
@pytest.mark.parametrize("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_a_log_deleted_under_load_loses_no_acknowledged_reading(
    start: Start, suffixes: tuple[str, ...]
) -> None:
    loaded = start()
    loaded.begin()
    for suffix in suffixes:
        loaded.path.with_name(loaded.path.name + suffix).unlink()
    eventually(lambda: "log" in str(loaded.tried()[1]), "senders were told")
    assert loaded.tried()[0] == 503
    eventually(lambda: ready(loaded)["status"] == "degraded", "readiness said it")
    kill_all(loaded)
    loaded.end()
    loaded.assert_true()


@pytest.mark.slow
def test_after_a_deleted_log_storing_resumes(start: Start) -> None:
    loaded = start()
    loaded.begin()
    for suffix in ("-wal", "-shm"):
        loaded.path.with_name(loaded.path.name + suffix).unlink()
    loaded.await_refusals()
    loaded.await_more()
    log = loaded.settled()
    assert log.count("no reading can be stored") == 1
    assert log.count("readings are stored again") == 1


@pytest.mark.slow
def test_a_plain_copy_of_the_file_has_the_latest_readings(start: Start, tmp_path: Path) -> None:
    loaded = start()
    loaded.begin()
    loaded.end()  # senders pause: the writer is idle

    def is_whole() -> bool:
        shutil.copyfile(loaded.path, tmp_path / "copy.sqlite")
        return loaded.acknowledged <= set(stored(tmp_path / "copy.sqlite"))

    eventually(is_whole, "the file had it all")


@pytest.mark.slow
def test_after_an_overwritten_page_nothing_is_stored_until_a_check_passes(
    start: Start, tmp_path: Path
) -> None:
    loaded = start(history=True)
    loaded.begin()
    loaded.await_more()
    checkpointed(loaded.path)
    copied(loaded.path, tmp_path / "backup")
    spoil_a_page(loaded.path)
    assert set(old_reads_hold(loaded)) == {True, False}  # a reader's request finds it
    loaded.await_refusals()
    before = len(loaded.acknowledged)
    refused = loaded.statuses.count(503)
    eventually(lambda: loaded.statuses.count(503) > refused + 20, "senders tried again and again")
    assert len(loaded.acknowledged) == before
    assert "damaged" in str(loaded.tried()[1])
    assert "damaged" in str(ready(loaded)["checks"]["file"])
    check = CommandLine(loaded.shell.environ)
    result = check.run("db", "check", "--json")
    assert (result.exit_code, json.loads(result.stdout)["sound"]) == (1, False)
    assert len(loaded.acknowledged) == before
    loaded.end()
    put_in_place(tmp_path / "backup", loaded.path)
    await_right(loaded)
    eventually(lambda: loaded.tried()[0] == 200, "readings were stored again")
    assert check.ask("db", "check")["sound"]
    loaded.server.terminate()
    assert "The store's file is damaged" in loaded.server.communicate(timeout=40)[1]
