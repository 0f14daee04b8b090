"""One device: who it is, and its readings over time."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from urllib.parse import unquote

from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.client import Device
from api.errors import NotFound, WeirError
from api.timez import DAY_MS, now_ms
from components import drawing, hovers, session, shell, words
from components.chart_card import Ids, chart_card, zone_select
from components.clock import Clock, known_zone
from components.directory import Found, find_device, usual_interval_s
from components.drawing import Subject
from components.parts import failed_page, failure, message
from components.view import read_view

PLACE = "/devices"
RECENT_MS = 30 * DAY_MS  # up to here "3 d ago" tells more than a date
register_page(
    __name__,
    path_template="/devices/<device_id>",
    title=lambda device_id="": f"{_known_label(unquote(device_id))} · Weir",
)


class Fields(StrEnum):
    """The parts of an answer, each for one output."""

    FIGURE = "figure"
    BADGE = "badge"
    ZONE_NOTE = "zone_note"
    SUMMARY = "summary"
    NOTICE = "notice"
    EMPTY = "empty"
    UNZOOMED = "unzoomed"


def layout(device_id: str = "", **said: Any) -> Component:
    identifier = unquote(device_id)
    now = now_ms()
    try:
        client = session.current_client()
        found = find_device(client, identifier, now)
        interval_s = usual_interval_s(client, found)
    except NotFound:
        return _unknown(identifier)
    except WeirError as error:
        return _failed(identifier, error)
    session.remembered(_label_of(identifier), lambda _: found.device.label)
    device, view = found.device, read_view(said)
    subject = Subject(device.id, device.time_zone, interval_s)
    return shell.frame(
        _header(found, now),
        chart_card(subject, view, now),
        place=PLACE,
        tools=[zone_select(subject, view)],
    )


def _unknown(identifier: str) -> Component:
    return shell.frame(
        message(
            "There is no such device",
            f"No device {identifier!r} that this key may see.",
            dcc.Link("All devices", href=PLACE, className="button"),
        ),
        place=PLACE,
    )


def _failed(identifier: str, error: WeirError) -> Component:
    href = f"{PLACE}/{identifier}"
    return shell.frame(failed_page("The device can't be shown", error, href), place=PLACE)


def _label_of(identifier: str) -> str:
    return f"label:{identifier}"


def _known_label(identifier: str) -> str:
    """The label that the layout has just found; the title is asked for after it."""
    try:
        return str(session.remembered(_label_of(identifier), lambda _: "Device"))
    except WeirError:
        return "Device"


# --- Who it is -----------------------------------------------------------------------------------


def _header(found: Found, now: int) -> Component:
    device = found.device
    crumbs = html.Nav(
        [dcc.Link("Devices", href=PLACE), " / ", device.serial_number], className="crumbs"
    )
    return html.Div(
        [
            crumbs,
            html.H1(device.label),
            html.P(" · ".join(_facts(device)), className="facts"),
            _last_reading(found, now),
        ],
        className="identity",
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
        facts.append(f"installed {words.date_of(at, Clock(known_zone(device.time_zone), at, at))}")
    return list(dict.fromkeys(fact for fact in facts if fact))


def _last_reading(found: Found, now: int) -> Component:
    at = found.last_seen_ms
    if at is None:
        return html.P("Never reported", className="quiet")
    clock = Clock(known_zone(found.device.time_zone), at, at)
    told = words.ago(at, now) if now - at < RECENT_MS else f"on {words.date_of(at, clock)}"
    moment = words.moment(at, clock, seconds=True)
    return html.P(["Last reading ", html.Time(told, title=moment)], className="quiet")


# --- Its readings --------------------------------------------------------------------------------

clientside_callback(
    ClientsideFunction("chart", "open"),
    Output(Ids.QUESTION, "data"),
    Input(Ids.START, "data"),
)


@callback(
    output={
        Fields.FIGURE: Output(Ids.GRAPH, "figure"),
        Fields.BADGE: Output(Ids.BADGE, "children"),
        Fields.ZONE_NOTE: Output(Ids.ZONE_NOTE, "children"),
        Fields.SUMMARY: Output(Ids.SUMMARY, "children"),
        Fields.NOTICE: Output(Ids.NOTICE, "children"),
        Fields.EMPTY: Output(Ids.EMPTY, "children"),
        Fields.UNZOOMED: Output(Ids.RESET, "disabled"),
    },
    inputs=[Input(Ids.QUESTION, "data"), State(Ids.SUBJECT, "data")],
    prevent_initial_call=True,
)
def answer(question: dict[str, Any] | None, kept: dict[str, Any]) -> dict[str, Any]:
    """The chart for what the browser asks; where that fails the last good one stays."""
    view, subject = read_view(question or {}), Subject.read(kept)
    try:
        drawn = drawing.draw(session.current_client(), subject, view, now_ms())
    except WeirError as error:
        return {**dict.fromkeys(Fields, no_update), Fields.NOTICE: failure(error)}
    return {
        Fields.FIGURE: drawing.change(drawn, view),
        Fields.BADGE: drawing.badge(drawn),
        Fields.ZONE_NOTE: drawing.zone_note(drawn),
        Fields.SUMMARY: hovers.summary(drawn.frame, drawn.canvas.tz),
        Fields.NOTICE: "",
        Fields.EMPTY: drawing.emptiness(drawn),
        Fields.UNZOOMED: view.window is None,
    }
