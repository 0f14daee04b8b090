"""A text file of readings, plain or compressed: its format and its lines. Doesn't decode
readings."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Final, Literal, cast

from api.errors import UserError

Form = Literal["csv", "ndjson"]
Stream = gzip.GzipFile | BufferedReader | zipfile.ZipExtFile

_CHUNK = 1 << 20  # bytes
_HEAD = 1 << 16  # bytes by which the format is recognised
_LONG, _LONG_ZIPPED = 8 << 20, 1 << 20
MOST_UNPACKED: Final = 32 << 30  # bytes that a packed file may become
_LONGEST_LINE = 1 << 20  # bytes; of a longer line only the start is used
_SHOWN = 500
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZIP_MAGIC: Final = b"PK\x03\x04"
_BOM: Final = b"\xef\xbb\xbf"
_FORM_OF_SUFFIX: Final[dict[str, Form]] = {
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A readable file and its form. ``size`` in bytes, as packed."""

    path: Path
    form: Form
    zipped: bool
    size: int
    encoding: str = "utf-8"

    @property
    def long(self) -> bool:
        """Whether reading it takes a second or more: a hundred thousand rows."""
        return self.size > (_LONG_ZIPPED if self.zipped else _LONG)


def inspect(path: Path) -> SourceFile:
    """Returns the file's format. Raises UserError if it can't be a file of readings."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        with unpacked(path, zipped) as stream:
            head = _read(stream, _HEAD)
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise UserError(f"{path} is cut off or damaged and can't be read") from None
    return SourceFile(path, _form(path, head), zipped, size)


def is_packed(path: Path) -> bool:
    """Whether it is gzip or a zip file, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_ZIP_MAGIC)).startswith((_GZIP_MAGIC, _ZIP_MAGIC))


@contextmanager
def unpacked(path: Path, zipped: bool) -> Generator[Stream]:
    """Opens the file's bytes, uncompressed. Raises UserError for a zip file of several files."""
    with path.open("rb") as raw:
        yield _stream(raw, zipped, path)


def _stream(raw: BufferedReader, zipped: bool, path: Path) -> Stream:
    if not zipped:
        return raw
    if not raw.peek(len(_ZIP_MAGIC)).startswith(_ZIP_MAGIC):
        return gzip.GzipFile(fileobj=raw)
    try:
        packed = zipfile.ZipFile(raw)
        parts = [part for part in packed.infolist() if not part.is_dir() and _is_file(part)]
        if any(part.filename == "[Content_Types].xml" for part in parts):
            raise UserError(f"{path} is a workbook: it needs a mapping saved from one")
        if len(parts) != 1:
            raise UserError(f"{path} holds {len(parts)} files: unpack it and import each")
        return cast("zipfile.ZipExtFile", packed.open(parts[0]))
    # RuntimeError: encrypted. NotImplementedError: packed by a method that zipfile lacks.
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise UserError(f"{path} can't be unpacked: {error}") from None


def _is_file(part: zipfile.ZipInfo) -> bool:
    return not any(name.startswith((".", "__MACOSX")) for name in part.filename.split("/"))


def _read(stream: Stream, size: int) -> bytes:
    """Returns some bytes; b"" at the end. A truncated file yields all its bytes before EOFError."""
    return stream.read1(size)


def _form(path: Path, head: bytes) -> Form:
    text = head.removeprefix(_BOM).lstrip()
    if not text:
        raise UserError(f"{path} is empty")
    if b"\0" in _first_line(text):  # further down it is one invalid row
        raise UserError(f"{path} is not text in UTF-8")
    if text.startswith(b"["):
        raise UserError(f"{path} is one JSON array; NDJSON, one object a line, is needed")
    if text.startswith(b"{"):
        return "ndjson"
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _FORM_OF_SUFFIX.get(plain.suffix.lower(), "csv")


def _first_line(text: bytes) -> bytes:
    return text.partition(b"\n")[0].partition(b"\r")[0]


def digest(path: Path) -> str:
    """Returns the digest of the file's content: SHA-256 of its bytes, as packed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Overlong(str):
    """The start of a line that is too long, with an ellipsis."""

    __slots__ = ()


@dataclass(slots=True)
class Lines:
    """The lines of a file, once. Each ends with a newline, however it ends in the file (LF, CR LF
    or CR alone); the last one may lack it. Bytes that aren't UTF-8 become U+FFFD.

    A truncated or damaged file, or one that unpacks to too much, ends with its last whole line;
    ``damage`` then names the defect.
    ``consumed``: bytes of the packed file that were read.
    """

    file: SourceFile
    consumed: int = 0
    damage: str = field(default="", init=False)

    def __iter__(self) -> Iterator[str]:
        for piece in self.pieces():
            yield from lines_of(piece)

    def pieces(self) -> Iterator[str]:
        """The text in pieces of whole lines; a line that is too long is an Overlong of its own."""
        rest, overlong = b"", False
        for chunk in self._chunks():
            begun = chunk[_first_end(chunk) :] if overlong else rest + chunk
            overlong = overlong and not _first_end(chunk)
            if overlong:
                continue
            end = max(begun.rfind(b"\n"), begun.rfind(b"\r")) + 1
            if end:
                yield _text(begun[:end])
            rest = begun[end:]
            if len(rest) > _LONGEST_LINE:
                yield Overlong(_text(rest[:_SHOWN]) + "…")
                rest, overlong = b"", True
        if rest and not self.damage:
            yield _text(rest)

    def _chunks(self) -> Iterator[bytes]:
        with self.file.path.open("rb") as raw:
            stream = _stream(raw, self.file.zipped, self.file.path)
            recode = _to_utf_8(self.file.encoding)
            first, size = True, 0
            while True:
                try:
                    chunk = _read(stream, _CHUNK)
                except (EOFError, OSError, zlib.error) as error:
                    self.damage = "is cut off" if isinstance(error, EOFError) else "is damaged"
                    return
                if not chunk:
                    return
                size += len(chunk)
                if self.file.zipped and size > MOST_UNPACKED:
                    self.damage = f"unpacks to more than {MOST_UNPACKED >> 30} GiB: split it"
                    return
                self.consumed = raw.tell()
                chunk = recode(chunk)
                yield chunk.removeprefix(_BOM) if first else chunk
                first = False


def _to_utf_8(encoding: str) -> Callable[[bytes], bytes]:
    """Returns a function that recodes chunks of a text one after another."""
    if encoding == "utf-8":
        return lambda chunk: chunk
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    return lambda chunk: decoder.decode(chunk).encode("utf-8", "replace")


def lines_of(piece: str) -> Iterator[str]:
    return io.StringIO(piece, newline="\n")


def _text(piece: bytes) -> str:
    """Decodes a piece. A CR LF split between two pieces leaves a blank line, which is skipped."""
    if b"\r" in piece:
        piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return piece.decode("utf-8", "replace")


def _first_end(chunk: bytes) -> int:
    """Returns the end of the chunk's first line; 0 if it has no line end."""
    ends = [place for place in (chunk.find(b"\n"), chunk.find(b"\r")) if place >= 0]
    return min(ends) + 1 if ends else 0
