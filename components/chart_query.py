"""Replies to a chart's query: loads the rows, frames them, draws the figure, describes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from dash import Patch

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client import Client, Series
from api.metering.cadence import LEAST_MS
from api.metering.status import DEFAULT_QUALITY_LIMIT
from api.timez import offset_ms, offset_text, zone_or_utc
from components import formatting
from components.annotations.queries import annotation_marks
from components.charts import figure
from components.charts.figure import Figure
from components.charts.frames import (
    Frame,
    Life,
    MarkedSpan,
    clipped,
    frame,
    in_scale,
    largest,
    marked_spans,
    total_ms,
    with_spread,
    within,
)
from components.charts.labels import EXTRA_METRICS
from components.charts.traces import NOTHING, Canvas, Compared, Picture
from components.comparison_queries import Question, compared
from components.directory_queries import read_meter
from components.finding_text import marks_of
from components.formatting import Clock, abbreviation, measures_water
from components.queries import DeviceLookup, bar_series, findings_in, flow_series, last_seen_ms
from components.ranges import Window, with_margins
from components.theme import palette
from components.url_state import (
    DEFAULT_TAB,
    TAB_BY_NAME,
    Shown,
    Tab,
    View,
    read_question,
    write_shown,
)

DERIVED: Final = (FLOW_RATE, FLOW_AMOUNT)  # from registers
LONGEST_INTERVAL_S = 366 * 86_400.0  # between two readings


@dataclass(frozen=True, slots=True)
class Subject:
    """The device of a chart, as its page stores it in the browser. It is only a hint: the service
    decides on access."""

    device_id: str
    time_zone: str
    interval_s: float | None = None
    tab: str = DEFAULT_TAB.name
    quality_limit: float = DEFAULT_QUALITY_LIMIT
    installed_on_ms: int | None = None
    active: bool = True

    @classmethod
    def of(cls, lookup: DeviceLookup, interval_s: float | None) -> Subject:
        device, meter = lookup.device, read_meter(lookup.device)
        return cls(
            device.id,
            device.time_zone,
            interval_s,
            tab=DEFAULT_TAB.name if measures_water(device.category) else "signal",
            quality_limit=meter.quality_limit,
            installed_on_ms=device.installed_on_ms,
            active=lookup.active,
        )

    @classmethod
    def read(cls, stored: Any) -> Subject:
        """From the browser's stored value. Raises BadRequest for anything invalid."""
        stored = read_question(stored)
        limit, installed = _number(stored, "quality_limit"), _number(stored, "installed_on_ms")
        return cls(
            device_id=str(stored.get("device_id", "")),
            time_zone=str(stored.get("time_zone", "")),
            interval_s=_interval(stored),
            tab=str(stored.get("tab", "")),
            quality_limit=DEFAULT_QUALITY_LIMIT if limit is None else limit,
            installed_on_ms=None if installed is None else round(installed),
            active=stored.get("active") is not False,
        )

    def zone(self, view: View) -> ZoneInfo:
        return zone_or_utc(view.zone, self.time_zone)

    def tab_of(self, view: View) -> Tab:
        """The metric that the reader chose, otherwise the device's default."""
        return view.tab or TAB_BY_NAME.get(self.tab, DEFAULT_TAB)

    @property
    def cadence_ms(self) -> int | None:
        return round(self.interval_s * 1000) if self.interval_s else None

    @property
    def life(self) -> Life:
        return Life(self.quality_limit, self.installed_on_ms, self.active)


def _interval(stored: Mapping[str, Any]) -> float | None:
    interval_s = _number(stored, "interval_s")
    return interval_s if interval_s is not None and 0 < interval_s <= LONGEST_INTERVAL_S else None


def _number(stored: Mapping[str, Any], name: str) -> float | None:
    value = stored.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Framed rows and the canvas to draw them on. ``picture`` may reach beyond the canvas' window,
    so that it can be panned; ``frame`` is the part in the window. ``last_ms``: the device's last
    reading if it was loaded, which is always so without rows. ``spread_ms``: how much of the window
    lies in gaps over which a register's volume is spread."""

    picture: Picture
    frame: Frame
    canvas: Canvas
    last_ms: int | None
    spread_ms: int = 0

    @property
    def marked_spans(self) -> list[MarkedSpan]:
        """Gaps and poor readings in the window."""
        cut = ((clipped(s.window, self.canvas.window), s.cause) for s in self.picture.marked_spans)
        return [MarkedSpan(window, cause) for window, cause in cut if window is not None]


