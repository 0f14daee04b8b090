"""The addresses of files, and a file's rows streamed as CSV or a workbook."""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, Final

from werkzeug.wrappers import Response

from api.catalog import FORMULA
from api.errors import ServiceError, TooManyRequests, WeirError
from components import session
from components.concurrent_queries import ServiceAccess, current_access
from components.controls import failure
from web.downloads import device, lists, usage, xlsx
from web.downloads import table as downloads_table
from web.downloads.table import Column, Kind, Part, Table
from web.responses import ConcurrencyLimit, disposition

INCOMPLETE: Final = "# INCOMPLETE: "  # the start of the last line of an interrupted file
_END: Final = "\r\n"
_QUOTED: Final = re.compile('[",\r\n]')


def csv_lines(table: Table) -> Iterator[str]:
    """The header with the first rows, then the other parts. Reads the first part before yielding,
    so that a refused reader gets nothing."""
    head = ",".join(csv_cell(column.header) for column in table.columns) + _END
    for part in table.parts:
        yield head + csv_text(table.columns, part)
        head = ""
    if head:
        yield head


def broken_off(reason: str) -> str:
    return f"{INCOMPLETE}{reason}{_END}"


def csv_text(columns: Sequence[Column], part: Part) -> str:
    cells = [_texts(column, values) for column, values in zip(columns, part, strict=True)]
    return "".join(f"{row}{_END}" for row in map(",".join, zip(*cells, strict=True)))


def _texts(column: Column, values: Sequence[Any]) -> Sequence[str]:
    if column.kind is Kind.NUMBER:
        return downloads_table.numbers(column, values)
    if column.kind is Kind.INSTANT:
        return downloads_table.instants(column, values)
    if column.kind is Kind.DAY:
        return downloads_table.days(values)
    cells = {value: "" if value is None else csv_cell(value) for value in set(values)}
    return [cells[value] for value in values]


def csv_cell(value: str) -> str:
    """A text as a cell of a CSV file, with an apostrophe where it starts like a formula."""
    safe = f"'{value}" if FORMULA.match(value) else value
    return '"' + safe.replace('"', '""') + '"' if _QUOTED.search(safe) else safe


CSV: Final = "csv"
XLSX: Final = "xlsx"
KINDS: Final = {
    CSV: "text/csv; charset=utf-8; header=present",
    XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_GZIP_LEVEL: Final = 1  # three times as fast as 6, a sixth larger
_GZIP: Final = 31  # zlib's wbits for gzip

_log = logging.getLogger(__name__)


def sent(make: Callable[[], Table], kind: str, *, gzip: bool) -> Response:
    """The response. Reads the first rows before it starts, so that errors get their own status.
    ``make`` raises ValueError for an invalid query, a WeirError if the service fails. ``gzip``: the
    reader accepts it; workbooks are compressed anyway."""
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
    typed = isinstance(error, ServiceError)
    response = plain(error.status if typed else 502, failure(error))
    if typed and error.retry_after_s:
        response.headers["Retry-After"] = str(ceil(error.retry_after_s))
    return response


def plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, mimetype="text/plain")


def _text(table: Table) -> Generator[bytes]:
    """The CSV text. An interrupted file says so in its last line, then the connection is cut."""
    begun = False
    try:
        for part in csv_lines(table):
            yield part.encode()
            begun = True
    except WeirError as error:
        if begun:
            yield broken_off(failure(error)).encode()
        raise


def _whole(first: bytes, rest: Generator[bytes]) -> Generator[bytes]:
    """All parts. The server closes this generator at the end or when the reader has gone. An error
    is raised to the server. In any case an interrupted file is recognizably incomplete: the last
    line of a CSV says so, a workbook has no directory, gzip no checksum."""
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
        yield packer.flush(zlib.Z_SYNC_FLUSH)  # everything so far, without gzip's end
        raise
    finally:
        parts.close()
    yield packer.flush()


# --- routes ---------------------------------------------------------------------------------------


MOST_EACH: Final = 3  # half of its lane's threads

Make = Callable[..., Table]
"""Makes a table from the reader's access, the query and the path's variables."""

FILES: Final[Mapping[str, Make]] = {
    "/download/devices/<path:device_id>/rows": device.rows_file,
    "/download/devices/<path:device_id>/days": device.days_file,
    "/download/devices/<path:device_id>/hours": device.hours_file,
    "/download/devices/<path:device_id>/forecast": device.forecast_file,
    "/download/devices/<path:device_id>/registers": device.registers_file,
    "/download/devices/<path:device_id>/findings": lists.device_findings_file,
    "/download/devices": lists.devices_file,
    "/download/findings": lists.findings_file,
    "/download/alerts": lists.alerts_file,
    "/download/audit": lists.audit_file,
    "/download/fleet": lists.states_file,
    "/download/compare": lists.compare_file,
    "/download/usage/by-device": usage.devices_file,
    "/download/usage/by-day": usage.days_file,
}


def rules() -> Iterator[tuple[str, str, Callable[..., Response]]]:
    """(address, name, view function) of every file, in each of its kinds."""
    for path, make in FILES.items():
        for kind in KINDS:
            yield f"{path}.{kind}", f"{path} {kind}".replace(".", "_"), _view(make, kind)


def _limit() -> ConcurrencyLimit:
    return ConcurrencyLimit(MOST_EACH, "files")


def _view(make: Make, kind: str) -> Callable[..., Response]:
    def view(**named: str) -> Response:
        """Streams, whatever the number of rows."""
        access: ServiceAccess = current_access()
        try:
            give_back = session.singleton("files", _limit).take(access.principal)
        except TooManyRequests as error:
            return refused(error)
        try:
            response = sent(
                partial(make, access, session.query_params(), **named),
                kind,
                gzip=session.takes_gzip(),
            )
        except BaseException:
            give_back()
            raise
        response.call_on_close(give_back)
        return response

    return view
