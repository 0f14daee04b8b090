"""Volume by local day, the last six weeks. A day of 23 or 25 hours is marked; today isn't
complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import HOUR_MS
from api.timez import DAY_MS, day_start, local_ordinal
from components import formatting
from components.clock import EPOCH_DAY, MONTHS, day_text, local_date
from components.controls import attributes, labelled
from components.ranges import Window
from components.units import Units
from components.url_state import write_window

WEEKS: Final = 6
DAYS: Final = 7 * WEEKS
TITLE: Final = "Volume by day"
EMPTY: Final = "No volume in the last six weeks."
_KEYS: Final = "Arrow keys go from day to day."


@dataclass(frozen=True, slots=True)
class Day:
    """``window`` is the whole local day; ``gallons`` None without readings; ``under_way``: the day
    isn't over."""

    ordinal: int
    window: Window
    gallons: float | None
    under_way: bool

    @property
    def name(self) -> str:
        return day_text(self.ordinal - EPOCH_DAY)

    @property
    def odd_hours(self) -> str:
        """``23 h`` where the day isn't 24 hours long."""
        length = self.window.length_ms
        return "" if length == DAY_MS else f"{formatting.number(length / HOUR_MS)} h"


def days(
    gallons: Mapping[int, float], tz: ZoneInfo, now_ms: int, *, under_way: bool = True
) -> list[Day]:
    """Every day of the six weeks, one that the zone skipped left out. ``gallons`` by first
    instant; ``under_way``: the last day isn't over."""
    today = local_ordinal(tz, now_ms)
    made: list[Day] = []
    for ordinal in range(today - DAYS + 1, today + 1):
        start, end = day_start(tz, ordinal), day_start(tz, ordinal + 1)
        if start < end:
            window = Window(start, end - 1)
            made.append(Day(ordinal, window, gallons.get(start), under_way and ordinal == today))
    return made


def any_heard(found: Sequence[Day]) -> bool:
    """Whether any day has readings."""
    return any(day.gallons is not None for day in found)


def most(found: Sequence[Day]) -> float:
    """Gallons of the highest bar."""
    return max(0.0, *(day.gallons or 0.0 for day in found)) or 1.0


def share(day: Day, top: float) -> float:
    """How high a bar is, in hundredths of the highest."""
    return round(100 * max(0.0, day.gallons or 0.0) / top, 1)


def words_of(day: Day, units: Units) -> str:
    told = units.volume(day.gallons) if day.gallons is not None else "no data"
    length = f", a day of {day.odd_hours}" if day.odd_hours else ""
    return f"{day.name}: {told}{' so far' if day.under_way else ''}{length}"


def mark(day: Day) -> str:
    """Mondays are marked."""
    date = local_date(day.ordinal - EPOCH_DAY)
    return f"{date.day} {MONTHS[date.month - 1]}" if date.weekday() == 0 else ""


def average(found: Sequence[Day], units: Units) -> str:
    """Of the days that are over; empty where none of them has readings."""
    told = [day for day in found if day.gallons is not None and not day.under_way]
    if not told:
        return ""
    highest = max(told, key=lambda day: day.gallons or 0.0)
    mean = sum(day.gallons or 0.0 for day in told) / len(told)
    return (
        f"{units.volume(mean)} a day on average, most on {highest.name}"
        f" with {units.volume(highest.gallons)}"
    )


# --- As components -------------------------------------------------------------------------------


def bars(found: Sequence[Day], units: Units) -> list[Component]:
    """Each a button that leads the chart to its day; assets/days.js marks those in sight."""
    if not any_heard(found):
        return [html.P(EMPTY, className="empty")]
    top = most(found)
    picture = html.Div(
        [_bar(day, top, units) for day in found],
        className="days",
        role="toolbar",
        **labelled(f"{summary(found, units)} {_KEYS}"),
    )
    marks = html.Div(
        [html.Span(mark(day)) for day in found],
        className="day-marks",
        **attributes(aria_hidden="true"),
    )
    told = average(found, units)
    scale = html.P(
        f"up to {units.volume(top)}", className="days-top", **attributes(aria_hidden="true")
    )
    return [scale, picture, marks, *([html.P(told, className="days-words")] if told else [])]


def _bar(day: Day, top: float, units: Units) -> Component:
    kinds = {"partial": day.under_way, "none": day.gallons is None}
    first, last = write_window(day.window)
    clocks = [html.Span(day.odd_hours, className="clocks")] if day.odd_hours else []
    said = words_of(day, units)
    return html.Button(
        [*clocks, html.Span(className="bar-fill")],
        type="button",
        className=" ".join(("day", *(kind for kind, holds in kinds.items() if holds))),
        title=said,
        tabIndex=-1,
        style={"--share": share(day, top)},
        **labelled(said),
        **attributes(data_from=first, data_to=last),
    )


def summary(found: Sequence[Day], units: Units) -> str:
    told = average(found, units)
    return f"{TITLE}: {told}." if told else f"{TITLE}."