def draw(
    client: Client, subject: Subject, view: View, now_ms: int, *, with_findings: bool = True
) -> Drawn:
    """Load the view's rows and frame them. A preset ends at the device's last reading if that is
    older than the preset is long. ``with_findings``: whether findings are marked. Raises what the
    client raises."""
    last_ms = None
    window = view.window
    if window is None and view.custom is None:
        last_ms = last_seen_ms(client, subject.device_id, now_ms)
    window = window or view.whole(last_ms, now_ms)
    reach = with_margins(window) if view.window else window
    series = _series(client, subject, view, window, reach)
    if not len(series) and last_ms is None:
        last_ms = last_seen_ms(client, subject.device_id, now_ms)
    tz = subject.zone(view)
    canvas = Canvas(window, tz, view.width_px, palette(view.theme), view.units)
    picture = _picture(series, subject, view, reach, now_ms)
    findings = findings_in(client, subject.device_id, reach) if with_findings else ()
    picture = replace(
        picture,
        marks=marks_of(findings, view),
        compared=_compared(client, subject, view, picture, window, now_ms),
        annotations=annotation_marks(client, subject.device_id, reach),
    )
    spread = (clipped(Window(*ends), window) for ends in series.spread)
    spread_ms = sum(part.length_ms for part in spread if part is not None)
    return Drawn(picture, within(picture.frame, window), canvas, last_ms, spread_ms)


def _series(client: Client, subject: Subject, view: View, window: Window, reach: Window) -> Series:
    tz, id = subject.zone(view), subject.device_id
    width_px = view.width_px * reach.length_ms / window.length_ms
    tab = subject.tab_of(view)
    needed = {*tab.metrics, *EXTRA_METRICS}
    if tab.bars:
        cadence_ms = subject.cadence_ms or LEAST_MS
        return bar_series(client, id, reach, width_px, tz, cadence_ms, needed)
    return flow_series(client, id, reach, width_px, tz, needed)


def _picture(series: Series, subject: Subject, view: View, reach: Window, now_ms: int) -> Picture:
    tab, tz = subject.tab_of(view), subject.zone(view)
    spread = [Window(*ends) for ends in series.spread] if tab.metrics[0] in DERIVED else []
    first, *rest = (
        with_spread(
            frame(series, metric, reach, tz=tz, cadence_ms=subject.cadence_ms, until_ms=now_ms),
            spread,
        )
        for metric in tab.metrics
    )
    scale = view.units.scale(tab.metric, largest(first.high))
    return Picture(
        in_scale(first, scale),
        in_scale(rest[0], view.units.scale(tab.metrics[1], 0)) if rest else None,
        marked_spans(first, subject.life),
        bars=tab.bars,
        largest=largest(first.high),
        spread=spread,
    )


def _compared(
    client: Client, subject: Subject, view: View, picture: Picture, window: Window, now_ms: int
) -> Compared:
    if not (view.compare or view.usual):
        return NOTHING
    tab = subject.tab_of(view)
    frame = picture.frame
    return compared(
        Question(
            client,
            subject.device_id,
            view,
            subject.zone(view),
            frame,
            window,
            view.units.scale(tab.metric, picture.largest),
            tab.bars,
            subject.cadence_ms,
            now_ms,
        )
    )


def change(drawn: Drawn, view: View, *, still: bool = False) -> Figure:
    """The figure; or a patch of all but the range of the time axis, if the reader moved that axis:
    a reply never moves it, since it may have moved on. ``still``: the reader can't move it.

    The patch consists of dicts and lists: for a reply with any other object, Dash inspects each of
    twenty thousand numbers before encoding them, which takes as long as all the rest.
    """
    made = figure.figure(drawn.picture, drawn.canvas)
    if still:
        figure.hold_still(made)
    if not view.settled:
        return made
    patch = Patch()
    patch["data"] = made["data"]
    for part, value in made["layout"].items():
        if isinstance(value, dict):
            patch["layout"][part].update(
                {k: v for k, v in value.items() if (part, k) != ("xaxis", "range")}
            )
        else:
            patch["layout"][part] = value
    plain: Figure = patch.to_plotly_json()
    return plain


