"""What is learnt is shared by processes, kept apart by principals, and never needed."""

from __future__ import annotations

import logging
import sqlite3
import stat
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from components.fleet.shared_cache import (
    FILE_NAME,
    KEPT_MS,
    MAX_BOOKS,
    MAX_LOCAL,
    SET_BACK_MS,
    Memory,
)


class Fact(NamedTuple):
    number: int
    words: str | None = None


def put(memory: Memory, principal: str, told: dict[str, Fact], at_ms: int = 1) -> None:
    memory.book(principal, "facts", Fact._make).put(told, at_ms)


def pulled(memory: Memory, principal: str, subject: str = "facts") -> dict[str, Fact]:
    return dict(memory.book(principal, subject, Fact._make).pull())


def test_processes_share_what_they_learn(tmp_path: Path) -> None:
    one, other = Memory(tmp_path), Memory(tmp_path)
    put(one, "ann", {"d1": Fact(1, "ä"), "d2": Fact(2)})
    assert pulled(other, "ann") == {"d1": Fact(1, "ä"), "d2": Fact(2)}
    put(other, "ann", {"d2": Fact(3)})
    assert pulled(one, "ann") == {"d1": Fact(1, "ä"), "d2": Fact(3)}


def test_principals_and_subjects_are_kept_apart(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    put(memory, "ann", {"d1": Fact(1)})
    for other in (memory, Memory(tmp_path)):
        assert pulled(other, "bob") == {}
        assert pulled(other, "ann", "others") == {}


def test_without_a_folder_a_process_remembers_for_itself() -> None:
    memory = Memory()
    put(memory, "ann", {"d1": Fact(1)})
    assert pulled(memory, "ann") == {"d1": Fact(1)}
    assert pulled(Memory(), "ann") == {}


def test_the_file_is_its_owners_alone_and_forgets_after_days(tmp_path: Path) -> None:
    put(Memory(tmp_path), "ann", {"old": Fact(1)}, at_ms=1)
    put(Memory(tmp_path), "ann", {"new": Fact(2)}, at_ms=KEPT_MS + 2)
    assert pulled(Memory(tmp_path), "ann") == {"new": Fact(2)}
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_a_broken_file_ends_the_sharing_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 100)
    memory = Memory(tmp_path)
    with caplog.at_level(logging.WARNING):
        put(memory, "ann", {"d1": Fact(1)})
        assert pulled(memory, "ann") == {"d1": Fact(1)}
    assert [r.message for r in caplog.records if "isn't shared" in r.message]


def test_a_file_that_is_being_written_is_tried_again(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    put(memory, "ann", {"d1": Fact(1)})
    writer = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    put(memory, "ann", {"d2": Fact(2)})
    assert pulled(memory, "ann")["d2"] == Fact(2)
    writer.execute("ROLLBACK")
    writer.close()
    put(memory, "ann", {"d3": Fact(3)})
    assert pulled(Memory(tmp_path), "ann").keys() == {"d1", "d3"}


def test_a_file_that_was_taken_away_is_begun_anew(tmp_path: Path) -> None:
    one, other = Memory(tmp_path), Memory(tmp_path)
    put(one, "ann", {"d1": Fact(1)})
    assert pulled(other, "ann") == {"d1": Fact(1)}
    for file in tmp_path.iterdir():
        file.unlink()
    put(one, "ann", {"d2": Fact(2)})
    assert pulled(one, "ann") == {"d1": Fact(1), "d2": Fact(2)}
    assert pulled(other, "ann") == {"d1": Fact(1), "d2": Fact(2)}
    assert pulled(Memory(tmp_path), "ann") == {"d2": Fact(2)}


def test_a_clock_set_back_makes_nothing_known_of_a_time_to_come(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.look(100_000)
    put(memory, "ann", {"d1": Fact(1)}, at_ms=50_000)
    put(memory, "ann", {"d2": Fact(2)}, at_ms=100_000)
    memory.keep("list", 1)
    memory.look(100_000 - SET_BACK_MS)  # as clocks do
    assert pulled(memory, "ann").keys() == {"d1", "d2"}
    memory.look(60_000)
    assert pulled(memory, "ann").keys() == {"d1"}
    assert memory.local("list") is None
    memory.look(61_000)
    assert pulled(memory, "ann").keys() == {"d1"}


def test_many_at_once(tmp_path: Path) -> None:
    memories = [Memory(tmp_path) for _ in range(3)]

    def learn(who: int) -> None:
        for n in range(20):
            put(memories[who], "ann", {f"{who}-{n}": Fact(n)})
            pulled(memories[who], "ann")

    threads = [Thread(target=learn, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(pulled(memory, "ann")) == 60 for memory in memories)


def test_memory_is_bounded() -> None:
    memory = Memory()
    for n in range(MAX_BOOKS + 5):
        put(memory, f"p{n}", {"d": Fact(n)})
    assert pulled(memory, "p0") == {}
    for n in range(MAX_LOCAL + 5):
        memory.keep(n, n)
        memory.local(0)
    assert memory.local(0) == 0
    assert memory.local(1) is None


def test_rows_of_another_version_are_ignored(tmp_path: Path) -> None:
    """After an upgrade the file may hold rows with fewer or more values."""

    class Older(NamedTuple):
        number: int
        words: str
        more: int

    Memory(tmp_path).book("ann", "facts", Older._make).put({"d1": Older(1, "x", 2)}, 1)
    put(Memory(tmp_path), "ann", {"d2": Fact(2)})
    assert pulled(Memory(tmp_path), "ann") == {"d2": Fact(2)}
