"""What the callbacks of a device's KPIs and cards return: the values, or why there are none. After
a failure the last good values stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import no_update

from api.errors import WeirError
from components.chart_query import Subject
from components.controls import failure
from components.device import kpi_cards, queries
from components.device.cards import CardQuery, CardRow
from components.device.chart_state import read_shown
from components.device.kpi_rows import KpiRow, Question
from components.fleet.query_context import current_desk
from components.html_json import sheet
from components.url_state import View


def kpis(rows: Sequence[KpiRow], shown: Any, kept: Any, now_ms: int) -> list[Any]:
    """For each row its cell's parts and its failure. The rows share one query."""
    read = read_shown(shown)
    if read is None:
        return [no_update] * (2 * len(rows))
    try:
        meter = queries.meter_of(Subject.read(kept).device_id, now_ms)
        question = Question(current_desk(), meter, read, now_ms)
        answer = rows[0].query(question)
        found = [row.text(answer, question) for row in rows]
    except WeirError as error:
        return [no_update, failure(error)] * len(rows)
    parts = ((kpi_cards.shown(kpi) if kpi else no_update, "") for kpi in found)
    return [part for pair in parts for part in pair]


def card(row: CardRow, shown: Any, kept: Any, now_ms: int, page: Any = 1) -> list[Any]:
    """The card's body, note and failure."""
    read = read_shown(shown)
    if read is None:
        return [no_update] * 3
    subject = Subject.read(kept)
    tz, number = subject.zone(View(zone=read.zone)), page if type(page) is int else 1
    try:
        body, note = row.draw(CardQuery(subject.device_id, read, tz, now_ms, number))
    except WeirError as error:
        return [no_update, no_update, failure(error)]
    return [sheet(body), f"· {note}", ""]
