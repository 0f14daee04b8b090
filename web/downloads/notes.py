"""The notes of a device as a column of a file of its rows. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from api.client.annotations import Annotation


class NotesColumn:
    """Rows are given in their order, a part at a time. A note stands in the row that holds its
    start, or in the first one after it; a note of a span also in the further rows that it meets."""

    def __init__(self, notes: Sequence[Annotation]) -> None:
        self._coming = deque(sorted(notes, key=lambda note: (note.from_ms, note.id)))
        self._open: list[Annotation] = []

    def texts(self, starts_ms: Sequence[int], ends_ms: Sequence[int]) -> list[str | None]:
        """For each row its notes, separated by `; `; ends are exclusive."""
        return [self._text(*row) for row in zip(starts_ms, ends_ms, strict=True)]

    def _text(self, start_ms: int, end_ms: int) -> str | None:
        self._open = [n for n in self._open if n.to_ms is not None and n.to_ms > start_ms]
        while self._coming and self._coming[0].from_ms < end_ms:
            self._open.append(self._coming.popleft())
        return "; ".join(" ".join(note.body.split()) for note in self._open) or None
