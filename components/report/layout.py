"""The frame of the report's page: controls above the document. assets/usage.js keeps it in step
with its address, assets/report.js fills in the charts."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from components import html_json
from components.controls import attributes, notice, select
from components.report.url_state import DEFAULT_RANGE, PAPERS, ReportView, write_report_view
from components.url_state import COMPARISONS, DEFAULT_TAB, TABS
from components.usage.layout import chooser, ranges, usage_tools


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
tools = usage_tools


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
