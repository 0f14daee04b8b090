"""Decodes one payload to a reading or a reason for refusal. Pure, and the same for every source.

A payload names a device by any identifier, an instant and at least one measured quantity, under the
names of a datapoint row (``recorded_at``, ``flow_rate``) or of LatestDatapoint (``recordedAt``,
``flowRate``). Values are texts (CSV) or JSON types. A payload with a ``register`` becomes a
register: its volume, duration and rate are derived, and any that it names are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from api.catalog import (
    BESIDE_REGISTER,
    EARLIEST_READING_MS,
    FUTURE_TOLERANCE_MS,
    METRICS,
    RAW_COLUMNS,
    UUID_FORM,
)
from api.metering.register import LARGEST, NEGATIVE, unit_of
from api.metering.units import plain
from api.store.base import ReadingRow, RegisterRow
from api.timez import parse_instant

DEVICE: Final = "device"
INSTANT: Final = RAW_COLUMNS[0]
COLUMNS: Final = (DEVICE, *RAW_COLUMNS)
REGISTER: Final = "register"
REGISTER_UNIT: Final = "register_unit"

_INSTANT_FIELD: Final = "recordedAt"  # its name in LatestDatapoint
COLUMN_OF: Final[dict[str, str]] = {
    **{column: column for column in COLUMNS},
    _INSTANT_FIELD: INSTANT,
    **{metric.field: metric.name for metric in METRICS},
    REGISTER: REGISTER,
    REGISTER_UNIT: REGISTER_UNIT,
    "registerUnit": REGISTER_UNIT,
}
_COLUMN_IN_ANY_CASE: Final = {name.lower(): column for name, column in COLUMN_OF.items()}


def column_named(name: str) -> str | None:
    """Returns the column that a table's heading means, ignoring case; None for an unknown
    heading."""
    return COLUMN_OF.get(name) or _COLUMN_IN_ANY_CASE.get(name.lower())


NOT_JSON: Final = "not a JSON object"
UNKNOWN_DEVICE: Final = "unknown device"
TOO_WIDE: Final = "more fields than columns"

_DIGITS = re.compile(r"[0-9.eE+\-]+", re.ASCII)  # what float() may then read: not "1_0" or "٣"
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


class Rejection(NamedTuple):
    """Why a payload was refused. ``reason`` is one of a few phrases, so that refusals can be
    counted by it; ``device`` is the identifier as it was sent, or ''."""

    reason: str
    device: str


class Devices:
    """Devices by identifier, by the interface's rule: UUID first, in upper or lower case."""

    def __init__(self, keys: Mapping[str, int]) -> None:
        """``keys`` come from `Directory.ingest_keys`: UUIDs in lower case."""
        self._keys = {
            text: keys.get(text.lower(), key) if UUID_FORM.fullmatch(text) else key
            for text, key in keys.items()
        }
        self.exactly = self._keys.get

    def __bool__(self) -> bool:
        """Whether there is any device."""
        return bool(self._keys)

    def find(self, identifier: str) -> int | None:
        key = self.exactly(identifier)
        if key is None and UUID_FORM.fullmatch(identifier):
            return self.exactly(identifier.lower())
        return key


Decoded = ReadingRow | RegisterRow
"""A reading, or a register from which the service derives one."""


def decode_text(fields: Mapping[str, str], devices: Devices, now_ms: int) -> Decoded | Rejection:
    """Decodes a row of texts by column name; '' is null, and surrounding blanks are ignored."""
    trimmed = {column: text.strip() for column, text in fields.items()}
    return _decode({c: text for c, text in trimmed.items() if text}, _from_text, devices, now_ms)


def decode_json(payload: object, devices: Devices, now_ms: int) -> Decoded | Rejection:
    """Decodes a JSON value, which should be an object; numbers must be JSON numbers."""
    if not isinstance(payload, dict):
        return Rejection(NOT_JSON, "")
    values: dict[str, object] = {}
    for name, value in cast("dict[str, object]", payload).items():
        column = COLUMN_OF.get(name)
        if column is None or value is None:
            continue
        if column in values:
            return Rejection(f"{column} is given twice", _text_of(values.get(DEVICE)))
        values[column] = value
    return _decode(values, _from_json, devices, now_ms)


def _decode(
    values: Mapping[str, Any],
    number: Callable[[Any], float],
    devices: Devices,
    now_ms: int,
) -> Decoded | Rejection:
    device = values.get(DEVICE)
    try:
        key = _device_key(device, devices)
        instant = _instant(values.get(INSTANT), now_ms)
        measured = [
            _named(metric.name, number, values[metric.name]) if metric.name in values else None
            for metric in METRICS
        ]
        if REGISTER in values:
            value = _register(number, values[REGISTER])
            unit = _register_unit(values.get(REGISTER_UNIT))
            beside = [measured[METRICS.index(metric)] for metric in BESIDE_REGISTER]
            return RegisterRow(key, instant, value, unit, *beside)
    except ValueError as error:
        return Rejection(str(error), _text_of(device))
    if all(value is None for value in measured):
        return Rejection("no measured field", _text_of(device))
    return cast("ReadingRow", (key, instant, *measured))


def _register(number: Callable[[Any], float], value: object) -> float:
    register = _named(REGISTER, number, value)
    if register < 0:
        raise ValueError(f"{REGISTER} {NEGATIVE}")
    if register > LARGEST:
        raise ValueError(f"{REGISTER} is beyond {plain(LARGEST)}")
    return register


def _register_unit(value: object) -> str:
    try:
        return "" if value is None else unit_of(value)
    except ValueError:
        raise ValueError(f"{REGISTER_UNIT} is not a unit of registers") from None


def _device_key(device: object, devices: Devices) -> int:
    if device is None or device == "":
        raise ValueError("no device")
    if not isinstance(device, str):
        raise ValueError("device has the wrong type")
    key = devices.find(device)
    if key is None:
        raise ValueError(UNKNOWN_DEVICE)
    return key


def _instant(value: object, now_ms: int) -> int:
    try:
        instant = parse_instant(value) if isinstance(value, str) else None
    except ValueError:
        instant = None
    if instant is None:
        raise ValueError("no valid timestamp")
    if instant < EARLIEST_READING_MS:
        raise ValueError("before 2000-01-01")
    if instant > now_ms + FUTURE_TOLERANCE_MS:
        raise ValueError("more than 24 h in the future")
    return instant


def _named(column: str, number: Callable[[Any], float], value: object) -> float:
    try:
        result = number(value)
    except OverflowError:  # an integer larger than any float
        result = math.inf
    except (ValueError, TypeError) as error:
        raise ValueError(f"{column} {error}") from None
    if not math.isfinite(result):
        raise ValueError(f"{column} is not a finite number")
    return result


def _from_text(text: str) -> float:
    if text.lstrip("+-").lower() in _NOT_FINITE:
        return math.nan
    if _DIGITS.fullmatch(text):
        try:
            return float(text)
        except ValueError:
            pass
    raise ValueError("is not a number")


def _from_json(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("has the wrong type")
    return float(value)


def _text_of(device: object) -> str:
    return device if isinstance(device, str) else ""
