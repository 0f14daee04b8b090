"""The frames of the alert pages; assets/alerts.js loads and refreshes their lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc, html
from dash.development.base_component import Component

from components import html_json, session
from components.controls import Entry, Section, attributes, labelled, menu, notice, select
from components.shell import ALERTS_PATH

RULES_PATH = f"{ALERTS_PATH}/rules"
BILLING_PATH = f"{ALERTS_PATH}/budgets"


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


class BillingIds(StrEnum):
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


class RuleIds(StrEnum):
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


SHEETS = (Ids.SUMMARY, Ids.FIRING, Ids.HISTORY, Ids.SILENCES)
BILLING_SHEETS = (
    BillingIds.SUMMARY, BillingIds.BUDGETS, BillingIds.TARIFFS, BillingIds.REPORTS, BillingIds.FORM,
)  # fmt: skip
RULE_SHEETS = (RuleIds.SUMMARY, RuleIds.RULES, RuleIds.RECEIVERS, RuleIds.FORM, RuleIds.PREVIEW)


def alerts_page(question: Mapping[str, Any], groups: Sequence[str]) -> Component:
    """``groups``: the groups to choose from."""
    cards = [
        _card(Ids.FIRING, "Firing now"),
        _card(Ids.HISTORY, "History"),
        _card(Ids.SILENCES, "Silences"),
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
    return _page(Ids, SHEETS, question, "now", inside, tools)


def rules_page(question: Mapping[str, Any]) -> Component:
    left = [_card(RuleIds.RULES, "Rules"), _card(RuleIds.RECEIVERS, "Receivers")]
    form = [
        html.Div(id=RuleIds.FORM),
        html.Div(id=RuleIds.PREVIEW, className="alert-preview", role="status"),
    ]
    right = html.Section(form, className="card alert-panel", **labelled("The form"))
    inside = html.Div([html.Div(left, className="alert-column"), right], className="alert-columns")
    return _page(RuleIds, RULE_SHEETS, question, "rules", [inside])


def billing_page(question: Mapping[str, Any]) -> Component:
    left = [
        _card(BillingIds.BUDGETS, "Budgets"),
        _card(BillingIds.TARIFFS, "Tariffs"),
        _card(BillingIds.REPORTS, "Scheduled reports"),
    ]
    form = html.Div(id=BillingIds.FORM)
    right = html.Section([form], className="card alert-panel", **labelled("The form"))
    inside = html.Div([html.Div(left, className="alert-column"), right], className="alert-columns")
    return _page(BillingIds, BILLING_SHEETS, question, "billing", [inside])


def _page(
    ids: type[Ids] | type[RuleIds] | type[BillingIds],
    sheets: tuple[StrEnum, ...],
    question: Mapping[str, Any],
    place: str,
    inside: Sequence[Component],
    tools: Sequence[Component | None] = (),
) -> Component:
    scripts = {"rules": "alert-rules", "billing": "alert-billing"}
    names = (ids.ANSWER, ids.SHOWN, ids.DEED, ids.DONE, ids.NEXT, ids.DRAFT)
    return html.Div(
        [
            dcc.Store(id=ids.QUESTION, data=dict(question)),
            *(dcc.Store(id=id) for id in names),
            *(html_json.store(id) for id in sheets),
            html.Div(
                [
                    html.H1("Alerts"),
                    _tabs(place),
                    html.P(id=ids.SUMMARY, className="findings-summary", role="status"),
                    html.Div(list(tools), className="fleet-right") if tools else None,
                ],
                className="heading",
            ),
            notice(ids.NOTICE),
            *inside,
        ],
        id=ids.PAGE,
        **attributes(data_place=scripts.get(place, "alerts")),
    )


def _tabs(place: str) -> Component:
    tabs = (
        ("now", "Now and before", ALERTS_PATH),
        ("rules", "Rules and receivers", RULES_PATH),
        ("billing", "Budgets and reports", BILLING_PATH),
    )
    links = [
        dcc.Link(
            label,
            href=session.site_path(path),
            className="segment current" if name == place else "segment",
        )
        for name, label, path in tabs
    ]
    return html.Div(links, className="segments")


def _card(id: str, name: str) -> Component:
    return html.Section(id=id, className="card alert-card", **labelled(name))


def link_scripts(
    ids: type[Ids] | type[RuleIds] | type[BillingIds], sheets: tuple[StrEnum, ...]
) -> None:
    """Registers the callbacks by which assets/alerts.js shows a page's lists and results."""
    for function, shown, source in (
        ("listed", ids.SHOWN, ids.ANSWER),
        ("done", ids.NEXT, ids.DONE),
    ):
        clientside_callback(
            ClientsideFunction("alerts", function),
            Output(shown, "data"),
            Input(source, "data"),
            prevent_initial_call=True,
        )
    html_json.drawn(*sheets)
