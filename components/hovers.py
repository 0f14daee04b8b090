"""What a point of a chart says when it is pointed at, and the sentence that sums a chart up."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, QUALITY, RAW
from components import words
from components.clock import Clock
from components.frames import Frame
from components.units import US, Units

TOLD: Final = (FLOW_AMOUNT, FLOW_DURATION, QUALITY)  # what is said beside the metric drawn


def titles(frame: Frame, tz: ZoneInfo) -> list[str]:
    """The span of each row in the zone: the first line of what a point says."""
    if not frame.starts_ms:
        return []
    clock = Clock(tz, frame.starts_ms[0], frame.ends_ms[-1])
    return [
        words.bucket(start, end, frame.resolution, clock)
        for start, end in zip(frame.starts_ms, frame.ends_ms, strict=True)
    ]


def template(frame: Frame, ink: str) -> str:
    """How a title, in the colour ``ink``, and its `details` stand together."""
    unit = frame.unit
    if frame.resolution is RAW or frame.metric.totalled:
        lines = (f"%{{customdata[0]}} {unit}", "%{customdata[1]}")
    else:
        lines = (
            f"average %{{customdata[0]}} {unit}",
            f"range %{{customdata[1]}} {unit}",
            "%{customdata[2]}",
        )
    return "<br>".join((f'<b style="color:{ink}">%{{text}}</b>', *lines)) + "<extra></extra>"


def details(frame: Frame, units: Units = US) -> list[list[str]]:
    """What `template` asks for: value, range (of averages), volume and quality, as text."""
    series = frame.series
    raw = frame.resolution is RAW
    volumes = series.values(FLOW_AMOUNT.name if raw else f"total_{FLOW_AMOUNT.name}")
    seconds = series.values(FLOW_DURATION.name)
    worst, best = (
        series.values(QUALITY.name if raw else f"{function}_{QUALITY.name}")
        for function in ("min", "max")
    )
    lines = [
        _last_line("" if frame.metric is FLOW_AMOUNT or v is None else units.volume(v), s, *q)
        for v, s, *q in zip(volumes, seconds, worst, best, strict=True)
    ]
    values = [words.number(value) for value in frame.middle]
    if raw or frame.metric.totalled:
        return [[value, line] for value, line in zip(values, lines, strict=True)]
    spans = [words.span(low, high) for low, high in zip(frame.low, frame.high, strict=True)]
    return [list(each) for each in zip(values, spans, lines, strict=True)]


def _last_line(volume: str, seconds: float | None, worst: float | None, best: float | None) -> str:
    parts: list[str] = []
    if volume:
        over = f" over {words.duration(round(seconds * 1000))}" if seconds else ""
        parts.append(f"volume {volume}{over}")
    if worst is not None and best is not None:
        parts.append(f"quality {words.span(worst, best)}")
    return " · ".join(parts)


def summary(frame: Frame, tz: ZoneInfo, units: Units = US, data: str = "") -> str:
    """``24 h: 312 gal, peak 7.4 gal/min at Mon 16 Nov 2026, 06:12 MST.``; ``data`` tells how much
    of the window was heard."""
    length = words.duration(frame.window.length_ms)
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
    when = words.moment(start, Clock(tz, start, start))
    total = f"{units.volume(sum(volumes))}, " if volumes else ""
    top = f"{words.number(peak[0])} {frame.unit}"
    return f"{length}: {total}peak {top} at {when}{', ' + data if data else ''}."
