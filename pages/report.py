"""A report: the devices' use as a document to read, print and save.

assets/usage.js keeps the page in step with its address, assets/report.js fills in the charts.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Any, Final

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

from api.errors import WeirError
from api.timez import now_ms, to_datetime
from components import html_json, shell
from components.concurrent_queries import current_access
from components.controls import attributes, failure, notice, select
from components.report.content import answer
from components.report.queries import (
    DEFAULT_RANGE,
    PAPERS,
    PATH,
    ReportView,
    read_report_view,
    write_report_view,
)
from components.url_state import COMPARISONS, DEFAULT_TAB, TABS, read_question, read_text, unread
from components.usage.page import choices, chooser, ranges, usage_tools


class Ids(StrEnum):
    """Ids, also used by the scripts."""

    PAGE = "report"
    QUESTION = "report-question"
    ANSWER = "report-answer"
    DRAWN = "report-drawn"
    GROUP = "report-group"
    CHOSEN = "report-chosen"
    SOUGHT = "report-sought"
    OFFERED = "report-offered"
    DATES = "report-dates"
    RANGE_WORDS = "report-range"
    NOTICE = "report-notice"
    PROGRESS = "report-progress"
    BODY = "report-body"
    SAVE = "report-save"
    STATUS = "report-status"


SHEETS: Final = (Ids.BODY, Ids.OFFERED)

register_page(__name__, path=PATH, title="Report · Weir")


def layout(**params: Any) -> Component:
    """The frame without data: the document comes with the first replies."""
    view = read_report_view(params)
    today = to_datetime(now_ms()).date()
    remarks = unread(
        params, {"range": view.usage.range == params.get("range"), "metric": view.tab is not None}
    )
    return shell.frame(report_page(view, today), tools=usage_tools(view.usage), remarks=remarks)


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.BODY),
    Input(Ids.QUESTION, "data"),
)
def report(question: Any) -> tuple[Any, Any]:
    """The loaded part of the report; on failure the last one stays."""
    params = read_question(question)
    view = read_report_view(params)
    try:
        reply = answer(current_access(), view, shell.organization_name(), now_ms())
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, no_update
    body = reply.pop("body")
    return {**reply, "request_id": params.get("request_id")}, body


@callback(
    html_json.output(Ids.OFFERED),
    Input(Ids.SOUGHT, "value"),
    Input(Ids.QUESTION, "data"),
)
def to_choose(sought: Any, question: Any) -> Any:
    """If the devices can't be listed, the report shows the error."""
    view = read_report_view(read_question(question))
    return choices(current_access(), read_text(sought), view.usage.devices, now_ms())


clientside_callback(
    ClientsideFunction("usage", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.ANSWER, "data"),
    State(Ids.QUESTION, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def report_page(view: ReportView, today: date) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_report_view(view)),
            dcc.Store(id=Ids.ANSWER),
            dcc.Store(id=Ids.DRAWN),
            *(html_json.store(id) for id in SHEETS),
            html.Div(
                [
                    html.H1("Report", className="report-word"),
                    *ranges(Ids.PAGE, view.usage, today, default=DEFAULT_RANGE),
                    html.Span(id=Ids.RANGE_WORDS, className="quiet"),
                ],
                className="heading",
            ),
            _which(view),
            notice(Ids.NOTICE),
            html.P(id=Ids.PROGRESS, className="usage-progress quiet", role="status"),
            html.Article(id=Ids.BODY, className="report card"),
        ],
        id=Ids.PAGE,
        **attributes(data_state="loading", data_summary=""),
    )


def _which(view: ReportView) -> Component:
    metrics = [("", "Chart: flow rate"), *((t.name, f"Chart: {t.label.lower()}") for t in TABS[1:])]
    chosen = view.tab.name if view.tab and view.tab is not DEFAULT_TAB else ""
    compared = [("", "Compare with …"), *COMPARISONS.items()]
    papers = [("", "A4"), ("letter", PAPERS["letter"])]
    return html.Div(
        [
            html.Span(id=Ids.GROUP),
            chooser(Ids.PAGE),
            html.Span(id=Ids.CHOSEN, className="quiet"),
            html.Div(
                [
                    html.Span(id=Ids.STATUS, className="quiet", role="status"),
                    select("Chart", "metric", metrics, chosen=chosen),
                    select("Compare", "compare", compared, chosen=view.compare),
                    select(
                        "Paper", "paper", papers, chosen="" if view.paper == "a4" else view.paper
                    ),
                    html.Button(
                        "Print", type="button", className="button", **attributes(data_do="print")
                    ),
                    html.Button(
                        "Save PDF",
                        id=Ids.SAVE,
                        type="button",
                        className="button",
                        **attributes(data_do="pdf"),
                    ),
                ],
                className="fleet-right",
            ),
        ],
        className="heading usage-which",
    )
