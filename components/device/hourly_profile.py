"""Typical week: the mean flow of each hour of the local week, over the last eight weeks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dash import html
from dash.development.base_component import Component

from api.metering.hourly_profile import HOURS
from components.clock import WEEKDAYS
from components.controls import labelled
from components.units import Units

MARKED_HOURS: Final = 6
TITLE: Final = "Typical week"
EMPTY: Final = "No flow in the last eight weeks."


def flows(week: Sequence[Sequence[float | None]]) -> list[float]:
    """The hours that there is anything to see of, in gal/min."""
    return [flow for day in week for flow in day if flow is not None]


def most(week: Sequence[Sequence[float | None]]) -> float:
    """The flow, in gal/min, that has the full shade. Of a week with something to see."""
    return max(0.0, *flows(week)) or 1.0


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


def heat_map(week: Sequence[Sequence[float | None]], units: Units) -> list[Component]:
    if not flows(week):
        return [html.P(EMPTY, className="empty")]
    top = most(week)
    marks = [
        html.Th(hour_text(hour), colSpan=MARKED_HOURS, scope="colgroup")
        for hour in range(0, HOURS, MARKED_HOURS)
    ]
    rows = [
        html.Tr([html.Th(name, scope="row", className="weekday"), *_cells(day, name, top, units)])
        for name, day in zip(WEEKDAYS, week, strict=True)
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
