"""The journal of received messages: instants, submissions, truncated lines, a full disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from api.ingest.mqtt.redelivery_journal import Journal


def test_a_redelivery_has_the_first_instant_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal"
    one = Journal(path)
    assert one.received("7", "t", b"x", 100, again=False) == 100
    one.flush()
    one.close()
    two = Journal(path)
    assert two.received("7", "t", b"x", 200, again=True) == 100
    # The number stands for another message now.
    assert two.received("7", "t", b"y", 300, again=True) == 300
    assert two.received("7", "t", b"x", 400, again=False) == 400
    assert two.received("8", "t", b"[]", 390, 20, again=False) == 390
    assert two.end_ms == 410
    two.flush()
    three = Journal(path)
    assert three.end_ms == 410
    three.close()
    two.clear()
    assert two.end_ms == 0
    assert two.received("7", "t", b"x", 500, again=True) == 500
    two.close()


def test_it_has_the_submission_of_each_message(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    one = Journal(path)
    one.received("7", "t", b"x", 100, again=False)
    for identifier, number in ((7, 3), (8, 4)):
        one.submit(str(identifier), "t", b"x", number)
    one.flush()
    one.close()
    two = Journal(path)
    two.forget_submitted_after(3)  # the store reports that no later one was stored
    assert [two.submitted(str(identifier), "t", b"x") for identifier in (7, 8, 9)] == [3, 0, 0]
    two.flush()
    late = Journal(path)  # by now the store may have another submission 4
    assert late.submitted("8", "t", b"x") == 0
    late.close()
    assert two.submitted("7", "t", b"another") == 0
    assert two.received("7", "t", b"x", 200, again=True) == 100
    two.close()
    path.write_text(f"5 {'0' * 24} 100 1\n")  # of an older version
    three = Journal(path)
    assert three.end_ms == 101
    three.close()


def test_a_truncated_line_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    one = Journal(path)
    one.received("1", "t", b"x", 1_234, again=False)
    one.received("2", "t", b"x", 5_678, again=False)
    one.flush()
    one.close()
    path.write_bytes(path.read_bytes()[:-3])
    two = Journal(path)
    assert two.received("1", "t", b"x", 9, again=True) == 1_234
    assert two.received("2", "t", b"x", 9, again=True) == 9
    two.close()


class Full:
    """A disk with room for a given number of bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        monkeypatch.setattr(os, "fdatasync", self._sync)

    def _sync(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if size > self.room:
            os.ftruncate(descriptor, max(0, self.room))
            raise OSError(errno.ENOSPC, "No space left on device")


def test_entries_without_room_are_written_once_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    one = Journal(path)
    disk = Full(monkeypatch, room=20)  # within the first line
    for attempt in range(50):
        one.received("1", "t", b"x", 1_000 + attempt, again=False)
        with pytest.raises(OSError, match="No space"):
            one.flush()
    assert len(one._fresh) == 1
    disk.room = 1 << 20
    one.received("2", "t", b"y", 2_000, again=False)
    one.flush()
    two = Journal(path)  # as after a kill
    assert two.received("1", "t", b"x", 9, again=True) == 1_049
    assert two.received("2", "t", b"y", 9, again=True) == 2_000
    one.close()
    two.close()


def test_a_new_session_needs_no_room_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    one = Journal(path)
    one.received("1", "t", b"x", 1_000, again=False)
    one.flush()
    Full(monkeypatch, room=-1)
    one.clear()
    assert one.received("1", "t", b"x", 2_000, again=True) == 2_000
    with pytest.raises(OSError, match="No space"):
        one.flush()
    monkeypatch.undo()
    two = Journal(path)
    assert two.received("1", "t", b"x", 3_000, again=True) == 3_000
    two.close()
