"""One tile, or a wall of up to fifty, in a frame: as on the fleet page, without totals and
search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from api.client import DeviceStatus
from api.embeds import EmbedDefinition
from api.errors import NotOffered
from api.metering.windows import SPANS
from api.timez import zone_or_utc
from components import formatting
from components.controls import attributes, labelled, notice
from components.fleet.queries import tiles_of_embed
from components.fleet.sparklines import lines_of
from components.fleet.tiles import tiles_of
from components.fleet.url_state import FleetView
from components.formatting import Clock
from components.readings_only_queries import bare_page
from web.embed.middleware import EmbedAccess, EmbedViewer
from web.embed.permissions import controls, heading, wall_view

AGAIN_MS: Final = 15_000


class Ids(StrEnum):
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
        "line": _line(view, alone=definition.view == "tile"),
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
