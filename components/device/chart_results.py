"""What the chart's callback returns, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from dash import html, no_update
from dash.development.base_component import Component

from api.errors import WeirError
from components import chart_query, session
from components.chart_query import Drawn, Subject
from components.charts import hover_text
from components.controls import attributes, failure
from components.device import queries
from components.device.chart_state import shown_response
from components.device.gap_list import gap_list
from components.html_json import sheet
from components.ranges import Window
from components.url_state import BETWEEN, View, read_question, read_view, write_window

MOST_EMPTY = 0.3  # of the range before the first reading


class Fields(StrEnum):
    """Each for one output."""

    FIGURE = "figure"
    BADGE = "badge"
    ZONE_NOTE = "zone_note"
    SUMMARY = "summary"
    NOTICE = "notice"
    EMPTY = "empty"
    NEVER = "never"
    UNZOOMED = "unzoomed"
    GAPS = "gaps"
    RESPONSE = "told"
    COMPARED = "compared"
    SINCE = "since"
    PARTS = "parts"


def chart_results(question: Any, stored: Any, now_ms: int) -> dict[str, Any]:
    """The chart for what the browser asks; where that fails the last good one stays."""
    params = read_question(question)
    view, subject = read_view(params), Subject.read(stored)
    try:
        drawn = chart_query.draw(session.current_client(), subject, view, now_ms)
    except WeirError as error:
        return {**dict.fromkeys(Fields, no_update), Fields.NOTICE: failure(error)}
    tz = drawn.canvas.tz
    counted_in = drawn.frame.series.resolution.label
    return {
        Fields.FIGURE: chart_query.change(drawn, view),
        Fields.BADGE: chart_query.badge(drawn),
        Fields.ZONE_NOTE: chart_query.zone_note(drawn),
        Fields.SUMMARY: hover_text.summary(
            drawn.frame, tz, view.units, chart_query.data_share(drawn)
        ),
        Fields.NOTICE: "",
        Fields.EMPTY: chart_query.emptiness(drawn),
        Fields.NEVER: drawn.last_ms is None,
        Fields.UNZOOMED: view.window is None,
        Fields.GAPS: sheet(gap_list(drawn.stretches, tz, now_ms=now_ms, counted_in=counted_in)),
        Fields.COMPARED: chart_query.compared_words(drawn),
        Fields.SINCE: _since(drawn, view, subject, now_ms),
        Fields.RESPONSE: shown_response(drawn, view, params.get("asked")),
        Fields.PARTS: None,  # with a refresh the page adds those that are due
    }


def _since(drawn: Drawn, view: View, subject: Subject, now_ms: int) -> list[Component]:
    """A button for the range since the first reading, where most of the chosen one was before it.
    Where that can't be asked there is none."""
    window = drawn.canvas.window
    starts = drawn.frame.starts_ms
    empty = starts[0] - window.from_ms if starts else 0
    if view.custom or view.window or empty < MOST_EMPTY * window.length_ms:
        return []
    try:
        first = queries.first_reading_ms(subject.device_id, now_ms)
    except WeirError:
        return []
    if first is None or first <= window.from_ms:
        return []
    ends = write_window(Window(first, window.to_ms))
    return [
        html.Button(
            "Since the first reading",
            type="button",
            className="button small",
            **attributes(data_set="range", data_value=BETWEEN.join(ends), data_default="false"),
        )
    ]
