"""Converts rows of texts (CSV) to a batch: whole columns at once, unusual rows by the exact
decoder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from api.catalog import METRICS
from api.ingest.batch import Batch, Bools, Draft, Floats, blank, device_column, draft, settle
from api.ingest.csv_records import NOT_CSV, Unreadable
from api.ingest.decode import (
    COLUMN_OF,
    DEVICE,
    INSTANT,
    REGISTER,
    TOO_WIDE,
    Decoded,
    Devices,
    Rejection,
    column_named,
    decode_text,
)
from api.ingest.timestamp_columns import parse_column
from api.suggestions import did_you_mean, nearest

_PLAIN_NUMBERS = re.compile(r"[0-9.eE+\-]*", re.ASCII)  # that float() reads as the decoder does


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of a table's columns by name, and their number."""

    positions: dict[str, int]
    width: int
    unknown: frozenset[str]

    @classmethod
    def of(cls, header: Sequence[str]) -> Layout:
        """Raises ValueError, with a message for the user, for an unusable header."""
        positions: dict[str, int] = {}
        unknown: set[str] = set()
        for position, name in enumerate(text.strip() for text in header):
            column = column_named(name)
            if column is None:
                unknown.add(name)
            elif column in positions:
                raise ValueError(f"has the column {column} twice")
            else:
                positions[column] = position
        missing = [column for column in (DEVICE, INSTANT) if column not in positions]
        if missing:
            typed = sorted(name for name in unknown if nearest(name, COLUMN_OF))
            hints = "".join(f"; {did_you_mean(name, COLUMN_OF)}" for name in typed)
            raise ValueError(f"has no column {' and no column '.join(missing)}{hints}")
        return cls(positions, len(header), frozenset(unknown - {""}))

    def fields(self, row: Sequence[str]) -> dict[str, str]:
        """Returns a row's texts by column; missing values of a short row are empty."""
        return {c: row[p] if p < len(row) else "" for c, p in self.positions.items()}


def batch_of_texts(
    rows: Sequence[Sequence[str]], layout: Layout, devices: Devices, now_ms: int
) -> Batch:
    """Decodes rows of texts; gives the same result as `decode_text` for every row."""

    def exact(index: int) -> Decoded | Rejection:
        row = rows[index]
        if isinstance(row, Unreadable):
            return Rejection(NOT_CSV, "")
        fields = layout.fields(row)
        if any(text.strip() for text in row[layout.width :]):
            return Rejection(TOO_WIDE, fields[DEVICE].strip())
        return decode_text(fields, devices, now_ms)

    columns, refused, registers = settle(
        _draft(rows, layout, devices, now_ms), exact, lambda index: ",".join(rows[index])
    )
    return Batch(columns, len(rows), refused, layout.unknown, registers=registers)


def _draft(rows: Sequence[Sequence[str]], layout: Layout, devices: Devices, now_ms: int) -> Draft:
    size, width = len(rows), layout.width
    plain: Bools = np.fromiter(map(len, rows), np.int64, size) == width
    if not plain.all():
        filler = [""] * width
        rows = [row if len(row) == width else filler for row in rows]
    texts: list[Sequence[str]] = list(zip(*rows, strict=True)) if rows else [()] * width
    instants, parsed = parse_column(texts[layout.positions[INSTANT]])
    plain &= parsed
    if REGISTER in layout.positions:  # left to the exact decoder
        plain &= np.array([not text for text in texts[layout.positions[REGISTER]]], np.bool_)
    values = blank(size)
    for row, metric in enumerate(METRICS):
        if metric.name in layout.positions:
            plain &= _numbers(texts[layout.positions[metric.name]], values[row])
    keys = device_column(texts[layout.positions[DEVICE]], devices.exactly, size)
    return draft(keys, instants, values, plain, now_ms)


def _numbers(texts: Sequence[str], into: Floats) -> Bools:
    """Reads a column of texts into an array of NaN; returns False where a text is unusual."""
    plain: Bools = np.ones(len(texts), np.bool_)
    written = "".join(texts)
    if not written:
        return plain
    if _PLAIN_NUMBERS.fullmatch(written):
        try:
            into[:] = [float(text or "nan") for text in texts]
            return plain
        except ValueError:  # "1-2": plain characters, but not a number
            pass
    for index, text in enumerate(texts):
        try:
            if text:
                plain[index] = _PLAIN_NUMBERS.fullmatch(text) is not None
                into[index] = float(text) if plain[index] else np.nan
        except ValueError:
            plain[index] = False
    return plain
