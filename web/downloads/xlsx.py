"""A table as an Excel workbook, zipped while its rows come.

The frame (styles, headers, the list of sheets) is xlsxwriter's; the rows are put into its sheets as
they are asked for, and what the archive has of them is given away at once. So the first bytes are
out with the first rows, memory doesn't grow with them, and a reader who turns away ends the work.
A table longer than a sheet goes on in the next one. An archive that breaks off has no directory:
no program takes it for a whole workbook.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from api.timez import MINUTE_MS, stamps
from web.downloads import cells
from web.downloads.table import Kind, Part, Table
from web.downloads.xlsx_frame import SHEETS, Field, Sheet, cut, fields, framed

MOST_ROWS: Final = 1_048_575  # of a sheet, below its header
LEVEL: Final = 1  # six times as fast as 6, a third larger
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_EMPTY: Final = "<c/>"
_QUARTER_MS: Final = 15 * MINUTE_MS


class _Outgoing:
    """What the archive writes to: no more than a list that is emptied again and again."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """There is nothing behind it to push."""

    def taken(self) -> bytes:
        taken = b"".join(self._waiting)
        self._waiting.clear()
        return taken


def chunks(table: Table, most_rows: int = MOST_ROWS) -> Generator[bytes]:
    """The file's bytes. Asks for the first part of the table before it gives anything."""
    out = _Outgoing()
    archive = ZipFile(out, "w", ZIP_DEFLATED, compresslevel=LEVEL)  # pyright: ignore[reportCallIssue, reportArgumentType]
    shapes = [cut(framed(table, 2)[f"{SHEETS}sheet{n}.xml"]) for n in (1, 2)]
    columns, rows, count = fields(table.columns), _Cut(table.parts), 0
    while count == 0 or rows.more:
        shape = shapes[min(count, 1)]
        count += 1
        with archive.open(_entry(f"{SHEETS}sheet{count}.xml"), "w") as sheet:
            sheet.write(shape.head)
            for part in rows.upto(most_rows):
                sheet.write(_xml(columns, shape, part).encode())
                yield out.taken()
            sheet.write(shape.tail)
    for name, content in framed(table, count).items():
        if not re.fullmatch(rf"{SHEETS}sheet\d+\.xml", name):
            archive.writestr(_entry(name), content, compresslevel=LEVEL)
    archive.close()
    yield out.taken()


def _entry(name: str) -> ZipInfo:
    """Of no particular time: the same rows are the same file."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    return entry


class _Cut:
    """Parts, cut where a sheet is full."""

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
        return cells.wall_numbers(field.column, values)
    if field.column.kind is Kind.DAY:
        return cells.day_numbers(values)
    return cells.numbers(field.column, values)


def _offsets(field: Field, instants: Sequence[int | None]) -> list[str]:
    """``+05:30``; no zone changes it but at a quarter of an hour."""
    quarters = [None if at is None else at // _QUARTER_MS for at in instants]
    tz = field.column.tz
    known = {q: None if q is None else stamps([q * _QUARTER_MS], tz)[0][19:].replace("Z", "+00:00")
             for q in set(quarters)}  # fmt: skip
    return _texts([known[quarter] for quarter in quarters])


def _texts(values: Sequence[str | None]) -> list[str]:
    known = {value: _EMPTY if value is None else _text(value) for value in set(values)}
    return [known[value] for value in values]


def _text(value: str) -> str:
    """A text is typed as one: no program takes it for a formula."""
    safe = escape(_NOT_XML.sub("�", value))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{safe}</t></is></c>'
