"""Reads files of readings (CSV or NDJSON, plain or .gz) into batches for the pipeline."""

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
from api.ingest.source import Lines, SourceFile

CHUNK_ROWS = 10_000  # rows decoded at a time: their texts stay in the processor's cache
BATCH_CHUNKS = 10

_Decode = Callable[[Sequence[Any]], Batch]


class Damaged(UserError):
    """The file ends early or is broken; every complete row before that was yielded."""


def batches(file: SourceFile, devices: Devices, now_ms: int, skip: int = 0) -> Generator[Batch]:
    """Yields the file's readings in order, without its first ``skip`` rows (header and blank lines
    don't count). Raises UserError if it can't be read, Damaged after the rows before a defect."""
    lines = Lines(file)
    read = _table if file.form == "csv" else _objects
    rows, decode = read(lines, devices, now_ms)
    next(islice(rows, skip, skip), None)
    chunks = (replace(chunk, consumed=lines.consumed) for chunk in _chunks(rows, decode))
    while gathered := list(islice(chunks, BATCH_CHUNKS)):
        yield joined(gathered)
    if lines.damage:
        raise Damaged(f"{file.path} {lines.damage}")


def check(file: SourceFile) -> None:
    """Raises UserError if the file's first line is invalid."""
    if file.form == "csv":
        lines = Lines(file)
        _layout(lines, records(lines.pieces()))


def _objects(lines: Lines, devices: Devices, now_ms: int) -> tuple[Iterator[Any], _Decode]:
    rows = (line for line in lines if not line.isspace())
    return rows, lambda chunk: batch_of_lines(chunk, devices, now_ms)


def _table(lines: Lines, devices: Devices, now_ms: int) -> tuple[Iterator[Any], _Decode]:
    rows = records(lines.pieces())
    layout = _layout(lines, rows)
    return rows, lambda chunk: batch_of_texts(chunk, layout, devices, now_ms)


def _layout(lines: Lines, rows: Iterator[Record]) -> Layout:
    header = next(rows, None)
    if header is None:
        raise UserError(f"{lines.file.path} {lines.damage or 'is empty'}")
    try:
        if isinstance(header, Unreadable):
            raise ValueError(f"is {NOT_CSV}")
        return Layout.of(header)
    except ValueError as error:
        raise UserError(f"{lines.file.path}: line 1 {error}") from None


def _chunks(rows: Iterator[Any], decode: _Decode) -> Iterator[Batch]:
    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield decode(chunk)


def joined(chunks: Sequence[Batch]) -> Batch:
    """Joins consecutive batches into one."""
    columns = [chunk.columns for chunk in chunks]
    return Batch(
        Columns(
            np.concatenate([c.devices for c in columns]),
            np.concatenate([c.instants for c in columns]),
            np.concatenate([c.values for c in columns], axis=1),
        ),
        read=sum(chunk.read for chunk in chunks),
        refused=tuple(refused for chunk in chunks for refused in chunk.refused),
        unknown=frozenset[str]().union(*(chunk.unknown for chunk in chunks)),
        consumed=chunks[-1].consumed,
        registers=tuple(register for chunk in chunks for register in chunk.registers),
        refused_rows=tuple(row for chunk in chunks for row in chunk.refused_rows),
        empty=sum(chunk.empty for chunk in chunks),
    )
