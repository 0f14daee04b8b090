"""The input of the rules of findings: a device's facts, settings and readings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, NamedTuple

from api.catalog import HOUR_MS, RAW, STORED, Resolution
from api.insight.findings import Device, HourRow, Minute, RegisterFall, Settings
from api.insight.findings.device_config import settings_of
from api.insight.maintenance import maintenance_spans
from api.insight.tariffs import Prices
from api.metering.cadence import EVENT_EXPECTED_MS, USUAL_MS, Cadence
from api.metering.maintenance import merged as merged_spans
from api.metering.meter_size import size_rate
from api.metering.uptime import resolution_for
from api.store import base
from api.store.base import LEVELS, Annotation, FindingLevel, FindingSetting, HourOfReadings, Store
from api.timez import zone, zone_names

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
    """The ordinals of an organization's holidays."""
    days = store.holidays(organization_id)
    return frozenset(date.fromisoformat(day).toordinal() for day in days)


def layered(settings: Sequence[FindingSetting]) -> Layered:
    """By level and target: kind → setting → value."""
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
    """``planned`` is its maintenance, its groups' included. A tariff's price is the marginal rate
    at ``at_ms``, of the tier that the ``month_volume`` reaches."""
    name = device.time_zone
    price = shared.prices.price(device, groups, at_ms, month_volume)
    usual = steady(cadence)
    maintained = tuple(maintenance_spans(planned))
    corrected = ((each.from_ms, each.to_ms or each.from_ms) for each in corrections)
    facts = Device(
        zone=zone(name if name in zone_names() else "UTC"),
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
    """The organization's, then the groups' by name, then those of the device's configuration, then
    its own. The last one wins."""
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
    """The settings that hold for a device."""
    result: dict[str, dict[str, float]] = {}
    for layer in layers_of(settings, groups, device.id, device.config):
        for kind, values in layer.settings.items():
            result.setdefault(kind, {}).update(values)
    return result


def steady(cadence: Cadence) -> Cadence:
    """The nearest usual cadence: if it changed with each reading, all hours would be evaluated
    again."""
    if cadence.event_driven:
        return Cadence(EVENT_EXPECTED_MS, event_driven=True)
    return Cadence(min(USUAL_MS, key=lambda usual: abs(usual - cadence.ms)))


# --- Readings ------------------------------------------------------------------------------------


class ReadingsOfDevice:
    """`api.insight.findings.Readings`, from the rollups."""

    def __init__(self, store: Store, device: base.Device, cadence: Cadence) -> None:
        self._store, self._device, self._cadence = store, device, cadence
        self._key = device.key
        self._falls: tuple[int, list[RegisterFall]] | None = None  # from an instant on
        self.last_ms: int | None = None
        """The latest hour that was read."""

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        rows = self._store.hours_of_readings(self._key, 0 if from_ms is None else from_ms)
        if rows:
            self.last_ms = rows[-1].start_ms
        return [HourRow(*row[:2], coverage(row, self._cadence), *row[2:7]) for row in rows]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        return [Minute(*row) for row in self._store.minute_rates(self._key, from_ms, to_ms)]

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
    """Of which rows an hour's coverage is counted, and how many make it whole: buckets of the
    resolution of uptime, for rarer readings these; None where one reading tells of the hour."""
    if cadence.expected_ms >= HOUR_MS:
        return None
    resolution = resolution_for(cadence)
    if resolution in _COUNTS:
        return resolution, HOUR_MS / resolution.fixed_ms
    return RAW, HOUR_MS / cadence.ms


def coverage(row: HourOfReadings, cadence: Cadence) -> float:
    """The share of an hour's expected rows that are there."""
    whole = whole_hour(cadence)
    if whole is None:
        return 1.0
    resolution, expected = whole
    return min(1.0, getattr(row, _COUNTS[resolution]) / expected)
