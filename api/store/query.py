"""A statement with its parameters, and the differences between the two dialects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal["int", "small", "real", "text", "blob"]
Params = tuple[Any, ...]


class Query(NamedTuple):
    """``sql`` holds a ``?`` for each of ``params``, in order; no other ``?`` and no ``%``."""

    sql: str
    params: Params = ()


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """What differs in the text of a statement.

    ``relation`` turns one parameter, or one for each name, into rows of whole numbers; ``bind``
    makes the parameters from those rows. ``texts`` and ``bind_texts`` do the same for ``IN`` over a
    list of any length. ``columns`` is the query for the names of a table's columns.
    ``like``: LIKE of small and capital letters alike (in SQLite, those of ASCII).
    """

    name: str
    types: Mapping[Kind, str]
    table_suffix: str
    covering_keys: bool
    relation: Callable[[tuple[str, ...]], str]
    bind: Callable[[Sequence[tuple[int, ...]]], Params]
    texts: str
    bind_texts: Callable[[Sequence[str]], Params]
    columns: Callable[[str], Query]
    like: str


def marks(count: int) -> str:
    """Returns ``?, ?, ?``."""
    return ", ".join(["?"] * count)


def both(*parts: Query, between: str = " AND ") -> Query:
    """Joins several parts into one query, with their parameters in order."""
    sql = between.join(part.sql for part in parts)
    return Query(sql, tuple(value for part in parts for value in part.params))


def of_one_device(rows: Sequence[tuple[int, ...]]) -> Query:
    """Returns a condition on ``s``, for rows sorted by device: their one device, if there is only
    one. A distributed store then queries only that device's shard."""
    if rows[0][0] != rows[-1][0]:
        return Query("")
    return Query(" AND s.device_id = ?", (rows[0][0],))


def insert(table: str, columns: Sequence[str], rows: int = 1) -> str:
    """Returns the statement that inserts that many rows."""
    values = ", ".join([f"({marks(len(columns))})"] * rows)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values}"
