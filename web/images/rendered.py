"""Makes the image of an address: fetches the rows, builds the figure, renders it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from api.client import Client
from api.timez import MINUTE_MS, floor_to, stamp
from components import chart_query
from components.chart_query import Subject
from components.fleet.queries import ServiceAccess
from components.fleet.url_state import FleetView
from components.fleet.wall import board
from components.image_query import Pairs, Size, bound, read_chart, read_wall
from components.queries import find_device, usual_interval_s
from components.theme import palette
from web.images import figure
from web.images.wall import wall
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import file_stem, of_window

_MARGINLESS: Final = "html,body{margin:0;padding:0}svg{display:block}"


@dataclass(frozen=True, slots=True)
class Image:
    """An image's bytes, and its name without the ending, which is the same for the same view."""

    body: bytes
    name: str


def chart_image(
    client: Client, renderer: Renderer, device_id: str, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """A device's chart. Raises BadRequest for the address, what the client raises (NotFound for a
    device out of its scope), and RenderingError."""
    view, size = read_chart(pairs)
    device_ = find_device(client, device_id, now_ms)
    device = device_.device
    subject = Subject.of(device_, usual_interval_s(client, device_))
    drawn = chart_query.draw(client, subject, view, now_ms)
    caption = figure.caption(drawn, device.label, device.serial_number, size, now_ms)
    made = figure.image(drawn, caption, size)
    scale = size.scale if format == "png" else 1
    body = renderer.render_figure(made, format, size.width, size.height, scale)
    names = (drawn.frame.metric.name, *of_window(drawn.canvas.window))
    return Image(body, file_stem(device.serial_number, *names))


def wall_image(
    access: ServiceAccess, renderer: Renderer, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """One page of the wall, up to fifty tiles. Raises as `chart_image`."""
    view, theme, size = read_wall(pairs)
    tile_data = board(access, view, now_ms)
    svg, height = wall(tile_data, palette(theme), size.width, _tile_texts(tile_data, view))
    name = file_stem("fleet", view.span.name, _minute(now_ms))
    if format == "png":
        bound(size.width, height, size.scale)
    return Image(converted(renderer, svg, format, replace(size, height=height)), name)


def converted(renderer: Renderer, svg: str, format: Format, size: Size) -> bytes:
    """An SVG in another format; for SVG itself no browser is needed. Raises RenderingError."""
    if format == "svg":
        return svg.encode()
    if format == "pdf":
        paper = f"@page{{size:{size.width}px {size.height}px;margin:0}}"
        return renderer.render_page(f"<style>{paper}{_MARGINLESS}</style>{svg}")
    html = f"<style>{_MARGINLESS}</style>{svg}"
    return renderer.render_picture(html, size.width, size.height, size.scale)


def _minute(at_ms: int) -> str:
    """An instant as it stands in a name, to the minute: ``2026-11-20T234100Z``."""
    return stamp(floor_to(at_ms, MINUTE_MS)).replace(":", "")


def _tile_texts(tile_data: dict[str, Any], view: FleetView) -> str:
    """The subtitle: window, page, zone, totals."""
    zone = view.zone or "each device’s own time zone"
    sums = (f"{t['label']} {t['value']}" for t in tile_data["totals"][:4])
    return " · ".join(
        (view.span.label, tile_data["pages"]["words"], tile_data["count_text"], zone, *sums)
    )
