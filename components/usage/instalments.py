"""What is known so far of the views that are asked for in instalments, in this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, Protocol, TypeVar

from components.fleet.asking import Desk

FRESH_MS: Final = 60_000
MOST_KEPT: Final = 8  # a year of 200 devices is some 20 MB


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
