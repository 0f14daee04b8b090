"""Views that are asked for in instalments: how far they are, and what is known of them so far."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from api.errors import Unavailable
from components import formatting
from components.fleet.queries import Desk

PAGE_PATIENCE_S: Final = 1.5  # then what is there is shown, and the browser asks for the rest
FILE_PATIENCE_S: Final = 120.0  # then it is given up
FRESH_MS: Final = 60_000
MOST_KEPT: Final = 8  # a year of 200 devices is some 20 MB


class Progress(NamedTuple):
    """How far it is: ``done`` of ``of``; equal when all is there."""

    word: str
    done: int
    of: int

    @property
    def complete(self) -> bool:
        return self.done >= self.of

    @property
    def words(self) -> str:
        """What is being asked for; empty when all is there."""
        if self.complete:
            return ""
        return f"Asking: {formatting.whole(self.done)} of {formatting.whole(self.of)} {self.word} …"

    def must_be_complete(self) -> None:
        """Of a file, which is whole or not at all. Raises Unavailable."""
        if not self.complete:
            raise Unavailable("It takes too long for so many days: take fewer.")


class _Dated(Protocol):
    now_ms: int


T = TypeVar("T", bound=_Dated)


class Shelf(Generic[T]):
    """The last few views of one kind, whoever's they are; each as of one moment, and begun anew
    once that is a minute ago."""

    def __init__(self, name: str, begin: Callable[[int], T]) -> None:
        """``begin`` makes what is known at first, as of a moment in ms."""
        self._name, self._begin = name, begin
        self._lock = Lock()

    def known(self, desk: Desk, view: Hashable, now_ms: int) -> T:
        """The one to add to; the same for all who ask for that view with the desk's credential."""
        key = (desk.principal, view)
        with self._lock:
            shelf: OrderedDict[Hashable, T] = desk.memory.local(self._name) or OrderedDict()
            known = shelf.pop(key, None)
            if known is None or now_ms - known.now_ms > FRESH_MS:
                known = self._begin(now_ms)
            shelf[key] = known
            while len(shelf) > MOST_KEPT:
                shelf.popitem(last=False)
            desk.memory.keep(self._name, shelf)
        return known
