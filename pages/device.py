"""One device: its header, its KPIs, and its readings over time."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import NotFound, WeirError
from api.timez import now_ms
from components import html_json, session, shell
from components.annotations.panel import panel as annotation_panel
from components.chart_card import Ids, chart_actions, chart_card, chart_tools
from components.chart_query import Subject
from components.controls import failure
from components.device import finding_list, kpi_cards, queries
from components.device.callback_results import Fields, chart_results, page_parts
from components.device.cards import below
from components.directory_queries import read_meter
from components.ranges import custom_range
from components.url_state import read_question, read_text, read_view, unread_view

PLACE = "/devices"
register_page(
    __name__,
    path_template="/devices/<device_id>",
    title=lambda device_id="": f"{kpi_cards.cached_label(unquote(device_id))} · Weir",
)


Response = dict[str, Any]


def layout(device_id: str = "", **params: Any) -> Component:
    identifier = unquote(device_id)
    now = now_ms()
    try:
        lookup, subject = queries.lookup(identifier, now)
        priced = queries.price_of(read_meter(lookup.device)) is not None
    except NotFound:
        return kpi_cards.unknown(identifier, PLACE)
    except WeirError as error:
        return kpi_cards.failed(identifier, error, PLACE)
    kpi_cards.cache_label(identifier, lookup.device.label)
    view = read_view(params)
    return shell.frame(
        kpi_cards.identity(lookup.device, place=PLACE, actions=chart_actions(subject)),
        kpi_cards.strip(lookup.device.category, priced=priced),
        chart_card(subject, view, now, may_operate=session.me().role.may_operate),
        below(lookup.device.category),
        annotation_panel(
            {"device": subject.device_id, "zone": subject.zone(view).key},
            device=subject.device_id,
            zone=subject.zone(view).key,
        ),
        place=PLACE,
        tools=chart_tools(subject, view),
        remarks=unread_view(params, view),
    )


def there(device_id: str) -> bool:
    """Whether the device is in the reader's scope. True if the service fails: the page then shows
    the error."""
    try:
        return queries.exists(device_id, now_ms())
    except WeirError:
        return True


# --- Readings ------------------------------------------------------------------------------------

clientside_callback(
    ClientsideFunction("chart", "open"),
    Output(Ids.QUESTION, "data"),
    Input(Ids.START, "data"),
)
clientside_callback(
    ClientsideFunction("chart", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.RESPONSE, "data"),
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
        Fields.COMPARED: Output(Ids.COMPARED, "children"),
        Fields.SINCE: Output(Ids.SINCE, "children"),
        Fields.RESPONSE: Output(Ids.RESPONSE, "data"),
        Fields.PARTS: Output(Ids.PARTS, "data"),
    },
    inputs=[Input(Ids.QUESTION, "data"), State(Ids.SUBJECT, "data")],
    prevent_initial_call=True,
)
def answer(question: Any, stored: Any) -> dict[str, Any]:
    """The chart; with a refresh, also the other parts that are due."""
    now = now_ms()
    results = chart_results(question, stored, now)
    shown = results[Fields.RESPONSE]
    names = read_question(question).get("due")
    if names and shown is not no_update:
        due = {**shown, "due": names, "page": read_question(question).get("page")}
        results[Fields.PARTS] = page_parts(question, due, stored, now)
    return results


@callback(
    Output(Ids.DUE_PARTS, "data"),
    Input(Ids.DUE, "data"),
    State(Ids.QUESTION, "data"),
    State(Ids.SUBJECT, "data"),
    prevent_initial_call=True,
)
def parts(due: Any, question: Any, stored: Any) -> Any:
    """The parts that follow a chart after the reader has changed its view."""
    return page_parts(question, due, stored, now_ms())


clientside_callback(
    ClientsideFunction("chart", "parts"),
    Output(Ids.OVERVIEW_RESPONSE, "data"),
    Input(Ids.PARTS, "data"),
    Input(Ids.DUE_PARTS, "data"),
    prevent_initial_call=True,
)


@callback(
    Output(Ids.CUSTOM_RESPONSE, "data"),
    Input(Ids.CUSTOM_REQUEST, "data"),
    State(Ids.SUBJECT, "data"),
    prevent_initial_call=True,
)
def own_range(params: Any, stored: Any) -> Response:
    params = read_question(params)
    result = custom_range(params, Subject.read(stored).zone(read_view(params)))
    return {**asdict(result), "request_id": params.get("request_id")}


clientside_callback(
    ClientsideFunction("range", "received"),
    Output(Ids.CUSTOM_MESSAGE, "children"),
    Input(Ids.CUSTOM_RESPONSE, "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("range", "overview"),
    Output(Ids.OVERVIEW, "title"),
    Input(Ids.OVERVIEW_RESPONSE, "data"),
    Input(Ids.SHOWN, "data"),
    prevent_initial_call=True,
)


html_json.drawn(Ids.GAPS)


# --- Findings ----------------------------------------------------------------------------------


@callback(
    Output(finding_list.DONE, "data"), Input(finding_list.DEED, "data"), prevent_initial_call=True
)
def judge(deed: Any) -> dict[str, Any]:
    """Dismisses a finding by a judgement, or restores it; returns the effect as a sentence."""
    request = read_question(deed)
    finding, judgement = read_text(request.get("finding")), read_text(request.get("as"))
    try:
        words = queries.dismiss(finding, judgement) if judgement else queries.restore(finding)
    except WeirError as error:
        return {"words": failure(error), "failed": True, "request_id": request.get("request_id")}
    return {"words": words, "failed": False, "request_id": request.get("request_id")}


clientside_callback(
    ClientsideFunction("deviceFindings", "done"),
    Output(finding_list.OUTCOME, "children"),
    Input(finding_list.DONE, "data"),
    prevent_initial_call=True,
)
