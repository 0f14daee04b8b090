"""What the rules of findings must know of a device: its facts, its settings, its readings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from api.catalog import HOUR_MS, STORED
from api.insight.findings import Device, HourRow, Minute, Register, Settings
from api.insight.findings.device_config import settings_of
from api.insight.maintenance import maintenance_spans
from api.metering.cadence import EVENT_EXPECTED_MS, USUAL_MS, Cadence
from api.metering.cost import device_price, price_of
from api.metering.maintenance import merged as merged_spans
from api.metering.uptime import resolution_for
from api.store import base
from api.store.base import LEVELS, Annotation, FindingLevel, FindingSetting, HourOfReadings, Store
from api.timez import zone, zone_names

Layered = Mapping[tuple[FindingLevel, str], dict[str, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Facts:
    """``basis`` changes with anything here by which findings could be others."""

    device: Device
    settings: Settings
    cadence: Cadence

    @property
    def basis(self) -> str:
        device = self.device
        said = [
            str(device.zone), self.cadence, device.price, sorted(device.holidays),
            device.excluded, device.maintained, device.max_rate, device.registers,
            self.settings,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class OfOrganization:
    """What its devices share."""

    price: float | None
    settings: Layered
    holidays: frozenset[int]

    @classmethod
    def read(cls, store: Store, organization_id: str) -> OfOrganization:
        known = store.organization(organization_id)
        days = store.holidays(organization_id)
        return cls(
            None if known is None else known.default_cost_per_gallon,
            layered(store.finding_settings(organization_id)),
            frozenset(date.fromisoformat(day).toordinal() for day in days),
        )


def layered(settings: Sequence[FindingSetting]) -> Layered:
    """By level and target: kind → setting → value."""
    found: dict[tuple[FindingLevel, str], dict[str, dict[str, float]]] = {}
    for each in settings:
        kinds = found.setdefault((each.level, each.target), {})
        kinds.setdefault(each.kind, {})[each.name] = each.value
    return found


def facts_of(
    device: base.Device,
    groups: Sequence[str],
    shared: OfOrganization,
    cadence: Cadence,
    planned: Sequence[Annotation] = (),
    corrections: Sequence[Annotation] = (),
) -> Facts:
    """``planned`` is its maintenance, its groups' included."""
    name = device.time_zone
    own, currency = device_price(device.cost_per_gallon)
    price = price_of(own, currency, shared.price)
    usual = steady(cadence)
    maintained = tuple(maintenance_spans(planned))
    corrected = ((each.from_ms, each.to_ms or each.from_ms) for each in corrections)
    told = Device(
        zone=zone(name if name in zone_names() else "UTC"),
        cadence_s=usual.expected_ms / 1000,
        price=None if price is None else price.per_gallon,
        holidays=shared.holidays,
        excluded=tuple(merged_spans((*maintained, *corrected))),
        maintained=maintained,
    )
    return Facts(told, merged(device, groups, shared.settings), usual)


def merged(device: base.Device, groups: Sequence[str], settings: Layered) -> Settings:
    """The organization's, then those of its groups by name, then what its configuration says, then
    its own: the last one wins."""
    organization, group, own = LEVELS
    layers = [
        settings.get((organization, ""), {}),
        *(settings.get((group, name), {}) for name in sorted(groups)),
        settings_of(device.config or {}),
        settings.get((own, device.id), {}),
    ]
    found: dict[str, dict[str, float]] = {}
    for layer in layers:
        for kind, values in layer.items():
            found.setdefault(kind, {}).update(values)
    return found


def steady(cadence: Cadence) -> Cadence:
    """One of a few: a cadence that moved with each reading would have all hours judged again."""
    if cadence.event_driven:
        return Cadence(EVENT_EXPECTED_MS, event_driven=True)
    return Cadence(min(USUAL_MS, key=lambda usual: abs(usual - cadence.ms)))


# --- Readings ------------------------------------------------------------------------------------


class ReadingsOfDevice:
    """`api.insight.findings.Readings`, from the rollups."""

    def __init__(self, store: Store, key: int, cadence: Cadence) -> None:
        self._store, self._key, self._cadence = store, key, cadence
        self.last_ms: int | None = None
        """The latest hour that was read."""

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        rows = self._store.hours_of_readings(self._key, 0 if from_ms is None else from_ms)
        if rows:
            self.last_ms = rows[-1].start_ms
        return [HourRow(*row[:2], coverage(row, self._cadence), *row[2:7]) for row in rows]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        return [Minute(*row) for row in self._store.minute_rates(self._key, from_ms, to_ms)]

    def registers(self, from_ms: int, to_ms: int) -> Sequence[Register]:
        return ()


def coverage(row: HourOfReadings, cadence: Cadence) -> float:
    """The share of an hour's buckets that hold a reading, of the size that uptime counts; of rarer
    readings their number."""
    if cadence.expected_ms >= HOUR_MS:
        return 1.0
    counts = dict(zip(STORED, (row.ones, row.fives, row.tens), strict=False))
    resolution = resolution_for(cadence)
    if resolution in counts:
        return counts[resolution] * resolution.fixed_ms / HOUR_MS
    return min(1.0, row.raw * cadence.ms / HOUR_MS)
