"""The rows of a foreign file as texts, in constant memory: CSV, NDJSON (both also .gz) or XLSX."""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, cast

import orjson
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from api.errors import UserError
from api.ingest.csv_records import Record, Unreadable, records
from api.ingest.foreign.mapping import Form, Mapping
from api.ingest.json_lines import parse_payload
from api.ingest.source import Lines, SourceFile, unpacked

SAMPLE_BYTES: Final = 1 << 19
LARGEST_WORKBOOK: Final = 1 << 30  # bytes unpacked: its texts are kept in memory
_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"
_DEEPEST: Final = 4


def opened(path: Path, form: Form, encoding: str) -> SourceFile:
    """The file as `Lines` reads it. UserError if it can't be opened."""
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == _GZIP
        return SourceFile(
            path, "ndjson" if form == "ndjson" else "csv", zipped, path.stat().st_size, encoding
        )
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def sample(path: Path) -> bytes:
    """The file's first bytes, unpacked. UserError if it can't be read or is empty."""
    source = opened(path, "csv", "utf-8")
    try:
        with unpacked(path, source.zipped) as stream:
            parts: list[bytes] = []
            while sum(map(len, parts)) < SAMPLE_BYTES and (part := stream.read1(SAMPLE_BYTES)):
                parts.append(part)
    except (OSError, EOFError) as error:
        raise UserError(f"{path} can't be read: {error}") from None
    head = b"".join(parts)
    if not head.strip():
        raise UserError(f"{path} is empty")
    return head


def form_of(head: bytes) -> Form:
    if head.startswith(_ZIP):
        return "xlsx"
    return "ndjson" if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else "csv"


def sample_rows(path: Path, form: Form, text: str, delimiter: str, most: int) -> list[Record]:
    """The first rows of a file, without its cut last line."""
    if form == "xlsx":
        with closing(_sheet(path)) as rows:
            return list(islice(rows, most))
    lines = text if len(text) < SAMPLE_BYTES // 4 else text[: text.rfind("\n") + 1]
    if form == "ndjson":
        return [*islice(_objects(lines.splitlines(), None), most)]
    return list(islice(records([lines], delimiter), most))


def without_comments(rows: Iterator[Record], comment: str) -> Iterator[Record]:
    """The rows that don't begin with that sign."""
    return (row for row in rows if not (row and row[0].startswith(comment))) if comment else rows


def rows_of(mapping: Mapping, lines: Lines) -> Iterator[Record]:
    """Every row below the header, the texts in the order of the mapping's columns. A row of another
    form is an Unreadable. UserError if the header isn't the mapping's."""
    names = [column.name for column in mapping.columns]
    if mapping.form == "ndjson":
        objects = _objects((line for line in lines if not line.isspace()), names)
        yield from _chosen(objects, mapping)
        return
    rows = (
        _sheet(lines.file.path)
        if mapping.form == "xlsx"
        else records(lines.pieces(), mapping.delimiter)
    )
    rows = without_comments(rows, mapping.comment)
    if mapping.header_row:
        header = next(islice(rows, mapping.header_row - 1, None), ())
        header_names = column_names(header)
        if header_names != names:
            missing = [name for name in names if name not in header_names]
            problem = (
                f"lacks {', '.join(missing[:5])}"
                if missing
                else "has other columns or another order"
            )
            raise UserError(f"{lines.file.path}: its header {problem}: another mapping is needed")
    yield from _chosen(islice(rows, mapping.units_rows, None), mapping)


def _chosen(rows: Iterator[Record], mapping: Mapping) -> Iterator[Record]:
    """Those that ``only`` names."""
    if not mapping.only:
        return rows
    name, _, text = mapping.only.partition("=")
    place = [column.name for column in mapping.columns].index(name)
    return (
        row
        for row in rows
        if isinstance(row, Unreadable) or (len(row) > place and row[place].strip() == text)
    )


def column_names(header: Sequence[str]) -> list[str]:
    """A header's names, trimmed; one that is missing or there twice gets its column's number."""
    names: list[str] = []
    for number, text in enumerate(header, 1):
        name = " ".join(text.split())
        names.append(name if name and name not in names else f"{name} {number}".strip())
    return names


def _sheet(path: Path) -> Generator[Record]:
    """The rows of a workbook's first sheet that has any; blank ones left out."""
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > LARGEST_WORKBOOK:
            raise UserError(f"{path} is a workbook of {size >> 20:,} MiB: save it as CSV")
        book = load_workbook(path, read_only=True, data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, InvalidFileException) as error:
        raise UserError(f"{path} can't be read as a workbook: {error}") from None
    with closing(book):
        for sheet in book.worksheets:
            some = False
            for row in sheet.iter_rows(values_only=True):
                texts = [_text(value) for value in row]
                if any(texts):
                    some = True
                    yield texts
            if some:
                return


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _objects(lines: Iterator[str] | list[str], names: list[str] | None) -> Iterator[Record]:
    """JSON objects as rows. Without names the first row is the names of the first 100 objects."""
    rows = iter(lines)
    if names is None:
        first = [(line, _flat(parse_payload(line))) for line in islice(rows, 100)]
        names = list(dict.fromkeys(name for _, fields in first for name in fields))
        yield names
        rows = chain((line for line, _ in first), rows)
    for line in rows:
        fields = _flat(parse_payload(line))
        yield (
            [fields.get(name, "") for name in names] if fields else Unreadable((line.rstrip("\n"),))
        )


def _flat(value: object, prefix: str = "", depth: int = 0) -> dict[str, str]:
    """The object's values as texts by their paths (``payload.volume``)."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return {}
    fields: dict[str, str] = {}
    for name, entry in cast("dict[str, object]", value).items():
        path = f"{prefix}{name}"
        if isinstance(entry, dict):
            fields |= _flat(cast("object", entry), f"{path}.", depth + 1)
        elif entry is not None:
            fields[path] = entry if isinstance(entry, str) else orjson.dumps(entry).decode()
    return fields


def decoded(head: bytes, encoding: str) -> str:
    """The sample as text, with LF for every line end."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
