"""Lines of JSON to a batch: whole columns at once, unusual lines by the exact decoder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import numpy as np
import orjson

from api.catalog import METRICS
from api.ingest.batch import Batch, Bools, Floats, blank, device_column, draft, settle
from api.ingest.decode import (
    COLUMN_OF,
    DEVICE,
    INSTANT,
    REGISTER,
    Decoded,
    Devices,
    Rejection,
    decode_json,
)
from api.ingest.timestamp_columns import parse_column

_NAMES_OF: Final = {
    column: tuple(name for name, of in COLUMN_OF.items() if of == column)
    for column in dict.fromkeys(COLUMN_OF.values())
}
_NUMBER_TYPES: Final = frozenset({float, int, type(None)})
_Payload = dict[str, Any]
_NOTHING: Final[_Payload] = {}


def parse_payload(text: str | bytes) -> object:
    """Parses the JSON value in a text; returns None, which isn't a valid payload, where it isn't
    JSON.

    NaN and Infinity, which some senders write as numbers, are parsed as such, so that they are
    refused for the right reason.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def batch_of_lines(lines: Sequence[str], devices: Devices, now_ms: int) -> Batch:
    """Decodes lines of JSON; gives the same result as `decode_json` for every line."""
    payloads = [parse_payload(line) for line in lines]
    table = [cast("_Payload", p) if isinstance(p, dict) else _NOTHING for p in payloads]
    names = frozenset[str]().union(*table)

    def exact(index: int) -> Decoded | Rejection:
        return decode_json(payloads[index], devices, now_ms)

    plain: Bools = np.ones(len(lines), np.bool_)
    places = _column(table, DEVICE, names, plain, str, "")
    written = _column(table, INSTANT, names, plain, str, "")
    instants, parsed = parse_column(written)
    plain &= parsed
    if REGISTER in names:  # left to the exact decoder
        plain &= np.array([payload.get(REGISTER) is None for payload in table], np.bool_)
    values = blank(len(lines))
    for row, metric in enumerate(METRICS):
        numbers = _column(table, metric.name, names, plain, _NUMBER_TYPES, None)
        _fill(values[row], numbers, plain)
    keys = device_column(places, devices.exactly, len(lines))
    columns, refused, registers = settle(
        draft(keys, instants, values, plain, now_ms), exact, lambda index: lines[index]
    )
    unknown = names.difference(COLUMN_OF)
    return Batch(columns, len(lines), refused, unknown, registers=registers)


def _column(
    table: Sequence[_Payload],
    column: str,
    names: frozenset[str],
    plain: Bools,
    types: type | frozenset[type],
    filler: object,
) -> list[Any]:
    """Returns a column's values. Where a value isn't of the plain types, or the column has two
    names, ``plain`` becomes False and the filler is used."""
    allowed = types if isinstance(types, frozenset) else frozenset({types})
    used = [name for name in _NAMES_OF[column] if name in names]
    if not used:
        return [filler] * len(table)
    values = [payload.get(used[0]) for payload in table]
    if len(used) == 1 and allowed.issuperset(map(type, values)):
        return values
    for index, payload in enumerate(table):
        if type(values[index]) not in allowed or any(name in payload for name in used[1:]):
            plain[index] = False
            values[index] = filler
    return values


def _fill(into: Floats, numbers: Iterable[float | None], plain: Bools) -> None:
    listed = list(numbers)
    if all(number is None for number in listed):
        return
    try:
        into[:] = [np.nan if number is None else float(number) for number in listed]
    except OverflowError:  # an integer larger than any float
        plain[:] = False
