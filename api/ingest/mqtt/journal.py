"""A journal of messages, for redeliveries.

When a message came that doesn't say of when it is: such a reading gets its instant from us, and if
it were given another one when the broker delivers it again, it would be counted twice. So the time
is on disk before the reading is stored. And in which submission its refused readings were counted:
the store keeps the number of the last one in the same transaction.

Within a session the broker repeats a message under its packet identifier: that, with a digest of
what it says, is the name under which its note is found again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from api.errors import ConfigurationError

_MOST_LINES: Final = 200_000  # then the file is written anew: there are 65,535 identifiers


class _Note(NamedTuple):
    """A message whose ``several`` readings are of ``received_ms`` and the milliseconds after it.
    ``submitted``: the number of the submission that its refused readings were counted in, 0 where
    they weren't."""

    digest: str
    received_ms: int
    several: int = 1
    submitted: int = 0

    @property
    def line(self) -> str:
        return f"{self.digest} {self.received_ms} {self.several} {self.submitted}\n"


class Journal:
    """Not thread-safe. Raises ConfigurationError if the file can't be opened. ``begun``: the file
    is new, so that nothing is known of earlier deliveries."""

    def __init__(self, path: Path) -> None:
        self._notes: dict[int, _Note] = {}
        self._file: TextIO | None = None
        self._fresh: set[int] = set()  # identifiers noted and not kept yet
        self._lines = 0
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.begun = not path.exists()
            if not self.begun:
                self._read(path.read_text("ascii", "replace"))
            self._rewrite()
        except OSError as error:
            raise ConfigurationError(f"WEIR_INSTANCE: {path}: {error.strerror or error}") from None

    def received(
        self,
        identifier: int,
        topic: str,
        payload: bytes,
        now_ms: int,
        several: int = 1,
        *,
        again: bool,
    ) -> int:
        """The instant of this delivery: the first one's where the broker delivers it ``again``."""
        digest = _digest(topic, payload)
        known = self._notes.get(identifier)
        if again and known is not None and known.digest == digest:
            return known.received_ms
        self._notes[identifier] = _Note(digest, now_ms, several)
        self._fresh.add(identifier)
        return now_ms

    def submitted(self, identifier: int, topic: str, payload: bytes) -> int:
        """The number of the submission that a message's refused readings were counted in, where
        this is that message again; else 0."""
        known = self._notes.get(identifier)
        is_known = known is not None and known.digest == _digest(topic, payload)
        return known.submitted if known is not None and is_known else 0

    def submit(self, identifier: int, topic: str, payload: bytes, number: int) -> None:
        digest = _digest(topic, payload)
        known = self._notes.get(identifier)
        if known is None or known.digest != digest:
            known = _Note(digest, 0)
        self._notes[identifier] = known._replace(submitted=number)
        self._fresh.add(identifier)

    def forget_submitted_after(self, number: int) -> None:
        """Of earlier processes: what they had submitted beyond that was never stored."""
        for identifier, note in self._notes.items():
            if note.submitted > number:
                self._notes[identifier] = note._replace(submitted=0)

    @property
    def end_ms(self) -> int:
        """After the last instant that is noted."""
        return max((note.received_ms + note.several for note in self._notes.values()), default=0)

    def keep(self) -> None:
        """Flush to disk. Raises OSError."""
        if not self._fresh:
            return
        if self._file is None or self._lines > _MOST_LINES:
            self._rewrite()
        else:
            self._add(self._file)
        self._fresh.clear()

    def clear(self) -> None:
        """Forget everything: a new session reuses message ids. Needs no disk space."""
        self._notes.clear()
        self._fresh.clear()
        self.close()
        try:
            self._rewrite()
        except OSError:
            with suppress(OSError):  # a folder that can't be written: the next note says so
                self._path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            _shut(self._file)
            self._file = None

    def _read(self, text: str) -> None:
        for line in text.splitlines(keepends=True):
            parts = line.split(" ")
            if len(parts) in (4, 5) and parts[0].isdigit() and line.endswith("\n"):  # else cut off
                numbers = map(int, parts[2:])  # four parts: of an older program
                self._notes[int(parts[0])] = _Note(parts[1], *numbers)

    def _add(self, file: TextIO) -> None:
        try:
            self._write(file, self._fresh)
        except OSError:
            self.close()  # it may end within a line: the next attempt makes it anew
            raise

    def _write(self, file: TextIO, identifiers: Collection[int]) -> None:
        file.write("".join(f"{i} {self._notes[i].line}" for i in identifiers))
        file.flush()
        os.fdatasync(file.fileno())
        self._lines += len(identifiers)

    def _rewrite(self) -> None:
        draft = self._path.with_name(f".{self._path.name}.new")
        self._lines = 0
        file = draft.open("w", encoding="ascii")
        try:
            self._write(file, self._notes)
            draft.replace(self._path)
        except OSError:
            _shut(file)
            raise
        self.close()
        self._file = file


def _digest(topic: str, payload: bytes) -> str:
    return hashlib.blake2b(topic.encode() + b"\0" + payload, digest_size=12).hexdigest()


def _shut(file: TextIO) -> None:
    with suppress(OSError):  # what it couldn't write it tries to write once more
        file.close()
