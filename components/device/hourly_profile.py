"""When it flows: the mean flow of each hour of the local week, over the last eight weeks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, HOUR_MS, LIMIT, MINUTE_MS, Resolution
from api.client import Client, Series
from api.timez import DAY_MS, day_start, local_ordinal, offsets, source_of
from components.clock import WEEKDAYS, Clock
from components.controls import labelled
from components.queries import pages
from components.ranges import Window
from components.units import Units

WEEKS: Final = 8
HOURS: Final = 24
MARKED_HOURS: Final = 6
DAYS: Final = 7
TITLE: Final = "When it flows"
EMPTY: Final = "No flow in the last eight weeks."

Week = list[list[float | None]]
"""By weekday (Monday first) and local hour, in gal/min; None where no reading tells."""


def window_of(tz: ZoneInfo, now_ms: int) -> Window:
    """Up to the hour under way, whose gallons would be told as those of a whole one."""
    hour, _ = Clock(tz, now_ms - HOUR_MS, now_ms).hour(now_ms)
    return Window(day_start(tz, local_ordinal(tz, now_ms) - WEEKS * DAYS), hour - 1)


def resolution_of(tz: ZoneInfo, window: Window) -> Resolution:
    """The coarsest rows that no local hour of the window cuts: hours nearly everywhere, 10 or 5
    minutes where a zone is off the whole hour."""
    return source_of(*(offset for _, offset in offsets(tz, *window)))


def ask(client: Client, device_id: str, tz: ZoneInfo, now_ms: int) -> Week:
    window = window_of(tz, now_ms)
    resolution = resolution_of(tz, window)
    return week(pages(client, device_id, resolution, window, limit=LIMIT.maximum or 0), tz, window)


def week(parts: Iterable[Series], tz: ZoneInfo, window: Window) -> Week:
    """Gallons over the minutes of the hours that were heard: of whole hours, however long the rows
    are, since a reading tells of the time before it and not of its row alone."""
    gallons = [[0.0] * HOURS for _ in range(DAYS)]
    minutes = [[0.0] * HOURS for _ in range(DAYS)]
    clock, end = Clock(tz, *window), 0
    for part in parts:
        totals = part.values(f"total_{FLOW_AMOUNT.name}")
        for start, total in zip(part.times_ms, totals, strict=True):
            if total is not None:
                local = clock.local(start)
                day, hour = (local // DAY_MS + 3) % DAYS, local % DAY_MS // HOUR_MS
                gallons[day][hour] += total
                if start >= end:  # the first row of its hour
                    first, end = clock.hour(start)
                    minutes[day][hour] += (end - first) / MINUTE_MS
    return [
        [g / m if m else None for g, m in zip(*rows, strict=True)]
        for rows in zip(gallons, minutes, strict=True)
    ]


def flows(found: Sequence[Sequence[float | None]]) -> list[float]:
    """The hours that there is anything to see of, in gal/min."""
    return [flow for day in found for flow in day if flow is not None]


def most(found: Sequence[Sequence[float | None]]) -> float:
    """The flow, in gal/min, that has the full shade. Of a week with something to see."""
    return max(0.0, *flows(found)) or 1.0


def share(flow: float | None, top: float) -> float:
    """How strong an hour's shade is, in hundredths; no flow is still a cell."""
    strength = 0.0 if flow is None else 100 * max(0.0, flow) / top
    return round(4 + 0.96 * strength, 1)


def hour_text(hour: int) -> str:
    return f"{hour:02}:00"


def flow_text(flow: float | None, units: Units) -> str:
    return f"{units.flow(flow)} {units.flow_name}" if flow is not None else "no data"


def words_of(flow: float | None, name: str, hour: int, units: Units) -> str:
    """``Mon 07:00–08:00: 2.8 gal/min``."""
    return f"{name} {hour_text(hour)}–{hour_text(hour + 1)}: {flow_text(flow, units)}"


# --- As components -------------------------------------------------------------------------------


def heat_map(found: Sequence[Sequence[float | None]], units: Units) -> list[Component]:
    if not flows(found):
        return [html.P(EMPTY, className="empty")]
    top = most(found)
    marks = [
        html.Th(hour_text(hour), colSpan=MARKED_HOURS, scope="colgroup")
        for hour in range(0, HOURS, MARKED_HOURS)
    ]
    rows = [
        html.Tr([html.Th(name, scope="row", className="weekday"), *_cells(day, name, top, units)])
        for name, day in zip(WEEKDAYS, found, strict=True)
    ]
    table = html.Table(
        [html.Tbody(rows), html.Tfoot(html.Tr([html.Td(className="corner"), *marks]))],
        className="heat",
        **labelled("Mean flow by weekday and hour"),
    )
    legend = html.P(
        ["0", html.Span(className="ramp"), f"{units.flow(top)} {units.flow_name}"],
        className="heat-legend",
    )
    return [table, legend]


def _cells(day: Sequence[float | None], name: str, top: float, units: Units) -> list[Component]:
    return [_cell(flow, name, hour, top, units) for hour, flow in enumerate(day)]


def _cell(flow: float | None, name: str, hour: int, top: float, units: Units) -> Component:
    return html.Td(
        html.Span(flow_text(flow, units), className="sr-only"),
        title=words_of(flow, name, hour, units),
        className="none" if flow is None else "",
        style={"--share": share(flow, top)},
    )
