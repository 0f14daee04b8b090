"""One device's chart in a frame: the dashboard's figure, within the embed's limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from dash import dcc, html
from dash.development.base_component import Component

from api.embeds import EmbedDefinition, Rolling
from components import chart_query, formatting
from components.chart_card import Ids, chart_notice, chart_plot, chart_spoken
from components.chart_query import Drawn, Subject
from components.charts import figure, hover_text
from components.charts.traces import Canvas
from components.controls import attributes
from components.device.chart_state import Shown, write_shown
from components.formatting import Clock
from components.queries import find_device, usual_interval_s
from components.ranges import PRESETS
from components.theme import palette
from components.url_state import View
from web.embed.middleware import EmbedViewer
from web.embed.permissions import RANGE, chart_view, controls, heading, own_window

LINE_ID: Final = "embed-line"
SUBJECT_FRESH_MS: Final = 5 * 60_000  # a device's zone and cadence seldom change

FIGURE, BADGE, LINE, SUMMARY, NOTICE, EMPTY, UNZOOMED, RESPONSE = (
    "figure", "badge", "line", "summary", "notice", "empty", "unzoomed", "response",
)  # fmt: skip
OUTPUTS: Final[Mapping[str, tuple[str, str]]] = {
    FIGURE: (Ids.GRAPH, "figure"),
    BADGE: (Ids.BADGE, "children"),
    LINE: (LINE_ID, "children"),
    SUMMARY: (Ids.SUMMARY, "children"),
    NOTICE: (Ids.FAILED, "data"),
    EMPTY: (Ids.EMPTY, "children"),
    UNZOOMED: (Ids.RESET, "hidden"),
    RESPONSE: (Ids.RESPONSE, "data"),
}


class Context(NamedTuple):
    """The embed's device, cached for a while."""

    at_ms: int
    subject: Subject
    label: str


def context(viewer: EmbedViewer, now_ms: int) -> Context:
    """The device, from the cache if possible. Raises what the client raises."""
    access, device_id = viewer.access, viewer.embed.definition.devices[0]
    key = (access.principal, "subject", device_id)
    cached: Context | None = access.cache.get(key)
    if cached is not None and now_ms - cached.at_ms < SUBJECT_FRESH_MS:
        return cached
    device = find_device(viewer.client, device_id, now_ms)
    subject = Subject.of(device, usual_interval_s(viewer.client, device))
    made = Context(now_ms, subject, device.device.label or device.device.serial_number)
    access.cache.put(key, made)
    return made


def answer(viewer: EmbedViewer, wishes: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """A value for each of `OUTPUTS`. Findings aren't for an embed's viewers. Raises what the
    client raises."""
    definition = viewer.embed.definition
    view, subject = chart_view(definition, wishes, now_ms), context(viewer, now_ms).subject
    drawn = chart_query.draw(viewer.client, subject, view, now_ms, with_findings=False)
    tz = drawn.canvas.tz
    state = Shown(drawn.canvas.window, view.zone, view.units, drawn.frame.resolution)
    return {
        FIGURE: chart_query.change(drawn, view, still=RANGE not in definition.controls),
        BADGE: chart_query.badge(drawn),
        LINE: _line(definition, view, drawn),
        SUMMARY: hover_text.summary(drawn.frame, tz, view.units, chart_query.data_share(drawn)),
        NOTICE: "",
        EMPTY: chart_query.emptiness(drawn),
        UNZOOMED: view.window is None,
        RESPONSE: write_shown(state, wishes.get("request_id")),
    }


def _line(definition: EmbedDefinition, view: View, drawn: Drawn) -> str:
    """``Last 24 h · gal/min · America/Denver · MST (UTC−07:00)``."""
    own = view.custom is not None and view.window is None
    if own and isinstance(definition.window, Rolling):
        span = f"Last {_length(definition.window)}"
    else:
        window = drawn.canvas.window
        clock = Clock(drawn.canvas.tz, *window)
        span = " – ".join(formatting.moment(at, clock) for at in (window.from_ms, window.to_ms + 1))
    metric = drawn.frame.metric
    compared = chart_query.compared_words(drawn)
    parts = (span, f"{metric.label}, {drawn.frame.unit}", compared, chart_query.zone_note(drawn))
    return " · ".join(part for part in parts if part)


# --- Its frame -----------------------------------------------------------------------------------


def frame(viewer: EmbedViewer, now_ms: int) -> Component:
    """Axes without rows: these are fetched once the plot's width is known."""
    definition, (_, subject, label) = viewer.embed.definition, context(viewer, now_ms)
    view = chart_view(definition, {}, now_ms)
    line = html.Div(
        [html.P(id=LINE_ID, className="quiet"), html.Span(id=Ids.BADGE, className="badge")],
        className="embed-line",
    )
    return html.Section(
        [
            dcc.Store(id=Ids.START, data={"device": subject.device_id}),
            *(dcc.Store(id=id) for id in (Ids.QUESTION, Ids.RESPONSE, Ids.DRAWN, Ids.SHOWN)),
            heading(definition.title or label, line=line),
            controls(definition, _ranges(definition), field="range", own="", chosen=""),
            *chart_notice(),
            _plot(definition, subject, view, now_ms),
            *chart_spoken(),
        ],
        className="embed-chart",
        **attributes(aria_label=definition.title or label),
    )


def _ranges(definition: EmbedDefinition) -> list[tuple[str, str]]:
    """The embed's own range, then the dashboard's other ones."""
    window = definition.window
    own = _length(window) if isinstance(window, Rolling) else "Custom range"
    return [("", own), *((p.name, p.label) for p in PRESETS if p.label != own)]


def _length(window: Rolling) -> str:
    """``24 h``, ``3 d``."""
    length_ms = window.last_s * 1000
    named = (preset.label for preset in PRESETS if preset.length_ms == length_ms)
    return next(named, formatting.duration(length_ms))


def _plot(definition: EmbedDefinition, subject: Subject, view: View, now_ms: int) -> Component:
    window = own_window(definition, now_ms)
    canvas = Canvas(window, subject.zone(view), view.width_px, palette(view.theme), view.units)
    blank, still = figure.blank(canvas), RANGE not in definition.controls
    if still:
        figure.hold_still(blank)
    reset = html.Button(
        "⤢ Reset zoom",
        id=Ids.RESET,
        type="button",
        hidden=True,
        className="button embed-reset",
        **attributes(data_do="reset"),
    )
    empty = html.Div(html.P(id=Ids.EMPTY), className="empty-plot")
    return chart_plot(subject, blank, empty, reset, still=still)
