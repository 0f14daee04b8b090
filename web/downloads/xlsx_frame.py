"""A workbook without its rows: what xlsxwriter makes of a table's columns, cut where rows go."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zipfile import ZipFile

from xlsxwriter import Workbook

from web.downloads.table import Column, Kind, Table

SHEETS: Final = "xl/worksheets/"
LONGEST_TITLE: Final = 31
_MADE: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - the same rows are the same file
_ROWS: Final = re.compile(rb'<row r="2".*?</row>', re.DOTALL)
# The range of cells in use isn't known before the rows are; readers find it out themselves.
_EXTENT: Final = re.compile(rb"<dimension [^>]*/>")
_STYLE: Final = re.compile(rb'<c r="[A-Z]+2"(?: s="(\d+)")?')
_FORMATS: Final = {
    (Kind.INSTANT, True): "yyyy-mm-dd hh:mm:ss.000",
    (Kind.INSTANT, False): "yyyy-mm-dd hh:mm:ss",
    (Kind.DAY, False): "yyyy-mm-dd",
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet's XML before and after its rows, and each column's style."""

    head: bytes
    tail: bytes
    styles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the sheet. ``offset``: it tells the offset of the instants of its ``column``,
    whose cells are wall clocks and say none."""

    column: Column
    source: int
    offset: bool = False

    @property
    def header(self) -> str:
        return f"utc_offset of {self.column.header}" if self.offset else self.column.header


def fields(columns: Any) -> list[Field]:
    """The table's columns; after each local time its offset."""
    made: list[Field] = []
    for source, column in enumerate(columns):
        made.append(Field(column, source))
        if column.kind is Kind.INSTANT and column.tz is not None:
            made.append(Field(column, source, offset=True))
    return made


def framed(table: Table, sheets: int) -> dict[str, bytes]:
    """The files of a workbook of so many sheets, by name, with one row in each for its styles."""
    out = io.BytesIO()
    book = Workbook(out, {"in_memory": True})
    book.set_properties({"title": table.name, "created": _MADE})
    bold = book.add_format({"bold": True})
    formats = {kind: book.add_format({"num_format": text}) for kind, text in _FORMATS.items()}
    for number in range(sheets):
        sheet = book.add_worksheet(title_of(table.title, number))
        sheet.freeze_panes(1, 0)
        for index, field in enumerate(fields(table.columns)):
            style = None if field.offset else formats.get((field.column.kind, _fine(field.column)))
            sheet.set_column(index, index, max(field.column.width, len(field.header) + 2))
            sheet.write_string(0, index, field.header, bold)
            sheet.write_number(1, index, 0, style)
    book.close()
    with ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _fine(column: Column) -> bool:
    return column.kind is Kind.INSTANT and column.fraction


def title_of(title: str, number: int) -> str:
    """``Rows``, ``Rows 2``."""
    suffix = f" {number + 1}" if number else ""
    return re.sub(r"[\[\]:*?/\\']", " ", title)[: LONGEST_TITLE - len(suffix)] + suffix


def cut(sheet: bytes) -> Sheet:
    """At the row that stands for all rows."""
    found = _ROWS.search(sheet)
    if found is None:
        raise ValueError("the frame has no row to cut at")
    styles = tuple(style.decode() for style in _STYLE.findall(found.group()))
    head = _EXTENT.sub(b"", sheet[: found.start()])
    return Sheet(head, sheet[found.end() :], styles)
