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
    """Allows ``most`` concurrent requests for each principal, in this process."""

    def __init__(self, most: int, what: str) -> None:
        """``what``: their name in the error, such as ``images``."""
        self._most, self._what = most, what
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, principal: str) -> Callable[[], None]:
        """Start a request; returns the idempotent function that ends it. Raises TooManyRequests."""
        with self._lock:
            if self._taken[principal] >= self._most:
                raise TooManyRequests(
                    f"You already have {self._most} {self._what} in progress: try again when one of"
                    " them is done.",
                    retry_after_s=AGAIN_S,
                )
            self._taken[principal] += 1
        taken = [principal]

        def give_back() -> None:
            with self._lock:
                if taken:
                    self._taken[taken.pop()] -= 1
                    self._taken += Counter()  # drops zero counts

        return give_back
