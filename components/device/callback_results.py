"""The results of the device page's callbacks: the chart, its gaps, the strip of the whole range,
and the parts beside the chart (the state, the KPIs, the cards, their menus).

One reply has all the parts that are due; each loads, is empty or fails on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from dash import html, no_update
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client import Client
from api.errors import Unavailable, Unreachable, WeirError
from api.timez import DAY_MS
from components import chart_query, formatting
from components.chart_query import Drawn, Subject, shown_response
from components.charts import labels
from components.charts.frames import LOW_QUALITY, NO_DATA, MarkedSpan, frame
from components.controls import attributes, failure, labelled
from components.device import finding_list, kpis, queries
from components.device.cards import CARDS, CHART_MENU, CardRow, menus
from components.device.kpi_cards import KPI_ROWS, STATE_ID, KpiRow, Question, When, chip, shown_kpi
from components.fleet.sparklines import spark
from components.formatting import Clock, day_text, measures_water, minute_text
from components.html_json import Node, as_nodes
from components.queries import flow_series, last_seen_ms
from components.ranges import Window, around, write_window
from components.status_queries import state_of
from components.url_state import BETWEEN, View, read_question, read_shown, read_view

MOST_EMPTY = 0.3  # share of the range before the first reading


class Fields(StrEnum):
    """One field for each output."""

    FIGURE = "figure"
    BADGE = "badge"
    ZONE_NOTE = "zone_note"
    SUMMARY = "summary"
    NOTICE = "notice"
    EMPTY = "empty"
    NEVER = "never"
    UNZOOMED = "unzoomed"
    GAPS = "gaps"
    RESPONSE = "response"
    COMPARED = "compared"
    SINCE = "since"
    PARTS = "parts"


def chart_results(question: Any, stored: Any, now_ms: int) -> dict[str, Any]:
    """The chart for the browser's query; on failure the last one stays."""
    params = read_question(question)
    view, subject = read_view(params), Subject.read(stored)
    try:
        drawn = queries.draw(subject, view, now_ms)
    except WeirError as error:
        return {**dict.fromkeys(Fields, no_update), Fields.NOTICE: failure(error)}
    tz = drawn.canvas.tz
    counted_in = drawn.frame.series.resolution.label
    return {
        Fields.FIGURE: chart_query.change(drawn, view),
        Fields.BADGE: chart_query.badge(drawn),
        Fields.ZONE_NOTE: chart_query.zone_note(drawn),
        Fields.SUMMARY: labels.summary(drawn.frame, tz, view.units, chart_query.data_share(drawn)),
        Fields.NOTICE: "",
        Fields.EMPTY: chart_query.emptiness(drawn),
        Fields.NEVER: drawn.last_ms is None,
        Fields.UNZOOMED: view.window is None,
        Fields.GAPS: as_nodes(
            gap_list(drawn.marked_spans, tz, now_ms=now_ms, counted_in=counted_in)
        ),
        Fields.COMPARED: chart_query.compared_words(drawn),
        Fields.SINCE: _since(drawn, view, subject, now_ms),
        Fields.RESPONSE: shown_response(drawn, view, params.get("request_id")),
        Fields.PARTS: None,  # with a refresh the page adds the other due parts
    }


def _since(drawn: Drawn, view: View, subject: Subject, now_ms: int) -> list[Component]:
    """A button for the range since the first reading, if most of the chosen range was before it;
    None if that can't be loaded."""
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


def summary(marked_spans: Sequence[MarkedSpan]) -> str:
    """``3 gaps, 6 h 12 min · 2 spans below the quality limit, 40 min``; empty without any."""
    silent = [s for s in marked_spans if s.cause.silent]
    poor = [s for s in marked_spans if not s.cause.silent]
    parts = [(silent, "gap", "gaps"), (poor, "span", "spans")]
    texts = [f"{_count(spans, one, many)}, {_length(spans)}" for spans, one, many in parts if spans]
    if poor:
        texts[-1] = texts[-1].replace(",", f" {LOW_QUALITY.word},", 1)
    return " · ".join(texts)


