"""A table as CSV (RFC 4180, UTF-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from web.downloads import table as downloads_table
from web.downloads.table import Column, Kind, Part, Table

INCOMPLETE: Final = "# INCOMPLETE: "  # how the last line of a file begins that broke off
_END: Final = "\r\n"
# What one spreadsheet or another takes for a formula, wide signs and space before them as well, and
# what would end a cell.
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_QUOTED: Final = re.compile('[",\r\n]')


def lines(table: Table) -> Iterator[str]:
    """The header with the first rows, then part by part. Asks for the first part before it gives
    anything, so that whoever may not have the rows gets none of the file."""
    head = ",".join(cell(column.header) for column in table.columns) + _END
    for part in table.parts:
        yield head + text(table.columns, part)
        head = ""
    if head:
        yield head


def broken_off(reason: str) -> str:
    return f"{INCOMPLETE}{reason}{_END}"


def text(columns: Sequence[Column], part: Part) -> str:
    told = [_texts(column, values) for column, values in zip(columns, part, strict=True)]
    return "".join(f"{row}{_END}" for row in map(",".join, zip(*told, strict=True)))


def _texts(column: Column, values: Sequence[Any]) -> Sequence[str]:
    if column.kind is Kind.NUMBER:
        return downloads_table.numbers(column, values)
    if column.kind is Kind.INSTANT:
        return downloads_table.instants(column, values)
    if column.kind is Kind.DAY:
        return downloads_table.days(values)
    known = {value: "" if value is None else cell(value) for value in set(values)}
    return [known[value] for value in values]


def cell(value: str) -> str:
    """A text that starts like a formula is told to be a text; numbers never come here."""
    safe = f"'{value}" if _FORMULA.match(value) else value
    return '"' + safe.replace('"', '""') + '"' if _QUOTED.search(safe) else safe
