"""What the chart's callback returns, field by field; the list of gaps; the whole range's strip."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from dash import html, no_update
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client import Client
from api.errors import WeirError
from api.timez import DAY_MS
from components import chart_query, formatting, session
from components.chart_query import Drawn, Subject
from components.charts import hover_text
from components.charts.frames import LOW_QUALITY, NO_DATA, Stretch, frame
from components.clock import Clock, day_text, minute_text
from components.controls import attributes, failure, labelled
from components.device import queries
from components.device.chart_state import shown_response
from components.fleet.sparklines import spark
from components.html_json import sheet
from components.queries import flow_series, last_seen_ms
from components.ranges import Window, around
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


# --- Gaps -----------------------------------------------------------------------------------------


MOST: Final = 40
_KINDS: Final = {NO_DATA: "bad", LOW_QUALITY: "warn"}


def summary(stretches: Sequence[Stretch]) -> str:
    """``3 gaps, 6 h 12 min · 2 spans below the quality limit, 40 min``; empty if there are none."""
    silent = [s for s in stretches if s.cause.silent]
    poor = [s for s in stretches if not s.cause.silent]
    parts = [(silent, "gap", "gaps"), (poor, "span", "spans")]
    texts = [f"{_count(spans, one, many)}, {_length(spans)}" for spans, one, many in parts if spans]
    if poor:
        texts[-1] = texts[-1].replace(",", f" {LOW_QUALITY.word},", 1)
    return " · ".join(texts)


def _count(spans: Sequence[Stretch], one: str, many: str) -> str:
    return f"{formatting.whole(len(spans))} {one if len(spans) == 1 else many}"


def _length(spans: Sequence[Stretch]) -> str:
    return formatting.duration(sum(s.window.length_ms for s in spans))


def gap_list(
    stretches: Sequence[Stretch], tz: ZoneInfo, *, now_ms: int, counted_in: str
) -> list[Component]:
    """Latest first; nothing where there are none. ``counted_in`` names the rows that they are gaps
    between: finer rows show more of them, and uptime counts by the device's own cadence."""
    if not stretches:
        return []
    latest = list(reversed(stretches))
    made: list[Component] = [
        html.Summary(f"{summary(stretches)} · by {counted_in} rows"),
        _table(latest[:MOST], tz, now_ms),
    ]
    if len(latest) > MOST:
        rest = formatting.whole(len(latest) - MOST)
        made.append(html.P(f"and {rest} earlier ones: zoom in to see them", className="quiet"))
    return made


def _table(latest: Sequence[Stretch], tz: ZoneInfo, now_ms: int) -> Component:
    clock = Clock(tz, latest[-1].window.from_ms, max(s.window.to_ms for s in latest))
    lead = html.Span("On the chart", className="sr-only")
    head = html.Tr([html.Th(name, scope="col") for name in ("When", "How long", "Why", lead)])
    return html.Table(
        [html.Thead(head), html.Tbody([_row(s, clock, now_ms) for s in latest])],
        className="gap-table",
        **labelled("Gaps and poor readings"),
    )


def _row(stretch: Stretch, clock: Clock, now_ms: int) -> Component:
    when = span_words(stretch.window, clock, now_ms)
    first, last = write_window(around(stretch.window))
    show = html.Button(
        "Show",
        type="button",
        className="button small",
        **labelled(f"Show {when}"),
        **attributes(data_from=first, data_to=last),
    )
    why = html.Span(
        stretch.cause.word,
        className="cause",
        **attributes(data_kind=_KINDS.get(stretch.cause, "off")),
    )
    length = formatting.duration(stretch.window.length_ms)
    return html.Tr([html.Td(when), html.Td(length), html.Td(why), html.Td(show)])


def span_words(window: Window, clock: Clock, now_ms: int) -> str:
    """``Mon 16 Nov, 13:54–14:06``; the second day too where it is another."""
    first, last = clock.local(window.from_ms), clock.local(window.to_ms + 1)
    start = f"{day_text(first // DAY_MS)}, {minute_text(first)}"
    if window.to_ms >= now_ms - 1000:
        return f"{start} – now"
    if first // DAY_MS == last // DAY_MS:
        return f"{start}–{minute_text(last)}"
    return f"{start} – {day_text(last // DAY_MS)}, {minute_text(last)}"


# --- The whole range ------------------------------------------------------------------------------


LONG_MS: Final = 7 * DAY_MS
POINTS: Final = 400


def overview(client: Client, subject: Subject, view: View, now_ms: int) -> dict[str, Any] | None:
    """{from, to, width, line, band, gaps} of a long range; None of a short one."""
    last_ms = None if view.custom else last_seen_ms(client, subject.device_id, now_ms)
    whole = view.whole(last_ms, now_ms)
    if whole.length_ms < LONG_MS:
        return None
    return _drawn(client, subject, view, whole, now_ms)


def _drawn(
    client: Client, subject: Subject, view: View, whole: Window, now_ms: int
) -> dict[str, Any]:
    tz, metric = subject.zone(view), subject.tab_of(view).metric
    series = flow_series(client, subject.device_id, whole, POINTS / 2, tz)
    framed = frame(
        series,
        FLOW_RATE if metric is FLOW_AMOUNT else metric,
        whole,
        tz=tz,
        cadence_ms=subject.cadence_ms,
        until_ms=now_ms,
    )
    made = spark(framed, whole, max(1, whole.length_ms // POINTS))
    first, last = write_window(whole)
    return {
        "from": first,
        "to": last,
        "width": made.width,
        "line": made.line,
        "band": made.band,
        "gaps": made.gaps,
    }
