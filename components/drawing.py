"""The answer to a chart's question: ask for the rows, frame them, draw them, say what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from dash import Patch

from api.catalog import FLOW_RATE
from api.client import Client
from api.timez import offset_ms, offset_text
from components import charts, words
from components.charts import Canvas, Figure
from components.clock import Clock, abbreviation, known_zone
from components.directory import last_seen_ms
from components.frames import Frame, frame
from components.ranges import preset_window
from components.readings import flow_series
from components.theme import palette
from components.view import View


@dataclass(frozen=True, slots=True)
class Subject:
    """The device that a chart is about, as its page keeps it in the browser. It is no more than a
    hint: the service decides what may be seen, the zone and the interval only shape the picture."""

    device_id: str
    time_zone: str
    interval_s: float | None

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Subject:
        interval = kept.get("interval_s")
        return cls(
            device_id=str(kept.get("device_id", "")),
            time_zone=str(kept.get("time_zone", "")),
            interval_s=float(interval) if isinstance(interval, int | float) else None,
        )

    def zone(self, view: View) -> ZoneInfo:
        return known_zone(view.zone, self.time_zone)

    @property
    def cadence_ms(self) -> int | None:
        return round(self.interval_s * 1000) if self.interval_s else None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows, framed, and what they are drawn on. ``last_ms`` is the device's last reading where it
    was asked for: always when there are no rows."""

    frame: Frame
    canvas: Canvas
    last_ms: int | None


def draw(client: Client, subject: Subject, view: View, now_ms: int) -> Drawn:
    """Ask for the view's rows and frame them. A preset ends at the device's last reading where
    that is older than the preset is long. Raises what the client raises."""
    last_ms = None
    window = view.window
    if window is None:
        last_ms = last_seen_ms(client, subject.device_id, now_ms)
        window = preset_window(view.preset, last_ms, now_ms)
    tz = subject.zone(view)
    series = flow_series(client, subject.device_id, window, view.width_px, tz)
    if not len(series) and last_ms is None:
        last_ms = last_seen_ms(client, subject.device_id, now_ms)
    framed = frame(
        series, view.metric, window, tz=tz, cadence_ms=subject.cadence_ms, until_ms=now_ms
    )
    return Drawn(framed, Canvas(window, tz, view.width_px, palette(view.theme)), last_ms)


def change(drawn: Drawn, view: View) -> Figure | Patch:
    """The whole figure; where the reader moved the axis, all of it but the axis' range: an answer
    never moves an axis on which the reader may have moved on."""
    made = charts.figure(drawn.frame, drawn.canvas)
    if not view.settled:
        return made
    patch = Patch()
    patch["data"] = made["data"]
    for part, value in made["layout"].items():
        if isinstance(value, dict):
            patch["layout"][part].update({k: v for k, v in value.items() if k != "range"})
        else:
            patch["layout"][part] = value
    return patch


def badge(drawn: Drawn) -> str:
    """``10 min · 1,003 rows for 1,040 px · min and max exact``."""
    series = drawn.frame.series
    if not len(series):
        return "no rows"
    rows = words.whole(len(series))
    if series.truncated:
        rows = f"first {rows} of {words.whole(series.count or 0)}"
    return (
        f"{series.resolution.label} · {rows} rows for {words.whole(drawn.canvas.width_px)} px"
        f" · {_exactness(drawn.frame)}"
    )


def _exactness(frame: Frame) -> str:
    """How far the picture can be trusted. Over days and months a flow is its volume over time,
    every other average a mean of hourly means."""
    if not frame.resolution.aggregated:
        return "every reading"
    rough = frame.resolution.calendar and frame.metric is not FLOW_RATE
    return f"min and max exact{', average approximate' if rough else ''}"


def zone_note(drawn: Drawn) -> str:
    """``America/Denver · MST (UTC−07:00)``; both where clocks change within the window."""
    tz = drawn.canvas.tz
    names = (
        f"{abbreviation(tz, at)} (UTC{offset_text(offset_ms(tz, at)).replace('-', '−')})"
        for at in drawn.canvas.window
    )
    return f"{tz.key} · {' and '.join(dict.fromkeys(names))}"


def emptiness(drawn: Drawn) -> str:
    """Why there is nothing to see; empty where there is something."""
    if drawn.frame.runs:
        return ""
    if len(drawn.frame):
        return f"The readings of this range carry no {drawn.frame.metric.label.lower()}."
    if drawn.last_ms is None:
        return "This device has never reported."
    clock = Clock(drawn.canvas.tz, drawn.last_ms, drawn.last_ms)
    return f"No data in this range. The last reading is of {words.moment(drawn.last_ms, clock)}."
