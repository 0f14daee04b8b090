"""A device's heading, and its KPIs as rows of a table; `callback_results.py` fills them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from dash import dcc, html
from dash.development.base_component import Component

from api.client import Device, DeviceStatus
from api.errors import WeirError
from api.metering.windows import whole_minutes
from api.timez import zone_or_utc
from components import formatting, session, shell
from components.concurrent_queries import ServiceAccess, current_access
from components.controls import attributes, failed_page, labelled, message
from components.device import finding_list, kpis, queries
from components.device.kpis import Kpi
from components.directory_queries import Meter
from components.formatting import Clock, measures_water
from components.queries import status_of
from components.ranges import write_window
from components.status_queries import CurrentStatus, State
from components.url_state import Shown


class When(StrEnum):
    """When a part of the page is due again. assets/chart.js has the intervals of an open page."""

    RANGE = "range"  # with every range that the chart shows
    REFRESH = "refresh"  # with every refresh, whatever the range
    STEADY = "steady"  # each minute, whatever part of the range is shown
    HOURLY = "hourly"  # each quarter of an hour, for values of hours, days or weeks


@dataclass(frozen=True)
class Question:
    """The query for the parts of one device's page. Data that several parts need is loaded once.
    ``tz``: the zone shown. ``page``: of the rows, from 1. Its properties raise what the client
    raises."""

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
    """``text`` makes the KPI from the query's result; None leaves its cell unchanged. ``now``: it
    concerns the present, which an inactive device doesn't have. ``water``: only for devices that
    measure water (True), or only for others (False)."""

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
        charge = queries.charge(question.meter, window)
    return kpis.cost(gallons, price, question.shown, charge)


def _night_flow(question: Question) -> Any:
    return queries.nights(question.access, question.meter, question.tz, question.now_ms)


def _leak(leak: kpis.Leak | None, question: Question) -> Kpi:
    devices = queries.own_directory(question.meter)
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
        lambda q: queries.leak(q.meter.id),
        _leak,
        When.STEADY,
        now=True,
        water=True,
    ),
    KpiRow(
        "kpi-month",
        "Month end",
        lambda q: queries.month_end(q.meter.id),
        lambda month, q: kpis.month_end(month, q.shown.units),
        When.HOURLY,
        now=True,
        water=True,
    ),
)


# --- cards ----------------------------------------------------------------------------------------


STATE_ID = "device-state"


def identity(device: Device, *, place: str, actions: Sequence[Component] = ()) -> Component:
    crumbs = html.Nav(
        [
            dcc.Link("Devices", href=session.site_path(place)),
            html.Span(" / "),
            device.serial_number,
        ],
        className="crumbs",
        **labelled("Breadcrumb"),
    )
    state = html.Span(chip(None), id=STATE_ID, className="state-place")
    findings = html.Span(id=finding_list.CHIPS, className="finding-chips")
    return html.Div(
        [
            crumbs,
            html.Div([html.H1(device.label), state, findings], className="name-line"),
            html.P(" · ".join(_facts(device)), className="facts"),
            html.Div(list(actions), className="actions"),
        ],
        className="identity",
        **attributes(data_serial=device.serial_number),
    )


def _facts(device: Device) -> list[str]:
    facts = [
        device.serial_number,
        device.network_unique_identifier,
        f"{device.category} {device.model}".strip(),
        device.time_zone,
    ]
    if device.installed and device.installed_on_ms is not None:
        at = device.installed_on_ms
        facts.append(
            f"installed {formatting.date_of(at, Clock(zone_or_utc(device.time_zone), at, at))}"
        )
    elif not device.installed:
        facts.append("not installed")
    if main := device.config.get("parent"):
        facts.append(f"sub-meter of {main}")
    return list(dict.fromkeys(fact for fact in facts if fact))


def chip(state: State | None) -> Component:
    """Colour, shape and word of a state; None while it is unknown."""
    if state is None:
        return html.Span("…", className="state-chip", **attributes(data_state="unknown"))
    shape = html.Span(state.shape, className="shape", **attributes(aria_hidden="true"))
    parts = [shape, html.Span(state.word)]
    return html.Span(parts, className="state-chip", **attributes(data_state=state.name))


def strip(category: str, *, priced: bool) -> Component:
    """``priced`` False: there is no price, so no cost is shown."""
    water = measures_water(category)
    rows = [row for row in KPI_ROWS if row.suits(water=water, priced=priced)]
    return html.Div(
        [
            html.Div(
                [
                    html.Div(_waiting(row.label), id=row.id, className="kpi-body"),
                    html.P(id=row.failure_id, className="kpi-trouble"),
                ],
                className="kpi",
            )
            for row in rows
        ],
        className="card kpis",
        role="group",
        **labelled("Key figures"),
    )


def _waiting(label: str) -> list[Component]:
    skeleton = html.Span(className="skeleton", **attributes(aria_hidden="true"))
    return [html.P(label, className="kpi-label"), html.P(skeleton, className="kpi-value")]


def shown_kpi(kpi: Kpi) -> list[Component]:
    value = "kpi-value low" if kpi.low else "kpi-value"
    return [
        html.P(kpi.label, className="kpi-label"),
        html.P(kpi.value, className=value),
        html.P(_note(kpi), className="kpi-note"),
    ]


def _note(kpi: Kpi) -> Component:
    pointed: dict[str, Any] = {"title": kpi.at} if kpi.at else {}
    if kpi.shows is None:
        return html.Span(kpi.note, **pointed)
    first, last = write_window(kpi.shows)
    led = attributes(data_from=first, data_to=last)
    return html.Button(kpi.note, type="button", className="kpi-show", **pointed, **led)


# --- Without a device ----------------------------------------------------------------------------


def unknown(identifier: str, place: str) -> Component:
    return shell.frame(
        message(
            "Device not found, or you don’t have access",
            f"No device has the identifier {identifier!r}.",
            dcc.Link("All devices", href=session.site_path(place), className="button"),
        ),
        place=place,
    )


def failed(identifier: str, error: WeirError, place: str) -> Component:
    href = f"{place}/{identifier}"
    return shell.frame(failed_page("The device can’t be loaded", error, href), place=place)


def cache_label(identifier: str, label: str) -> None:
    """Caches a label for the page's title, which Dash requests after the layout."""
    session.remembered(_label_key(identifier), lambda _: label)


def cached_label(identifier: str) -> str:
    try:
        return str(session.remembered(_label_key(identifier), lambda _: "Device"))
    except WeirError:
        return "Device"


def _label_key(identifier: str) -> str:
    return f"label:{identifier}"
