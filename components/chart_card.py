"""A device's chart with its controls, as a card. assets/chart.js brings it to life."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import FLOW_RATE
from api.timez import zone_names
from components import charts
from components.charts import Canvas
from components.drawing import Subject
from components.markup import attributes, labelled
from components.parts import segments
from components.ranges import DEFAULT_PRESET, PRESETS, preset_window
from components.theme import GRAPH_CONFIG, palette
from components.view import DRAWN_METRICS, View, write_view


class Ids(StrEnum):
    START = "chart-start"
    QUESTION = "chart-question"
    SUBJECT = "chart-subject"
    GRAPH = "chart-graph"
    BADGE = "chart-badge"
    ZONE_NOTE = "chart-zone-note"
    SUMMARY = "chart-summary"
    NOTICE = "chart-notice"
    EMPTY = "chart-empty"
    RESET = "chart-reset"


def chart_card(subject: Subject, view: View, now_ms: int) -> Component:
    start = {**write_view(view), "device": subject.device_id}
    return html.Section(
        [
            dcc.Store(id=Ids.START, data=start),
            dcc.Store(id=Ids.QUESTION),
            dcc.Store(id=Ids.SUBJECT, data=asdict(subject)),
            _controls(view),
            _notice(),
            _plot(subject, view, now_ms),
            html.P(id=Ids.ZONE_NOTE, className="quiet zone-note"),
            html.P(id=Ids.SUMMARY, className="sr-only", **attributes(aria_live="polite")),
        ],
        className="card chart-card",
        **labelled("Readings over time"),
    )


def _controls(view: View) -> Component:
    return html.Div(
        [
            segments(
                "Range",
                "range",
                [(preset.name, preset.label) for preset in PRESETS],
                chosen=view.preset.name,
                default=DEFAULT_PRESET.name,
            ),
            segments(
                "Metric",
                "metric",
                [(metric.name, metric.label) for metric in DRAWN_METRICS],
                chosen=view.metric.name,
                default=FLOW_RATE.name,
            ),
            html.Span(id=Ids.BADGE, className="badge"),
            html.Button(
                "⤢ Reset zoom",
                id=Ids.RESET,
                type="button",
                className="button",
                disabled=True,
                **attributes(data_do="reset"),
            ),
        ],
        className="controls",
    )


def _notice() -> Component:
    """What failed, over the last good picture."""
    return html.Div(
        [
            html.Span(id=Ids.NOTICE),
            html.Button(
                "Try again", type="button", className="button", **attributes(data_do="retry")
            ),
        ],
        className="notice",
        role="alert",
    )


def _plot(subject: Subject, view: View, now_ms: int) -> Component:
    """The axes come with the page, the rows with the first answer: so the plot's width is known
    before anything is asked, and nothing moves when the rows arrive."""
    window = view.window or preset_window(view.preset, None, now_ms)
    canvas = Canvas(window, subject.zone(view), view.width_px, palette(view.theme))
    return html.Div(
        [
            dcc.Graph(
                id=Ids.GRAPH,
                figure=charts.blank(canvas),
                config=GRAPH_CONFIG,
                responsive=True,
                className="graph",
            ),
            html.Div(
                [
                    html.P(id=Ids.EMPTY),
                    html.Button(
                        "Jump to the last data",
                        type="button",
                        className="button",
                        **attributes(data_do="reset"),
                    ),
                ],
                className="empty-plot",
            ),
        ],
        className="plot",
        **attributes(
            data_device=subject.device_id,
            data_ask=Ids.QUESTION,
            data_margins=str(charts.MARGIN_PX["l"] + charts.MARGIN_PX["r"]),
        ),
    )


def zone_select(subject: Subject, view: View) -> Component:
    """The zone of every time on the page: the device's, or any other."""
    own = html.Option(f"{subject.time_zone} (device)", value="")
    others = [html.Option(name, value=name) for name in sorted(zone_names())]
    return html.Select(
        [own, *others],
        id="zone-select",
        className="button zone",
        title="Time zone",
        **labelled("Time zone"),
        **attributes(data_set="zone", data_value=view.zone or ""),
    )
