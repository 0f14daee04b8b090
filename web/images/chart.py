"""The image of a device's chart: the figure of the screen with a caption."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from api.client import Client
from components import chart_query, formatting
from components.chart_query import Drawn, Subject, emptiness, zone_note
from components.charts import figure
from components.charts.figure import MARGIN_PX, Figure
from components.formatting import Clock
from components.image_query import Pairs, Size, read_chart
from components.queries import find_device, usual_interval_s
from components.theme import FONT_SIZE_PX
from web.images.svg import (
    EDGE_PX,
    FOOT_PX,
    LINE_PX,
    MOST_LINES,
    TITLE_LINE_PX,
    TITLE_PX,
    Caption,
    Image,
    broken,
    cut,
    width_px,
)
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import file_stem, of_window

LOW_PX: Final = 320  # a lower image has two lines
LEAST_PLOT_PX: Final = 150  # a lower plot is too small for its metric's name


def caption(drawn: Drawn, label: str, serial: str, size: Size, now_ms: int) -> Caption:
    """The context for a viewer of the image alone: device, range, zone, resolution, time of
    creation."""
    compared = chart_query.compared_words(drawn)
    texts = (
        chart_query.range_words(drawn),
        *((compared,) if compared else ()),
        zone_note(drawn),
        chart_query.detail(drawn),
    )
    made = formatting.moment(now_ms, Clock(drawn.canvas.tz, now_ms, now_ms))
    most = 2 if size.height < LOW_PX else MOST_LINES
    lines = broken(texts, size.width - 2 * EDGE_PX, FONT_SIZE_PX - 1, most)
    return Caption(label, serial, tuple(lines), f"Weir · {made}")


def bare(drawn: Drawn, size: Size) -> Figure:
    """The figure for plotly.js in that size, with a text if it is empty."""
    made = figure.figure(drawn.picture, drawn.canvas)
    layout = made["layout"]
    layout |= {
        "autosize": False,
        "width": size.width,
        "height": size.height,
        "annotations": [*layout["annotations"], *_nothing(drawn)],
    }
    return made


def image(drawn: Drawn, caption: Caption, size: Size) -> Figure:
    """The figure with caption and background."""
    made = bare(drawn, size)
    layout, palette = made["layout"], drawn.canvas.palette
    head = EDGE_PX // 2 + TITLE_LINE_PX + LINE_PX * len(caption.lines)
    top = head + MARGIN_PX["t"]
    layout |= {
        "margin": {**MARGIN_PX, "t": top, "b": MARGIN_PX["b"] + FOOT_PX},
        "paper_bgcolor": palette.surface,
        "annotations": [
            *layout["annotations"],
            *_caption_head(caption, size, top, palette.ink, palette.ink_2),
            _foot(caption, palette.ink_3),
        ],
    }
    if size.height - top - layout["margin"]["b"] < LEAST_PLOT_PX:
        layout["yaxis"]["title"]["text"] = drawn.frame.unit
    return made


def _caption_head(caption: Caption, size: Size, top: int, ink: str, ink_2: str) -> list[Figure]:
    room = size.width - 2 * EDGE_PX
    serial = "" if caption.serial == caption.label else cut(caption.serial, room / 2, FONT_SIZE_PX)
    left = room - width_px(f"  {serial}", FONT_SIZE_PX)
    label = cut(caption.label, left, TITLE_PX, bold=True)
    title = f"<b>{escape(label)}</b>" + (
        f'<span style="font-size:{FONT_SIZE_PX}px;color:{ink_2}">  {escape(serial)}</span>'
    )
    first = top - EDGE_PX // 2
    made = [_text(title, y=1, shift=first, font={"size": TITLE_PX, "color": ink})]
    for index, line in enumerate(caption.lines):
        shift = first - TITLE_LINE_PX - LINE_PX * index
        font = {"size": FONT_SIZE_PX - 1, "color": ink_2}
        made.append(_text(escape(line), y=1, shift=shift, font=font))
    return made


def _foot(caption: Caption, colour: str) -> Figure:
    made = _text(
        escape(caption.foot), y=0, shift=0, font={"size": FONT_SIZE_PX - 2, "color": colour}
    )
    below = -(MARGIN_PX["b"] + FOOT_PX) + 6
    right = {"x": 1, "xanchor": "right", "xshift": 0, "yanchor": "bottom", "yshift": below}
    return made | right


def _nothing(drawn: Drawn) -> list[Figure]:
    """Why the plot is empty, as the page shows over it."""
    sentence = emptiness(drawn)
    if not sentence:
        return []
    lines = broken((sentence,), drawn.canvas.width_px, FONT_SIZE_PX, MOST_LINES)
    made = _text("<br>".join(map(escape, lines)), y=0.5, shift=0, font={})
    return [made | {"x": 0.5, "xanchor": "center", "xshift": 0, "yanchor": "middle"}]


def _text(text: str, *, y: float, shift: int, font: dict[str, Any]) -> Figure:
    """A text at the image's left edge."""
    return {
        "text": text,
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "xshift": EDGE_PX - MARGIN_PX["l"],
        "yref": "paper",
        "y": y,
        "yanchor": "top",
        "yshift": shift,
        "align": "left",
        "showarrow": False,
        "font": font,
        "name": "caption",
    }


# --- The image of an address ---------------------------------------------------------------------


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
    texts = caption(drawn, device.label, device.serial_number, size, now_ms)
    made = image(drawn, texts, size)
    scale = size.scale if format == "png" else 1
    body = renderer.render_figure(made, format, size.width, size.height, scale)
    names = (drawn.frame.metric.name, *of_window(drawn.canvas.window))
    return Image(body, file_stem(device.serial_number, *names))
