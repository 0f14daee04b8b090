"""The meters of the demo fleet, one row each. Doesn't import numpy, so that checking for the fleet
is quick."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.domain.demo_fleet import ABOUT_ROWS as ABOUT_ROWS
from api.domain.demo_fleet import MARK as MARK
from api.domain.demo_fleet import SEED as SEED
from api.store.base import NewDevice
from api.timez import stamp

ORGANIZATION_ID: Final = "6f1de1a0-6d0e-5f43-9a55-2c7b1f0e8d01"
ORGANIZATION_NAME: Final = "Northside Properties"
COST_PER_GALLON: Final = 0.012
PRICE: Final = {"value": COST_PER_GALLON, "currency": "USD"}  # tenants have a tariff instead
HISTORY_MS: Final = 30 * DAY_MS
LONG_HISTORY_MS: Final = 75 * DAY_MS
"""Of meters that report seldom. A night flow step is judged by two months, the month's end by the
forecasts of a finished month of 20 meters."""
LONGEST_GAP_MS: Final = 7 * DAY_MS
EXCHANGED_MS: Final = 12 * DAY_MS  # of the meter with a register, before the fleet was set up
SET_BACK_MS: Final = 3 * DAY_MS  # its register
SILENT_MS: Final = 6 * HOUR_MS + 12 * MINUTE_MS


class Pattern(StrEnum):
    """How water is used."""

    DOMESTIC = "domestic"  # two peaks a day, later at weekends
    OFFICE = "office"  # weekdays from eight to six
    STEADY = "steady"  # always; a little more in the afternoon
    SCHEDULE = "schedule"  # on some nights, for hours
    CYCLES = "cycles"  # tanks that are filled and drained
    EVENTS = "events"  # a reading at the end of each draw, and a heartbeat
    NONE = "none"  # no flow at all: a gateway


class Condition(StrEnum):
    """The condition of a meter: healthy, or its fault."""

    HEALTHY = "healthy"
    LEAKING = "leaking"  # for six days
    SILENT = "silent"  # for six hours
    DEGRADED = "degraded"  # minutes are missing
    LOW_QUALITY = "low quality"
    OUTAGE = "outage"  # a gap two days ago
    BURST = "burst"  # for thirty hours
    NIGHT_FLOW = "night flow"  # has risen for six days
    HIGH_FLOW = "high flow"  # for two hours
    UNUSUAL_DAY = "unusual day"  # yesterday
    NO_USE = "no use"  # for ten days
    STUCK = "stuck"  # for twenty hours
    BACKWARDS = "backwards"  # for five hours
    FROST = "frost"  # for five days
    WEAK_SIGNAL = "weak signal"
    NEVER_SEEN = "never seen"
    INACTIVE = "inactive"  # taken out nine days ago


class Site(NamedTuple):
    name: str
    time_zone: str
    outdoor_celsius: float


TOWER = Site("Northside Tower", "America/Denver", 16.0)
HARBOR = Site("Harbor Point", "America/New_York", 12.0)
LAKE = Site("Lakeview Court", "America/Chicago", 12.0)
MESA = Site("Mesa Campus", "America/Phoenix", 24.0)
BAY = Site("Bayside Lofts", "America/Los_Angeles", 17.0)
PUNE = Site("Pune Works", "Asia/Kolkata", 27.0)


class Meter(NamedTuple):
    """``rate`` is the flow at busy times, in gal/min; ``cadence_s`` is how often it reports.
    ``register``: it sends a register."""

    label: str
    site: Site
    kind: str
    pattern: Pattern
    rate: float
    cadence_s: int
    condition: Condition = Condition.HEALTHY
    register: bool = False

    @property
    def history_ms(self) -> int:
        """Returns the length of the history when the fleet is set up."""
        budgeted = self.kind in (TENANTS, IRRIGATION) and self.cadence_s >= 300
        return LONG_HISTORY_MS if budgeted or self.cadence_s >= 900 else HISTORY_MS


_FLOWING: Final[dict[Pattern, dict[str, Any]]] = {
    Pattern.STEADY: {"continuousFlowByDesign": True},
    Pattern.DOMESTIC: {"continuousFlowLimit": 15},  # so many users that someone is always awake
    Pattern.EVENTS: {"continuousFlowLimit": 4},
}
_HIGH_FLOW: Final = {"highFlowLimit": 35}  # gal/min
IRRIGATION: Final = "Irrigation"
TENANTS: Final = "Tenants"  # persons or beds, where the number is known
PERSONS_A_GALLON: Final = 4.2  # gal/min, at busy times

_D, _O, _S = Pattern.DOMESTIC, Pattern.OFFICE, Pattern.STEADY
_N, _C, _E = Pattern.SCHEDULE, Pattern.CYCLES, Pattern.EVENTS

METERS: Final[tuple[Meter, ...]] = (
    Meter("Cooling tower A", TOWER, "Cooling", _S, 18.0, 60),
    Meter("Irrigation north", TOWER, "Irrigation", _N, 42.0, 300),
    Meter("Boiler feed", TOWER, "Plant", _C, 11.0, 60, Condition.BACKWARDS),
    Meter("Tenant 12 main", TOWER, "Tenants", _D, 16.0, 60, Condition.DEGRADED),
    Meter("Fire loop jockey", TOWER, "Plant", _E, 6.0, 300),
    Meter("Kitchen line", TOWER, "Tenants", _E, 4.5, 300),
    Meter("Greywater return", TOWER, "Plant", _S, 7.0, 60, Condition.SILENT),
    Meter("Tower B make-up", TOWER, "Cooling", _S, 14.0, 60),
    Meter("Dialysis RO", HARBOR, "Process", _C, 3.2, 10),
    Meter("Laundry hot", TOWER, "Tenants", _C, 8.5, 60),
    Meter("Lobby fountain", TOWER, "Plant", _O, 1.4, 300, Condition.UNUSUAL_DAY),
    Meter("Car wash", MESA, "Process", _O, 13.0, 60, Condition.LOW_QUALITY),
    Meter("Zone 4 drip", MESA, "Irrigation", _N, 3.0, 900),
    Meter("Chiller condenser", HARBOR, "Cooling", _S, 24.0, 60),
    Meter("Penthouse riser", TOWER, "Risers", _D, 5.5, 60, Condition.LEAKING),
    Meter("Loading dock", HARBOR, "Plant", _E, 5.0, 300),
    Meter("Brew kettle", BAY, "Process", _C, 9.0, 60),
    Meter("Cellar glycol", BAY, "Process", _S, 2.8, 60, Condition.OUTAGE),
    Meter("RO reject", HARBOR, "Process", _C, 1.6, 300),
    Meter("Softener bank", TOWER, "Plant", _C, 7.5, 900, Condition.STUCK),
    Meter("East riser", TOWER, "Risers", _D, 12.0, 60, Condition.NEVER_SEEN),
    Meter("West riser", TOWER, "Risers", _D, 12.5, 60),
    Meter("Gym showers", TOWER, "Tenants", _D, 9.0, 300),
    Meter("Pool make-up", BAY, "Plant", _S, 2.2, 900),
    Meter("Main supply", TOWER, "Mains", _D, 64.0, 10),
    Meter("Irrigation south", TOWER, "Irrigation", _N, 38.0, 300),
    Meter("Tenant 1 main", HARBOR, "Tenants", _D, 7.0, 900),
    Meter("Tenant 2 main", HARBOR, "Tenants", _D, 6.2, 900, Condition.NIGHT_FLOW),
    Meter("Tenant 3 main", HARBOR, "Tenants", _D, 7.8, 900),
    Meter("Tenant 4 main", HARBOR, "Tenants", _O, 5.1, 900),
    Meter("Tenant 5 main", HARBOR, "Tenants", _O, 4.4, 900),
    Meter("Harbor main", HARBOR, "Mains", _D, 48.0, 60),
    Meter("Ice machine", HARBOR, "Process", _E, 1.2, 300),
    Meter("Court A domestic", LAKE, "Tenants", _D, 13.0, 300),
    Meter("Court B domestic", LAKE, "Tenants", _D, 14.5, 300),
    Meter("Court C domestic", LAKE, "Tenants", _D, 12.2, 300),
    Meter("Court D domestic", LAKE, "Tenants", _D, 15.1, 300),
    Meter("Court laundry", LAKE, "Tenants", _E, 7.0, 300),
    Meter("Lakeview main", LAKE, "Mains", _D, 55.0, 60),
    Meter("Clubhouse", LAKE, "Tenants", _O, 3.3, 900, Condition.NO_USE),
    Meter("Lakeview irrigation", LAKE, "Irrigation", _N, 33.0, 900, Condition.FROST),
    Meter("Lecture hall", MESA, "Tenants", _O, 6.4, 300),
    Meter("Chemistry lab", MESA, "Process", _O, 4.8, 60),
    Meter("Canteen dish line", MESA, "Process", _E, 6.6, 300),
    Meter("Dormitory hot", MESA, "Tenants", _D, 17.0, 60, Condition.HIGH_FLOW),
    Meter("Dormitory cold", MESA, "Tenants", _D, 21.0, 60),
    Meter("Mesa main", MESA, "Mains", _D, 70.0, 60),
    Meter("Stadium field", MESA, "Irrigation", _N, 58.0, 300),
    Meter("Swamp coolers", MESA, "Cooling", _S, 9.5, 300),
    Meter("Loft 21", BAY, "Tenants", _E, 3.1, 300),
    Meter("Loft 22", BAY, "Tenants", _E, 2.9, 300),
    Meter("Loft garden", BAY, "Irrigation", _N, 4.0, 900, Condition.WEAK_SIGNAL),
    Meter("Bayside main", BAY, "Mains", _D, 26.0, 300, Condition.BURST),
    Meter("Bayside boiler", BAY, "Plant", _C, 4.0, 900),
    Meter("Rinse line 1", PUNE, "Process", _C, 12.0, 60),
    Meter("Rinse line 2", PUNE, "Process", _C, 11.2, 300),
    Meter("Works canteen", PUNE, "Tenants", _O, 5.6, 900, register=True),
    Meter("Works main", PUNE, "Mains", _O, 31.0, 900),
    Meter("Old harbor main", HARBOR, "Mains", _D, 40.0, 900, Condition.INACTIVE),
    Meter("Roof gateway", TOWER, "Gateways", Pattern.NONE, 0.0, 300),
)


SUB_METERS: Final = {  # by main
    "Lakeview main": (
        "Court A domestic", "Court B domestic", "Court C domestic", "Court D domestic",
    ),
}  # fmt: skip
UNACCOUNTED: Final = 0.06  # of what the sub-meters measure: leakage between the main and them


@dataclass(frozen=True, slots=True)
class Character:
    """The constant properties of a meter: its names, its radio and its clock."""

    meter: Meter
    serial: str
    id: str
    network_id: str
    stream: int
    phase: float
    pulses_per_gallon: float
    rssi: float
    signal: float
    loss: float


def _character(index: int, meter: Meter) -> Character:
    serial = f"FM-{10412 + 37 * index}"
    stream = int.from_bytes(hashlib.sha256(f"{SEED} {serial}".encode()).digest()[:8], "big")
    dice = random.Random(stream)
    return Character(
        meter=meter,
        serial=serial,
        id=str(uuid5(NAMESPACE_URL, f"weir-demo/{serial}")),
        network_id=f"70B3D57ED{dice.randrange(16**7):07X}",
        stream=stream,
        phase=dice.uniform(0.15, 0.8),  # off the bucket's edge, so that each bucket holds one
        pulses_per_gallon=round(4000 / max(meter.rate, 1.0)) / 10 * dice.choice((4, 5, 6)),
        rssi=dice.uniform(-104, -72),
        signal=dice.uniform(-88, -58),
        loss=dice.uniform(0.001, 0.006),
    )


FLEET: Final = tuple(_character(index, meter) for index, meter in enumerate(METERS))
_BY_LABEL: Final = {one.meter.label: one for one in FLEET}
_MAINS: Final = {label: main for main, labels in SUB_METERS.items() for label in labels}


def sub_meters(one: Character) -> tuple[Character, ...]:
    """Returns the meters whose water this one measures too; none unless it is a main."""
    return tuple(_BY_LABEL[label] for label in SUB_METERS.get(one.meter.label, ()))


def device(one: Character, origin_ms: int) -> NewDevice:
    """Returns the meter as an entry of a device import."""
    meter = one.meter
    age_ms = 240 * DAY_MS + one.stream % (900 * DAY_MS)
    installed_on = stamp((origin_ms - age_ms) // 1000 * 1000)
    gateway = meter.pattern is Pattern.NONE
    fields: dict[str, Any] = {
        "id": one.id,
        "networkUniqueIdentifier": one.network_id,
        "category": "Gateway" if gateway else "EndDevice",
        "label": meter.label,
        "created": installed_on,
        "installedOn": installed_on,
        "installed": meter.condition is not Condition.INACTIVE,
        "active": meter.condition is not Condition.INACTIVE,
        "alertsActive": not gateway and meter.condition is not Condition.INACTIVE,
        "costPerGallon": {} if gateway or meter.kind == TENANTS else PRICE,
        "kFactor": {} if gateway else {"value": one.pulses_per_gallon, "unit": "pulses/gal"},
        "deviceTimeZone": meter.site.time_zone,
        "model": "GW-10" if gateway else _model(meter),
        "reportingInterval": meter.cadence_s,
    }
    config = _FLOWING.get(meter.pattern, {}) | (
        _HIGH_FLOW if meter.condition is Condition.HIGH_FLOW else {}
    )
    if meter.kind == TENANTS:
        persons = round(meter.rate * PERSONS_A_GALLON) + one.stream % 7
        config |= {"attributes": {"persons": persons, "floorArea": persons * (24 + one.stream % 9)}}
    if meter.register:
        exchange = {"at": stamp(origin_ms - EXCHANGED_MS), "first": 0}
        config |= {"registerUnit": "m3", "registerDigits": 5, "meterExchanges": [exchange]}
    if config:
        fields["config"] = config
    if meter.label in _MAINS:
        fields["parent"] = _BY_LABEL[_MAINS[meter.label]].serial
    return NewDevice(one.serial, fields, (meter.site.name, meter.kind))


def _model(meter: Meter) -> str:
    if meter.pattern is Pattern.EVENTS:
        return "FX-120E"
    return "FX-400" if meter.rate >= 25 else "FX-200"
