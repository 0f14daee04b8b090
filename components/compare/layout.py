"""The frame of the compare page. assets/usage.js keeps it in step with its address,
assets/comparison.js draws its pictures."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from components import html_json
from components.compare.url_state import (
    DEFAULT_RANGE,
    MORE_RANGES,
    MOST_ITEMS,
    CompareView,
    write_compare_view,
)
from components.controls import (
    attributes,
    labelled,
    menu,
    notice,
    search_field,
    units_select,
    zone_select,
)
from components.usage.layout import ranges
from components.usage.url_state import UsageView

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
                    *ranges(Ids.PAGE, view.days, today, default=DEFAULT_RANGE, more=MORE_RANGES),
                    html.Span(id=Ids.RANGE_WORDS, className="quiet"),
                ],
                className="heading",
            ),
            html.Div(
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
            ),
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
