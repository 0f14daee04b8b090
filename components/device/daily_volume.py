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


def any_readings(days_shown: Sequence[Day]) -> bool:
    """Whether any day has readings."""
    return any(day.gallons is not None for day in days_shown)


def most(days_shown: Sequence[Day]) -> float:
    """Gallons of the highest bar."""
    return max(0.0, *(day.gallons or 0.0 for day in days_shown)) or 1.0


def share(day: Day, top: float) -> float:
    """How high a bar is, in hundredths of the highest."""
    return round(100 * max(0.0, day.gallons or 0.0) / top, 1)


def words_of(day: Day, units: Units) -> str:
    volume = units.volume(day.gallons) if day.gallons is not None else "no data"
    length = f", a day of {day.odd_hours}" if day.odd_hours else ""
    return f"{day.name}: {volume}{' so far' if day.under_way else ''}{length}"


def mark(day: Day) -> str:
    """Mondays are marked."""
    date = local_date(day.ordinal - EPOCH_DAY)
    return f"{date.day} {MONTHS[date.month - 1]}" if date.weekday() == 0 else ""


def average(days_shown: Sequence[Day], units: Units) -> str:
    """Of the days that are over; empty where none of them has readings."""
    complete = [day for day in days_shown if day.gallons is not None and not day.under_way]
    if not complete:
        return ""
    highest = max(complete, key=lambda day: day.gallons or 0.0)
    mean = sum(day.gallons or 0.0 for day in complete) / len(complete)
    return (
        f"{units.volume(mean)} a day on average, most on {highest.name}"
        f" with {units.volume(highest.gallons)}"
    )


# --- As components -------------------------------------------------------------------------------


def bars(days_shown: Sequence[Day], units: Units) -> list[Component]:
    """Each a button that leads the chart to its day; assets/days.js marks those in sight."""
    if not any_readings(days_shown):
        return [html.P(EMPTY, className="empty")]
    top = most(days_shown)
    picture = html.Div(
        [_bar(day, top, units) for day in days_shown],
        className="days",
        role="toolbar",
        **labelled(f"{summary(days_shown, units)} {_KEYS}"),
    )
    marks = html.Div(
        [html.Span(mark(day)) for day in days_shown],
        className="day-marks",
        **attributes(aria_hidden="true"),
    )
    average_text = average(days_shown, units)
    scale = html.P(
        f"up to {units.volume(top)}", className="days-top", **attributes(aria_hidden="true")
    )
    return [
        scale,
        picture,
        marks,
        *([html.P(average_text, className="days-words")] if average_text else []),
    ]


def _bar(day: Day, top: float, units: Units) -> Component:
    kinds = {"partial": day.under_way, "none": day.gallons is None}
    first, last = write_window(day.window)
    clocks = [html.Span(day.odd_hours, className="clocks")] if day.odd_hours else []
    text = words_of(day, units)
    return html.Button(
        [*clocks, html.Span(className="bar-fill")],
        type="button",
        className=" ".join(("day", *(kind for kind, holds in kinds.items() if holds))),
        title=text,
        tabIndex=-1,
        style={"--share": share(day, top)},
        **labelled(text),
        **attributes(data_from=first, data_to=last),
    )


def summary(days_shown: Sequence[Day], units: Units) -> str:
    average_text = average(days_shown, units)
    return f"{TITLE}: {average_text}." if average_text else f"{TITLE}."
