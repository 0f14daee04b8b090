"""The rows of a foreign file as texts: CSV or NDJSON in constant memory (also .gz or .zip), JSON,
or XLSX."""

from __future__ import annotations

import codecs
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from api.errors import UserError
from api.ingest.csv_records import Record, Unreadable, records
from api.ingest.foreign.json_tables import document_rows, flat, is_document, line_rows
from api.ingest.foreign.mapping import Form, Mapping
from api.ingest.foreign.workbooks import sheet_rows
from api.ingest.json_lines import parse_payload
from api.ingest.source import Lines, SourceFile, is_packed, unpacked

SAMPLE_BYTES: Final = 1 << 19


_NO_TABLES: Final = (
    (b"%PDF", "is a PDF: export the table as CSV or XLSX"),
    (b"\xd0\xcf\x11\xe0", "is a workbook of an old form: save it as XLSX or CSV"),
    (b"\x89PNG", "is a picture"),
    (b"\xff\xd8\xff", "is a picture"),
    (b"GIF8", "is a picture"),
    (b"SQLite format 3", "is a database"),
    (b"PAR1", "is a Parquet file: save it as CSV"),
    (b"<", "is XML or HTML: save it as CSV or XLSX"),
    (b"{\\rtf", "is a text document: save the table as CSV"),
)
_HEADING: Final = re.compile(rb"<[^<>\n]*> ?[;,|\t]")  # such as <time>, rather than XML
_TEXT_SIGNS: Final = frozenset(b"\t\n\r\x0c\x1a")


def opened(path: Path, form: Form, encoding: str) -> SourceFile:
    """Opens the file for `Lines`. Raises UserError if it can't be opened."""
    try:
        zipped = form != "xlsx" and is_packed(path)
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    return SourceFile(path, "ndjson" if form == "ndjson" else "csv", zipped, size, encoding)


def is_workbook(path: Path) -> bool:
    """Raises UserError for a zip file without readings, such as a document."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    if "mimetype" in names:
        raise UserError(f"{path} is an OpenDocument file: save it as XLSX or CSV")
    return "[Content_Types].xml" in names


def sample(path: Path) -> bytes:
    """The file's first bytes, unpacked. UserError if it can't be read, is empty or has no text."""
    source = opened(path, "csv", "utf-8")
    try:
        with unpacked(path, source.zipped) as stream:
            parts: list[bytes] = []
            while sum(map(len, parts)) < SAMPLE_BYTES and (part := stream.read1(SAMPLE_BYTES)):
                parts.append(part)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} can't be read: {error}") from None
    head = b"".join(parts)
    if not head.strip():
        raise UserError(f"{path} is empty")
    begun = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    for sign, problem in _NO_TABLES:
        if begun.startswith(sign) and not _HEADING.match(begun):
            raise UserError(f"{path} {problem}")
    return head


def require_text(path: Path, text: str) -> None:
    """Raises UserError where a decoded sample isn't text."""
    strange = sum(ord(sign) < 32 and ord(sign) not in _TEXT_SIGNS for sign in text[:20_000])
    if strange > 0.001 * len(text[:20_000]):
        raise UserError(f"{path} is not text: CSV, TSV, JSON, NDJSON or XLSX is needed")


def form_of(head: bytes) -> Form:
    if is_document(head):
        return "json"
    return "ndjson" if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else "csv"


def sample_rows(path: Path, form: Form, text: str, delimiter: str, most: int) -> list[Record]:
    """The first rows of a file, without its cut last line."""
    if form == "json":
        return [*islice(document_rows(path, is_packed(path), None), most)]
    lines = text if len(text) < SAMPLE_BYTES // 4 else text[: text.rfind("\n") + 1]
    if form == "ndjson":
        return [*islice(_objects(lines.splitlines(), None), most)]
    return list(islice(records([lines], delimiter), most))


def without_comments(rows: Iterator[Record], comment: str) -> Iterator[Record]:
    """Yields the rows that don't begin with that sign."""
    return (row for row in rows if not (row and row[0].startswith(comment))) if comment else rows


def rows_of(mapping: Mapping, lines: Lines) -> Iterator[Record]:
    """Yields every row below the header, its texts in the order of the mapping's columns. A row of
    another shape is an Unreadable. Raises UserError if the header isn't the mapping's."""
    names = [column.name for column in mapping.columns]
    if mapping.form == "ndjson":
        objects = _objects((line for line in lines if not line.isspace()), names)
        yield from _chosen(objects, mapping)
        return
    if mapping.form == "json":
        yield from _chosen(document_rows(lines.file.path, lines.file.zipped, names), mapping)
        return
    rows = (
        sheet_rows(lines.file.path, mapping.sheet, mapping.header_row, names)
        if mapping.form == "xlsx"
        else records(lines.pieces(), mapping.delimiter)
    )
    rows = without_comments(rows, mapping.comment)
    header: Record = ()
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
    above = [header, *islice(rows, mapping.units_rows)]  # that some files repeat at each page
    yield from _chosen((row for row in rows if row not in above), mapping)


def _chosen(rows: Iterator[Record], mapping: Mapping) -> Iterator[Record]:
    """Yields the rows that ``only`` selects."""
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
    """Returns a header's names, trimmed; a missing or repeated one gets its column's number."""
    names: list[str] = []
    for number, text in enumerate(header, 1):
        name = " ".join(text.split())
        names.append(name if name and name not in names else f"{name} {number}".strip())
    return names


def _objects(lines: Iterator[str] | list[str], names: list[str] | None) -> Iterator[Record]:
    """Yields JSON objects as rows. Without names, the first row has the names of the first 100
    objects."""
    rows = iter(lines)
    if names is None:
        first = [(line, flat(parse_payload(line))) for line in islice(rows, 100)]
        names = list(dict.fromkeys(name for _, fields in first for name in fields))
        yield names
        rows = chain((line for line, _ in first), rows)
    for line in rows:
        for fields in line_rows(parse_payload(line)):
            yield (
                [fields.get(name, "") for name in names]
                if fields
                else Unreadable((line.rstrip("\n"),))
            )


def decoded(head: bytes, encoding: str) -> str:
    """Decodes the sample, with LF for every line end."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
