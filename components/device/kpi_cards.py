"""A device's heading and KPI strip, as components; `page_parts.py` fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from api.client import Device
from api.errors import WeirError
from components import formatting, session, shell
from components.clock import Clock, zone_or_utc
from components.controls import attributes, failed_page, labelled, message
from components.device import finding_list
from components.device.kpi_rows import KPI_ROWS
from components.device.kpis import Kpi
from components.fleet.device_status import State
from components.formatting import measures_water
from components.url_state import write_window

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
    """Colour, shape and word; None: not known yet."""
    if state is None:
        return html.Span("…", className="state-chip", **attributes(data_state="unknown"))
    shape = html.Span(state.shape, className="shape", **attributes(aria_hidden="true"))
    parts = [shape, html.Span(state.word)]
    return html.Span(parts, className="state-chip", **attributes(data_state=state.name))


def strip(category: str, *, priced: bool) -> Component:
    """``priced`` False: there is no price and so no cost to show."""
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
    """For the page's title, which is asked for after its layout."""
    session.remembered(_label_key(identifier), lambda _: label)


def cached_label(identifier: str) -> str:
    try:
        return str(session.remembered(_label_key(identifier), lambda _: "Device"))
    except WeirError:
        return "Device"


def _label_key(identifier: str) -> str:
    return f"label:{identifier}"
