"""Reads the rows of an XLSX workbook as texts: of one sheet, or of all with the same header."""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from api.errors import UserError
from api.ingest.csv_records import Record
from api.ingest.foreign.mapping import SHEET
from api.ingest.foreign.table_layout import header_row, is_value

LARGEST_WORKBOOK: Final = 1 << 30  # bytes unpacked: its texts are kept in memory
ALL_SHEETS: Final = "*"
_LOOKED_AT: Final = 60  # rows of each sheet
_MOST_SHEETS: Final = 500


class Chosen(NamedTuple):
    """``sheet``: a name, or ALL_SHEETS. ``rows``: its first ones, as `sheet_rows` has them."""

    sheet: str
    rows: list[Record]


def choose(path: Path, most: int, given: str = "") -> Chosen:
    """Chooses the sheet with the most values; all sheets if others have the same header. ``given``:
    the one that a reader has chosen. Raises UserError where the workbook has no such sheet."""
    if given not in ("", ALL_SHEETS):
        return Chosen(given, list(islice(sheet_rows(path, given), most)))
    heads = {
        name: list(islice(rows, _LOOKED_AT)) for name, rows in islice(_sheets(path), _MOST_SHEETS)
    }
    if not heads:
        raise UserError(f"{path} has no rows")
    values = {name: sum(map(_values, rows)) for name, rows in heads.items()}
    best = max(values, key=lambda name: values[name])
    if given:  # the heading that most sheets have
        best = max(values, key=lambda name: (len(_alike(heads, name)), values[name]))
    alike, header = _alike(heads, best), header_row(heads[best])
    sheet = ALL_SHEETS if len(alike) > 1 or given else best
    each = max(_LOOKED_AT, most // len(alike)) if len(alike) > 1 else most
    first = [] if sheet != ALL_SHEETS else [SHEET, *heads[best][header - 1]]
    return Chosen(sheet, list(islice(sheet_rows(path, sheet, header, first, each), most)))


def _alike(heads: Mapping[str, list[Record]], name: str) -> list[str]:
    """The sheets with the heading of this one, in the same row, and rows below it."""
    header = header_row(heads[name])
    heading = heads[name][header - 1 : header]
    return [
        other
        for other, rows in heads.items()
        if header and len(rows) > header and rows[header - 1 : header] == heading
    ]


def sheet_names(path: Path) -> list[str]:
    """Returns the names of the sheets that have rows, in the workbook's order."""
    return [name for name, _ in islice(_sheets(path), _MOST_SHEETS)]


def _values(row: Record) -> int:
    filled = [text for text in row if text]
    return len(filled) if len(filled) > 1 and any(map(is_value, filled)) else 0


def sheet_rows(
    path: Path, sheet: str, header: int = 0, names: Record = (), most: int | None = None
) -> Generator[Record]:
    """Yields the rows of a sheet ("" is the first that has any). For ALL_SHEETS yields those of
    every sheet with these names, after "sheet", in row ``header``; the rows up to there once.
    ``most``: rows per sheet."""
    begun = False
    for name, every in _sheets(path):
        rows = islice(every, most)
        if sheet != ALL_SHEETS:
            if sheet in ("", name):
                yield from rows
                return
            continue
        head = list(islice(rows, header))
        if len(head) < header or [" ".join(t.split()) for t in head[-1]] != list(names[1:]):
            continue
        if not begun:
            yield from ([SHEET, *row] for row in head)
            begun = True
        yield from ([name, *row] for row in rows)
    if sheet not in ("", ALL_SHEETS):
        raise UserError(f"{path} has no sheet {sheet}")


def _sheets(path: Path) -> Generator[tuple[str, Iterator[Record]]]:
    """Yields (name, rows that aren't blank) of each sheet. Read the rows before the next sheet."""
    from openpyxl import load_workbook  # a large package, which few processes need
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > LARGEST_WORKBOOK:
            raise UserError(f"{path} is a workbook of {size >> 20:,} MiB: save it as CSV")
        with path.open("rb") as file:
            book = load_workbook(file, read_only=True, data_only=True)
            with closing(book):
                for sheet in book.worksheets:
                    rows = _rows(sheet)
                    first = next(rows, None)
                    if first is not None:
                        yield sheet.title, _with(first, rows)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, InvalidFileException) as error:
        raise UserError(f"{path} can't be read as a workbook: {error}") from None


def _rows(sheet: Any) -> Iterator[Record]:
    for row in sheet.iter_rows(values_only=True):
        texts = [_text(value) for value in row]
        if any(texts):
            yield texts


def _with(first: Record, rows: Iterator[Record]) -> Iterator[Record]:
    yield first
    yield from rows


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):  # also of a date alone
        return str(value.date() if value.time() == time() else value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):  # a clock of 24:00
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
