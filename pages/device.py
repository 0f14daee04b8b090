"""One device: who it is, its numbers, and its readings over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
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
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import NotFound, WeirError
from api.timez import now_ms
from components import chart_query, html_json, session, shell
from components.chart_card import Ids, chart_actions, chart_card, chart_tools
from components.chart_query import Subject
from components.charts import hover_text
from components.controls import failed_page, failure, message
from components.device import (
    custom_range,
    kpi_cards,
    menus,
    overview,
    queries,
)
from components.device.cards import CARDS, ROWS_PAGE, CardRow, below, card_results
from components.device.chart_state import read_shown, tell_shown
from components.device.gap_list import gap_list
from components.device.kpi_cards import STATE_ID
from components.device.kpi_rows import KpiRow, When, by_query
from components.fleet.meters import read_meter
from components.fleet.query_context import current_desk
from components.fleet.states import state_of
from components.html_json import sheet
from components.queries import find_device, is_there, usual_interval_s
from components.url_state import View, read_question, read_view, unread_view

PLACE = "/devices"
register_page(
    __name__,
    path_template="/devices/<device_id>",
    title=lambda device_id="": f"{_known_label(unquote(device_id))} · Weir",
)


Said = dict[str, Any]
_ASKED = (Input(Ids.SHOWN, "data"), State(Ids.SUBJECT, "data"))
_MENUS = (Ids.EXPORTS, *(row.menu_id for row in CARDS))
_LATELY = (Input(Ids.LATELY, "data"), State(Ids.SUBJECT, "data"))
_STEADY = (Input(Ids.STEADY, "data"), State(Ids.SUBJECT, "data"))


class Fields(StrEnum):
    """The parts of an answer, each for one output."""

    FIGURE = "figure"
    BADGE = "badge"
    ZONE_NOTE = "zone_note"
    SUMMARY = "summary"
    NOTICE = "notice"
    EMPTY = "empty"
    NEVER = "never"
    UNZOOMED = "unzoomed"
    GAPS = "gaps"
    TOLD = "told"


def layout(device_id: str = "", **said: Any) -> Component:
    identifier = unquote(device_id)
    now = now_ms()
    try:
        client = session.current_client()
        found = find_device(client, identifier, now)
        subject = Subject.of(found, usual_interval_s(client, found))
        priced = queries.price_of(read_meter(found.device)) is not None
    except NotFound:
        return _unknown(identifier)
    except WeirError as error:
        return _failed(identifier, error)
    session.remembered(_label_of(identifier), lambda _: found.device.label)
    view = read_view(said)
    return shell.frame(
        kpi_cards.identity(found.device, place=PLACE, actions=chart_actions(subject)),
        kpi_cards.strip(priced=priced),
        chart_card(subject, view, now),
        below(),
        place=PLACE,
        tools=chart_tools(subject, view),
        remarks=unread_view(said, view),
    )


def there(device_id: str) -> bool:
    """Whether the reader may see that device. Where the service can't say, the page will tell."""
    try:
        return is_there(session.current_client(), device_id, now_ms())
    except WeirError:
        return True


def _unknown(identifier: str) -> Component:
    return shell.frame(
        message(
            "Device not found, or you don’t have access",
            f"No device has the identifier {identifier!r}.",
            dcc.Link("All devices", href=session.site_path(PLACE), className="button"),
        ),
        place=PLACE,
    )


def _failed(identifier: str, error: WeirError) -> Component:
    href = f"{PLACE}/{identifier}"
    return shell.frame(failed_page("The device can’t be loaded", error, href), place=PLACE)


def _label_of(identifier: str) -> str:
    return f"label:{identifier}"


def _known_label(identifier: str) -> str:
    """The label that the layout has just found; the title is asked for after it."""
    try:
        return str(session.remembered(_label_of(identifier), lambda _: "Device"))
    except WeirError:
        return "Device"


# --- Its readings --------------------------------------------------------------------------------

clientside_callback(
    ClientsideFunction("chart", "open"),
    Output(Ids.QUESTION, "data"),
    Input(Ids.START, "data"),
)
clientside_callback(
    ClientsideFunction("chart", "answered"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.TOLD, "data"),
    Input(Ids.FAILED, "data"),
    prevent_initial_call=True,
)


