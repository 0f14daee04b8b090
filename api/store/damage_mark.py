"""Marks a store's file as damaged, in a file beside it: `weir.sqlite-damaged`.

Any process may find a damaged page, and every writer must know, also after a restart. The mark
names the file's inode, so that it doesn't apply to a file that replaces it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from api.store.sqlite_connections import DAMAGED, beside, stat_of

CHECK_EVERY_S: Final = 5.0
CHECK_SHARE: Final = 20  # a check that takes one minute is repeated after twenty


class DamageMark:
    def __init__(self, store: Path) -> None:
        self._path = beside(store, "-damaged")
        self._name = str(self._path)  # looked at often
        self._due_s = 0.0  # on the monotonic clock

    def note(self, inode: int, error: BaseException | None) -> None:
        """Sets the mark if the error reports damage."""
        if isinstance(error, DAMAGED):
            with suppress(OSError):  # if the mark can't be written, neither can the store
                self._path.write_text(f"{inode} {error}\n", "utf-8")

    def of(self, inode: int) -> bool:
        """Whether the file with that inode is marked."""
        if stat_of(self._name) is None:  # opening it takes much longer
            return False
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
