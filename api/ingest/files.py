"""Files of readings: CSV or NDJSON, plain or .gz, to batches for the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from api.errors import UserError
from api.ingest.batch import Batch, Columns
from api.ingest.csv_records import NOT_CSV, Record, Unreadable, records
from api.ingest.csv_rows import Layout, batch_of_texts
from api.ingest.decode import Devices
from api.ingest.json_lines import batch_of_lines
from api.ingest.source import Found, Lines

PART_ROWS = 10_000  # decoded at a time: their texts stay in the processor's cache
BATCH_PARTS = 10

_Decode = Callable[[Sequence[Any]], Batch]


class Damaged(UserError):
    """The file ends early or is broken; every complete row before that was yielded."""


def batches(found: Found, devices: Devices, now_ms: int, skip: int = 0) -> Generator[Batch]:
    """The file's readings in order, without its first ``skip`` rows (header and blank lines are
    no rows). Raises UserError where it can't be read, Damaged after what could be."""
    lines = Lines(found)
    read = _table if found.form == "csv" else _objects
    rows, decode = read(lines, devices, now_ms)
    next(islice(rows, skip, skip), None)
    parts = (replace(part, consumed=lines.consumed) for part in _parts(rows, decode))
    while gathered := list(islice(parts, BATCH_PARTS)):
        yield _joined(gathered)
    if lines.damage:
        raise Damaged(f"{found.path} {lines.damage}")


def check(found: Found) -> None:
    """Raises UserError if the file's first line is invalid."""
    if found.form == "csv":
        lines = Lines(found)
        _layout(lines, records(lines.pieces()))


def _objects(lines: Lines, devices: Devices, now_ms: int) -> tuple[Iterator[Any], _Decode]:
    rows = (line for line in lines if not line.isspace())
    return rows, lambda part: batch_of_lines(part, devices, now_ms)


def _table(lines: Lines, devices: Devices, now_ms: int) -> tuple[Iterator[Any], _Decode]:
    rows = records(lines.pieces())
    layout = _layout(lines, rows)
    return rows, lambda part: batch_of_texts(part, layout, devices, now_ms)


def _layout(lines: Lines, rows: Iterator[Record]) -> Layout:
    header = next(rows, None)
    if header is None:
        raise UserError(f"{lines.found.path} {lines.damage or 'is empty'}")
    try:
        if isinstance(header, Unreadable):
            raise ValueError(f"is {NOT_CSV}")
        return Layout.of(header)
    except ValueError as error:
        raise UserError(f"{lines.found.path}: line 1 {error}") from None


def _parts(rows: Iterator[Any], decode: _Decode) -> Iterator[Batch]:
    while part := list(islice(rows, PART_ROWS)):
        yield decode(part)


def _joined(parts: Sequence[Batch]) -> Batch:
    columns = [part.columns for part in parts]
    return Batch(
        Columns(
            np.concatenate([c.devices for c in columns]),
            np.concatenate([c.instants for c in columns]),
            np.concatenate([c.values for c in columns], axis=1),
        ),
        read=sum(part.read for part in parts),
        refused=tuple(refused for part in parts for refused in part.refused),
        unknown=frozenset[str]().union(*(part.unknown for part in parts)),
        consumed=parts[-1].consumed,
    )
