"""Notes beside a store's file that somebody met a damaged page of it: `weir.sqlite-damaged`.

Any process may meet one, and every process that writes must know: a later one too. The note is of
one file, by its inode, so that another one in its place is not damaged by that.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from api.store.sqlite_connections import DAMAGED, beside

CHECK_EVERY_S: Final = 5.0
CHECK_SHARE: Final = 20  # a check that takes a minute isn't made again for twenty


class DamageMark:
    def __init__(self, store: Path) -> None:
        self._path = beside(store, "-damaged")
        self._due_s = 0.0  # monotonic

    def note(self, inode: int, error: BaseException | None) -> None:
        """Nothing where the error says nothing of damage."""
        if isinstance(error, DAMAGED):
            with suppress(OSError):  # where no file can be made, none can be written to either
                self._path.write_text(f"{inode} {error}\n", "utf-8")

    def of(self, inode: int) -> bool:
        """Whether the file of that inode counts as damaged."""
        try:
            noted, _, _ = self._path.read_text("utf-8").partition(" ")
        except OSError:
            return False
        return noted == str(inode)

    def clear(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def is_due(self) -> bool:
        """Whether it is time for another check."""
        return monotonic() >= self._due_s

    def checked(self, took_s: float) -> None:
        self._due_s = monotonic() + max(CHECK_EVERY_S, CHECK_SHARE * took_s)
