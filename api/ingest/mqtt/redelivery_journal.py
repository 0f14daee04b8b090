"""A journal of messages, for redeliveries.

It records when messages without a timestamp arrived, which becomes their readings' time: with
another time, a redelivery would be counted twice. The time is therefore on disk before the reading
is stored. It also records the submission in which a message's refused readings were counted: the
store saves the number of the last submission in the same transaction.

Within a session a message is redelivered with the same packet identifier. This identifier (with the
session's number where there are several) is the key of its note, which also has a digest of its
content.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from api.errors import ConfigurationError

_MAX_LINES: Final = 200_000  # then the file is rewritten, with at most `MOST_NOTES` lines
MOST_NOTES: Final = 65_535  # packet identifiers of a session; beyond, the oldest notes are dropped


class _Note(NamedTuple):
    """A message whose ``several`` readings have the time ``received_ms`` and the milliseconds after
    it. ``submitted``: the submission that counted its refused readings, 0 for none."""

    digest: str
    received_ms: int
    several: int = 1
    submitted: int = 0

    @property
    def line(self) -> str:
        return f"{self.digest} {self.received_ms} {self.several} {self.submitted}\n"


class Journal:
    """Not thread-safe. Raises ConfigurationError if the file can't be opened. ``begun``: the file
    is new, so that earlier deliveries are unknown."""

    def __init__(self, path: Path) -> None:
        self._notes: dict[str, _Note] = {}
        self._file: TextIO | None = None
        self._fresh: dict[str, None] = {}  # keys not flushed yet, in order
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
        key: str,
        topic: str,
        payload: bytes,
        now_ms: int,
        several: int = 1,
        *,
        again: bool,
    ) -> int:
        """Returns the instant of the message's first delivery. ``again``: this one is a
        redelivery."""
        digest = _digest(topic, payload)
        note = self._notes.get(key)
        if again and note is not None and note.digest == digest:
            return note.received_ms
        self._note(key, _Note(digest, now_ms, several))
        return now_ms

    def _note(self, key: str, note: _Note) -> None:
        self._notes.pop(key, None)  # makes it the newest
        self._notes[key] = note
        self._fresh[key] = None
        if len(self._notes) > MOST_NOTES:
            oldest = next(iter(self._notes))
            del self._notes[oldest]
            self._fresh.pop(oldest, None)

    def submitted(self, key: str, topic: str, payload: bytes) -> int:
        """Returns the submission that counted this message's refused readings; 0 if none did."""
        note = self._notes.get(key)
        matches = note is not None and note.digest == _digest(topic, payload)
        return note.submitted if note is not None and matches else 0

    def submit(self, key: str, topic: str, payload: bytes, number: int) -> None:
        digest = _digest(topic, payload)
        note = self._notes.get(key)
        if note is None or note.digest != digest:
            note = _Note(digest, 0)
        self._note(key, note._replace(submitted=number))

    def forget_submitted_after(self, number: int) -> None:
        """Resets submissions of earlier processes after that number: they were never stored. The
        next flush saves this: later submissions get the same numbers, and are stored."""
        for key, note in self._notes.items():
            if note.submitted > number:
                self._notes[key] = note._replace(submitted=0)
                self._fresh[key] = None

    @property
    def end_ms(self) -> int:
        """Returns the end of the last noted instant."""
        return max((note.received_ms + note.several for note in self._notes.values()), default=0)

    def flush(self) -> None:
        """Flushes to disk. Raises OSError."""
        if not self._fresh:
            return
        if self._file is None or self._lines > _MAX_LINES:
            self._rewrite()
        else:
            self._add(self._file)
        self._fresh.clear()

    def clear(self) -> None:
        """Deletes all notes: a new session reuses message ids. Needs no disk space."""
        self._notes.clear()
        self._fresh.clear()
        self.close()
        try:
            self._rewrite()
        except OSError:
            with suppress(OSError):  # a read-only folder: the next flush reports it
                self._path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            _shut(self._file)
            self._file = None

    def _read(self, text: str) -> None:
        for line in text.splitlines(keepends=True):
            fields = line.split(" ")
            if len(fields) in (4, 5) and fields[0] and line.endswith("\n"):  # otherwise cut off
                numbers = map(int, fields[2:])  # four fields: of an older version
                self._notes[fields[0]] = _Note(fields[1], *numbers)

    def _add(self, file: TextIO) -> None:
        try:
            self._write(file, self._fresh)
        except OSError:
            self.close()  # it may end within a line: the next attempt rewrites it
            raise

    def _write(self, file: TextIO, keys: Collection[str]) -> None:
        file.write("".join(f"{key} {self._notes[key].line}" for key in keys))
        file.flush()
        os.fdatasync(file.fileno())
        self._lines += len(keys)

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
    with suppress(OSError):  # closing retries a failed write
        file.close()
