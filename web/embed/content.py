"""What a frame shows: one device's chart, the dashboard's figure within the embed's limits; or one
tile, or a wall of up to fifty, as on the fleet page, without totals and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from dash import dcc, html
from dash.development.base_component import Component

from api.client import DeviceStatus
from api.embeds import EmbedDefinition, Rolling
from api.errors import NotOffered
from api.metering.windows import SPANS
from api.timez import zone_or_utc
from components import chart_query, formatting
from components.chart_card import Ids, chart_notice, chart_plot, chart_spoken
from components.chart_query import Drawn, Subject
from components.charts import figure, labels
from components.charts.traces import Canvas
from components.controls import attributes, labelled, notice
from components.fleet.queries import FleetView, tiles_of_embed
from components.fleet.sparklines import lines_of
from components.fleet.tiles import tiles_of
from components.formatting import Clock
from components.queries import find_device, usual_interval_s
from components.ranges import PRESETS
from components.status_queries import bare_page
from components.theme import palette
from components.url_state import Shown, View, write_shown
from web.embed.middleware import EmbedAccess, EmbedViewer
from web.embed.permissions import RANGE, chart_view, controls, heading, own_window, wall_view

# --- One chart -----------------------------------------------------------------------------------


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


def chart_values(viewer: EmbedViewer, wishes: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
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
        LINE: _chart_line(definition, view, drawn),
        SUMMARY: labels.summary(drawn.frame, tz, view.units, chart_query.data_share(drawn)),
        NOTICE: "",
        EMPTY: chart_query.emptiness(drawn),
        UNZOOMED: view.window is None,
        RESPONSE: write_shown(state, wishes.get("request_id")),
    }


def _chart_line(definition: EmbedDefinition, view: View, drawn: Drawn) -> str:
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


def chart_frame(viewer: EmbedViewer, now_ms: int) -> Component:
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


# --- Tiles ---------------------------------------------------------------------------------------


AGAIN_MS: Final = 15_000


class WallIds(StrEnum):
    """Ids, also used by web/embed/assets/wall.js."""

    QUESTION = "wall-question"
    BOARD = "wall-board"
    DRAWN = "wall-drawn"
    PAGE = "wall"
    TILES = "wall-tiles"
    LINE = "wall-line"
    NOTICE = "wall-notice"


def board(viewer: EmbedViewer, wishes: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """All that is shown, with every text. Raises a WeirError if the service fails. Viewers of an
    embed don't see findings and their costs."""
    access, definition = viewer.access, viewer.embed.definition
    view = wall_view(definition, wishes)
    rows, remark = _rows(access, definition.devices, view, now_ms)
    clock = Clock(zone_or_utc(view.zone), now_ms, now_ms)
    return {
        "view": f"{view.span.name} {view.zone} {view.units.name}",
        "tiles": [
            each | {"href": ""}  # its viewers can't open the dashboard
            for each in tiles_of(rows, lines_of(access, rows, view.span, now_ms), view, now_ms)
        ],
        "line": _tiles_line(view, alone=definition.view == "tile"),
        "at_words": formatting.moment(now_ms, clock, seconds=True),
        "remark": remark,
        "empty": "" if rows else "This embed’s devices are no longer accessible.",
        "again_ms": AGAIN_MS,
    }


def _rows(
    access: EmbedAccess, ids: Sequence[str], view: FleetView, now_ms: int
) -> tuple[Sequence[DeviceStatus], str]:
    """The rows in the embed's order, and a remark for the viewer."""
    try:
        return tiles_of_embed(access.client, ids, view), ""
    except NotOffered:
        rows = bare_page(access.client, now_ms, active="null", span=view.span).rows
        by_id = {row.device.id: row for row in rows}
        return [
            by_id[id] for id in ids if id in by_id
        ], "This server has readings alone: no charts."


def _tiles_line(view: FleetView, *, alone: bool) -> str:
    zone = view.zone or ("the device’s zone" if alone else "each device’s zone")
    return f"Last {view.span.label} · {view.units.flow_unit} · times in {zone}"


# --- Its frame -----------------------------------------------------------------------------------


def tiles_frame(definition: EmbedDefinition) -> Component:
    view = wall_view(definition, {})
    own = view.span.name
    alone = definition.view == "tile"
    line = html.P(_tiles_line(view, alone=alone), id=WallIds.LINE, className="quiet")
    title = definition.title or ("Device" if alone else "Devices")
    ranges = [(span.name, span.label) for span in SPANS]
    count = len(definition.devices)
    return html.Section(
        [
            *(dcc.Store(id=id) for id in (WallIds.BOARD, WallIds.DRAWN)),
            dcc.Store(id=WallIds.QUESTION, data={}),
            heading(title, line=line, hidden=alone and not definition.title),
            controls(definition, ranges, field="window", own=own, chosen=own),
            notice(WallIds.NOTICE),
            html.Ul(id=WallIds.TILES, className="wall", role="list", **labelled("Devices")),
            html.Div(
                [html.Div(className="tile skeleton") for _ in range(count)],
                className="wall skeletons",
                **attributes(aria_hidden="true"),
            ),
        ],
        id=WallIds.PAGE,
        className=f"embed-{definition.view}",
        **labelled(title),
    )
