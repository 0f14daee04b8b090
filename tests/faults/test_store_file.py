"""The store's file deleted, replaced, truncated or damaged while it is in use: no wrong number is
shown, and all recovers once the file is right."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import apsw
import httpx
import pytest

from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.commands.shell import eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import (
    OLD_ROWS,
    WatchedServer,
    checkpointed,
    copied,
    is_unavailable,
    put_in_place,
    rate,
)
from tests.store.fleet import NOON_MS, new_meters, reading, steady

SUFFIXES = ("", "-wal", "-shm")
AT_ONCE = 1_000  # rows of one request


def assert_reported(loaded: WatchedServer, words: str) -> None:
    """Asserts the message to a reader, to a sender and on the fleet page."""
    eventually(lambda: is_unavailable(loaded.old_rates(0, 10), words), "readers were told")
    eventually(lambda: words in str(loaded.tried()[1]), "senders were told")
    assert loaded.tried()[0] == 503
    eventually(lambda: words in loaded.wall().get("error", ""), "the fleet page said it")
    assert loaded.open("/healthz").status_code == 200  # a restart would not help


def is_right(answer: httpx.Response, first: int) -> bool:
    """Whether the rows are as written, or the response is a plain error."""
    if is_unavailable(answer, "damaged"):
        return False
    assert answer.status_code == 200, answer.text
    expected = [rate(n) for n in range(first, first + AT_ONCE)]
    assert [row["flow_rate"] for row in answer.json()["data"]] == expected
    return True


def old_reads_hold(loaded: WatchedServer) -> list[bool]:
    """The responses for all of the old meter's readings, request by request."""
    starts = range(0, OLD_ROWS, AT_ONCE)
    return [is_right(loaded.old_rates(first, AT_ONCE), first) for first in starts]


def await_right(loaded: WatchedServer) -> None:
    eventually(lambda: is_right(loaded.old_rates(0, AT_ONCE), 0), "readers were answered again")
    eventually(lambda: "error" not in loaded.wall(), "the fleet page was as it was")
    assert all(old_reads_hold(loaded))


@pytest.mark.slow
def test_a_deleted_file_is_reported_until_it_is_back(start: Start, tmp_path: Path) -> None:
    loaded = start(history=True)
    loaded.begin()
    await_right(loaded)
    away = tmp_path / "away"
    away.mkdir()
    for suffix in SUFFIXES:
        shutil.move(f"{loaded.path}{suffix}", away)
    assert_reported(loaded, "The store's file is missing")
    assert not loaded.path.exists()  # no empty one is made in its place
    for suffix in reversed(SUFFIXES):
        shutil.move(away / f"{loaded.path.name}{suffix}", loaded.path.parent)
    await_right(loaded)
    loaded.await_more()
    log = loaded.settled()
    # The writer reports it if a reading has reached it; most are refused before.
    assert log.count("no reading can be stored") <= 1
    assert log.count("readings are stored again") == log.count("no reading can be stored")
    assert log.count("requests fail") <= 2  # one line for each of the two services


@pytest.mark.slow
def test_a_file_replaced_by_its_backup_is_used_at_once(start: Start, tmp_path: Path) -> None:
    loaded = start(history=True)
    loaded.begin()
    loaded.await_more()
    copied(loaded.path, tmp_path / "backup")
    remaining = set(stored(tmp_path / "backup"))
    put_in_place(tmp_path / "backup", loaded.path)
    loaded.acknowledged.clear()  # readings after the backup are lost with the file
    loaded.await_more()
    await_right(loaded)
    loaded.end()
    loaded.server.terminate()
    log = loaded.server.communicate(timeout=40)[1]
    assert log.count("readings are stored again") == log.count("no reading can be stored") <= 1
    there = set(stored(loaded.path))
    # The last ones may have been acknowledged while the file was being replaced.
    late = loaded.acknowledged - there
    assert len(late) <= 4
    assert remaining - there == set()
    assert open_store(loaded.shell.url).verify().wrong == 0


def stored(path: Path) -> list[tuple[str, int]]:
    connection = apsw.Connection(str(path))
    result = connection.execute(
        "SELECT serial_number, ts FROM reading JOIN device ON device.key = reading.device_id"
    ).fetchall()
    connection.close()
    return result


# --- Damage --------------------------------------------------------------------------------------


def middle(path: Path) -> tuple[int, int]:
    """The offset of a page in the middle of the raw readings, and its size, in bytes."""
    connection = apsw.Connection(str(path))
    leaves = connection.execute(
        "SELECT pgoffset, pgsize FROM dbstat WHERE name = 'reading' AND pagetype = 'leaf'"
        " ORDER BY path"
    ).fetchall()
    connection.close()
    return leaves[len(leaves) // 2]


def cut_short(path: Path) -> None:
    os.truncate(path, middle(path)[0])


def spoil_a_page(path: Path) -> None:
    offset, size = middle(path)
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xde\xad\xbe\xef" * (size // 4))


@pytest.mark.slow
@pytest.mark.parametrize("harm", [cut_short, spoil_a_page], ids=lambda harm: harm.__name__)
def test_a_damaged_file_gives_right_rows_or_none(
    start: Start, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    loaded = start(history=True)
    loaded.begin()
    loaded.await_more()
    loaded.end()  # senders pause: the copy has every acknowledged reading
    checkpointed(loaded.path)
    copied(loaded.path, tmp_path / "backup")
    harm(loaded.path)
    result = old_reads_hold(loaded)
    # Requests of whole pages get right rows, those of the damaged page get none.
    assert set(result) == {True, False}
    put_in_place(tmp_path / "backup", loaded.path)
    await_right(loaded)
    log = loaded.settled()
    assert "The store's file is damaged" in log


def test_a_wrong_byte_in_a_number_is_found_by_its_rollups(
    tmp_path: Path,
) -> None:
    """The page stays valid; only the rollups, computed from the right value, differ. The file needs
    no checksums for that, but somebody has to run the check."""
    weir = CommandLine({"WEIR_DATABASE": f"sqlite:///{tmp_path / 'weir.sqlite'}"})
    weir.ask("db", "upgrade")
    path = tmp_path / "weir.sqlite"
    store = open_store(f"sqlite:///{path}")
    [meter] = new_meters(store, 1)
    odd = 12_345.678_901
    store.write([*steady(meter, 500), reading(meter, NOON_MS + 1, flow_rate=odd)])
    store.close()
    checkpointed(path)
    assert weir.ask("rollups", "verify")["wrong"] == 0
    content = bytearray(path.read_bytes())
    at = content.find(struct.pack(">d", odd))
    content[at + 2] ^= 0x10
    path.write_bytes(bytes(content))
    assert weir.run("rollups", "verify").exit_code == 1
    connection = apsw.Connection(str(path))
    assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    connection.close()
