"""The frame of the usage page: controls, totals, the table. assets/usage.js fills and refreshes
it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from components import html_json
from components.controls import (
    attributes,
    labelled,
    menu,
    notice,
    search_field,
    segments,
    select,
    units_select,
    zone_select,
)
from components.usage.url_state import (
    BETWEEN,
    DEFAULT_RANGE,
    MOST_CHOSEN,
    RANGES,
    SORTS,
    UsageView,
    months,
    write_usage_view,
)

PATH = "/usage"


class Ids(StrEnum):
    """Ids, also used by assets/usage.js."""

    PAGE = "usage"
    QUESTION = "usage-question"
    ANSWER = "usage-answer"
    DRAWN = "usage-drawn"
    SEARCH = "usage-search"
    GROUP = "usage-group"
    CHOSEN = "usage-chosen"
    SOUGHT = "usage-sought"
    OFFERED = "usage-offered"
    DATES = "usage-dates"
    RANGE_WORDS = "usage-range"
    NOTICE = "usage-notice"
    SUMS = "usage-sums"
    TABLE = "usage-table"
    EXPORTS = "usage-exports"
    PROGRESS = "usage-progress"


SHEETS = (Ids.SUMS, Ids.TABLE, Ids.OFFERED)


def usage_page(view: UsageView, today: date) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_usage_view(view)),
            dcc.Store(id=Ids.ANSWER),
            dcc.Store(id=Ids.DRAWN),
            *(html_json.store(id) for id in SHEETS),
            _heading(view, today),
            _which(view),
            notice(Ids.NOTICE),
            html.P(id=Ids.PROGRESS, className="usage-progress quiet", role="status"),
            html.Section(html.Dl(id=Ids.SUMS, className="card totals"), **labelled("Total")),
            html.Div(id=Ids.TABLE, className="card usage-card"),
        ],
        id=Ids.PAGE,
        **attributes(data_state="loading", data_summary=""),
    )


def usage_tools(view: UsageView) -> list[Component]:
    return [units_select(view.units), zone_select("Each device’s zone", view.zone)]


def _heading(view: UsageView, today: date) -> Component:
    return html.Div(
        [
            html.H1("Usage"),
            *ranges(Ids.PAGE, view, today, default=DEFAULT_RANGE),
            html.Span(id=Ids.RANGE_WORDS, className="quiet"),
        ],
        className="heading",
    )


def ranges(
    page: str,
    view: UsageView,
    today: date,
    *,
    default: str,
    more: Sequence[tuple[str, str]] = (),
) -> list[Component]:
    """The choice of days. ``page``: the prefix of the page's ids. ``more``: ranges that only this
    page offers."""
    listed = [*RANGES.items(), *more]
    named = any(view.range == name for name, _ in listed)
    chosen = view.range if named else "custom" if BETWEEN in view.range else ""
    return [
        segments(
            "Range",
            "range",
            [*listed, ("custom", "Custom")],
            chosen=chosen,
            default=default,
        ),
        select("Month", "range", [("", "Another month"), *months(today)], chosen=view.range),
        html.Form(
            id=f"{page}-dates", className="usage-dates", hidden=True, **labelled("Two dates")
        ),
    ]


def _which(view: UsageView) -> Component:
    return html.Div(
        [
            search_field(Ids.SEARCH, "Search devices", value=view.search),
            html.Span(id=Ids.GROUP),
            chooser(Ids.PAGE),
            html.Span(id=Ids.CHOSEN, className="quiet"),
            html.Div(
                [
                    select(
                        "Sort",
                        "sort",
                        [(name, f"Sort: {label}") for name, label in SORTS.items()],
                        chosen=view.sort,
                    ),
                    menu("Export", (), name="Export this summary", body_id=Ids.EXPORTS),
                ],
                className="fleet-right",
            ),
        ],
        className="heading usage-which",
    )


def chooser(page: str) -> Component:
    """The choice of single devices. ``page``: the prefix of the page's ids."""
    return html.Details(
        [
            html.Summary("Choose devices", className="button"),
            html.Div(
                [
                    search_field(f"{page}-sought", "Find devices to choose", hint="Find a device"),
                    html.P(f"Up to {MOST_CHOSEN}, one by one.", className="menu-heading"),
                    html.Div(id=f"{page}-offered", className="offered"),
                ],
                className="menu-body",
            ),
        ],
        className="menu chooser",
    )
