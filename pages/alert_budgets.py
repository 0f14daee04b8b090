"""Budgets, tariffs and scheduled reports: made, changed, paused, sent again, deleted."""

from __future__ import annotations

from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    no_update,
    register_page,
)
from dash.development.base_component import Component

from api.errors import WeirError
from api.timez import now_ms
from components import html_json, shell
from components.alerts import plans, queries
from components.alerts.layout import PLAN_SHEETS, PLANS_PATH, PlanIds, plans_page
from components.controls import failure
from components.fleet.device_queries import directory
from components.fleet.queries import current_access
from components.html_json import Node, el
from components.shell import ALERTS_PATH
from components.url_state import read_question, read_text

register_page(__name__, path=PLANS_PATH, title="Budgets and reports · Weir")


def layout(
    budget: str = "", tariff: str = "", report: str = "", device: str = "", **_: Any
) -> Component:
    """``budget``, ``tariff`` and ``report``: the id of what the form is of, or "new"."""
    question = {"budget": budget, "tariff": tariff, "report": report, "device": device}
    return shell.frame(plans_page(question | {"form": True}), place=ALERTS_PATH)


@callback(
    Output(PlanIds.ANSWER, "data"),
    html_json.output(PlanIds.SUMMARY),
    html_json.output(PlanIds.BUDGETS),
    html_json.output(PlanIds.TARIFFS),
    html_json.output(PlanIds.REPORTS),
    html_json.output(PlanIds.FORM),
    Input(PlanIds.QUESTION, "data"),
)
def plans_listed(question: Any) -> tuple[Any, ...]:
    """The form only when it is asked for: what is being typed stays."""
    params, now = read_question(question), now_ms()
    role = queries.role()
    try:
        shown = queries.all_plans()
        form: Any = no_update
        if params.get("form") is True:
            form = _form(shown, params, directory(current_access(), now).groups)
    except WeirError as error:
        return {"error": failure(error), "asked": params.get("asked")}, *(no_update,) * 5
    names = {each.id: each.name for each in shown.receivers}
    administers = role.may_administer
    return (
        {"asked": params.get("asked")},
        [plans.summary(shown.budgets)],
        plans.budget_list(shown.budgets, may_change=role.may_operate),
        plans.tariff_list(shown.tariffs, may_change=administers),
        plans.report_list(shown.reports, names, now, may_change=administers),
        form,
    )


def _form(shown: queries.Plans, params: Any, groups: tuple[str, ...]) -> list[Node]:
    role = queries.role()
    ids = {name: read_text(params.get(name)) for name in ("budget", "tariff", "report", "device")}
    gone: list[Node] = [el("p", "Not found, or you don't have access.", class_="alert-empty")]
    if id := ids["tariff"]:
        tariff = next((each for each in shown.tariffs if each.id == id), None)
        if tariff is None and id != "new":
            return gone
        return plans.tariff_form(tariff, groups, may_change=role.may_administer)
    if id := ids["report"]:
        report = next((each for each in shown.reports if each.id == id), None)
        if report is None and id != "new":
            return gone
        administers = role.may_administer
        return plans.report_form(report, groups, shown.receivers, may_change=administers)
    budget = next((each for each in shown.budgets if each.id == ids["budget"]), None)
    if budget is None and ids["budget"]:
        return gone
    return plans.budget_form(budget, ids["device"], groups, may_change=role.may_operate)


@callback(
    Output(PlanIds.DONE, "data"),
    Input(PlanIds.DEED, "data"),
    prevent_initial_call=True,
)
def change_plan(deed: Any) -> dict[str, Any]:
    """Saves, pauses, sends or deletes; says what it did, or what is wrong."""
    return queries.deed_status(deed, queries.change_plan)


for _function, _output, _source in (
    ("listed", PlanIds.SHOWN, PlanIds.ANSWER),
    ("done", PlanIds.NEXT, PlanIds.DONE),
):
    clientside_callback(
        ClientsideFunction("alerts", _function),
        Output(_output, "data"),
        Input(_source, "data"),
        prevent_initial_call=True,
    )
html_json.drawn(*PLAN_SHEETS)
