"""What a point of a chart says when it is pointed at, and the sentence that sums a chart up."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, QUALITY, RAW
from components import words
from components.clock import Clock
from components.frames import Frame


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
    unit = frame.metric.unit
    if frame.resolution is RAW:
        lines = (f"%{{customdata[0]}} {unit}", "%{customdata[1]}")
    else:
        lines = (
            f"average %{{customdata[0]}} {unit}",
            f"range %{{customdata[1]}} {unit}",
            "%{customdata[2]}",
        )
    return "<br>".join((f'<b style="color:{ink}">%{{text}}</b>', *lines)) + "<extra></extra>"


def details(frame: Frame) -> list[list[str]]:
    """What `template` asks for: value, range (aggregated rows), volume and quality, as text."""
    series = frame.series
    if frame.resolution is RAW:
        raw = zip(
            frame.middle,
            series.values(FLOW_AMOUNT.name),
            series.values(FLOW_DURATION.name),
            series.values(QUALITY.name),
            strict=True,
        )
        return [
            [words.number(value), _last_line(volume, quality, quality, seconds)]
            for value, volume, seconds, quality in raw
        ]
    buckets = zip(
        frame.middle,
        frame.low,
        frame.high,
        series.values(f"total_{FLOW_AMOUNT.name}"),
        series.values(f"min_{QUALITY.name}"),
        series.values(f"max_{QUALITY.name}"),
        strict=True,
    )
    return [
        [words.number(average), words.span(low, high), _last_line(volume, worst, best)]
        for average, low, high, volume, worst, best in buckets
    ]


def _last_line(
    volume: float | None,
    worst: float | None,
    best: float | None,
    seconds: float | None = None,
) -> str:
    parts: list[str] = []
    if volume is not None:
        over = f" over {words.duration(round(seconds * 1000))}" if seconds else ""
        parts.append(f"volume {words.volume(volume)}{over}")
    if worst is not None and best is not None:
        parts.append(f"quality {words.span(worst, best)}")
    return " · ".join(parts)


def summary(frame: Frame, tz: ZoneInfo) -> str:
    """``24 h: 312 gal, peak 7.4 gal/min at Mon 16 Nov 2026, 06:12 MST``."""
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
    total = f"{words.volume(sum(volumes))}, " if volumes else ""
    return f"{length}: {total}peak {words.quantity(peak[0], frame.metric)} at {when}."
