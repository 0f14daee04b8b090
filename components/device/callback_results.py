"""Callback results of the parts of the device page: their content, or the error. On an error the
last content stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from dash import no_update

from api.errors import WeirError
from components.chart_query import Subject
from components.controls import failure
from components.device import kpi_cards, queries
from components.device.chart_state import Shown, read_shown
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


def card(
    shown: Any, kept: Any, tell: Callable[[str, Shown, ZoneInfo], tuple[Any, str]]
) -> list[Any]:
    """A card's body, note and trouble; ``tell`` makes body and note of the device with that id."""
    read = read_shown(shown)
    if read is None:
        return [no_update] * 3
    subject = Subject.read(kept)
    try:
        body, note = tell(subject.device_id, read, subject.zone(View(zone=read.zone)))
    except WeirError as error:
        return [no_update, no_update, failure(error)]
    return [sheet(body), f"· {note}", ""]
