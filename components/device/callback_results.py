"""What a part of a device's page answers: what it tells of what is shown, or why it can't be had.
Then its last good words stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from dash import no_update

from api.errors import WeirError
from api.timez import now_ms
from components.chart_query import Subject
from components.controls import failure
from components.device import kpi_cards, queries
from components.device.chart_state import Shown, read_shown
from components.device.kpis import Kpi
from components.fleet.meters import Meter
from components.html_json import sheet
from components.url_state import View


def numbers(
    shown: Any, kept: Any, cells: int, tell: Callable[[Meter, Shown], tuple[Kpi | None, ...]]
) -> list[Any]:
    """For each of so many cells its parts and its trouble."""
    read = read_shown(shown)
    if read is None:
        return [no_update] * (2 * cells)
    try:
        found = tell(queries.meter_of(Subject.read(kept).device_id, now_ms()), read)
    except WeirError as error:
        return [no_update, failure(error)] * cells
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
