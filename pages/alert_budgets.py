"""Budgets, tariffs and scheduled reports: create, change, pause, send again, delete."""

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

from api.errors import WeirError
from api.timez import now_ms
from components import html_json, shell
from components.alerts import billing, queries
from components.alerts.lists import BILLING_PATH, alert_card, alerts_frame, link_scripts
from components.concurrent_queries import current_access
from components.controls import failure, labelled
from components.directory_queries import directory
from components.html_json import Node, el
from components.shell import ALERTS_PATH
from components.url_state import read_question, read_text


class Ids(StrEnum):
    """The ids of the billing page: budgets, tariffs and scheduled reports."""

    PAGE = "alerts"
    QUESTION = "alert-billing-question"
    ANSWER = "alert-billing-answer"
    SHOWN = "alert-billing-shown"
    DEED = "alert-billing-deed"
    DONE = "alert-billing-done"
    NEXT = "alert-billing-next"
    DRAFT = "alert-billing-draft"
    NOTICE = "alerts-notice"
    SUMMARY = "alert-billing-summary"
    BUDGETS = "alert-billing-budgets"
    TARIFFS = "alert-billing-tariffs"
    REPORTS = "alert-billing-reports"
    FORM = "alert-billing-form"


SHEETS = (
    Ids.SUMMARY, Ids.BUDGETS, Ids.TARIFFS, Ids.REPORTS, Ids.FORM,
)  # fmt: skip

register_page(__name__, path=BILLING_PATH, title="Budgets and reports · Weir")


def layout(
    budget: str = "", tariff: str = "", report: str = "", device: str = "", **_: Any
) -> Component:
    """``budget``, ``tariff`` and ``report``: the id of the one in the form, or "new"."""
    question = {"budget": budget, "tariff": tariff, "report": report, "device": device}
    return shell.frame(billing_page(question | {"form": True}), place=ALERTS_PATH)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.SUMMARY),
    html_json.output(Ids.BUDGETS),
    html_json.output(Ids.TARIFFS),
    html_json.output(Ids.REPORTS),
    html_json.output(Ids.FORM),
    Input(Ids.QUESTION, "data"),
)
def billing_listed(question: Any) -> tuple[Any, ...]:
    """The lists, and the form only on request, so that typed text stays."""
    params, now = read_question(question), now_ms()
    role = queries.role()
    try:
        shown = queries.all_billing()
        form: Any = no_update
        if params.get("form") is True:
            form = _form(shown, params, directory(current_access(), now).groups)
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, *(no_update,) * 5
    names = {each.id: each.name for each in shown.receivers}
    administers = role.may_administer
    return (
        {"request_id": params.get("request_id")},
        [billing.summary(shown.budgets)],
        billing.budget_list(shown.budgets, may_change=role.may_operate),
        billing.tariff_list(shown.tariffs, may_change=administers),
        billing.report_list(shown.reports, names, now, may_change=administers),
        form,
    )


def _form(shown: queries.Billing, params: Any, groups: tuple[str, ...]) -> list[Node]:
    role = queries.role()
    ids = {name: read_text(params.get(name)) for name in ("budget", "tariff", "report", "device")}
    gone: list[Node] = [el("p", "Not found, or you don't have access.", class_="alert-empty")]
    if id := ids["tariff"]:
        tariff = next((each for each in shown.tariffs if each.id == id), None)
        if tariff is None and id != "new":
            return gone
        return billing.tariff_form(tariff, groups, may_change=role.may_administer)
    if id := ids["report"]:
        report = next((each for each in shown.reports if each.id == id), None)
        if report is None and id != "new":
            return gone
        administers = role.may_administer
        return billing.report_form(report, groups, shown.receivers, may_change=administers)
    budget = next((each for each in shown.budgets if each.id == ids["budget"]), None)
    if budget is None and ids["budget"]:
        return gone
    return billing.budget_form(budget, ids["device"], groups, may_change=role.may_operate)


@callback(
    Output(Ids.DONE, "data"),
    Input(Ids.DEED, "data"),
    prevent_initial_call=True,
)
def change_billing(deed: Any) -> dict[str, Any]:
    """Saves, pauses, sends or deletes; returns the result or the error as a sentence."""
    return queries.deed_status(deed, queries.change_billing)


link_scripts(Ids, SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def billing_page(question: Mapping[str, Any]) -> Component:
    left = [
        alert_card(Ids.BUDGETS, "Budgets"),
        alert_card(Ids.TARIFFS, "Tariffs"),
        alert_card(Ids.REPORTS, "Scheduled reports"),
    ]
    form = html.Div(id=Ids.FORM)
    right = html.Section([form], className="card alert-panel", **labelled("The form"))
    inside = html.Div([html.Div(left, className="alert-column"), right], className="alert-columns")
    return alerts_frame(Ids, SHEETS, question, "billing", [inside])
