"""Alerts: those firing now, acknowledged in one click, and the history with sent messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from dash import (
    Input,
    Output,
    callback,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import WeirError
from api.metering.cost import DEFAULT_CURRENCY
from api.timez import now_ms
from components import html_json, shell
from components.alerts import lists, queries
from components.alerts.lists import alert_card, alerts_frame, link_scripts
from components.concurrent_queries import current_access
from components.controls import Entry, Section, failure, menu, select
from components.directory_queries import directory
from components.shell import ALERTS_PATH
from components.url_state import read_question, read_text


class Ids(StrEnum):
    """Ids, also used by assets/alerts.js."""

    PAGE = "alerts"
    QUESTION = "alerts-question"
    ANSWER = "alerts-answer"
    SHOWN = "alerts-shown"
    DEED = "alerts-deed"
    DONE = "alerts-done"
    NEXT = "alerts-next"
    DRAFT = "alerts-draft"
    NOTICE = "alerts-notice"
    SUMMARY = "alerts-summary"
    FIRING = "alerts-firing"
    HISTORY = "alerts-history"
    SILENCES = "alerts-silences"


SHEETS = (Ids.SUMMARY, Ids.FIRING, Ids.HISTORY, Ids.SILENCES)

LONGEST_TEXT: Final = 100
register_page(__name__, path=ALERTS_PATH, title="Alerts · Weir")


def layout(page: str = "", group: str = "", **_: Any) -> Component:
    question = {"page": page, "group": read_text(group)[:LONGEST_TEXT]}
    return shell.frame(alerts_page(question, queries.groups()), place=ALERTS_PATH)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMMARY),
    html_json.output(Ids.FIRING),
    html_json.output(Ids.HISTORY),
    html_json.output(Ids.SILENCES),
    Input(Ids.QUESTION, "data"),
)
def listed(question: Any) -> tuple[Any, ...]:
    """The lists; on failure the last ones stay."""
    params, now = read_question(question), now_ms()
    text = read_text(params.get("page"))
    number = max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 5 else 1
    try:
        overview = queries.now(number, read_text(params.get("group"))[:LONGEST_TEXT])
        meters = directory(current_access(), now).by_id
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, *(no_update,) * 4

    def zone_of(device_id: str) -> str:
        meter = meters.get(device_id)
        return str(meter.time_zone) if meter else "UTC"

    def currency_of(device_id: str) -> str:
        meter = meters.get(device_id)
        return meter.currency if meter else DEFAULT_CURRENCY

    may_operate = queries.role().may_operate
    labels = {id: meter.label for id, meter in meters.items()}
    return (
        {"request_id": params.get("request_id")},
        lists.summary(overview.firing, overview.messages),
        lists.firing(overview.firing, now, zone_of, currency_of, may_operate=may_operate),
        lists.history(overview.history, number, now, zone_of),
        lists.silences(overview.silences, labels, now, may_operate=may_operate),
    )


@callback(Output(Ids.DONE, "data"), Input(Ids.DEED, "data"), prevent_initial_call=True)
def do(deed: Any) -> dict[str, Any]:
    """Acknowledges or silences an alert, or undoes that; returns the result as a sentence."""
    request = read_question(deed)
    try:
        words = queries.act(request)
    except WeirError as error:
        return {"request_id": request.get("request_id"), "error": failure(error)}
    return {"request_id": request.get("request_id"), "words": words}


link_scripts(Ids, SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def alerts_page(question: Mapping[str, Any], groups: Sequence[str]) -> Component:
    """``groups``: the groups to choose from."""
    cards = [
        alert_card(Ids.FIRING, "Firing now"),
        alert_card(Ids.HISTORY, "History"),
        alert_card(Ids.SILENCES, "Silences"),
    ]
    chosen = str(question["group"])
    names = dict.fromkeys(filter(None, (*groups, chosen)))
    options = [("", "All groups"), *((name, name) for name in names)]
    files = tuple(
        Entry(label, f".{kind}", f"/download/alerts.{kind}", here=True)
        for kind, label in (("csv", "CSV"), ("xlsx", "Excel workbook"))
    )
    tools = [
        select("Group", "group", options, chosen=chosen) if names else None,
        menu("Export", [Section("All that match", files)], name="Export these alerts"),
    ]
    inside = [html.Div(cards, className="alert-column")]
    return alerts_frame(Ids, SHEETS, question, "now", inside, tools)
