"""The cards of volumes. Volume by local day, for the last six weeks: days of 23 or 25 hours are
marked, today isn't complete. The mean flow of each hour of the week, over the last eight weeks. The
forecast of the coming week with its intervals, drawn by assets/forecast.js, so that its colours
follow the theme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, HOUR_MS
from api.metering.forecast import ForecastHour
from api.metering.hourly_profile import HOURS
from api.timez import DAY_MS, EPOCH_DAY, day_start, local_ordinal
from components import formatting
from components.charts.labels import axis
from components.controls import attributes, labelled
from components.formatting import MONTHS, WEEKDAYS, day_text, local_date
from components.ranges import Window, write_window
from components.units import Units

WEEKS: Final = 6
DAYS: Final = 7 * WEEKS
DAYS_TITLE: Final = "Volume by day"
NO_DAYS: Final = "No volume in the last six weeks."
_KEYS: Final = "Arrow keys go from day to day."


@dataclass(frozen=True, slots=True)
class Day:
    """``window``: the whole local day. ``gallons`` None: no readings. ``under_way``: the day isn't
    over."""

    ordinal: int
    window: Window
    gallons: float | None
    under_way: bool

    @property
    def name(self) -> str:
        return day_text(self.ordinal - EPOCH_DAY)

    @property
    def odd_hours(self) -> str:
        """``23 h`` if the day doesn't have 24 hours."""
        length = self.window.length_ms
        return "" if length == DAY_MS else f"{formatting.number(length / HOUR_MS)} h"


def days(
    gallons: Mapping[int, float], tz: ZoneInfo, now_ms: int, *, under_way: bool = True
) -> list[Day]:
    """Every day of the six weeks, except one that the zone skipped. ``gallons``: by first instant.
    ``under_way``: the last day isn't over."""
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


def most_of_days(days_shown: Sequence[Day]) -> float:
    """The gallons of the highest bar."""
    return max(0.0, *(day.gallons or 0.0 for day in days_shown)) or 1.0


def bar_share(day: Day, top: float) -> float:
    """The height of a bar, in hundredths of the highest."""
    return round(100 * max(0.0, day.gallons or 0.0) / top, 1)


def day_words(day: Day, units: Units) -> str:
    volume = units.volume(day.gallons) if day.gallons is not None else "no data"
    length = f", a day of {day.odd_hours}" if day.odd_hours else ""
    return f"{day.name}: {volume}{' so far' if day.under_way else ''}{length}"


def day_mark(day: Day) -> str:
    """The label of a Monday; "" for other days."""
    date = local_date(day.ordinal - EPOCH_DAY)
    return f"{date.day} {MONTHS[date.month - 1]}" if date.weekday() == 0 else ""


def average_words(days_shown: Sequence[Day], units: Units) -> str:
    """The mean of the finished days; empty if none of them has readings."""
    complete = [day for day in days_shown if day.gallons is not None and not day.under_way]
    if not complete:
        return ""
    highest = max(complete, key=lambda day: day.gallons or 0.0)
    mean = sum(day.gallons or 0.0 for day in complete) / len(complete)
    return (
        f"{units.volume(mean)} a day on average, most on {highest.name}"
        f" with {units.volume(highest.gallons)}"
    )


# --- The bars -------------------------------------------------------------------------------------


def day_bars(days_shown: Sequence[Day], units: Units) -> list[Component]:
    """A bar for each day, a button that moves the chart to it; assets/days.js marks the visible
    days."""
    if not any_readings(days_shown):
        return [html.P(NO_DAYS, className="empty")]
    top = most_of_days(days_shown)
    picture = html.Div(
        [_bar(day, top, units) for day in days_shown],
        className="days",
        role="toolbar",
        **labelled(f"{summary(days_shown, units)} {_KEYS}"),
    )
    marks = html.Div(
        [html.Span(day_mark(day)) for day in days_shown],
        className="day-marks",
        **attributes(aria_hidden="true"),
    )
    average = average_words(days_shown, units)
    scale = html.P(
        f"up to {units.volume(top)}", className="days-top", **attributes(aria_hidden="true")
    )
    return [
        scale,
        picture,
        marks,
        *([html.P(average, className="days-words")] if average else []),
    ]


def _bar(day: Day, top: float, units: Units) -> Component:
    kinds = {"partial": day.under_way, "none": day.gallons is None}
    first, last = write_window(day.window)
    clocks = [html.Span(day.odd_hours, className="clocks")] if day.odd_hours else []
    text = day_words(day, units)
    return html.Button(
        [*clocks, html.Span(className="bar-fill")],
        type="button",
        className=" ".join(("day", *(kind for kind, holds in kinds.items() if holds))),
        title=text,
        tabIndex=-1,
        style={"--share": bar_share(day, top)},
        **labelled(text),
        **attributes(data_from=first, data_to=last),
    )


def summary(days_shown: Sequence[Day], units: Units) -> str:
    average = average_words(days_shown, units)
    return f"{DAYS_TITLE}: {average}." if average else f"{DAYS_TITLE}."


# --- Typical week ---------------------------------------------------------------------------------


MARKED_HOURS: Final = 6
WEEK_TITLE: Final = "Typical week"
NO_WEEK: Final = "No flow in the last eight weeks."


def flows(week: Sequence[Sequence[float | None]]) -> list[float]:
    """The flows of the hours with readings, in gal/min."""
    return [flow for day in week for flow in day if flow is not None]


def most_of_week(week: Sequence[Sequence[float | None]]) -> float:
    """The flow of the full shade, in gal/min. The week must have a flow."""
    return max(0.0, *flows(week)) or 1.0


