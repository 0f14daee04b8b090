"""Monthly partitions of raw readings on Postgres, so that old months are dropped as tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from api.catalog import DAY_MS
from api.errors import UserError
from api.store.dialect_interface import Seam
from api.store.query import Query
from api.store.sql import distribution as distribution_sql
from api.store.sql import partitions as sql
from api.timez import now_ms

LOOK_AGAIN_S: Final = 60.0  # a running writer notices new partitioning within this time


class Partitions:
    """The partitions of one store's raw readings, cached by this process."""

    def __init__(self, store: Seam) -> None:
        self._store = store
        self._partitioned = False
        self._names: frozenset[str] = frozenset()
        self._look_again_s = 0.0

    def add_partitions(self, instants: Iterable[int]) -> None:
        """Creates the missing partitions for these instants, in transactions of their own. Does
        nothing if the table isn't partitioned."""
        if not self._partitioned and monotonic() >= self._look_again_s:
            self._look()
        if self._partitioned:
            for month in months_without(self._names, instants):
                self._add(month)

    def begin(self) -> list[str]:
        """Partitions the raw table and returns all partitions. The existing rows become one
        partition without being moved; it ends with this month, or a day later at a month's end, to
        allow for clocks that run ahead. Readings are accepted meanwhile, except those after that
        end, which wait."""
        store = self._store
        self._look()
        if not self._partitioned:
            if store.fetch(distribution_sql.extension()) and store.fetch(distribution_sql.spread()):
                raise UserError("the store is already distributed: partition before distributing")
            last_hour = store.fetch(sql.last_hour())[0][0] or 0
            until = following(month_of(max(last_hour, now_ms() + DAY_MS)))
            self._run(*sql.bound(start_ms(until)))
            self._run(sql.validate_bound())
            self._switch(until)
            self._look()
        return sorted(self._names)

    def look_again(self) -> None:
        """Reads the partitions again after rows were refused: the table was partitioned a moment
        ago, or a switch was interrupted and left its constraint."""
        self._look()
        if not self._partitioned:
            self._run(*sql.unbound())

    def _switch(self, until: str) -> None:
        """Swaps the tables in one short transaction: the existing rows were validated before."""
        with self._store.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(Query(sql.lock()))
            has_rows = transaction.fetch(sql.has_rows())
            old = sql.attach_old(until, start_ms(until)) if has_rows else sql.drop_empty()
            for statement in (*sql.set_aside(), sql.create(self._store.dialect), *old):
                transaction.run(Query(statement))

    def _run(self, *statements: str) -> None:
        with self._store.transaction() as transaction:
            for statement in statements:
                transaction.run(Query(statement))

    def drop_before(self, before_ms: int, *, pretend: bool) -> tuple[int, int]:
        """Drops the partitions that end before the instant. Returns (rows dropped, end of the last
        dropped partition or 0). ``pretend`` only counts."""
        self._look()
        ended = {part: end_ms(part) for part in self._names if end_ms(part) <= before_ms}
        gone = 0
        for part in ended:
            gone += int(self._store.fetch(sql.count(_low_ms(part), ended[part]))[0][0])
            if not pretend:
                with self._store.transaction() as transaction:
                    transaction.run(sql.drop(part))
        self._look()
        return gone, max(ended.values(), default=0)

    def _look(self) -> None:
        self._look_again_s = monotonic() + LOOK_AGAIN_S
        self._partitioned = bool(self._store.fetch(sql.is_partitioned()))
        self._names = frozenset(str(name) for (name,) in self._store.fetch(sql.parts()))

    def _add(self, month: str) -> None:
        name = sql.MONTH + month
        with self._store.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.add_month(name, start_ms(month), start_ms(following(month))))
        self._names |= {name}


def months_without(parts: Iterable[str], instants: Iterable[int]) -> list[str]:
    """Returns the months of the instants that have no partition, ascending."""
    there = set(parts)
    before_ms = max((end_ms(part) for part in there if part.startswith(sql.BEFORE)), default=0)
    days = {instant // DAY_MS for instant in instants}  # fewer months than instants
    months = sorted({month_of(day * DAY_MS) for day in days})
    return [m for m in months if sql.MONTH + m not in there and start_ms(m) >= before_ms]


# --- Months as names: 2026_11 --------------------------------------------------------------------


def month_of(instant_ms: int) -> str:
    return f"{datetime.fromtimestamp(instant_ms / 1000, UTC):%Y_%m}"


def following(month: str) -> str:
    year, number = divmod(int(month[:4]) * 12 + int(month[5:]), 12)
    return f"{year:04}_{number + 1:02}"


def start_ms(month: str) -> int:
    return int(datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC).timestamp()) * 1000


def end_ms(part: str) -> int:
    """Returns the end of a partition, from its name."""
    if part.startswith(sql.BEFORE):
        return start_ms(part.removeprefix(sql.BEFORE))
    return start_ms(following(part.removeprefix(sql.MONTH)))


def _low_ms(part: str) -> int:
    return 0 if part.startswith(sql.BEFORE) else start_ms(part.removeprefix(sql.MONTH))
