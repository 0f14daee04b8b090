"""A file's first rows as a table: its form, its headings, and the rows below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from api.errors import UserError
from api.ingest.csv_records import Record, Unreadable
from api.ingest.foreign.encoding import guess_encoding
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.rows import (
    column_names,
    decoded,
    form_of,
    is_workbook,
    require_text,
    sample,
    sample_rows,
    without_comments,
)
from api.ingest.foreign.table_layout import (
    Title,
    comment_sign,
    guess_delimiter,
    header_row,
    texts_above,
    title_above,
    units_rows,
)
from api.ingest.foreign.workbooks import choose

SAMPLE_ROWS: Final = 2_000
OBJECTS: Final = ("ndjson", "json")  # forms that name each value


class Given(NamedTuple):
    """What a reader has corrected of how the file becomes a table; empty where it is guessed."""

    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""
    header_row: int | None = None


class Headings(NamedTuple):
    """``names`` of the columns. ``below``: the texts between each name and its values. ``above``:
    those over the names. ``title``: what is named above the header."""

    names: Sequence[str]
    below: Sequence[str]
    above: Sequence[str]
    title: Title


class FirstRows(NamedTuple):
    """``mapping``: the form of the file; its columns aren't known yet. ``rows`` below the header,
    unchanged; ``even`` ones have a cell for each heading."""

    mapping: Mapping
    headings: Headings
    rows: list[Record]
    even: Sequence[Record]


def first_rows(path: Path, given: Given) -> FirstRows:
    """Raises UserError if the file can't be read or has no table."""
    mapping, rows = _sample(path, given)
    comment = comment_sign(rows) if mapping.form == "csv" else ""
    comments = [row for row in rows if comment and row[0].startswith(comment)]
    rows = list(without_comments(iter(rows), comment))
    objects = mapping.form in OBJECTS
    header = header_row(rows) if given.header_row is None else given.header_row
    header = 1 if objects else header
    units = units_rows(rows[header:]) if header and not objects else 0
    body = rows[header + units :]
    if not body:
        raise UserError(f"{path} has no rows below its header")
    width = len(rows[header - 1]) if header else max(map(len, body))
    between = _padded(rows[header : header + units], width)
    headings = Headings(
        column_names(rows[header - 1]) if header else [f"column {n + 1}" for n in range(width)],
        [" ".join(texts) for texts in zip(*between, strict=True)],
        texts_above(rows[header - 2], width) if header > 1 and not objects else [""] * width,
        title_above([*comments, *rows[: max(0, header - 1)]]),
    )
    row = 0 if objects else header
    mapping = replace(mapping, comment=comment, header_row=row, units_rows=units)
    even = [tuple(row) for row in body if len(row) == width] or _padded(body, width)
    return FirstRows(mapping, headings, body, even)


def _sample(path: Path, given: Given) -> tuple[Mapping, list[Record]]:
    if is_workbook(path):
        sheet, rows = choose(path, SAMPLE_ROWS, given.sheet)
        mapping = Mapping("xlsx", "utf-8", ",", sheet=sheet)
    else:
        head = sample(path)
        form, encoding = form_of(head), given.encoding or guess_encoding(head)
        text = decoded(head, encoding)
        require_text(path, text)
        delimiter = (given.delimiter or guess_delimiter(text)) if form == "csv" else ","
        rows = sample_rows(path, form, text, delimiter, SAMPLE_ROWS)
        mapping = Mapping(form, encoding, delimiter)
    readable = [row for row in rows if not isinstance(row, Unreadable)]
    if not readable:
        raise UserError(f"{path} has no rows")
    return mapping, readable


def _padded(rows: Sequence[Record], width: int) -> list[Record]:
    return [tuple([*row, *("",) * width][:width]) for row in rows]
