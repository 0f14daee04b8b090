"""The columns of the device list: one row each, with the text of a device's value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.catalog import SIGNAL_STRENGTH
from api.client.status import DeviceStatus, WindowStatus
from api.insight.findings import KIND_BY_NAME
from api.metering import status, uptime
from api.metering.cost import finite
from api.metering.status import DEFAULT_QUALITY_LIMIT
from api.metering.windows import DEFAULT_SPAN
from api.timez import zone_or_utc
from components import formatting
from components.formatting import Clock, measures_water, percent, radio_words
from components.units import US, Units

_NO_WINDOW: Final = WindowStatus(0, 0, None, None)


@dataclass(frozen=True, slots=True)
class Context:
    """The units, zone and time in which a row is written."""

    units: Units
    zone: str | None
    now_ms: int

    def clock(self, row: DeviceStatus, at_ms: int) -> Clock:
        """The clock of the reader's zone, otherwise of the device's."""
        return Clock(zone_or_utc(self.zone, row.device.time_zone), at_ms, at_ms)


@dataclass(frozen=True, slots=True)
class Column:
    """``order``: the service's name for sorting by it, "" if it can't. ``share``: its share of the
    remaining width. ``fixed``: it is always shown; ``narrow``: on a phone too; ``usual``: by
    default. ``text`` None: the browser draws it from other fields of the row (``renderer``).
    ``low``: whether the value needs attention."""

    name: str
    label: str
    least_px: int
    order: str = ""
    text: Callable[[DeviceStatus, Context], str] | None = None
    low: Callable[[DeviceStatus], bool] | None = None
    share: float = 1
    fixed: bool = False
    narrow: bool = False
    usual: bool = False
    numeric: bool = False
    renderer: str = ""


def day(row: DeviceStatus) -> WindowStatus:
    return row.windows.get(DEFAULT_SPAN.name, _NO_WINDOW)


def quality_limit(row: DeviceStatus) -> float:
    limit = finite(row.device.config.get("qualityLimit"))
    return DEFAULT_QUALITY_LIMIT if limit is None else limit


def groups_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    names = config.get("groups")
    return tuple(n for n in names if isinstance(n, str)) if isinstance(names, list) else ()


def parent_of(row: DeviceStatus) -> str:
    """The serial number of the meter upstream; "" without one."""
    parent = row.device.config.get("parent")
    return parent if isinstance(parent, str) else ""


def _findings(row: DeviceStatus, _: Context) -> str:
    labels = (KIND_BY_NAME[kind].label for kind in row.findings if kind in KIND_BY_NAME)
    return ", ".join(labels)


def _flow(row: DeviceStatus, context: Context) -> str:
    """The flow; for a gateway, which has none, its radio signal."""
    if not measures_water(row.device.category):
        return radio_words(row.signal_strength, row.network_rssi)
    if row.flow is None:
        return formatting.NOTHING
    units = context.units
    return f"{_exact(row.flow * units.flow_factor, 2 if units is US else 1)} {units.flow_unit}"


def _volume(gallons: float | None, row: DeviceStatus, context: Context) -> str:
    if gallons is None or not measures_water(row.device.category):
        return formatting.NOTHING
    units = context.units
    return f"{_exact(gallons * units.volume_factor, 0 if units is US else 2)} {units.volume_unit}"


def _exact(value: float, places: int) -> str:
    """The same number of decimals in each row; a small value that would round to zero is <1 or
    <0.01."""
    least = 10.0**-places
    return (
        f"<{formatting.exact(least, places)}"
        if 0 < value < least / 2
        else formatting.exact(value, places)
    )


def _uptime(row: DeviceStatus, _: Context) -> str:
    return percent(uptime.share(day(row).actual, day(row).expected))


def _quality(row: DeviceStatus, _: Context) -> str:
    window = day(row)
    ends = (None if v is None else round(v) for v in (window.quality_min, window.quality_max))
    return formatting.span(*ends)


def _last_reading(row: DeviceStatus, context: Context) -> str:
    at = row.last_seen_ms
    if at is None:
        return formatting.NOTHING
    return formatting.moment(at, context.clock(row, at))


def _dbm(value: float | None) -> str:
    if value is None:
        return formatting.NOTHING
    return f"{formatting.exact(value, 0)} {SIGNAL_STRENGTH.unit}"


def _cadence(row: DeviceStatus, _: Context) -> str:
    if row.cadence_s is None:
        return formatting.NOTHING
    return "by event" if row.event_driven else formatting.duration(round(row.cadence_s * 1000))


def _installed(row: DeviceStatus, context: Context) -> str:
    at = row.device.installed_on_ms
    if at is None or not row.device.installed:
        return formatting.NOTHING
    return formatting.date_of(at, context.clock(row, at))


def _or_nothing(text: str) -> str:
    return text or formatting.NOTHING


COLUMNS: Final = (
    Column("label", "Device", 168, "label", share=2.4, fixed=True, narrow=True,
           renderer="WeirDevice"),
    Column("state", "State", 132, "state", fixed=True, narrow=True, renderer="WeirState"),
    Column("findings", "Findings", 128, "findings", _findings, share=1.4, usual=True),
    Column("flow", "Flow now", 116, "flow", _flow, usual=True, numeric=True),
    Column("uptime", "Uptime, 24 h", 112, "uptime", _uptime,
           lambda row: uptime.is_low(day(row).actual, day(row).expected),
           share=0.7, usual=True, numeric=True),
    Column("quality", "Quality, 24 h", 112, "quality", _quality,
           lambda row: status.low_quality(day(row).quality_min, quality_limit(row)),
           share=0.7, usual=True, numeric=True),
    Column("volumeToday", "Today", 108, "volumeToday",
           lambda row, context: _volume(row.volume_today, row, context),
           usual=True, numeric=True),
    Column("volumeMonth", "This month", 116, "volumeMonth",
           lambda row, context: _volume(row.volume_month, row, context), numeric=True),
    Column("groups", "Groups", 132, "",
           lambda row, _: _or_nothing(", ".join(groups_of(row.device.config))),
           share=1.2, usual=True),
    Column("lastSeen", "Last reading", 212, "lastSeen", _last_reading),
    Column("cadence", "Reports every", 116, "cadence", _cadence, share=0.7, numeric=True),
    Column("signalStrength", "Signal", 100, "signalStrength",
           lambda row, _: _dbm(row.signal_strength), share=0.7, numeric=True),
    Column("networkRssi", "Network RSSI", 120, "networkRssi",
           lambda row, _: _dbm(row.network_rssi), share=0.7, numeric=True),
    Column("parent", "Main", 116, "parent", lambda row, _: _or_nothing(parent_of(row))),
    Column("networkUniqueIdentifier", "Network id", 172, "networkUniqueIdentifier",
           lambda row, _: _or_nothing(row.device.network_unique_identifier)),
    Column("category", "Category", 112, "category",
           lambda row, _: _or_nothing(row.device.category), share=0.7),
    Column("model", "Model", 104, "model",
           lambda row, _: _or_nothing(row.device.model), share=0.7),
    Column("deviceTimeZone", "Time zone", 160, "deviceTimeZone",
           lambda row, _: row.device.time_zone),
    Column("installedOn", "Installed", 116, "installedOn", _installed, share=0.7),
)  # fmt: skip
COLUMN_BY_NAME: Final = {column.name: column for column in COLUMNS}
USUAL: Final = tuple(column.name for column in COLUMNS if column.usual)

ROW_PX: Final = 52
