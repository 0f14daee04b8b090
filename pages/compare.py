"""Compare: volumes of up to twelve devices or groups, in one chart or one each, and ranked.

assets/usage.js keeps the page in step with its address, assets/comparison.js draws its charts.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Any

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
from components.compare.cards import answer, files, offered
from components.concurrent_queries import current_access
from components.controls import (
    attributes,
    failure,
    labelled,
    menu,
    notice,
    search_field,
    units_select,
    zone_select,
)
from components.url_state import read_question, read_text, unread
from components.usage.page import ranges
from components.usage.url_state import (
    COMPARE_PATH,
    COMPARE_RANGE,
    MORE_RANGES,
    MOST_ITEMS,
    CompareView,
    UsageView,
    read_compare_view,
    write_compare_view,
)

KEYS = (
    "Left and right move the cursor over the buckets, Home and End go to the ends, Escape lets go."
)


class Ids(StrEnum):
    """Ids, also used by the scripts."""

    PAGE = "compare"
    QUESTION = "compare-question"
    ANSWER = "compare-answer"
    DRAWN = "compare-drawn"
    GROUP = "compare-group"
    CHOSEN = "compare-chosen"
    SOUGHT = "compare-sought"
    OFFERED = "compare-offered"
    CHIPS = "compare-chips"
    HOW = "compare-how"
    DATES = "compare-dates"
    RANGE_WORDS = "compare-range"
    NOTICE = "compare-notice"
    PROGRESS = "compare-progress"
    PICTURES = "compare-pictures"
    BARS = "compare-ranking"
    CURSOR = "compare-cursor"
    EXPORTS = "compare-exports"


SHEETS = (Ids.PICTURES, Ids.BARS, Ids.CHIPS, Ids.HOW, Ids.OFFERED)

register_page(__name__, path=COMPARE_PATH, title="Compare · Weir")


def layout(**query: Any) -> Component:
    """The frame without data: the charts come with the first reply."""
    view = read_compare_view(query)
    remarks = unread(query, {"range": view.days.range == query.get("range")})
    today = to_datetime(now_ms()).date()
    return shell.frame(
        compare_page(view, today), place=COMPARE_PATH, tools=tools(view.days), remarks=remarks
    )


@callback(
    Output(Ids.ANSWER, "data"),
    html_json.output(Ids.PICTURES),
    html_json.output(Ids.BARS),
    html_json.output(Ids.CHIPS),
    html_json.output(Ids.HOW),
    Output(Ids.EXPORTS, "children"),
    Input(Ids.QUESTION, "data"),
)
def comparison(question: Any) -> tuple[Any, ...]:
    """All compared items, by one request; on failure the last reply stays."""
    params = read_question(question)
    view = read_compare_view(params)
    try:
        reply = answer(current_access(), view, now_ms())
    except WeirError as error:
        return {"error": failure(error), "request_id": params.get("request_id")}, *(no_update,) * 5
    parts = [reply.pop(name) for name in ("pictures", "bars", "chips", "how")]
    return {**reply, "request_id": params.get("request_id")}, *parts, files(view)


@callback(
    html_json.output(Ids.OFFERED),
    Input(Ids.SOUGHT, "value"),
    Input(Ids.QUESTION, "data"),
)
def to_choose(sought: Any, question: Any) -> Any:
    """If the devices can't be listed, the comparison shows the error."""
    view = read_compare_view(read_question(question))
    return offered(current_access(), read_text(sought), view, now_ms())


clientside_callback(
    ClientsideFunction("usage", "received"),
    Output(Ids.DRAWN, "data"),
    Input(Ids.ANSWER, "data"),
    State(Ids.QUESTION, "data"),
    prevent_initial_call=True,
)
html_json.drawn(*SHEETS)

# --- The frame -----------------------------------------------------------------------------------


def tools(view: UsageView) -> list[Component]:
    return [units_select(view.units), zone_select("The first one’s zone", view.zone)]


def compare_page(view: CompareView, today: date) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_compare_view(view)),
            dcc.Store(id=Ids.ANSWER),
            dcc.Store(id=Ids.DRAWN),
            *(html_json.store(id) for id in SHEETS),
            html.Div(
                [
                    html.H1("Compare"),
                    *ranges(Ids.PAGE, view.days, today, default=COMPARE_RANGE, more=MORE_RANGES),
                    html.Span(id=Ids.RANGE_WORDS, className="quiet"),
                ],
                className="heading",
            ),
            _which(),
            notice(Ids.NOTICE),
            html.P(id=Ids.PROGRESS, className="usage-progress quiet", role="status"),
            html.Div(
                [
                    html.Section(id=Ids.PICTURES, className="card", **labelled("Charts")),
                    html.Section(id=Ids.BARS, className="card", **labelled("Ranking")),
                ],
                className="compare-body",
            ),
            html.P(KEYS, className="sr-only"),
            html.P(id=Ids.CURSOR, className="sr-only", **attributes(aria_live="polite")),
        ],
        id=Ids.PAGE,
        **attributes(
            data_state="loading",
            data_summary="",
            data_picks="items",
            data_most=str(MOST_ITEMS),
            data_clear="The largest groups",
            data_picture="/export/compare",
        ),
    )


def _which() -> Component:
    """What is compared, and how."""
    return html.Div(
        [
            _chooser(),
            html.Div(id=Ids.CHIPS, className="compare-chips"),
            html.Span(id=Ids.GROUP),
            html.Span(id=Ids.CHOSEN, className="quiet"),
            html.Div(
                [
                    html.Div(id=Ids.HOW, className="compare-how"),
                    menu("Export", (), name="Export this comparison", body_id=Ids.EXPORTS),
                ],
                className="fleet-right",
            ),
        ],
        className="heading usage-which",
    )


def _chooser() -> Component:
    return html.Details(
        [
            html.Summary("Choose devices or groups", className="button"),
            html.Div(
                [
                    search_field(
                        Ids.SOUGHT, "Find devices and groups", hint="Find a device or group"
                    ),
                    html.P(f"Up to {MOST_ITEMS}.", className="menu-heading"),
                    html.Div(id=Ids.OFFERED, className="offered"),
                ],
                className="menu-body",
            ),
        ],
        className="menu chooser",
    )
