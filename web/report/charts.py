"""A device's chart for a report: the very figure of the screen, drawn by the machine's browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from api.client import Client
from components import captions, chart_query
from components.chart_query import Subject
from components.charts import hover_text
from components.charts.figure import MARGIN_PX
from components.image_query import Size
from components.queries import find_device, usual_interval_s
from components.ranges import Window
from components.report.url_state import ReportView
from components.theme import LIGHT
from components.url_state import View
from web.images import figure
from web.rendering import Renderer, RendererBusy

HEIGHT_PX: Final = 244
WIDTHS_PX: Final = (320, 1_200)
PAPER_PX: Final = 900  # shrunk to what the paper has: its marks are as small as its tables
PATIENCE_S: Final = 30.0  # of a file whose first chart was drawn: its next ones wait longer
_SIZE: Final = re.compile(r' width="[\d.]+" height="[\d.]+"')
# The figure's colours, each once: of two names for one colour the first.
_NAMES: Final = {
    colour: name for name, colour in reversed(list(asdict(LIGHT).items())) if name != "on_accent"
}
_PAINT: Final = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")


@dataclass(frozen=True, slots=True)
class Chart:
    """``svg`` as wide as where it stands, ``words`` for who can't see it, ``note`` below it."""

    svg: str
    words: str
    note: str


def chart(
    client: Client,
    renderer: Renderer,
    device_id: str,
    view: ReportView,
    window: Window,
    width_px: int,
    now_ms: int,
) -> Chart:
    """Raises what the client raises, and RenderingError."""
    found = find_device(client, device_id, now_ms)
    subject = Subject.of(found, usual_interval_s(client, found))
    asked = View(
        custom=window,
        tab=view.tab,
        zone=view.usage.zone,
        units=view.usage.units,
        width_px=width_px - MARGIN_PX["l"] - MARGIN_PX["r"],
    )
    drawn = chart_query.draw(client, subject, asked, now_ms)
    made = figure.bare(drawn, Size(width_px, HEIGHT_PX, 1))
    svg = renderer.render_figure(made, "svg", width_px, HEIGHT_PX).decode()
    tz = drawn.canvas.tz
    told = hover_text.summary(drawn.frame, tz, asked.units, chart_query.heard(drawn))
    metric = subject.tab_of(asked).label
    note = " · ".join((metric, captions.detail(drawn), chart_query.zone_note(drawn)))
    return Chart(fluid(svg), f"{metric}. {told}", note)


def patiently(make: Callable[[], Chart], until_s: float) -> Chart:
    """Again while the browser is busy with others, up to that moment of the monotonic clock."""
    while True:
        try:
            return make()
        except RendererBusy as error:
            pause_s = error.retry_after_s or 1.0
            if time.monotonic() + pause_s > until_s:
                raise
            time.sleep(pause_s)


def fluid(svg: str) -> str:
    """As wide as there is room, in the colours of the page: light or dark, and light on paper."""

    def paint(found: re.Match[str]) -> str:
        colour = "#" + bytes(int(part) for part in found.groups()).hex()
        name = _NAMES.get(colour)
        return f"var(--{name.replace('_', '-')})" if name else found[0]

    return _PAINT.sub(paint, _SIZE.sub("", svg, count=1))