def _count(spans: Sequence[MarkedSpan], one: str, many: str) -> str:
    return f"{formatting.whole(len(spans))} {one if len(spans) == 1 else many}"


def _length(spans: Sequence[MarkedSpan]) -> str:
    return formatting.duration(sum(s.window.length_ms for s in spans))


def gap_list(
    marked_spans: Sequence[MarkedSpan], tz: ZoneInfo, *, now_ms: int, counted_in: str
) -> list[Component]:
    """Latest first; empty without any. ``counted_in``: the resolution of the rows between which the
    gaps are. Finer rows show more of them; uptime counts by the device's own cadence instead."""
    if not marked_spans:
        return []
    latest = list(reversed(marked_spans))
    made: list[Component] = [
        html.Summary(f"{summary(marked_spans)} · by {counted_in} rows"),
        _table(latest[:MOST], tz, now_ms),
    ]
    if len(latest) > MOST:
        rest = formatting.whole(len(latest) - MOST)
        made.append(html.P(f"and {rest} earlier ones: zoom in to see them", className="quiet"))
    return made


def _table(latest: Sequence[MarkedSpan], tz: ZoneInfo, now_ms: int) -> Component:
    clock = Clock(tz, latest[-1].window.from_ms, max(s.window.to_ms for s in latest))
    lead = html.Span("On the chart", className="sr-only")
    head = html.Tr([html.Th(name, scope="col") for name in ("When", "How long", "Why", lead)])
    return html.Table(
        [html.Thead(head), html.Tbody([_row(s, clock, now_ms) for s in latest])],
        className="gap-table",
        **labelled("Gaps and poor readings"),
    )


def _row(marked: MarkedSpan, clock: Clock, now_ms: int) -> Component:
    when = span_words(marked.window, clock, now_ms)
    first, last = write_window(around(marked.window))
    show = html.Button(
        "Show",
        type="button",
        className="button small",
        **labelled(f"Show {when}"),
        **attributes(data_from=first, data_to=last),
    )
    why = html.Span(
        marked.cause.word,
        className="cause",
        **attributes(data_kind=_KINDS.get(marked.cause, "off")),
    )
    length = formatting.duration(marked.window.length_ms)
    return html.Tr([html.Td(when), html.Td(length), html.Td(why), html.Td(show)])


def span_words(window: Window, clock: Clock, now_ms: int) -> str:
    """``Mon 16 Nov, 13:54–14:06``; with the second day if it differs."""
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
    """{from, to, width, line, band, gaps} of a long range; None for a short one."""
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


# --- The parts beside the chart -------------------------------------------------------------------


OVERVIEW: Final = "overview"
MENUS: Final = (CHART_MENU, *(row.menu_id for row in CARDS))

NodesById = dict[str, list[Node]]
"""The content of elements by their ids. Others stay as they are."""


class Part(NamedTuple):
    """``make`` returns its contents or raises a WeirError; ``failed`` returns contents with the
    reason."""

    when: When
    ids: frozenset[str]
    make: Callable[[], NodesById]
    failed: Callable[[str], NodesById]


def page_parts(params: Any, shown: Any, stored: Any, now_ms: int) -> Any:
    """{request_id, fresh, nodes, overview}; no update before a chart is shown. ``params``: the
    chart's query. ``shown``: the chart's state, with ``due``: names of `When`, and ids of single
    KPIs and cards. ``fresh``: those names of which no part failed. ``overview``: only if it is due
    and available."""
    read, shown = read_shown(shown), read_question(shown)
    if read is None:
        return no_update
    names, page = shown.get("due"), shown.get("page")
    due = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    subject, view = Subject.read(stored), read_view(read_question(params))
    tz, number = subject.zone(View(zone=read.zone)), page if type(page) is int else 1
    question = Question(subject.device_id, read, tz, now_ms, number)
    parts = [part for part in _parts(question, subject) if due & {part.when, *part.ids}]
    nodes, stale = _made(parts)
    if When.RANGE in due:
        bodies = menus(question.device_id, read, tz)
        nodes |= dict(zip(MENUS, map(as_nodes, bodies), strict=True))
    fresh = sorted(due.intersection(When) - stale)
    answer: dict[str, Any] = {
        "request_id": shown.get("request_id"),
        "fresh": fresh,
        "nodes": nodes,
    }
    if When.STEADY in due - stale:
        answer |= _overview(question, subject, view)
    return answer


