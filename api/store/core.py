"""The seam between what every store does and what a dialect does: fetch, and transact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol, TypeVar

from api.errors import UserError
from api.store.base import Row
from api.store.sql.arithmetic import PLAIN, Arithmetic
from api.store.sql.query import Dialect, Query
from api.store.sql.series import Grouped, Ranges, over_all, over_one
from api.store.table import Table

T = TypeVar("T")


class Taken(UserError):
    """A value that must be unique is there already. Says nothing more: who wrote knows of what."""

    def __init__(self) -> None:
        super().__init__("the store refuses it: a value that must be unique is already in use")


class Transaction(Protocol):
    """One open write transaction, the only one on its devices and on the directory it has locked.
    Nothing that was read before it began is to be trusted inside it."""

    def fetch(self, query: Query) -> list[Row]: ...

    def run(self, query: Query) -> None: ...

    def insert(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Many new rows at once."""
        ...

    def lock_devices(self, keys: Sequence[int]) -> None:
        """Wait until no other transaction writes to these devices' time series."""
        ...

    def lock_directory(self) -> None:
        """Wait until no other transaction writes to the small tables."""
        ...


class Seam(ABC):
    """What a dialect implements for the parts of a store to stand on."""

    dialect: ClassVar[Dialect]

    @abstractmethod
    def fetch(self, query: Query) -> list[Row]:
        """All rows of a read, as plain tuples. Raises Unavailable, StoreMissing."""

    def fetch_over(self, grouped: Grouped, ranges: Ranges) -> list[Row]:
        """The aggregates over each of the ascending ranges that holds a row, by one statement."""
        if len(ranges) == 1:
            return self.fetch(over_one(grouped, *ranges[0]))
        return self.fetch(over_all(self.dialect, grouped, ranges)) if ranges else []

    def reckon(self, work: Callable[[Arithmetic], T]) -> T:
        """Do what adds or divides readings. Dialects that fail where a result doesn't fit a double
        do it a second time, guarded: it must leave nothing behind when it fails."""
        return work(PLAIN)

    @abstractmethod
    def settle(self) -> None:
        """After a bulk load: whatever the dialect's planner needs to know of what came in."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """Commits at the end of the block, rolls back where it raises.
        Raises Unavailable, StoreMissing, and UserError where the store is open read-only."""
