"""The KPIs of a device's page, as rows. A KPI is its id, its label, its query and its text: one row
here, its rule in `api/metering`, its text in `kpis.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from api.client import DeviceStatus
from api.metering.windows import whole_minutes
from components.device import insight_queries, kpis, queries
from components.device.chart_state import Shown
from components.device.kpis import Kpi
from components.fleet.device_queries import Meter
from components.fleet.device_status import CurrentStatus
from components.fleet.queries import ServiceAccess, current_access
from components.formatting import measures_water
from components.queries import status_of


class When(StrEnum):
    """When a part of the page is due again; assets/chart.js has how often on a page that is only
    looked at."""

    RANGE = "range"  # with every range that the chart shows
    REFRESH = "refresh"  # with every refresh, whatever the range
    STEADY = "steady"  # each minute, whatever the part of the range
    HOURLY = "hourly"  # each quarter of an hour: it tells of hours, days or weeks


@dataclass(frozen=True)
class Question:
    """What the parts of one device's page are made for. Whatever several of them need is asked
    once. ``tz`` is the zone shown; ``page`` counts pages of rows from 1. Its properties raise what
    the client raises."""

    device_id: str
    shown: Shown
    tz: ZoneInfo
    now_ms: int
    page: int = 1

    @cached_property
    def access(self) -> ServiceAccess:
        return current_access()

    @cached_property
    def meter(self) -> Meter:
        return queries.meter_of(self.device_id, self.now_ms)

    @cached_property
    def row(self) -> DeviceStatus:
        return status_of(self.access.client, self.meter.id, self.now_ms)

    @cached_property
    def status(self) -> CurrentStatus:
        return queries.current_status(self.access.client, self.row, self.now_ms)

    @cached_property
    def gallons(self) -> float | None:
        return queries.gallons(self.access.client, self.meter.id, self.shown, self.now_ms)


class KpiRow(NamedTuple):
    """``text`` makes the KPI of the query's answer; None leaves its cell as it is. ``now``: it
    tells of the present, which an inactive device has none of. ``water``: only for devices that
    measure water (True), or only for the others (False)."""

    id: str
    label: str
    query: Callable[[Question], Any]
    text: Callable[[Any, Question], Kpi | None]
    when: When = When.RANGE
    needs_price: bool = False
    now: bool = False
    water: bool | None = None

    def suits(self, *, water: bool, priced: bool) -> bool:
        return self.water in (None, water) and (priced or not self.needs_price)

    @property
    def failure_id(self) -> str:
        return f"{self.id}-trouble"


def _last(status: CurrentStatus, question: Question) -> Kpi:
    units = question.shown.units if measures_water(question.meter.category) else None
    return kpis.last_reading(status, units, question.tz, question.now_ms)


def _uptime_and_quality(question: Question) -> tuple[Kpi, Kpi]:
    return queries.uptime_and_quality(
        question.access, question.meter, question.shown, question.now_ms
    )


def _volume(question: Question) -> kpis.Usage:
    return queries.usage(
        question.access, question.meter, question.shown, question.gallons, question.now_ms
    )


def _cost(gallons: float | None, question: Question) -> Kpi | None:
    price = queries.price_of(question.meter)
    if price is None:
        return None
    charge = None
    if price.tariff and gallons is not None:
        window = whole_minutes(question.shown.window, question.now_ms)
        charge = insight_queries.charge(question.meter, window)
    return kpis.cost(gallons, price, question.shown, charge)


def _night_flow(question: Question) -> Any:
    return queries.nights(question.access, question.meter, question.tz, question.now_ms)


def _leak(leak: kpis.Leak | None, question: Question) -> Kpi:
    devices = insight_queries.own_directory(question.meter)
    return kpis.leak(leak, devices, question.shown.units, question.now_ms)


KPI_ROWS: Final = (
    KpiRow(
        "kpi-last",
        "Last reading",
        lambda q: q.status,
        _last,
        When.REFRESH,
        now=True,
    ),
    KpiRow(
        "kpi-radio",
        "Radio",
        lambda q: q.row,
        lambda row, _: kpis.radio(row),
        When.REFRESH,
        now=True,
        water=False,
    ),
    KpiRow("kpi-uptime", "Uptime", _uptime_and_quality, lambda both, _: both[0]),
    KpiRow("kpi-quality", "Quality", _uptime_and_quality, lambda both, _: both[1]),
    KpiRow(
        "kpi-volume", "Volume", _volume, lambda usage, q: kpis.volume(usage, q.shown), water=True
    ),
    KpiRow("kpi-cost", "Cost", lambda q: q.gallons, _cost, needs_price=True, water=True),
    KpiRow(
        "kpi-night",
        "Night flow",
        _night_flow,
        lambda flow, q: kpis.night(flow, q.shown.units, q.tz, q.now_ms),
        When.HOURLY,
        now=True,
        water=True,
    ),
    KpiRow(
        "kpi-continuous",
        "Leak",
        lambda q: insight_queries.leak(q.meter.id),
        _leak,
        When.STEADY,
        now=True,
        water=True,
    ),
    KpiRow(
        "kpi-month",
        "Month end",
        lambda q: insight_queries.month_end(q.meter.id),
        lambda month, q: kpis.month_end(month, q.shown.units),
        When.HOURLY,
        now=True,
        water=True,
    ),
)
