"""A table as the answer to a request: streamed, a part at a time, whatever its length."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Generator
from math import ceil
from typing import Final

from werkzeug.wrappers import Response

from api.errors import ServiceError, WeirError
from components.controls import failure
from web.downloads import csv, xlsx
from web.downloads.names import disposition
from web.downloads.table import Table

CSV: Final = "csv"
XLSX: Final = "xlsx"
KINDS: Final = {
    CSV: "text/csv; charset=utf-8; header=present",
    XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_GZIP_LEVEL: Final = 1  # three times as fast as 6, a sixth larger
_GZIP: Final = 31  # zlib's name for its container

_log = logging.getLogger(__name__)


def sent(make: Callable[[], Table], kind: str, *, gzip: bool) -> Response:
    """What may go wrong goes wrong before anything is said: the first rows are asked for first.
    ``make`` raises ValueError for what it can't understand, a WeirError where the service can't
    answer. ``gzip``: the reader takes it; a workbook is compressed already."""
    try:
        table = make()
        parts = _text(table) if kind == CSV else xlsx.chunks(table)
        first = next(parts)
    except ValueError as error:
        return plain(400, str(error))
    except WeirError as error:
        return refused(error)
    headers = {"Content-Disposition": disposition(f"{table.name}.{kind}")}
    body = _whole(first, parts)
    if kind == CSV:
        headers["Vary"] = "Accept-Encoding"
        if gzip:
            headers["Content-Encoding"] = "gzip"
            body = _gzipped(body)
    return Response(body, content_type=KINDS[kind], headers=headers)


def refused(error: WeirError) -> Response:
    known = isinstance(error, ServiceError)
    response = plain(error.status if known else 502, failure(error))
    if known and error.retry_after_s:
        response.headers["Retry-After"] = str(ceil(error.retry_after_s))
    return response


def plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, mimetype="text/plain")


def _text(table: Table) -> Generator[bytes]:
    """A file that breaks off says so in its last line; then the connection is cut as well."""
    begun = False
    try:
        for part in csv.lines(table):
            yield part.encode()
            begun = True
    except WeirError as error:
        if begun:
            yield csv.broken_off(failure(error)).encode()
        raise


def _whole(first: bytes, rest: Generator[bytes]) -> Generator[bytes]:
    """The server closes this at the end, or when the reader is gone: nothing more is asked for
    then. An error goes on to the server. Whether it cuts the connection or not, the file is without
    its end: the last line of a CSV says so, a workbook has no directory, gzip no checksum."""
    try:
        yield first
        yield from rest
    except WeirError as error:
        _log.warning("a download was interrupted: %s", error)
        raise


def _gzipped(parts: Generator[bytes]) -> Generator[bytes]:
    packer = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP)
    try:
        for part in parts:
            packed = packer.compress(part)
            if packed:
                yield packed
    except WeirError:
        yield packer.flush(zlib.Z_SYNC_FLUSH)  # what was said up to here, but not the end
        raise
    finally:
        parts.close()
    yield packer.flush()
