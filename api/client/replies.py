"""The service's answers as typed values.

Parsers are strict about what Weir builds on and lenient about everything else: optional fields may
be missing, unknown fields and columns are let through, row objects and columns become the same
`Series`. What breaks the interface raises UnexpectedAnswer and names the field. Instants are epoch
milliseconds (UTC) here, whatever the answer's zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from types import NoneType
from typing import Any, cast

from api.catalog import AGGREGATE_COLUMNS, METRICS, RESOLUTION_BY_NAME, Metric, Resolution
from api.errors import UnexpectedAnswer
from api.timez import parse_instant

Json = Mapping[str, Any]
_NUMBER_COLUMNS = frozenset((*AGGREGATE_COLUMNS, *(m.name for m in METRICS)))
_NUMBERS = {int, float, NoneType}


@dataclass(frozen=True, slots=True)
class Organization:
    id: str
    name: str
    active: bool = True
    default_cost_per_gallon: float | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A device as the interface shows it. ``config``, ``cost_per_gallon`` and ``k_factor`` are
    objects of no fixed form: read them defensively."""

    id: str
    serial_number: str
    network_unique_identifier: str
    category: str
    label: str
    model: str
    time_zone: str
    installed: bool
    installed_on_ms: int | None
    created_ms: int | None
    cost_per_gallon: Json = field(default_factory=dict[str, Any])
    k_factor: Json = field(default_factory=dict[str, Any])
    config: Json = field(default_factory=dict[str, Any])

    @property
    def reporting_interval_s(self) -> float | None:
        """How often the device is meant to report, where its configuration says so."""
        value = _number(self.config, "reportingInterval")
        return value if value is not None and value > 0 else None


