"""Limits expensive requests per reader: a file holds a thread while it is sent, an image while it
waits for the machine's one browser. Without a limit one reader could take a whole lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from threading import Lock
from typing import Final

from api.errors import TooManyRequests

AGAIN_S: Final = 5.0


class ConcurrencyLimit:
    """``most`` under way at a time for each principal, in this process."""

    def __init__(self, most: int, what: str) -> None:
        """``what`` is said to whoever has too many: ``images``."""
        self._most, self._what = most, what
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, principal: str) -> Callable[[], None]:
        """A turn, and what gives it back; more than once does no harm. Raises TooManyRequests."""
        with self._lock:
            if self._taken[principal] >= self._most:
                raise TooManyRequests(
                    f"You already have {self._most} {self._what} in progress: try again when one of"
                    " them is done.",
                    retry_after_s=AGAIN_S,
                )
            self._taken[principal] += 1
        held = [principal]

        def give_back() -> None:
            with self._lock:
                if held:
                    self._taken[held.pop()] -= 1
                    self._taken += Counter()  # whoever has none is forgotten

        return give_back
