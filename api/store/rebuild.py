"""Recomputes everything derived from raw readings, in a range of whole hours."""

from __future__ import annotations

from api.catalog import STORED
from api.store.dialect_interface import Transaction
from api.store.query import Dialect
from api.store.sql import rollups
from api.store.sql import verify as sql
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.rollups import Range


def rebuild(
    transaction: Transaction, dialect: Dialect, window: Range, arithmetic: Arithmetic
) -> None:
    """Recomputes the window. The caller has locked the device."""
    for table, _ in sql.DERIVED:
        transaction.run(sql.forget(table, window))
    for resolution in STORED:
        transaction.run(rollups.recompute(dialect, resolution, [window], arithmetic))
    transaction.run(rollups.recount(dialect, [window]))