@dataclass(frozen=True, slots=True)
class DevicePage:
    """``total`` counts what matches before the page was cut out."""

    devices: tuple[Device, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Series:
    """Rows of one device, column by column, ascending in time.

    ``times_ms`` are bucket starts, or the readings' instants for raw rows; empty for ``total``.
    ``count`` is the number of rows in the whole range where the answer says it; ``truncated``
    means that these rows stop before its end.
    """

    resolution: Resolution
    times_ms: Sequence[int]
    columns: Mapping[str, Sequence[float | None]]
    count: int | None = None
    truncated: bool = False
    timezone: str | None = None

    def __len__(self) -> int:
        return len(self.times_ms)

    def values(self, column: str) -> Sequence[float | None]:
        """One column; all nulls where the answer doesn't have it."""
        return self.columns.get(column) or [None] * len(self.times_ms)


@dataclass(frozen=True, slots=True)
class LatestEntry:
    """What was asked of one device; None for what was not asked or is not known."""

    device_id: str
    serial_number: str
    network_unique_identifier: str
    last_seen_ms: int | None = None
    uptime_actual: int | None = None
    uptime_expected: int | None = None
    quality_min: float | None = None
    quality_max: float | None = None
    last_datapoint_ms: int | None = None
    last_datapoint: Mapping[Metric, float | None] = field(
        default_factory=dict[Metric, "float | None"]
    )


@dataclass(frozen=True, slots=True)
class Latest:
    from_ms: int
    to_ms: int
    quality_resolution: str | None
    uptime_resolution: str | None
    expected_buckets: int
    entries: tuple[LatestEntry, ...]


# --- From JSON -----------------------------------------------------------------------------------


def organizations(body: Any) -> tuple[Organization, ...]:
    return tuple(_organization(_object(each, "organization")) for each in _list(body, "answer"))


def _organization(body: Json) -> Organization:
    return Organization(
        id=_text(body, "id"),
        name=_text(body, "name"),
        active=body.get("active") is not False,
        default_cost_per_gallon=_number(body, "defaultCostPerGallon"),
    )


def device_page(body: Any) -> DevicePage:
    """A page with its total, or the bare array of a server that doesn't page."""
    if isinstance(body, list):
        devices = tuple(_device(_object(d, "device")) for d in cast(list[Any], body))
        return DevicePage(devices, len(devices))
    answer = _object(body, "answer")
    devices = tuple(_device(_object(each, "device")) for each in _list(answer.get("data"), "data"))
    return DevicePage(devices, _whole(answer, "total"))


def _device(body: Json) -> Device:
    serial = _text(body, "serialNumber")
    return Device(
        id=_text(body, "id"),
        serial_number=serial,
        network_unique_identifier=_text(body, "networkUniqueIdentifier", ""),
        category=_text(body, "category", ""),
        label=_text(body, "label", "") or serial,
        model=_text(body, "model", ""),
        time_zone=_text(body, "deviceTimeZone", "") or "UTC",
        installed=body.get("installed") is not False,
        installed_on_ms=_instant(body, "installedOn"),
        created_ms=_instant(body, "created"),
        cost_per_gallon=_maybe_object(body, "costPerGallon"),
        k_factor=_maybe_object(body, "kFactor"),
        config=_maybe_object(body, "config"),
    )


def series(body: Any) -> Series:
    """A DatapointsResponse or AdaptiveResponse, with row objects or with columns."""
    answer = _object(body, "answer")
    resolution = RESOLUTION_BY_NAME.get(_text(answer, "resolution"))
    if resolution is None:
        raise UnexpectedAnswer(f"resolution: {answer['resolution']!r} is not one of the interface")
    if "columns" in answer:
        columns = dict(_object(answer["columns"], "columns"))
    else:
        columns = _turned(_list(answer.get("data"), "data"))
    stamps: Any = columns.pop(resolution.stamp, None if columns else []) if resolution.stamp else []
    times = _times(stamps, str(resolution.stamp))
    _check_columns(columns, len(times) if resolution.stamp else None)
    times, columns = _ascending(times, columns)
    return Series(
        resolution=resolution,
        times_ms=times,
        columns=columns,
        count=_maybe_whole(answer, "count"),
        truncated=answer.get("truncated") is True,
        timezone=_maybe_text(answer, "timezone"),
    )


def _turned(rows: list[Any]) -> dict[str, Any]:
    """Row objects as columns; a key that some rows lack is null there."""
    objects = [_object(row, "data") for row in rows]
    names = dict.fromkeys(chain.from_iterable(objects))
    return {name: [row.get(name) for row in objects] for name in names}


def _times(stamps: Any, name: str) -> list[int]:
    values = _list(stamps, name)
    if not set(map(type, values)) - {int}:
        return values
    try:
        return [parse_instant(value) for value in values]
    except (TypeError, ValueError):
        raise UnexpectedAnswer(f"{name}: a row has no valid instant") from None


def _check_columns(columns: Mapping[str, Any], length: int | None) -> None:
    for name, values in columns.items():
        if length is not None and len(_list(values, name)) != length:
            raise UnexpectedAnswer(f"{name}: has another length than the instants")
        if name in _NUMBER_COLUMNS and set(map(type, values)) - _NUMBERS:
            raise UnexpectedAnswer(f"{name}: must be numbers or null")


def _ascending(times: list[int], columns: dict[str, Any]) -> tuple[list[int], dict[str, Any]]:
    """In order of time; the interface doesn't promise an order of the rows."""
    if not any(after < before for before, after in pairwise(times)):
        return times, columns
    order = sorted(range(len(times)), key=times.__getitem__)
    return (
        [times[i] for i in order],
        {name: [values[i] for i in order] for name, values in columns.items()},
    )


def latest(body: Any) -> Latest:
    answer = _object(body, "answer")
    window = _object(answer.get("range"), "range")
    return Latest(
        from_ms=_needed_instant(window, "from"),
        to_ms=_needed_instant(window, "to"),
        quality_resolution=_maybe_text(answer, "qualityResolution"),
        uptime_resolution=_maybe_text(answer, "uptimeResolution"),
        expected_buckets=_maybe_whole(answer, "expectedBuckets") or 0,
        entries=tuple(_entry(_object(e, "data")) for e in _list(answer.get("data"), "data")),
    )


def _entry(body: Json) -> LatestEntry:
    uptime, quality = _maybe_object(body, "uptime"), _maybe_object(body, "quality")
    last = _maybe_object(body, "lastDatapoint")
    last_ms = _instant(last, "recordedAt")
    seen_ms = _instant(body, "lastSeen")
    return LatestEntry(
        device_id=_text(body, "deviceId"),
        serial_number=_text(body, "serialNumber"),
        network_unique_identifier=_text(body, "networkUniqueIdentifier", ""),
        last_seen_ms=seen_ms if seen_ms is not None else last_ms,
        uptime_actual=_maybe_whole(uptime, "actual"),
        uptime_expected=_maybe_whole(uptime, "expected"),
        quality_min=_number(quality, "min"),
        quality_max=_number(quality, "max"),
        last_datapoint_ms=last_ms,
        last_datapoint={m: _number(last, m.field) for m in METRICS} if last else {},
    )


def count(body: Any) -> int:
    return _whole(_object(body, "answer"), "count")


def version(body: Any) -> str:
    return _text(_object(body, "answer"), "version")


# --- One field -----------------------------------------------------------------------------------

_REQUIRED: Any = object()


def _object(value: Any, name: str) -> Json:
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{name}: must be an object")
    return cast(Json, value)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"{name}: must be an array")
    return cast(list[Any], value)


def _maybe_object(body: Json, name: str) -> Json:
    value = body.get(name)
    return cast(Json, value) if isinstance(value, dict) else {}


def _text(body: Json, name: str, default: str = _REQUIRED) -> str:
    value = body.get(name)
    if isinstance(value, str):
        return value
    if default is _REQUIRED:
        raise UnexpectedAnswer(f"{name}: must be a text")
    return default


def _maybe_text(body: Json, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _number(body: Json, name: str) -> float | None:
    value = body.get(name)
    return value if type(value) in (int, float) else None


def _maybe_whole(body: Json, name: str) -> int | None:
    value = _number(body, name)
    return int(value) if value is not None else None


def _whole(body: Json, name: str) -> int:
    value = _maybe_whole(body, name)
    if value is None:
        raise UnexpectedAnswer(f"{name}: must be a number")
    return value


def _instant(body: Json, name: str) -> int | None:
    """None where it is missing, null or unreadable: an optional date doesn't spoil a page."""
    value = body.get(name)
    try:
        return parse_instant(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _needed_instant(body: Json, name: str) -> int:
    value = _instant(body, name)
    if value is None:
        raise UnexpectedAnswer(f"{name}: must be a date-time")
    return value


__all__ = [
    "Device",
    "DevicePage",
    "Latest",
    "LatestEntry",
    "Organization",
    "Series",
    "count",
    "device_page",
    "latest",
    "organizations",
    "series",
    "version",
]
