"""One tile, or a wall of up to fifty, in a frame: the fleet page's, without sums and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from api.embeds import EmbedDefinition
from api.errors import WeirError
from api.metering.windows import SPANS, Span
from components import formatting
from components.clock import Clock, known_zone
from components.controls import attributes, failure, labelled, notice
from components.fleet.device_status import Known
from components.fleet.meters import Meter, read_meter
from components.fleet.queries import Deadline
from components.fleet.selection import Row, judge
from components.fleet.sparkline_rows import Line, lines
from components.fleet.status_cache import knowledge, refresh_page
from components.fleet.tiles import filled, tiles_of
from components.fleet.uptime_strip import Beat, beats
from components.fleet.url_state import FleetView
from web.embed.permissions import controls, heading, wall_view
from web.embed.session import EmbedDesk, EmbedViewer

METERS_FRESH_MS: Final = 60_000
LINES_S: Final = 0.2  # for lines and heartbeats; what isn't there yet comes with the next answer
SOON_MS: Final = 300
AGAIN_MS: Final = 15_000


class Ids(StrEnum):
    """What assets/wall.js looks for by these names too."""

    QUESTION = "wall-question"
    BOARD = "wall-board"
    DRAWN = "wall-drawn"
    PAGE = "wall"
    TILES = "wall-tiles"
    LINE = "wall-line"
    NOTICE = "wall-notice"


def board(viewer: EmbedViewer, wishes: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """Everything that is shown, every word of it. Raises a WeirError where the service as a whole
    can't answer; what ails a single device is told in its tile."""
    desk, definition = viewer.desk, viewer.embed.definition
    view = wall_view(definition, wishes)
    meters = _meters(desk, definition.devices, now_ms)
    refresh_page(desk, view.span, meters, now_ms)
    known = knowledge(desk, view.span)
    rows = [judge(meter, known.get(meter.id), now_ms) for meter in meters]
    drawn, pulses, trouble = _drawn(desk, view.span, rows, known, now_ms)
    clock = Clock(known_zone(view.zone), now_ms, now_ms)
    return {
        "view": f"{view.span.name} {view.zone} {view.units.name}",
        "tiles": [
            each | {"href": ""}  # its viewers have no way into the dashboard
            for each in tiles_of(rows, drawn, pulses, view, now_ms)
        ],
        "line": _line(view, alone=definition.view == "tile"),
        "at_words": formatting.moment(now_ms, clock, seconds=True),
        "trouble": trouble,
        "empty": "" if rows else "This embed’s devices are no longer accessible.",
        "again_ms": AGAIN_MS if trouble or filled(rows, drawn, pulses) else SOON_MS,
    }


def _meters(desk: EmbedDesk, ids: Sequence[str], now_ms: int) -> list[Meter]:
    """In the embed's order. The list is within the token's scope: it holds nobody else's."""
    key = (desk.principal, "meters")
    kept: tuple[int, dict[str, Meter]] | None = desk.memory.local(key)
    if kept is None or now_ms - kept[0] >= METERS_FRESH_MS:
        found = desk.client.devices(active="null").devices
        kept = (now_ms, {device.id: read_meter(device) for device in found})
        desk.memory.keep(key, kept)
    return [kept[1][id] for id in ids if id in kept[1]]


def _drawn(
    desk: EmbedDesk, span: Span, rows: Sequence[Row], known: Mapping[str, Known], now_ms: int
) -> tuple[Mapping[str, Line], Mapping[str, Beat], str]:
    """States were answered: where lines and heartbeats aren't, tiles do without them."""
    shown, deadline = [row.meter for row in rows if row.answered], Deadline(LINES_S)
    try:
        drawn = lines(desk, span, shown, known, deadline, now_ms)
        return drawn, beats(desk, span, shown, known, deadline, now_ms), ""
    except WeirError as error:
        return {}, {}, failure(error)


def _line(view: FleetView, *, alone: bool) -> str:
    zone = view.zone or ("the device’s zone" if alone else "each device’s zone")
    return f"Last {view.span.label} · {view.units.flow_unit} · times in {zone}"


# --- Its frame -----------------------------------------------------------------------------------


def frame(definition: EmbedDefinition) -> Component:
    view = wall_view(definition, {})
    own = view.span.name
    alone = definition.view == "tile"
    line = html.P(_line(view, alone=alone), id=Ids.LINE, className="quiet")
    title = definition.title or ("Device" if alone else "Devices")
    ranges = [(span.name, span.label) for span in SPANS]
    count = len(definition.devices)
    return html.Section(
        [
            *(dcc.Store(id=id) for id in (Ids.BOARD, Ids.DRAWN)),
            dcc.Store(id=Ids.QUESTION, data={}),
            heading(title, line=line, hidden=alone and not definition.title),
            controls(definition, ranges, field="window", own=own, chosen=own),
            notice(Ids.NOTICE),
            html.Ul(id=Ids.TILES, className="wall", role="list", **labelled("Devices")),
            html.Div(
                [html.Div(className="tile skeleton") for _ in range(count)],
                className="wall skeletons",
                **attributes(aria_hidden="true"),
            ),
        ],
        id=Ids.PAGE,
        className=f"embed-{definition.view}",
        **labelled(title),
    )
