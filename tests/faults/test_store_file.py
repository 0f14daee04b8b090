"""The store's file deleted, replaced, cut short, damaged while it is in use: no wrong number is
shown, and all goes on by itself once the file is as it should be."""

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
from tests.faults.plant import (
    OLD_ROWS,
    Looked,
    checkpointed,
    copied,
    is_unavailable,
    put_in_place,
    rate,
)
from tests.store.fleet import NOON_MS, new_meters, reading, steady

SUFFIXES = ("", "-wal", "-shm")
AT_ONCE = 1_000  # rows asked for in one question


def says(plant: Looked, words: str) -> None:
    """To a reader, to a sender and on the fleet page."""
    eventually(lambda: is_unavailable(plant.old_rates(0, 10), words), "readers were told")
    eventually(lambda: words in str(plant.tried()[1]), "senders were told")
    assert plant.tried()[0] == 503
    eventually(lambda: words in plant.wall().get("error", ""), "the fleet page said it")
    assert plant.open("/healthz").status_code == 200  # nothing would be gained by a restart


def is_right(answer: httpx.Response, first: int) -> bool:
    """Rows as they were written, or nothing but the trouble."""
    if is_unavailable(answer, "damaged"):
        return False
    assert answer.status_code == 200, answer.text
    expected = [rate(n) for n in range(first, first + AT_ONCE)]
    assert [row["flow_rate"] for row in answer.json()["data"]] == expected
    return True


def asked(plant: Looked) -> list[bool]:
    """Everything the old meter ever said, question by question."""
    starts = range(0, OLD_ROWS, AT_ONCE)
    return [is_right(plant.old_rates(first, AT_ONCE), first) for first in starts]


def await_right(plant: Looked) -> None:
    eventually(lambda: is_right(plant.old_rates(0, AT_ONCE), 0), "readers were answered again")
    eventually(lambda: "error" not in plant.wall(), "the fleet page was as it was")
    assert all(asked(plant))


@pytest.mark.slow
def test_a_deleted_file_is_missed_by_all_until_it_is_there_again(
    start: Start, tmp_path: Path
) -> None:
    plant = start(history=True)
    plant.begin()
    await_right(plant)
    away = tmp_path / "away"
    away.mkdir()
    for suffix in SUFFIXES:
        shutil.move(f"{plant.path}{suffix}", away)
    says(plant, "The store's file is missing")
    assert not plant.path.exists()  # nobody makes an empty one in its place
    for suffix in reversed(SUFFIXES):
        shutil.move(away / f"{plant.path.name}{suffix}", plant.path.parent)
    await_right(plant)
    plant.await_more()
    log = plant.settled()
    # The writer says so if a reading reached it meanwhile: most are turned away before.
    assert log.count("no reading can be stored") <= 1
    assert log.count("readings are stored again") == log.count("no reading can be stored")
    assert log.count("requests fail") <= 2  # for each of the two services


@pytest.mark.slow
def test_a_file_replaced_by_its_backup_is_read_and_written_from_then_on(
    start: Start, tmp_path: Path
) -> None:
    plant = start(history=True)
    plant.begin()
    plant.await_more()
    copied(plant.path, tmp_path / "backup")
    kept = set(stored(tmp_path / "backup"))
    put_in_place(tmp_path / "backup", plant.path)
    plant.acknowledged.clear()  # what came after the backup went with the file
    plant.await_more()
    await_right(plant)
    plant.end()
    plant.server.terminate()
    log = plant.server.communicate(timeout=40)[1]
    assert log.count("readings are stored again") == log.count("no reading can be stored") <= 1
    there = set(stored(plant.path))
    # The last ones may have been acknowledged while one file was taken for the other.
    late = plant.acknowledged - there
    assert len(late) <= 4
    assert kept - there == set()
    assert open_store(plant.shell.url).verify().wrong == 0


def stored(path: Path) -> list[tuple[str, int]]:
    connection = apsw.Connection(str(path))
    found = connection.execute(
        "SELECT serial_number, ts FROM reading JOIN device ON device.key = reading.device_id"
    ).fetchall()
    connection.close()
    return found


# --- Damage --------------------------------------------------------------------------------------


def middle(path: Path) -> tuple[int, int]:
    """Where a page in the middle of the raw readings begins, and its size."""
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
def test_a_damaged_file_gives_right_rows_or_none_until_it_is_restored(
    start: Start, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    plant = start(history=True)
    plant.begin()
    plant.await_more()
    plant.end()  # senders rest: what is copied is all that was acknowledged
    checkpointed(plant.path)
    copied(plant.path, tmp_path / "backup")
    harm(plant.path)
    found = asked(plant)
    # Questions of whole pages are answered right, those of the damaged one not at all.
    assert set(found) == {True, False}
    put_in_place(tmp_path / "backup", plant.path)
    await_right(plant)
    log = plant.settled()
    assert "The store's file is damaged" in log


def test_a_wrong_byte_within_a_number_is_found_by_comparing_it_with_its_sums(
    tmp_path: Path,
) -> None:
    """No page is out of order by it: only the rollups, which were made of what was there before,
    tell. The file needs no checksums for that, but somebody has to look."""
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
