"""The input of the rules of findings: a device's facts, settings and readings."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, NamedTuple

from api.catalog import HOUR_MS, RAW, STORED, Resolution
from api.insight.findings import Device, HourRow, Minute, RegisterFall, Settings
from api.insight.findings.device_config import settings_of
from api.insight.maintenance import maintenance_spans
from api.insight.tariffs import Prices
from api.metering.cadence import Cadence, steady
from api.metering.maintenance import merged as merged_spans
from api.metering.meter_size import size_rate
from api.metering.uptime import resolution_for
from api.store import base
from api.store.base import (
    LEVELS,
    Annotation,
    FindingLevel,
    FindingSetting,
    HourOfReadings,
    Span,
    Store,
)
from api.timez import MINUTE_MS, zone_or_utc

Layered = Mapping[tuple[FindingLevel, str], dict[str, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Facts:
    """A device's facts and settings. ``basis`` changes with anything that can change findings."""

    device: Device
    settings: Settings
    cadence: Cadence

    @property
    def basis(self) -> str:
        device = self.device
        parts = [
            str(device.zone), self.cadence, device.price, sorted(device.holidays),
            device.excluded, device.maintained, device.max_rate, self.settings,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class OfOrganization:
    """The price, settings and holidays that an organization's devices share."""

    prices: Prices
    settings: Layered
    holidays: frozenset[int]

    @classmethod
    def read(cls, store: Store, organization_id: str) -> OfOrganization:
        return cls(
            Prices.read(store, organization_id),
            layered(store.finding_settings(organization_id)),
            holidays_of(store, organization_id),
        )


def holidays_of(store: Store, organization_id: str) -> frozenset[int]:
    """Returns the ordinals of an organization's holidays."""
    days = store.holidays(organization_id)
    return frozenset(date.fromisoformat(day).toordinal() for day in days)


def layered(settings: Sequence[FindingSetting]) -> Layered:
    """Returns, by level and target: kind → setting → value."""
    layers: dict[tuple[FindingLevel, str], dict[str, dict[str, float]]] = {}
    for each in settings:
        kinds = layers.setdefault((each.level, each.target), {})
        kinds.setdefault(each.kind, {})[each.name] = each.value
    return layers


def facts_of(
    device: base.Device,
    groups: Sequence[str],
    shared: OfOrganization,
    cadence: Cadence,
    planned: Sequence[Annotation] = (),
    corrections: Sequence[Annotation] = (),
    *,
    at_ms: int = 0,
    month_volume: float | None = None,
) -> Facts:
    """``planned`` is maintenance of the device and of its groups. A tariff's price is the marginal
    rate at ``at_ms``, in the tier that ``month_volume`` reaches."""
    price = shared.prices.price(device, groups, at_ms, month_volume)
    usual = steady(cadence)
    maintained = tuple(maintenance_spans(planned))
    corrected = ((each.from_ms, each.to_ms or each.from_ms) for each in corrections)
    facts = Device(
        zone=zone_or_utc(device.time_zone),
        cadence_s=usual.expected_ms / 1000,
        price=None if price is None else price.per_gallon,
        holidays=shared.holidays,
        excluded=tuple(merged_spans((*maintained, *corrected))),
        maintained=maintained,
        max_rate=size_rate(device.config),
    )
    return Facts(facts, merged(device, groups, shared.settings), usual)


class Layer(NamedTuple):
    """Settings of one origin: the organization, a group (``target`` its name), the device's
    configuration ("config"), or the device (``target`` its UUID)."""

    origin: FindingLevel | Literal["config"]
    target: str
    settings: Settings


def layers_of(
    settings: Layered,
    groups: Sequence[str] = (),
    device_id: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> list[Layer]:
    """Returns the organization's settings, then the groups' by name, then those of the device's
    configuration, then the device's own. The last one takes precedence."""
    organization, group, own = LEVELS
    layers = [
        Layer(organization, "", settings.get((organization, ""), {})),
        *(Layer(group, name, settings.get((group, name), {})) for name in sorted(groups)),
    ]
    if device_id is not None:
        layers.append(Layer("config", device_id, settings_of(config or {})))
        layers.append(Layer(own, device_id, settings.get((own, device_id), {})))
    return layers


def merged(device: base.Device, groups: Sequence[str], settings: Layered) -> Settings:
    """Returns the settings in effect for a device."""
    result: dict[str, dict[str, float]] = {}
    for layer in layers_of(settings, groups, device.id, device.config):
        for kind, values in layer.settings.items():
            result.setdefault(kind, {}).update(values)
    return result


# --- Readings ------------------------------------------------------------------------------------


class ReadingsOfDevice:
    """`api.insight.findings.Readings`, from the rollups. A gap between registers is one without
    readings here: the volumes spread over it are estimates, and the meter sent nothing."""

    def __init__(self, store: Store, device: base.Device, cadence: Cadence) -> None:
        self._store, self._device, self._cadence = store, device, cadence
        self._key = device.key
        self._falls: tuple[int, list[RegisterFall]] | None = None  # instants from here on are read
        self._gaps: tuple[int, list[tuple[int, int]]] | None = None  # likewise
        self.last_ms: int | None = None
        """The start of the latest hour that was read."""

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        rows = self._store.hours_of_readings(self._key, 0 if from_ms is None else from_ms)
        if rows:
            self.last_ms = rows[-1].start_ms
        return [
            HourRow(*row[:2], coverage(row, self._cadence), *row[2:7])
            for row in rows
            if row.raw != 1 or not self._is_spread(row.start_ms, row.start_ms + HOUR_MS)
        ]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        minutes = [Minute(*row) for row in self._store.minute_rates(self._key, from_ms, to_ms)]
        return [
            each
            for each in minutes
            if (each.start_ms + MINUTE_MS) % HOUR_MS
            or not self._is_spread(each.start_ms, each.start_ms + MINUTE_MS)
        ]

    def _is_spread(self, start_ms: int, end_ms: int) -> bool:
        """Whether the bucket lies within a gap whose volume is spread over its hours."""
        if self._gaps is None or start_ms < self._gaps[0]:
            self._gaps = start_ms, self._store.spread_spans(self._device, Span(start_ms))
        gaps = self._gaps[1]
        place = bisect_left(gaps, (start_ms, 0))
        return place > 0 and end_ms <= gaps[place - 1][1]

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]:
        if self._falls is None or from_ms < self._falls[0]:
            falls = self._store.register_falls(self._device, from_ms)
            self._falls = (
                from_ms,
                [RegisterFall(each.ts, each.fall, each.before or 0.0) for each in falls],
            )
        return [each for each in self._falls[1] if from_ms <= each.recorded_at_ms < to_ms]


_COUNTS: Final = {RAW: "raw", **dict(zip(STORED, ("ones", "fives", "tens"), strict=False))}


def whole_hour(cadence: Cadence) -> tuple[Resolution, float] | None:
    """Returns the resolution whose rows an hour's coverage counts, and the number of rows of a
    whole hour: buckets of uptime's resolution, or of the cadence for a device that reports less
    often. None where one reading covers the hour."""
    if cadence.expected_ms >= HOUR_MS:
        return None
    resolution = resolution_for(cadence)
    if resolution in _COUNTS:
        return resolution, HOUR_MS / resolution.fixed_ms
    return RAW, HOUR_MS / cadence.ms


def coverage(row: HourOfReadings, cadence: Cadence) -> float:
    """Returns the share of an hour's expected rows that exist."""
    whole = whole_hour(cadence)
    if whole is None:
        return 1.0
    resolution, expected = whole
    return min(1.0, getattr(row, _COUNTS[resolution]) / expected)