@callback(
    output={
        Fields.FIGURE: Output(Ids.GRAPH, "figure"),
        Fields.BADGE: Output(Ids.BADGE, "children"),
        Fields.ZONE_NOTE: Output(Ids.ZONE_NOTE, "children"),
        Fields.SUMMARY: Output(Ids.SUMMARY, "children"),
        Fields.NOTICE: Output(Ids.FAILED, "data"),
        Fields.EMPTY: Output(Ids.EMPTY, "children"),
        Fields.NEVER: Output(Ids.JUMP, "hidden"),
        Fields.UNZOOMED: Output(Ids.RESET, "disabled"),
        Fields.GAPS: html_json.output(Ids.GAPS),
        Fields.TOLD: Output(Ids.TOLD, "data"),
    },
    inputs=[Input(Ids.QUESTION, "data"), State(Ids.SUBJECT, "data")],
    prevent_initial_call=True,
)
def answer(question: Any, kept: Any) -> dict[str, Any]:
    """The chart for what the browser asks; where that fails the last good one stays."""
    asked, now = read_question(question), now_ms()
    view, subject = read_view(asked), Subject.read(kept)
    try:
        drawn = chart_query.draw(session.current_client(), subject, view, now)
    except WeirError as error:
        return {**dict.fromkeys(Fields, no_update), Fields.NOTICE: failure(error)}
    tz = drawn.canvas.tz
    return {
        Fields.FIGURE: chart_query.change(drawn, view),
        Fields.BADGE: chart_query.badge(drawn),
        Fields.ZONE_NOTE: chart_query.zone_note(drawn),
        Fields.SUMMARY: hover_text.summary(drawn.frame, tz, view.units, chart_query.heard(drawn)),
        Fields.NOTICE: "",
        Fields.EMPTY: chart_query.emptiness(drawn),
        Fields.NEVER: drawn.last_ms is None,
        Fields.UNZOOMED: view.window is None,
        Fields.GAPS: sheet(
            gap_list(
                drawn.stretches, tz, now_ms=now, counted_in=drawn.frame.series.resolution.label
            )
        ),
        Fields.TOLD: tell_shown(drawn, view, asked.get("asked")),
    }


@callback(
    Output(Ids.CUSTOM_TOLD, "data"),
    Input(Ids.CUSTOM_ASKED, "data"),
    State(Ids.SUBJECT, "data"),
    prevent_initial_call=True,
)
def own_range(said: Any, kept: Any) -> Said:
    said = read_question(said)
    told = custom_range.tell(said, Subject.read(kept).zone(read_view(said)))
    return {**asdict(told), "asked": said.get("asked")}


@callback(
    Output(Ids.OVERVIEW_TOLD, "data"),
    Input(Ids.STEADY, "data"),
    State(Ids.QUESTION, "data"),
    State(Ids.SUBJECT, "data"),
    prevent_initial_call=True,
)
def whole(_: Any, question: Any, kept: Any) -> Any:
    """Where it can't be had the last good one stays: the chart says what is wrong."""
    view, subject, now = read_view(read_question(question)), Subject.read(kept), now_ms()
    try:
        return overview.overview(session.current_client(), subject, view, now)
    except WeirError:
        return no_update


clientside_callback(
    ClientsideFunction("range", "told"),
    Output(Ids.CUSTOM_SAID, "children"),
    Input(Ids.CUSTOM_TOLD, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("range", "overview"),
    Output(Ids.OVERVIEW, "title"),
    Input(Ids.OVERVIEW_TOLD, "data"),
    Input(Ids.SHOWN, "data"),
    prevent_initial_call=True,
)


html_json.drawn(Ids.GAPS, *(row.id for row in CARDS), *_MENUS)


# --- Its numbers ---------------------------------------------------------------------------------

_WHEN = {When.RANGE: _ASKED, When.REFRESH: _LATELY, When.STEADY: _STEADY}


def kpis(rows: Sequence[KpiRow], shown: Any, kept: Any) -> list[Any]:
    return kpi_cards.kpi_results(rows, shown, kept, now_ms())


for _rows in by_query():
    _outputs = [Output(id, "children") for row in _rows for id in (row.id, row.failure_id)]
    callback(*_outputs, *_WHEN[_rows[0].when], prevent_initial_call=True)(partial(kpis, _rows))


@callback(
    Output(STATE_ID, "children"),
    Output(STATE_ID, "data-state"),
    *_LATELY,
    prevent_initial_call=True,
)
def state(shown: Any, kept: Any) -> list[Any]:
    """Where it can't be had the last one stays: the last reading's cell says what is wrong."""
    if read_shown(shown) is None:
        return [no_update] * 2
    now, subject = now_ms(), Subject.read(kept)
    try:
        meter = queries.meter_of(subject.device_id, now)
        known = queries.standing(current_desk(), meter, now)
    except WeirError:
        return [no_update] * 2
    found = state_of(meter, known, now, active=subject.active)
    return [kpi_cards.chip(found), found.name]


# --- Below ---------------------------------------------------------------------------------------


def card(row: CardRow, shown: Any, kept: Any, page: Any = 1) -> list[Any]:
    return card_results(row, shown, kept, now_ms(), page)


for _row in CARDS:
    _outputs = [
        html_json.output(_row.id),
        Output(_row.note_id, "children"),
        Output(_row.failure_id, "children"),
    ]
    _page = [Input(ROWS_PAGE, "data")] if _row.paged else []
    callback(*_outputs, *_WHEN[_row.when], *_page, prevent_initial_call=True)(partial(card, _row))


@callback(
    *(html_json.output(id) for id in _MENUS),
    *_ASKED,
    prevent_initial_call=True,
)
def to_have(shown: Any, kept: Any) -> list[Any]:
    """What each card's menu offers of what is shown."""
    read = read_shown(shown)
    if read is None:
        return [no_update] * len(_MENUS)
    subject = Subject.read(kept)
    tz = subject.zone(View(zone=read.zone))
    return [sheet(body) for body in menus.offered(subject.device_id, read, tz)]