def compared_words(drawn: Drawn) -> str:
    """Both volumes and their difference, or why there is no comparison."""
    comparison = drawn.picture.compared
    return " ".join(part for part in (comparison.words, comparison.note) if part)


def badge(drawn: Drawn) -> str:
    """``10 min · 1,003 rows for 1,040 px · min and max exact``."""
    series = drawn.frame.series
    if not len(series):
        return "no rows"
    rows = formatting.plural(len(series), "row")
    if series.truncated:
        of = formatting.plural(series.count or 0, "row")
        rows = f"first {formatting.whole(len(series))} of {of}"
    parts = (
        series.resolution.label,
        f"{rows} for {formatting.whole(drawn.canvas.width_px)} px",
        exactness(drawn),
    )
    return " · ".join(parts)


def exactness(drawn: Drawn) -> str:
    """How exact the chart is. Over days and months a flow is its volume by time; every other
    average is a mean of hourly means."""
    frame = drawn.frame
    if drawn.picture.bars:
        return "totals exact"
    if not frame.resolution.aggregated:
        return "every reading"
    rough = frame.resolution.calendar and frame.metric is not FLOW_RATE
    return f"min and max exact{', average approximate' if rough else ''}"


def zone_note(drawn: Drawn) -> str:
    return zone_words(drawn.canvas.tz, drawn.canvas.window)


def zone_words(tz: ZoneInfo, window: Window) -> str:
    """``America/Denver · MST (UTC−07:00)``; both offsets if clocks change within the window."""
    names = (
        f"{abbreviation(tz, at)} (UTC{offset_text(offset_ms(tz, at)).replace('-', '−')})"
        for at in window
    )
    return f"{tz.key} · {' and '.join(dict.fromkeys(names))}"


def data_share(drawn: Drawn) -> str:
    """The share of the window with readings, ``99.7 % data by 5 min rows``, consistent with the
    list of gaps. Uptime counts by the device's own cadence instead."""
    lost = total_ms(drawn.marked_spans, silent=True)
    share = 1 - lost / drawn.canvas.window.length_ms
    rows = drawn.frame.series.resolution.label
    return f"{formatting.number(math.floor(max(0.0, share) * 1000) / 10)} % data by {rows} rows"


def emptiness(drawn: Drawn) -> str:
    """Why the chart is empty; "" if it isn't empty."""
    if drawn.frame.runs:
        return ""
    if len(drawn.frame):
        return f"The readings in this range have no {drawn.frame.metric.label.lower()}."
    if drawn.last_ms is None:
        return "This device has never reported."
    clock = Clock(drawn.canvas.tz, drawn.last_ms, drawn.last_ms)
    return f"No data in this range. Last reading: {formatting.moment(drawn.last_ms, clock)}."


# --- The caption of an image ---------------------------------------------------------------------


def range_words(drawn: Drawn) -> str:
    """``Fri 20 Nov 2026, 01:50 MST – Sat 21 Nov 2026, 01:50 MST``."""
    first, last = drawn.canvas.window
    clock = Clock(drawn.canvas.tz, first, last + 1)
    return f"{formatting.moment(first, clock)} – {formatting.moment(last + 1, clock)}"


def detail(drawn: Drawn) -> str:
    """``1 min rows · min and max exact``."""
    if not len(drawn.frame.series):
        return "no rows"
    resolution = drawn.frame.resolution
    rows = f"{resolution.label} rows" if resolution.aggregated else "readings"
    return f"{rows} · {exactness(drawn)}"


def caption(drawn: Drawn) -> dict[str, str]:
    """The caption of images made by the browser (assets/image.js)."""
    return {
        "range": range_words(drawn),
        "detail": detail(drawn),
        "compared": compared_words(drawn),
        "zone": zone_note(drawn),
        "resolution": drawn.frame.resolution.name,
    }


def shown_response(drawn: Drawn, view: View, request_id: Any) -> dict[str, Any]:
    """The chart's state with the caption of its image."""
    shown = Shown(drawn.canvas.window, view.zone, view.units, drawn.frame.resolution, view.compare)
    texts = {"caption": caption(drawn), "difference": drawn.picture.compared.difference}
    if drawn.spread_ms:
        texts["spread"] = formatting.duration(drawn.spread_ms)
    return {**write_shown(shown, request_id), **texts}
