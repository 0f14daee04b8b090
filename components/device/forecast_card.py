"""The coming week of a device by the hour, with its intervals. assets/forecast.js draws it, so that
its colours follow the theme."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import FLOW_AMOUNT, HOUR_MS
from api.metering.forecast import ForecastHour
from api.timez import local_ordinal
from components import formatting
from components.clock import EPOCH_DAY, day_text
from components.controls import attributes, labelled
from components.findings.figure import axis
from components.units import Units

TITLE: Final = "Next 7 days"
EMPTY: Final = "Too early to say: a forecast takes some days of readings."
WIDTH: Final = 1000  # of the box; its height is 100
NO_INTERVALS: Final = "Intervals follow once 20 earlier forecasts can be judged."


def note(hours: Sequence[ForecastHour]) -> str:
    has_intervals = any(hour.interval is not None for hour in hours)
    return (
        "volume by the hour, with intervals of 80 and 95 %"
        if has_intervals
        else "volume by the hour"
    )


def forecast_card(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> list[Component]:
    if not hours:
        return [html.P(EMPTY, className="empty")]
    made = [_figure(hours, units, tz), _days(hours, units, tz)]
    if all(hour.interval is None for hour in hours):
        made.append(html.P(NO_INTERVALS, className="quiet"))
    return made


def _figure(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> Component:
    tops = [hour.volume if hour.interval is None else hour.interval.high95 for hour in hours]
    lows = [hour.volume if hour.interval is None else hour.interval.low95 for hour in hours]
    scale = units.scale(FLOW_AMOUNT, max(tops))
    low, high, marks = axis(scale.of(min(0.0, *lows)), scale.of(max(tops)))

    def y(gallons: float) -> float:
        return round(100 - (scale.of(gallons) - low) / (high - low) * 100, 2)

    def x(index: int) -> float:
        return round(index / max(1, len(hours) - 1) * WIDTH, 1)

    line = "M" + "L".join(f"{x(i)} {y(hour.volume)}" for i, hour in enumerate(hours))
    rows = "|".join(f"{y(mark / scale.factor)} {formatting.number(mark)}" for mark in marks)
    days = {local_ordinal(tz, hour.bucket_start_ms): i for i, hour in reversed([*enumerate(hours)])}
    columns = "|".join(
        f"{x(i)} {day_text(day - EPOCH_DAY, year=False)}" for day, i in sorted(days.items())[1:]
    )
    total = units.volume(sum(hour.volume for hour in hours))
    return html.Div(
        className="forecast-figure",
        role="img",
        **labelled(f"Forecast of {formatting.duration(len(hours) * HOUR_MS)}: {total} in all."),
        **attributes(
            data_unit=f"{scale.unit}/h",
            data_line=line,
            data_band95=_band([(h.interval.low95, h.interval.high95) if h.interval else None
                               for h in hours], x, y),
            data_band80=_band([(h.interval.low80, h.interval.high80) if h.interval else None
                               for h in hours], x, y),
            data_rows=rows,
            data_columns=columns,
        ),
    )  # fmt: skip


def _band(bounds: Sequence[tuple[float, float] | None], x, y) -> str:  # type: ignore[no-untyped-def]
    there = [(i, each) for i, each in enumerate(bounds) if each is not None]
    if not there:
        return ""
    high = "L".join(f"{x(i)} {y(top)}" for i, (_, top) in there)
    low = "L".join(f"{x(i)} {y(bottom)}" for i, (bottom, _) in reversed(there))
    return f"M{high}L{low}Z"


def _days(hours: Sequence[ForecastHour], units: Units, tz: ZoneInfo) -> Component:
    """What whole days are expected to use."""
    days = [
        (day, [hour.volume for hour in some])
        for day, some in groupby(hours, key=lambda hour: local_ordinal(tz, hour.bucket_start_ms))
    ]
    whole = [(day, sum(volumes)) for day, volumes in days if len(volumes) >= 23]
    return html.Dl(
        [
            html.Div(
                [html.Dt(day_text(day - EPOCH_DAY, year=False)), html.Dd(units.volume(gallons))]
            )
            for day, gallons in whole
        ],
        className="forecast-days",
        **labelled("Expected volume by day"),
    )
