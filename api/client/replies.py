"""The service's responses as typed values.

Parsers are strict about what Weir depends on and lenient about everything else: optional fields may
be missing, unknown fields and columns are ignored, row objects and columns become the same
`Series`. A violation of the interface raises UnexpectedAnswer naming the field. Times are epoch
milliseconds (UTC) here, whatever the response's zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, pairwise
from types import NoneType
from typing import Any, cast

from api.catalog import AGGREGATE_COLUMNS, METRICS, RESOLUTION_BY_NAME, Metric, Resolution
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    maybe_whole,
    needed_instant,
    number,
    text,
    whole,
)
from api.errors import UnexpectedAnswer
from api.timez import parse_instant

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
    objects without a fixed schema: read them defensively."""

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
        """The configured reporting interval; None if there is none."""
        value = number(self.config, "reportingInterval")
        return value if value is not None and value > 0 else None


@dataclass(frozen=True, slots=True)
class DevicePage:
    """``total`` is the number of matches on all pages."""

    devices: tuple[Device, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Series:
    """Rows of one device, column by column, ascending in time.

    ``times_ms`` are bucket starts, or the readings' instants for raw rows; empty for ``total``.
    ``count`` is the number of rows in the whole range if the response has it. ``truncated``: these
    rows stop before its end. ``undated`` are those of ``times_ms`` that are arrival times, because
    the readings were sent without one. ``spread``: (after, up to) of the gaps between registers
    over which a volume is spread. Only Weir's own server returns these two.
    """

    resolution: Resolution
    times_ms: Sequence[int]
    columns: Mapping[str, Sequence[float | None]]
    count: int | None = None
    truncated: bool = False
    timezone: str | None = None
    undated: Set[int] = frozenset()
    spread: Sequence[tuple[int, int]] = ()

    def __len__(self) -> int:
        return len(self.times_ms)

    def values(self, column: str) -> Sequence[float | None]:
        """Returns one column; all nulls where the response doesn't have it."""
        return self.columns.get(column) or [None] * len(self.times_ms)

    def pairs(self, column: str) -> list[tuple[int, float | None]]:
        """Returns (instant, value) of one column."""
        return list(zip(self.times_ms, self.values(column), strict=True))


@dataclass(frozen=True, slots=True)
class LatestEntry:
    """The requested metrics of one device; None for those that weren't requested or are unknown."""

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
    return tuple(_organization(an_object(each, "organization")) for each in a_list(body, "answer"))


def _organization(body: Json) -> Organization:
    return Organization(
        id=text(body, "id"),
        name=text(body, "name"),
        active=body.get("active") is not False,
        default_cost_per_gallon=number(body, "defaultCostPerGallon"),
    )


def device_page(body: Any) -> DevicePage:
    """Reads a page with its total, or the bare array of a server without paging."""
    if isinstance(body, list):
        devices = tuple(device(an_object(d, "device")) for d in cast(list[Any], body))
        return DevicePage(devices, len(devices))
    answer = an_object(body, "answer")
    devices = tuple(
        device(an_object(each, "device")) for each in a_list(answer.get("data"), "data")
    )
    return DevicePage(devices, whole(answer, "total"))


def device(body: Json) -> Device:
    serial = text(body, "serialNumber")
    return Device(
        id=text(body, "id"),
        serial_number=serial,
        network_unique_identifier=text(body, "networkUniqueIdentifier", ""),
        category=text(body, "category", ""),
        label=text(body, "label", "") or serial,
        model=text(body, "model", ""),
        time_zone=text(body, "deviceTimeZone", "") or "UTC",
        installed=body.get("installed") is not False,
        installed_on_ms=instant(body, "installedOn"),
        created_ms=instant(body, "created"),
        cost_per_gallon=maybe_object(body, "costPerGallon"),
        k_factor=maybe_object(body, "kFactor"),
        config=maybe_object(body, "config"),
    )


def series(body: Any) -> Series:
    """Reads a DatapointsResponse or AdaptiveResponse, with row objects or columns."""
    answer = an_object(body, "answer")
    resolution = RESOLUTION_BY_NAME.get(text(answer, "resolution"))
    if resolution is None:
        raise UnexpectedAnswer(
            f"resolution: {answer['resolution']!r} is not a resolution of the interface"
        )
    if "columns" in answer:
        columns = dict(an_object(answer["columns"], "columns"))
    else:
        columns = _as_columns(a_list(answer.get("data"), "data"))
    stamps: Any = columns.pop(resolution.stamp, None if columns else []) if resolution.stamp else []
    times = _times(stamps, str(resolution.stamp))
    _check_columns(columns, len(times) if resolution.stamp else None)
    times, columns = _ascending(times, columns)
    return Series(
        resolution=resolution,
        times_ms=times,
        columns=columns,
        count=maybe_whole(answer, "count"),
        truncated=answer.get("truncated") is True,
        timezone=maybe_text(answer, "timezone"),
        undated=frozenset(_times(answer.get("undated", []), "undated")),
        spread=[_span(each) for each in a_list(answer.get("spread", []), "spread")],
    )


def _span(value: Any) -> tuple[int, int]:
    ends = _times(value, "spread")
    if len(ends) != 2:
        raise UnexpectedAnswer("spread: must have a start and an end")
    return ends[0], ends[1]


def _as_columns(rows: list[Any]) -> dict[str, Any]:
    """Converts row objects to columns; a key that some rows lack is null there."""
    objects = [an_object(row, "data") for row in rows]
    names = dict.fromkeys(chain.from_iterable(objects))
    return {name: [row.get(name) for row in objects] for name in names}


def _times(stamps: Any, name: str) -> list[int]:
    values = a_list(stamps, name)
    if not set(map(type, values)) - {int}:
        return values
    try:
        return [parse_instant(value) for value in values]
    except (TypeError, ValueError):
        raise UnexpectedAnswer(f"{name}: a row has no valid timestamp") from None


def _check_columns(columns: Mapping[str, Any], length: int | None) -> None:
    for name, values in columns.items():
        if length is not None and len(a_list(values, name)) != length:
            raise UnexpectedAnswer(f"{name}: must be as long as the timestamps")
        if name in _NUMBER_COLUMNS and set(map(type, values)) - _NUMBERS:
            raise UnexpectedAnswer(f"{name}: must be numbers or null")


def _ascending(times: list[int], columns: dict[str, Any]) -> tuple[list[int], dict[str, Any]]:
    """Sorts by time; the interface doesn't promise an order of the rows."""
    if not any(after < before for before, after in pairwise(times)):
        return times, columns
    order = sorted(range(len(times)), key=times.__getitem__)
    return (
        [times[i] for i in order],
        {name: [values[i] for i in order] for name, values in columns.items()},
    )


def latest(body: Any) -> Latest:
    answer = an_object(body, "answer")
    window = an_object(answer.get("range"), "range")
    return Latest(
        from_ms=needed_instant(window, "from"),
        to_ms=needed_instant(window, "to"),
        quality_resolution=maybe_text(answer, "qualityResolution"),
        uptime_resolution=maybe_text(answer, "uptimeResolution"),
        expected_buckets=maybe_whole(answer, "expectedBuckets") or 0,
        entries=tuple(_entry(an_object(e, "data")) for e in a_list(answer.get("data"), "data")),
    )


def _entry(body: Json) -> LatestEntry:
    uptime, quality = maybe_object(body, "uptime"), maybe_object(body, "quality")
    last = maybe_object(body, "lastDatapoint")
    last_ms = instant(last, "recordedAt")
    seen_ms = instant(body, "lastSeen")
    return LatestEntry(
        device_id=text(body, "deviceId"),
        serial_number=text(body, "serialNumber"),
        network_unique_identifier=text(body, "networkUniqueIdentifier", ""),
        last_seen_ms=seen_ms if seen_ms is not None else last_ms,
        uptime_actual=maybe_whole(uptime, "actual"),
        uptime_expected=maybe_whole(uptime, "expected"),
        quality_min=number(quality, "min"),
        quality_max=number(quality, "max"),
        last_datapoint_ms=last_ms,
        last_datapoint={m: number(last, m.field) for m in METRICS} if last else {},
    )


def count(body: Any) -> int:
    return whole(an_object(body, "answer"), "count")


def version(body: Any) -> str:
    return text(an_object(body, "answer"), "version")


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