def _made(parts: Sequence[Part]) -> tuple[NodesById, set[str]]:
    """The contents, and when the failed parts were due. A service that is down gets one request,
    not one for each part."""
    nodes, stale, down = NodesById(), set[str](), ""
    for part in parts:
        try:
            nodes |= part.failed(down) if down else part.make()
        except WeirError as error:
            nodes |= part.failed(failure(error))
            stale.add(part.when)
            if isinstance(error, Unreachable | Unavailable):
                down = failure(error)
        if down:
            stale.add(part.when)
    return nodes, stale


def _overview(question: Question, subject: Subject, view: View) -> dict[str, Any]:
    """On failure the last overview stays: the chart shows the reason."""
    try:
        drawn = overview(question.access.client, subject, view, question.now_ms)
    except WeirError:
        return {}
    return {OVERVIEW: drawn}


def _parts(question: Question, subject: Subject) -> Iterator[Part]:
    """All parts of this device's page; if the device can't be looked up, those that every device
    has."""
    try:
        water = measures_water(question.meter.category)
        priced = queries.price_of(question.meter) is not None
    except WeirError:
        rows, cards = KPI_ROWS, CARDS
    else:
        rows = [row for row in KPI_ROWS if row.suits(water=water, priced=priced)]
        cards = [row for row in CARDS if water or not row.water]
    state = partial(_state, question, subject)
    yield Part(When.REFRESH, frozenset({STATE_ID}), state, lambda _: {})
    for _, group in groupby(rows, key=lambda row: row.query):
        some = list(group)
        ids = frozenset(row.id for row in some)
        make = partial(_kpis, some, question, subject)
        yield Part(some[0].when, ids, make, partial(_failed_kpis, some))
    for row in cards:
        make = partial(_card, row, question)
        yield Part(row.when, frozenset({row.id}), make, partial(_failed_card, row))


def _state(question: Question, subject: Subject) -> NodesById:
    """The chips of the state and of the open findings. On failure the last ones stay: the cell of
    the last reading shows the reason."""
    status, meter = question.status, question.meter
    findings = queries.open_findings(question.row)
    state = state_of(meter.quality_limit, status, question.now_ms, active=subject.active)
    context = finding_list.FindingContext(
        queries.own_directory(meter), question.shown.units, question.tz, question.now_ms
    )
    chips = finding_list.chips(findings, context)
    return {STATE_ID: as_nodes(chip(state)), finding_list.CHIPS: as_nodes(chips)}


def _kpis(rows: Sequence[KpiRow], question: Question, subject: Subject) -> NodesById:
    """Adjacent KPIs that share one query."""
    answer, nodes = rows[0].query(question), NodesById()
    for row in rows:
        kpi = row.text(answer, question)
        if kpi and not subject.active:
            kpi = kpis.inactive(kpi, now=row.now)
        if kpi:
            nodes[row.id] = as_nodes(shown_kpi(kpi))
        nodes[row.failure_id] = []
    return nodes


def _failed_kpis(rows: Sequence[KpiRow], why: str) -> NodesById:
    return {row.failure_id: [why] for row in rows}


def _card(row: CardRow, question: Question) -> NodesById:
    body, note = row.draw(question)
    return {row.id: as_nodes(body), row.note_id: [f"· {note}"], row.failure_id: []}


def _failed_card(row: CardRow, why: str) -> NodesById:
    return {row.failure_id: [why]}
