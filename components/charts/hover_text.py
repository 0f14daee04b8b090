"""The data of a chart's hover card, and a one-sentence summary of a chart.

The browser writes the hover texts (assets/hover.js) from the figure's numbers and from this data:
thousands of sentences would be half of a reply, and few of them are read.
"""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, QUALITY, RAW
from components import formatting
from components.charts.frames import Frame, Values
from components.formatting import Clock
from components.units import US, Units

EXTRA_METRICS: Final = (FLOW_AMOUNT, FLOW_DURATION, QUALITY)  # listed beside the metric drawn
DECIMALS: Final = 6  # digits of numbers that are written, not drawn


def has_range(frame: Frame) -> bool:
    """Whether a row is an average between extremes, not one reading or a total."""
    return frame.resolution is not RAW and not frame.metric.totalled


def hover_data(frame: Frame, tz: ZoneInfo, units: Units = US) -> dict[str, Any]:
    """What the browser needs besides x and y of the drawn rows, in their order.

    ``name`` and ``unit``: of the metric. ``clock``: the zone's (first instant, offset in ms, name)
    over the rows. ``length_ms``: the length of each row's span, 0 for readings; rows of varying
    lengths have ``titles`` instead. ``volume``: in gallons, written in the first of
    ``volume_steps`` (gallons at least, gallons in one, unit) that it reaches. ``seconds``: of
    readings only. ``worst`` and ``best``: quality.
    """
    raw = frame.resolution is RAW
    there = [index for run in frame.runs for index in run]
    fields: dict[str, Any] = {
        "name": frame.metric.label,
        "unit": frame.unit,
        "range": has_range(frame),
        "length_ms": frame.resolution.length_ms or 0,
        "clock": _pieces(frame, tz),
        "volume_steps": units.volume_steps,
    }
    amount = FLOW_AMOUNT.name if raw else f"total_{FLOW_AMOUNT.name}"
    columns = {
        "volume": None if frame.metric is FLOW_AMOUNT else amount,
        "seconds": FLOW_DURATION.name,
        "worst": QUALITY.name if raw else f"min_{QUALITY.name}",
        "best": QUALITY.name if raw else f"max_{QUALITY.name}",
    }
    for part, name in columns.items():
        column = frame.series.columns.get(name) if name else None
        if column is not None:
            fields[part] = _short(column, there)
    if frame.resolution.calendar:
        fields["titles"] = _titles(frame, tz, there)
    return fields


def _short(column: Values, there: list[int]) -> list[float | None]:
    values = [column[index] for index in there]
    return [None if value is None else round(value, DECIMALS) for value in values]


def _clock(frame: Frame, tz: ZoneInfo) -> Clock:
    return Clock(tz, frame.starts_ms[0], frame.ends_ms[-1])


def _pieces(frame: Frame, tz: ZoneInfo) -> list[tuple[int, int, str]]:
    if not frame.starts_ms:
        return []
    clock = _clock(frame, tz)
    return [(start, offset, clock.name(start)) for start, offset in clock.pieces]


def _titles(frame: Frame, tz: ZoneInfo, there: list[int]) -> list[str]:
    if not there:
        return []
    clock = _clock(frame, tz)
    return [
        formatting.bucket(frame.starts_ms[i], frame.ends_ms[i], frame.resolution, clock)
        for i in there
    ]


def summary(frame: Frame, tz: ZoneInfo, units: Units = US, data: str = "") -> str:
    """``24 h: 312 gal, peak 7.4 gal/min at Mon 16 Nov 2026, 06:12 MST.``; ``data`` is the share of
    the window with readings. If the window cuts a row, its volume is "about"."""
    length = formatting.duration(frame.window.length_ms)
    column = FLOW_AMOUNT.name if frame.resolution is RAW else f"total_{FLOW_AMOUNT.name}"
    volumes = [v for v in frame.series.values(column) if v is not None]
    peak = max(
        ((v, i) for i, v in enumerate(frame.high) if v is not None),
        default=None,
        key=lambda pair: pair[0],
    )
    if peak is None:
        return f"{length}: no data."
    start = frame.starts_ms[peak[1]]
    when = formatting.moment(start, Clock(tz, start, start))
    about = "about " if _cut(frame) else ""
    total = f"{about}{units.volume(sum(volumes))}, " if volumes else ""
    top = f"{formatting.number(peak[0])} {frame.unit}"
    return f"{length}: {total}peak {top} at {when}{', ' + data if data else ''}."


def _cut(frame: Frame) -> bool:
    """Whether a row reaches beyond the window, so that a part of its gallons lies outside."""
    first, last = frame.window
    return frame.starts_ms[0] < first or frame.ends_ms[-1] > last + 1
