"""A table as CSV (RFC 4180, UTF-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from web.downloads import table as downloads_table
from web.downloads.table import Column, Kind, Part, Table

INCOMPLETE: Final = "# INCOMPLETE: "  # the start of the last line of an interrupted file
_END: Final = "\r\n"
# What some spreadsheet takes for a formula, including full-width signs and leading space, and what
# would end a cell.
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_QUOTED: Final = re.compile('[",\r\n]')


def lines(table: Table) -> Iterator[str]:
    """The header with the first rows, then the other parts. Reads the first part before yielding,
    so that a refused reader gets nothing."""
    head = ",".join(cell(column.header) for column in table.columns) + _END
    for part in table.parts:
        yield head + text(table.columns, part)
        head = ""
    if head:
        yield head


def broken_off(reason: str) -> str:
    return f"{INCOMPLETE}{reason}{_END}"


def text(columns: Sequence[Column], part: Part) -> str:
    cells = [_texts(column, values) for column, values in zip(columns, part, strict=True)]
    return "".join(f"{row}{_END}" for row in map(",".join, zip(*cells, strict=True)))


def _texts(column: Column, values: Sequence[Any]) -> Sequence[str]:
    if column.kind is Kind.NUMBER:
        return downloads_table.numbers(column, values)
    if column.kind is Kind.INSTANT:
        return downloads_table.instants(column, values)
    if column.kind is Kind.DAY:
        return downloads_table.days(values)
    cells = {value: "" if value is None else cell(value) for value in set(values)}
    return [cells[value] for value in values]


def cell(value: str) -> str:
    """A text cell; one that starts like a formula gets an apostrophe. Not for numbers."""
    safe = f"'{value}" if _FORMULA.match(value) else value
    return '"' + safe.replace('"', '""') + '"' if _QUOTED.search(safe) else safe