def shade(flow: float | None, top: float) -> float:
    """The strength of an hour's shade, in hundredths; an hour without flow has a cell too."""
    strength = 0.0 if flow is None else 100 * max(0.0, flow) / top
    return round(4 + 0.96 * strength, 1)


def hour_text(hour: int) -> str:
    return f"{hour:02}:00"


def flow_text(flow: float | None, units: Units) -> str:
    return f"{units.flow(flow)} {units.flow_name}" if flow is not None else "no data"


def hour_words(flow: float | None, name: str, hour: int, units: Units) -> str:
    """``Mon 07:00–08:00: 2.8 gal/min``."""
    return f"{name} {hour_text(hour)}–{hour_text(hour + 1)}: {flow_text(flow, units)}"


# --- The heat map ---------------------------------------------------------------------------------


def heat_map(week: Sequence[Sequence[float | None]], units: Units) -> list[Component]:
    if not flows(week):
        return [html.P(NO_WEEK, className="empty")]
    top = most_of_week(week)
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
        title=hour_words(flow, name, hour, units),
        className="none" if flow is None else "",
        style={"--share": shade(flow, top)},
    )


# --- Forecast -------------------------------------------------------------------------------------


FORECAST_TITLE: Final = "Next 7 days"
NO_FORECAST: Final = "Too early to say: a forecast takes some days of readings."
FORECAST_WIDTH: Final = 1000  # of the box; its height is 100
LAST_MARK: Final = 940  # from there on a day's name would not fit
NO_INTERVALS: Final = "Intervals follow once 20 earlier forecasts can be judged."


def forecast_note(hours: Sequence[ForecastHour]) -> str:
    judged = [hour.interval is not None for hour in hours]
    if not any(judged):
        return "volume by the hour"
    where = "" if all(judged) else " where enough forecasts could be judged"
    return f"volume by the hour, with intervals of 80 and 95 %{where}"


def forecast_card(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> list[Component]:
    if not hours:
        return [html.P(NO_FORECAST, className="empty")]
    made = [_forecast_figure(hours, units, tz), _forecast_days(hours, units, tz)]
    if all(hour.interval is None for hour in hours):
        made.append(html.P(NO_INTERVALS, className="quiet"))
    return made


def _forecast_figure(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> Component:
    tops = [hour.volume if hour.interval is None else hour.interval.high95 for hour in hours]
    lows = [hour.volume if hour.interval is None else hour.interval.low95 for hour in hours]
    scale = units.scale(FLOW_AMOUNT, max(tops))
    low, high, marks = axis(scale.of(min(0.0, *lows)), scale.of(max(tops)))

    def y(gallons: float) -> float:
        return round(100 - (scale.of(gallons) - low) / (high - low) * 100, 2)

    def x(index: float) -> float:
        return _forecast_x(index, len(hours))

    line = "M" + "L".join(f"{x(i)} {y(hour.volume)}" for i, hour in enumerate(hours))
    rows = "|".join(f"{y(mark / scale.factor)} {formatting.number(mark)}" for mark in marks)
    days = {local_ordinal(tz, hour.bucket_start_ms): i for i, hour in reversed([*enumerate(hours)])}
    columns = "|".join(
        f"{x(i)} {day_text(day - EPOCH_DAY, year=False)}"
        for day, i in sorted(days.items())[1:]
        if x(i) <= LAST_MARK
    )
    total = units.volume(sum(hour.volume for hour in hours))
    return html.Div(
        className="forecast-figure",
        role="img",
        **labelled(f"Forecast of {formatting.duration(len(hours) * HOUR_MS)}: {total} in all."),
        **attributes(
            data_unit=f"{scale.unit}/h",
            data_line=line,
            data_band95=_forecast_band([h.interval and (h.interval.low95, h.interval.high95)
                                        for h in hours], x, y),
            data_band80=_forecast_band([h.interval and (h.interval.low80, h.interval.high80)
                                        for h in hours], x, y),
            data_rows=rows,
            data_columns=columns,
        ),
    )  # fmt: skip


def _forecast_band(
    bounds: Sequence[tuple[float, float] | None],
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> str:
    """One polygon for each run of hours with an interval; an hour between two without one is as
    wide as an hour."""
    runs: list[list[tuple[float, tuple[float, float]]]] = [[]]
    for index, each in enumerate(bounds):
        if each is not None:
            runs[-1].append((index, each))
        elif runs[-1]:
            runs.append([])
    path = ""
    for run in filter(None, runs):
        if len(run) == 1:
            ((index, each),) = run
            run = [(index - 0.5, each), (index + 0.5, each)]
        high = "L".join(f"{x(i)} {y(top)}" for i, (_, top) in run)
        low = "L".join(f"{x(i)} {y(bottom)}" for i, (bottom, _) in reversed(run))
        path += f"M{high}L{low}Z"
    return path


def _forecast_x(index: float, count: int) -> float:
    """The place of an hour in the box, of ``count`` hours."""
    return round(max(0.0, min(1.0, index / max(1, count - 1))) * FORECAST_WIDTH, 1)


def _forecast_days(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> Component:
    """The expected volumes of whole days, each below its day."""
    days: dict[int, list[int]] = {}
    for index, hour in enumerate(hours):
        days.setdefault(local_ordinal(tz, hour.bucket_start_ms), []).append(index)
    return html.Dl(
        [
            html.Div(
                [
                    html.Dt(day_text(day - EPOCH_DAY, year=False)),
                    html.Dd(units.volume(sum(hours[i].volume for i in indices))),
                ],
                style={"--at": str(_forecast_x(indices[0], len(hours)) / FORECAST_WIDTH)},
            )
            for day, indices in days.items()
            if len(indices) >= 23
        ],
        className="forecast-days",
        **labelled("Expected volume by day"),
    )
