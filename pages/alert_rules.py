"""Alert rules and their receivers: create with a preview, change, enable, delete, test."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from dash import (
    Input,
    Output,
    callback,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import BadRequest, WeirError
from api.timez import now_ms
from components import html_json, shell
from components.alerts import forms, queries, rules
from components.alerts.lists import RULES_PATH, alert_card, alerts_frame, link_scripts
from components.alerts.rules import preview
from components.concurrent_queries import current_access
from components.controls import failure, labelled
from components.directory_queries import directory
from components.html_json import el
from components.shell import ALERTS_PATH
from components.url_state import read_question, read_text


class Ids(StrEnum):
    """The ids of the rules page."""

    PAGE = "alerts"
    QUESTION = "alert-rules-question"
    ANSWER = "alert-rules-answer"
    SHOWN = "alert-rules-shown"
    DEED = "alert-rules-deed"
    DONE = "alert-rules-done"
    NEXT = "alert-rules-next"
    DRAFT = "alert-rules-draft"
    NOTICE = "alerts-notice"
    SUMMARY = "alert-rules-summary"
    RULES = "alert-rules-list"
    RECEIVERS = "alert-receivers-list"
    FORM = "alert-rules-form"
    PREVIEW = "alert-rules-preview"


SHEETS = (Ids.SUMMARY, Ids.RULES, Ids.RECEIVERS, Ids.FORM, Ids.PREVIEW)

register_page(__name__, path=RULES_PATH, title="Rules of alerts · Weir")


def layout(rule: str = "", receiver: str = "", **_: Any) -> Component:
    page = rules_page({"rule": rule, "receiver": receiver, "form": True})
    return shell.frame(page, place=ALERTS_PATH)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMMARY),
    html_json.output(Ids.RULES),
    html_json.output(Ids.RECEIVERS),
    html_json.output(Ids.FORM),
    Input(Ids.QUESTION, "data"),
)
def listed(question: Any) -> tuple[Any, ...]:
    """The lists, and the form only on request, so that typed text stays."""
    params, now = read_question(question), now_ms()
    rule_id, receiver_id = read_text(params.get("rule")), read_text(params.get("receiver"))
    may_change = queries.role().may_administer
    try:
        settings = queries.settings()
        form: Any = no_update
        if params.get("form") is True:
            groups = directory(current_access(), now).groups
            form = _form(settings, groups, rule_id, receiver_id, may_change)
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, *(no_update,) * 4
    names = {each.id: each.name for each in settings.receivers}
    return (
        {"request_id": params.get("request_id")},
        rules.summary(settings.rules, settings.receivers),
        rules.rule_list(settings.rules, names, rule_id, may_change=may_change),
        rules.receiver_list(settings.receivers, receiver_id, may_change=may_change),
        form,
    )


def _form(
    settings: queries.Settings,
    groups: tuple[str, ...],
    rule_id: str,
    receiver_id: str,
    may_change: bool,
) -> list[Any]:
    gone = [el("p", "Not found, or you don't have access.", class_="alert-empty")]
    if receiver_id:
        receiver = next((each for each in settings.receivers if each.id == receiver_id), None)
        if receiver is None and receiver_id != "new":
            return gone
        return forms.receiver_form(receiver, may_change=may_change)
    rule = next((each for each in settings.rules if each.id == rule_id), None)
    if rule is None and rule_id:
        return gone
    return forms.rule_form(rule, settings.receivers, groups, may_change=may_change)


@callback(html_json.output(Ids.PREVIEW), Input(Ids.DRAFT, "data"), prevent_initial_call=True)
def previewed(draft: Any) -> Any:
    """The preview of a rule; on failure a message, and saving still works."""
    fields = read_question(draft).get("fields")
    if not isinstance(fields, dict):
        return []
    definition = forms.definition(fields)
    definition["name"] = definition["name"] or "Preview"
    try:
        return preview(queries.previewed(definition), now_ms())
    except BadRequest as error:
        return [el("p", queries.problems(error), class_="quiet")]
    except WeirError as error:
        words = f"The preview can't be made: {failure(error)} Saving still works."
        return [el("p", words, class_="problem")]


@callback(
    Output(Ids.DONE, "data"),
    Input(Ids.DEED, "data"),
    prevent_initial_call=True,
)
def do(deed: Any) -> dict[str, Any]:
    """Saves, enables, deletes or tests; returns the result or the error as a sentence."""
    return queries.deed_status(deed, queries.change)


link_scripts(Ids, SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def rules_page(question: Mapping[str, Any]) -> Component:
    left = [alert_card(Ids.RULES, "Rules"), alert_card(Ids.RECEIVERS, "Receivers")]
    form = [
        html.Div(id=Ids.FORM),
        html.Div(id=Ids.PREVIEW, className="alert-preview", role="status"),
    ]
    right = html.Section(form, className="card alert-panel", **labelled("The form"))
    inside = html.Div([html.Div(left, className="alert-column"), right], className="alert-columns")
    return alerts_frame(Ids, SHEETS, question, "rules", [inside])
