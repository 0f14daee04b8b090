"""Reads the rows of a request's body; limits its size as sent, unpacked, and in memory."""

from __future__ import annotations

import zlib
from typing import Final, Literal, cast

from api.catalog import INGEST_BODY_BYTES, INGEST_ROWS, INGEST_TEXT_BYTES, INGEST_VALUES
from api.errors import BadRequest, TooLarge, WrongType
from api.ingest.json_lines import parse_payload

Form = Literal["json", "lines"]

FORMS: Final[dict[str, Form]] = {
    "application/json": "json",
    "application/x-ndjson": "lines",
    "application/ndjson": "lines",
    "application/jsonl": "lines",
}
_GZIP_WINDOW: Final = 31  # zlib's wbits for gzip
_MOST_MEMBERS: Final = 1_000  # members of a gzip body: each one copies the rest of the body
_MIB: Final = 1 << 20


def payloads(body: bytes, content_type: str, coding: str) -> list[object]:
    """Returns the JSON value of each row, in order; a line that isn't JSON as its text.

    ``coding`` is the body's Content-Encoding. Raises WrongType for an unsupported type, TooLarge
    beyond a limit, BadRequest for a malformed body.
    """
    form = FORMS.get(content_type.partition(";")[0].strip().lower())
    if form is None:
        raise WrongType(f"Send {' or '.join(FORMS)}.")
    text = _unpacked(body, coding.strip().lower())
    if sum(map(text.count, (b",", b"[", b"{", b"\n"))) > INGEST_VALUES:
        raise TooLarge(f"The body has too many values for {INGEST_ROWS:,} rows.")
    rows = _array(text) if form == "json" else _lines(text)
    if len(rows) > INGEST_ROWS:
        raise TooLarge(f"A request takes at most {INGEST_ROWS:,} rows.")
    return rows


def _unpacked(body: bytes, coding: str) -> bytes:
    if len(body) > INGEST_BODY_BYTES:
        raise body_too_large()
    if coding in ("gzip", "x-gzip"):
        return _gunzipped(body)
    if coding not in ("", "identity"):
        raise WrongType("The only supported content encoding is gzip.")
    return body


def body_too_large() -> TooLarge:
    return TooLarge(f"The body must be at most {INGEST_BODY_BYTES // _MIB} MiB.")


def _gunzipped(body: bytes) -> bytes:
    """Returns the unpacked body. Unpacking stops just beyond the limit."""
    text, rest = bytearray(), body
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            text += member.decompress(rest, INGEST_TEXT_BYTES + 1 - len(text))
        except zlib.error:
            raise BadRequest("The body is not gzip.") from None
        if len(text) > INGEST_TEXT_BYTES:
            raise TooLarge(f"The unpacked body must be at most {INGEST_TEXT_BYTES // _MIB} MiB.")
        if not member.eof:
            raise BadRequest("The gzip body is cut off.")
        rest = member.unused_data
        if not rest:
            return bytes(text)
    raise TooLarge(f"A gzip body must have at most {_MOST_MEMBERS} members.")


def _array(text: bytes) -> list[object]:
    value = parse_payload(text)
    if isinstance(value, dict):
        return [cast("object", value)]
    if not isinstance(value, list):
        raise BadRequest("The body is not a JSON array of objects.")
    return cast("list[object]", value)


def _lines(text: bytes) -> list[object]:
    lines = [line for line in text.split(b"\n") if line.strip()]
    return [_line(line) for line in lines[: INGEST_ROWS + 1]]


def _line(line: bytes) -> object:
    value = parse_payload(line)
    return line.decode("utf-8", "replace").strip() if value is None else value
