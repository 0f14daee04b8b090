"""Writes a table as an Excel workbook, compressed while its rows arrive.

xlsxwriter makes an empty workbook (styles, headers, list of sheets). The rows are written into its
sheets as they arrive, and the archive's bytes are yielded at once: the first bytes leave with the
first rows, memory doesn't grow, and the work ends when the reader leaves. A table longer than a
sheet continues in the next one. An interrupted archive has no directory, so that no program takes
it for a complete workbook.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from xlsxwriter import Workbook

from api.timez import MINUTE_MS, stamps
from web.downloads import table as downloads_table
from web.downloads.table import Column, Kind, Part, Table

MOST_ROWS: Final = 1_048_575  # of a sheet, below its header
LEVEL: Final = 1  # six times as fast as 6, a third larger
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_EMPTY: Final = "<c/>"
_QUARTER_MS: Final = 15 * MINUTE_MS


class _Outgoing:
    """The archive's output: a buffer that is emptied again and again."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing to flush."""

    def taken(self) -> bytes:
        taken = b"".join(self._waiting)
        self._waiting.clear()
        return taken


def chunks(table: Table, most_rows: int = MOST_ROWS) -> Generator[bytes]:
    """The file's bytes. Reads the first part of the table before yielding."""
    out = _Outgoing()
    archive = ZipFile(out, "w", ZIP_DEFLATED, compresslevel=LEVEL)  # pyright: ignore[reportCallIssue, reportArgumentType]
    shapes = [cut(empty_workbook(table, 2)[f"{SHEETS}sheet{n}.xml"]) for n in (1, 2)]
    columns, rows, count = fields(table.columns), _SheetRows(table.parts), 0
    while count == 0 or rows.more:
        shape = shapes[min(count, 1)]
        count += 1
        with archive.open(_entry(f"{SHEETS}sheet{count}.xml"), "w") as sheet:
            sheet.write(shape.head)
            for part in rows.upto(most_rows):
                sheet.write(_xml(columns, shape, part).encode())
                yield out.taken()
            sheet.write(shape.tail)
    for name, content in empty_workbook(table, count).items():
        if not re.fullmatch(rf"{SHEETS}sheet\d+\.xml", name):
            archive.writestr(_entry(name), content, compresslevel=LEVEL)
    archive.close()
    yield out.taken()


def _entry(name: str) -> ZipInfo:
    """An entry with a fixed time, so that the same rows give the same file."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    return entry


class _SheetRows:
    """The parts of a table, split where a sheet is full."""

    def __init__(self, parts: Iterator[Part]) -> None:
        self._parts = parts
        self._next = next(parts, None)

    @property
    def more(self) -> bool:
        return self._next is not None

    def upto(self, rows: int) -> Iterator[Part]:
        while rows and self._next is not None:
            part, length = self._next, len(self._next[0])
            if length > rows:
                self._next = [values[rows:] for values in part]
                yield [values[:rows] for values in part]
                return
            yield part
            rows -= length
            self._next = next(self._parts, None)


# --- Rows as XML ---------------------------------------------------------------------------------


def _xml(columns: Sequence[Field], shape: Sheet, part: Part) -> str:
    made = [
        _cells(field, style, part[field.source])
        for field, style in zip(columns, shape.styles, strict=True)
    ]
    return "".join(f"<row>{row}</row>" for row in map("".join, zip(*made, strict=True)))


def _cells(field: Field, style: str, values: Sequence[Any]) -> list[str]:
    kind = field.column.kind
    if field.offset:
        return _offsets(field, values)
    if kind is Kind.TEXT:
        return _texts(values)
    start = f'<c s="{style}"><v>' if style else "<c><v>"
    return [f"{start}{text}</v></c>" if text else _EMPTY for text in _numbers(field, values)]


def _numbers(field: Field, values: Sequence[Any]) -> list[str]:
    if field.column.kind is Kind.INSTANT:
        return downloads_table.wall_numbers(field.column, values)
    if field.column.kind is Kind.DAY:
        return downloads_table.day_numbers(values)
    return downloads_table.numbers(field.column, values)


def _offsets(field: Field, instants: Sequence[int | None]) -> list[str]:
    """``+05:30``, computed once per quarter hour, since zones change at no other time."""
    quarters = [None if at is None else at // _QUARTER_MS for at in instants]
    tz = field.column.tz
    offsets: dict[int | None, str | None] = {None: None}
    for quarter in {quarter for quarter in quarters if quarter is not None}:
        stamp = stamps([quarter * _QUARTER_MS], tz)[0]
        offsets[quarter] = stamp[19:].replace("Z", "+00:00")
    return _texts([offsets[quarter] for quarter in quarters])


def _texts(values: Sequence[str | None]) -> list[str]:
    cells = {value: _EMPTY if value is None else _text(value) for value in set(values)}
    return [cells[value] for value in values]


def _text(value: str) -> str:
    """A cell with a text type, so that no program takes it for a formula."""
    safe = escape(_NOT_XML.sub("�", value))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{safe}</t></is></c>'


# --- The workbook without its rows ---------------------------------------------------------------

SHEETS: Final = "xl/worksheets/"
LONGEST_TITLE: Final = 31
_MADE: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - the same rows are the same file
_ROWS: Final = re.compile(rb'<row r="2".*?</row>', re.DOTALL)
# The range of used cells is unknown before the rows are; programs compute it themselves.
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
    """A column of the sheet. ``offset``: it has the UTC offsets of its ``column``, whose cells are
    local times."""

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


def empty_workbook(table: Table, sheets: int) -> dict[str, bytes]:
    """The files of a workbook, by name, with one row in each sheet for its styles."""
    out = io.BytesIO()
    workbook = Workbook(out, {"in_memory": True})
    workbook.set_properties({"title": table.name, "created": _MADE})
    bold = workbook.add_format({"bold": True})
    formats = {kind: workbook.add_format({"num_format": text}) for kind, text in _FORMATS.items()}
    for number in range(sheets):
        sheet = workbook.add_worksheet(title_of(table.title, number))
        sheet.freeze_panes(1, 0)
        for index, field in enumerate(fields(table.columns)):
            style = None if field.offset else formats.get((field.column.kind, _fine(field.column)))
            sheet.set_column(index, index, max(field.column.width, len(field.header) + 2))
            sheet.write_string(0, index, field.header, bold)
            sheet.write_number(1, index, 0, style)
    workbook.close()
    with ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _fine(column: Column) -> bool:
    return column.kind is Kind.INSTANT and column.fraction


def title_of(title: str, number: int) -> str:
    """``Rows``, ``Rows 2``."""
    suffix = f" {number + 1}" if number else ""
    return re.sub(r"[\[\]:*?/\\']", " ", title)[: LONGEST_TITLE - len(suffix)] + suffix


def cut(sheet: bytes) -> Sheet:
    """Split a sheet at its only row."""
    row = _ROWS.search(sheet)
    if row is None:
        raise ValueError("the frame has no row to cut at")
    styles = tuple(style.decode() for style in _STYLE.findall(row.group()))
    head = _EXTENT.sub(b"", sheet[: row.start()])
    return Sheet(head, sheet[row.end() :], styles)
