"""The parts of a device's page beside its chart: the state, the KPIs, the cards, their menus. One
answer has all that are due. Each loads, is empty or fails on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

from dash import no_update

from api.errors import Unavailable, Unreachable, WeirError
from components.chart_query import Subject
from components.controls import failure
from components.device import finding_list, insight_queries, kpis
from components.device.cards import CARDS, CHART_MENU, CardRow, menus
from components.device.chart_results import overview
from components.device.chart_state import read_shown
from components.device.kpi_cards import STATE_ID, chip, shown_kpi
from components.device.kpi_rows import KPI_ROWS, KpiRow, Question, When
from components.device.queries import price_of
from components.fleet.device_status import state_of
from components.formatting import measures_water
from components.html_json import Node, sheet
from components.url_state import View, read_question, read_view

OVERVIEW: Final = "overview"
MENUS: Final = (CHART_MENU, *(row.menu_id for row in CARDS))

Sheets = dict[str, list[Node]]
"""What elements show now, by their ids. Others stay as they are."""


class Part(NamedTuple):
    """``make`` returns its sheets or raises a WeirError; ``failed`` returns those that say why."""

    when: When
    ids: frozenset[str]
    make: Callable[[], Sheets]
    failed: Callable[[str], Sheets]


def page_parts(params: Any, shown: Any, stored: Any, now_ms: int) -> Any:
    """{asked, fresh, sheets, overview}; no update where no chart is shown yet. ``params`` is the
    chart's question. ``shown`` is what the chart shows, with ``due``: names of `When`, and ids of
    single KPIs and cards. ``fresh`` are those names of which no part failed; ``overview`` is there
    only when it is due and can be had."""
    read, shown = read_shown(shown), read_question(shown)
    if read is None:
        return no_update
    names, page = shown.get("due"), shown.get("page")
    due = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    subject, view = Subject.read(stored), read_view(read_question(params))
    tz, number = subject.zone(View(zone=read.zone)), page if type(page) is int else 1
    question = Question(subject.device_id, read, tz, now_ms, number)
    parts = [part for part in _parts(question, subject) if due & {part.when, *part.ids}]
    sheets, stale = _made(parts)
    if When.RANGE in due:
        bodies = menus(question.device_id, read, tz)
        sheets |= dict(zip(MENUS, map(sheet, bodies), strict=True))
    fresh = sorted(due.intersection(When) - stale)
    answer: dict[str, Any] = {"asked": shown.get("asked"), "fresh": fresh, "sheets": sheets}
    if When.STEADY in due - stale:
        answer |= _overview(question, subject, view)
    return answer


def _made(parts: Sequence[Part]) -> tuple[Sheets, set[str]]:
    """The sheets, and when those that failed were due. Where the service is down it is asked
    once, not for each part."""
    sheets, stale, down = Sheets(), set[str](), ""
    for part in parts:
        try:
            sheets |= part.failed(down) if down else part.make()
        except WeirError as error:
            sheets |= part.failed(failure(error))
            stale.add(part.when)
            if isinstance(error, Unreachable | Unavailable):
                down = failure(error)
        if down:
            stale.add(part.when)
    return sheets, stale


def _overview(question: Question, subject: Subject, view: View) -> dict[str, Any]:
    """Where it can't be had the last good one stays: the chart says what is wrong."""
    try:
        drawn = overview(question.access.client, subject, view, question.now_ms)
    except WeirError:
        return {}
    return {OVERVIEW: drawn}


def _parts(question: Question, subject: Subject) -> Iterator[Part]:
    """All that the page of this device has; of one that can't be looked up, all that any has."""
    try:
        water = measures_water(question.meter.category)
        priced = price_of(question.meter) is not None
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


def _state(question: Question, subject: Subject) -> Sheets:
    """The chip of the state, and those of the open findings. Where they can't be had the last ones
    stay: the last reading's cell says what is wrong."""
    status, meter = question.status, question.meter
    findings = insight_queries.open_findings(question.row)
    state = state_of(meter.quality_limit, status, question.now_ms, active=subject.active)
    context = finding_list.FindingContext(
        insight_queries.own_directory(meter), question.shown.units, question.tz, question.now_ms
    )
    chips = finding_list.chips(findings, context)
    return {STATE_ID: sheet(chip(state)), finding_list.CHIPS: sheet(chips)}


def _kpis(rows: Sequence[KpiRow], question: Question, subject: Subject) -> Sheets:
    """Of neighbours that share one query."""
    answer, sheets = rows[0].query(question), Sheets()
    for row in rows:
        kpi = row.text(answer, question)
        if kpi and not subject.active:
            kpi = kpis.inactive(kpi, now=row.now)
        if kpi:
            sheets[row.id] = sheet(shown_kpi(kpi))
        sheets[row.failure_id] = []
    return sheets


def _failed_kpis(rows: Sequence[KpiRow], why: str) -> Sheets:
    return {row.failure_id: [why] for row in rows}


def _card(row: CardRow, question: Question) -> Sheets:
    body, note = row.draw(question)
    return {row.id: sheet(body), row.note_id: [f"· {note}"], row.failure_id: []}


def _failed_card(row: CardRow, why: str) -> Sheets:
    return {row.failure_id: [why]}
