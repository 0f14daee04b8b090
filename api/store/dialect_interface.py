"""The interface between the common part of a store and a dialect: reads and transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol, TypeVar

from api.errors import UserError
from api.store.base import Row
from api.store.query import Dialect, Query
from api.store.sql.arithmetic import PLAIN, Arithmetic
from api.store.sql.series import Grouped, Ranges, over_all, over_one
from api.store.table_definition import Table

T = TypeVar("T")


class Taken(UserError):
    """A unique value already exists. The caller knows which one and says so."""

    def __init__(self) -> None:
        super().__init__("the store refuses it: a value that must be unique is already in use")


class Transaction(Protocol):
    """An open write transaction. It has exclusive access to the devices and the directory that it
    has locked. Values read before it began may be stale."""

    def fetch(self, query: Query) -> list[Row]: ...

    def run(self, query: Query) -> None: ...

    def insert(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Inserts many rows."""
        ...

    def lock_devices(self, keys: Sequence[int]) -> None:
        """Waits until no other transaction writes to these devices' time series, and locks them."""
        ...

    def lock_directory(self) -> None:
        """Waits until no other transaction writes to the small tables, and locks them."""
        ...


class Seam(ABC):
    """The methods that a dialect implements; the parts of a store use them."""

    dialect: ClassVar[Dialect]

    @abstractmethod
    def fetch(self, query: Query) -> list[Row]:
        """Returns all rows of a read, as plain tuples. Raises Unavailable, StoreMissing."""

    def fetch_over(self, grouped: Grouped, ranges: Ranges) -> list[Row]:
        """Returns the aggregates of each ascending range that has rows, in one statement."""
        if len(ranges) == 1:
            return self.fetch(over_one(grouped, *ranges[0]))
        return self.fetch(over_all(self.dialect, grouped, ranges)) if ranges else []

    def reckon(self, work: Callable[[Arithmetic], T]) -> T:
        """Runs ``work``, which adds or divides readings. Where a result doesn't fit a double, a
        dialect may fail and run it again with guarded arithmetic, so a failed run must change
        nothing."""
        return work(PLAIN)

    @abstractmethod
    def settle(self) -> None:
        """Updates the planner's statistics after a bulk load, if the dialect needs it."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Transaction]:
        """Returns a transaction that commits at the end of the block and rolls back on an
        exception. Raises Unavailable, StoreMissing, and UserError where the store is open
        read-only."""
