"""The evidence of a finding as a picture: a line, the finding's span, marks and a limit. Pure data;
assets/findings.js draws it, so that its colours follow the theme."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import METRICS, RESOLUTION_BY_NAME
from api.client.findings import FindingDetail
from components import formatting
from components.charts.ticks import ticks
from components.findings.texts import kind_of
from components.units import Scale, Units

WIDTH: Final = 1000  # of the box; its height is 100
USUAL_PX: Final = 460
_STEPS: Final = (1, 2, 2.5, 5, 10)


def figure(detail: FindingDetail, units: Units, tz: ZoneInfo) -> dict[str, Any] | None:
    """None where there is no reading to show. ``line`` and ``span`` are in a box of 1000 × 100;
    marks are (share of the length, text)."""
    values = [value for _, value in detail.series if value is not None]
    if not values:
        return None
    scale, unit = _scale(detail, units, max(values, key=abs))
    limit = _limit(detail)
    levels = [scale.of(v) for v in values] + ([] if limit is None else [scale.of(limit)])
    low, high, marks = axis(min(levels), max(levels))
    length = max(1, detail.to_ms - detail.from_ms)

    def x(at_ms: float) -> float:
        return round(min(1.0, max(0.0, (at_ms - detail.from_ms) / length)) * WIDTH, 1)

    def y(value: float) -> float:
        return round(100 - (value - low) / (high - low) * 100, 2)

    end_ms = detail.finding.end_ms or detail.to_ms
    return {
        "unit": unit,
        "line": _path(detail, scale, x, y),
        "span": [x(detail.finding.start_ms), max(x(detail.finding.start_ms) + 2, x(end_ms))],
        "limit": None if limit is None else y(scale.of(limit)),
        "rows": [[y(mark), formatting.number(mark)] for mark in marks],
        "columns": [
            [x(at), text.split("<br>")]
            for at, text in _times(detail, tz)
        ],
    }  # fmt: skip


def _times(detail: FindingDetail, tz: ZoneInfo) -> list[tuple[int, str]]:
    made = ticks(detail.from_ms, detail.to_ms, tz, USUAL_PX)
    pairs = zip(made.values_ms, made.texts, strict=True)
    return [(at, text) for at, text in pairs if detail.from_ms <= at <= detail.to_ms]


def metric_name(detail: FindingDetail) -> str:
    return detail.metric.split("_", 1)[1]  # its aggregate stands before it


def _scale(detail: FindingDetail, units: Units, largest: float) -> tuple[Scale, str]:
    """Totals of hours are labelled by the hour."""
    metric = next(m for m in METRICS if m.name == metric_name(detail))
    scale = units.scale(metric, largest)
    return scale, f"{scale.unit}/h" if detail.metric.startswith("total_") else scale.unit


def _limit(detail: FindingDetail) -> float | None:
    """Only where the number of the kind is what the picture shows."""
    kind = kind_of(detail.finding)
    same = kind.against == "limit" and kind.unit in ("%", "dBm", "°C")
    return detail.finding.usual if same and not detail.metric.startswith("total_") else None


def axis(least: float, most: float) -> tuple[float, float, list[float]]:
    """(low, high, marks): from zero where that is near, three or four round marks."""
    low = 0.0 if least >= 0 and least < most * 0.6 else least
    high = 0.0 if most <= 0 and most > least * 0.4 else most
    rough = max(high - low, abs(high) * 0.01, 1e-6) / 3
    power = 10 ** math.floor(math.log10(rough))
    step = next(s for s in _STEPS if s * power >= rough * 0.999) * power
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return first * step, last * step, [round(n * step, 9) for n in range(first, last + 1)]


def _path(detail: FindingDetail, scale: Scale, x: Any, y: Any) -> str:
    """Nothing is drawn across a gap."""
    length_ms = RESOLUTION_BY_NAME[detail.resolution].length_ms or 0
    points = [(at, value) for at, value in detail.series if value is not None]
    made = [f"M{x(points[0][0])} {y(scale.of(points[0][1]))}"]
    for (before, _), (at, value) in pairwise(points):
        broken = at - before > 1.5 * length_ms
        if broken:
            made.append(f"h{0.1}")
        made.append(f"{'M' if broken else 'L'}{x(at)} {y(scale.of(value))}")
    return "".join(made) + "h0.1"
