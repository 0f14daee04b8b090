"""A device's chart with its controls, as a card. assets/chart.js adds its behaviour."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from api.metering.comparison import OTHER_DEVICE
from components import html_json
from components.chart_query import Subject
from components.charts import figure as charts_figure
from components.charts.traces import Canvas
from components.controls import (
    attributes,
    embed_link,
    labelled,
    menu,
    notice,
    segments,
    select,
    units_select,
    zone_select,
)
from components.device.cards import CHART_MENU
from components.ranges import DEFAULT_PRESET, PRESETS
from components.theme import GRAPH_CONFIG, palette
from components.url_state import COMPARISONS, SHOWN, TABS, View, write_view

CUSTOM: Final = "custom"
OTHER: Final = "other"  # of the comparison: asks for another device


class Ids(StrEnum):
    START = "chart-start"
    QUESTION = "chart-question"
    SUBJECT = "chart-subject"
    GRAPH = "chart-graph"
    BADGE = "chart-badge"
    ZONE_NOTE = "chart-zone-note"
    SUMMARY = "chart-summary"
    NOTICE = "chart-notice"
    FAILED = "chart-failed"
    DRAWN = "chart-drawn"
    EMPTY = "chart-empty"
    JUMP = "chart-jump"
    RESET = "chart-reset"
    RESPONSE = "chart-response"
    SHOWN = "chart-shown"
    DUE = "chart-due"
    DUE_PARTS = "chart-due-parts"
    PARTS = "chart-parts"
    GAPS = "chart-gaps"
    CURSOR = "chart-cursor"
    KEYS = "chart-keys"
    CUSTOM = "chart-custom"
    CUSTOM_FIELDS = "chart-custom-fields"
    CUSTOM_REQUEST = "chart-custom-request"
    CUSTOM_RESPONSE = "chart-custom-response"
    CUSTOM_MESSAGE = "chart-custom-message"
    OVERVIEW = "chart-overview"
    OVERVIEW_RESPONSE = "chart-overview-response"
    COMPARED = "chart-compared"
    SINCE = "chart-since"
    OTHER = "chart-other"


KEYS: Final = (
    "Arrow keys move the cursor, with Shift by ten rows. Plus and minus zoom, square brackets pan,"
    " R resets, C compares, U shows what is usual, Escape lets go."
)


def chart_card(
    subject: Subject, view: View, now_ms: int, *, may_operate: bool = False
) -> Component:
    """``may_operate``: whether the reader may add notes, maintenance and corrections."""
    start = {**write_view(view), "device": subject.device_id}
    return html.Section(
        [
            dcc.Store(id=Ids.START, data=start),
            dcc.Store(id=Ids.QUESTION),
            dcc.Store(id=Ids.RESPONSE),
            *(dcc.Store(id=id) for id in (Ids.SHOWN, Ids.DUE, Ids.DUE_PARTS, Ids.PARTS)),
            html_json.store(Ids.GAPS),
            dcc.Store(id=Ids.DRAWN),
            dcc.Store(id=Ids.SUBJECT, data=asdict(subject)),
            dcc.Store(id=Ids.CUSTOM_REQUEST),
            dcc.Store(id=Ids.CUSTOM_RESPONSE),
            dcc.Store(id=Ids.OVERVIEW_RESPONSE),
            _controls(subject, view),
            _custom(subject),
            _other_device(),
            *chart_notice(),
            _plot(subject, view, now_ms),
            html.Div(id=Ids.OVERVIEW, className="overview", **attributes(data_empty="true")),
            html.Div(
                [
                    *(_select_span() if may_operate else ()),
                    html.Span(id=Ids.SINCE),
                    html.P(id=Ids.COMPARED, className="compared"),
                    html.Details(id=Ids.GAPS, className="gaps"),
                    html.P(id=Ids.ZONE_NOTE, className="quiet zone-note"),
                ],
                className="under-plot",
            ),
            *chart_spoken(),
        ],
        className="card chart-card",
        **labelled("Readings over time"),
    )


def _controls(subject: Subject, view: View) -> Component:
    return html.Div(
        [
            segments(
                "Range",
                "range",
                [*((p.name, p.label) for p in PRESETS), (CUSTOM, "Custom")],
                chosen=CUSTOM if view.custom else view.preset.name,
                default=DEFAULT_PRESET.name,
            ),
            segments(
                "Metric",
                "metric",
                [(tab.name, tab.label) for tab in TABS],
                chosen=subject.tab_of(view).name,
                default=subject.tab,
            ),
            *_comparing(view),
            html.Div(
                [
                    html.Span(id=Ids.BADGE, className="badge"),
                    html.Button(
                        ["⤢", html.Span("Reset zoom", className="reset-word")],
                        id=Ids.RESET,
                        type="button",
                        className="button",
                        title="Reset zoom",
                        disabled=True,
                        **attributes(data_do="reset"),
                    ),
                ],
                className="controls-end",
            ),
        ],
        className="controls",
    )


def _comparing(view: View) -> list[Component]:
    """The choice of the comparison, and the switch for the usual band."""
    options = [("", "Compare with …"), *COMPARISONS.items(), (OTHER, "Another device …")]
    chosen = OTHER if view.compare.startswith(OTHER_DEVICE) else view.compare
    return [
        select("Compare", "compare", options, chosen=chosen),
        html.Button(
            "Usual",
            type="button",
            className="button toggle",
            title="The band in which eight days in ten lie (U)",
            **attributes(
                data_set="usual",
                data_value=SHOWN,
                data_default="false",
                data_toggle="true",
                aria_pressed="true" if view.usual else "false",
            ),
        ),
    ]


def _select_span() -> list[Component]:
    """The button to select a span, for readers who may add annotations:
    assets/span-selection.js."""
    return [
        html.Button(
            "Select a span",
            type="button",
            className="button small toggle",
            title="Drag over a span to note, correct or plan something (S)",
            **attributes(data_do="select-span", aria_pressed="false"),
        )
    ]


def _other_device() -> Component:
    """The field for another device. assets/compare.js creates it, since Dash has no such
    component."""
    return html.Form(
        [
            html.Div(id=f"{Ids.OTHER}-field", className="fields"),
            html.Button("Compare", type="submit", className="button"),
            html.Button(
                "Cancel", type="button", className="button", **attributes(data_do="no-other")
            ),
        ],
        id=Ids.OTHER,
        className="custom",
        hidden=True,
        **labelled("Another device"),
    )


def chart_actions(subject: Subject) -> list[Component]:
    """The chart's export and share buttons. They stand beside the device's name, since the chart's
    controls fill a line."""
    return [
        embed_link("chart", subject.device_id),
        menu("Export", (), name="Export this chart", body_id=CHART_MENU),
    ]


def _custom(subject: Subject) -> Component:
    """A custom range. assets/range.js creates its two fields, since Dash has no such component."""
    return html.Form(
        [
            html.Div(
                className="fields",
                id=Ids.CUSTOM_FIELDS,
                **attributes(data_fields="", data_zone=subject.time_zone),
            ),
            html.Button("Apply", type="submit", className="button"),
            html.Button(
                "Cancel", type="button", className="button", **attributes(data_do="cancel")
            ),
            html.P(id=Ids.CUSTOM_MESSAGE, className="range-problem", role="alert"),
        ],
        id=Ids.CUSTOM,
        className="custom",
        hidden=True,
        **labelled("Custom range"),
    )


def chart_notice() -> list[Component]:
    """The error shown over the last valid chart; assets/freshness.js writes it."""
    return [dcc.Store(id=Ids.FAILED), notice(Ids.NOTICE)]


def _plot(subject: Subject, view: View, now_ms: int) -> Component:
    """The plot. Its axes come with the page and its rows with the first reply, so the plot's width
    is known before the first request, and nothing moves when the rows arrive."""
    window = view.window or view.whole(None, now_ms)
    canvas = Canvas(window, subject.zone(view), view.width_px, palette(view.theme), view.units)
    jump = html.Button(
        "Jump to the last data",
        id=Ids.JUMP,
        type="button",
        className="button",
        **attributes(data_do="jump"),
    )
    empty = html.Div([html.P(id=Ids.EMPTY), jump], className="empty-plot")
    return chart_plot(subject, charts_figure.blank(canvas), empty, parts=Ids.DUE)


def chart_plot(
    subject: Subject,
    figure: dict[str, Any],
    *over: Component,
    still: bool = False,
    parts: str = "",
) -> Component:
    """``over``: lies on the plot. ``still``: its range is fixed. ``parts``: the Store that requests
    the other parts of the page."""
    graph = dcc.Graph(
        id=Ids.GRAPH, figure=figure, config=GRAPH_CONFIG, responsive=True, className="graph"
    )
    return html.Div(
        [graph, *over],
        className="plot",
        tabIndex=0,
        role="group",
        **attributes(
            aria_label="Chart",
            aria_describedby=f"{Ids.SUMMARY} {Ids.KEYS}",
            data_device=subject.device_id,
            data_zone=subject.time_zone,
            data_question=Ids.QUESTION,
            data_parts=parts,
            data_margins=str(charts_figure.MARGIN_PX["l"] + charts_figure.MARGIN_PX["r"]),
            data_still=str(still).lower(),
        ),
    )


def chart_spoken() -> list[Component]:
    """For screen readers: the chart's keys, its summary, the values under its cursor."""
    polite = attributes(aria_live="polite")
    return [
        html.P(KEYS, id=Ids.KEYS, className="sr-only"),
        html.P(id=Ids.SUMMARY, className="sr-only", **polite),
        html.P(id=Ids.CURSOR, className="sr-only", **polite),
    ]


def chart_tools(subject: Subject, view: View) -> list[Component]:
    """The controls in the top bar: the units, and the zone of every time on the page."""
    return [
        units_select(view.units),
        zone_select(f"{subject.time_zone} (device)", view.zone),
    ]
