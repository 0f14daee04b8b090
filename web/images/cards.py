"""Images of the cards below a device's chart, with the same values and geometry as the cards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_AMOUNT
from api.client import Device
from api.metering.hourly_profile import DAYS, HOURS, window_of
from api.timez import DAY_MS, zone_or_utc
from components import formatting, session
from components.chart_query import zone_words
from components.charts.figure import MARGIN_PX
from components.device import queries, volume_cards
from components.device.volume_cards import Day
from components.formatting import WEEKDAYS, Clock, day_text, number
from components.image_query import Pairs, read_card
from components.queries import find_device
from components.ranges import Window
from components.theme import Palette, palette
from components.units import Units
from components.url_state import View
from web.images.svg import (
    NO_DATA_PX,
    SMALL_PX,
    Box,
    Caption,
    Image,
    converted,
    framed,
    lines,
    mixed,
    no_data,
    nothing,
    stripes,
    width_px,
    words,
)
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import file_stem, of_window


@dataclass(frozen=True, slots=True)
class CardRequest:
    """``end_ms``: the end of the card's weeks: now, or the last reading of a silent device."""

    device: Device
    view: View
    tz: ZoneInfo
    end_ms: int
    now_ms: int

    @property
    def units(self) -> Units:
        return self.view.units


@dataclass(frozen=True, slots=True)
class Drawing:
    """``window``: the span drawn. ``parts``: texts of the caption. ``draw`` draws into a box."""

    window: Window
    parts: tuple[str, ...]
    draw: Callable[[Box, Palette], str]


def card_image(
    renderer: Renderer, device_id: str, card: str, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """A card's image, ``card`` of `DRAWINGS`. Raises BadRequest for the address, what the client
    raises (NotFound for a device out of its scope), and RenderingError."""
    view, size = read_card(pairs)
    device = find_device(session.current_client(), device_id, now_ms).device
    tz = zone_or_utc(view.zone, device.time_zone)
    drawing = DRAWINGS[card](
        CardRequest(device, view, tz, queries.until(device.id, now_ms), now_ms)
    )
    colours = palette(view.theme)
    made = formatting.moment(now_ms, Clock(tz, now_ms, now_ms))
    caption_lines = lines(drawing.parts, size)
    caption = Caption(device.label, device.serial_number, caption_lines, f"Weir · {made}")
    svg = framed(caption, size, colours, lambda box: drawing.draw(box, colours))
    name = file_stem(device.serial_number, card, *of_window(drawing.window))
    return Image(converted(renderer, svg, format, size), name)


def by_day(request: CardRequest) -> Drawing:
    under_way = request.end_ms == request.now_ms
    volumes = queries.daily(request.device.id, request.tz, request.end_ms)
    days = volume_cards.days(volumes, request.tz, request.end_ms, under_way=under_way)
    window = Window(days[0].window.from_ms, days[-1].window.to_ms)
    parts = (
        volume_cards.DAYS_TITLE,
        f"{days[0].name} – {days[-1].name}{' so far' if under_way else ''}",
        zone_words(request.tz, window),
        volume_cards.average_words(days, request.units),
    )
    return Drawing(window, parts, lambda box, colours: bars(days, request.units, box, colours))


def by_hour(request: CardRequest) -> Drawing:
    week = queries.weekly(request.device.id, request.tz, request.end_ms)
    window = window_of(request.tz, request.end_ms)
    clock = Clock(request.tz, *window)
    first, last = (day_text(clock.local(at) // DAY_MS) for at in window)
    parts = (
        f"{volume_cards.WEEK_TITLE}, mean {request.units.flow_name}",
        f"{first} – {last}",
        zone_words(request.tz, window),
    )
    return Drawing(window, parts, lambda box, colours: hours(week, request.units, box, colours))


DRAWINGS: Final[Mapping[str, Callable[[CardRequest], Drawing]]] = {"days": by_day, "heat": by_hour}


# --- Volume by day -------------------------------------------------------------------------------

CLOCKS_PX: Final = 16  # for the length of an odd day over its bar
MARKS_PX: Final = 18
UNIT_PX: Final = 16
APART_PX: Final = 6
MOST_STEPS: Final = 4
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_NARROW_PX: Final = 12  # narrower bars are a hairline apart, as on a phone


def bars(days: Sequence[Day], units: Units, box: Box, palette: Palette) -> str:
    """Bars as on the card: the highest fills the plot."""
    if not volume_cards.any_readings(days):
        return nothing(volume_cards.NO_DAYS, box, palette)
    plot = Box(MARGIN_PX["l"], box.top + UNIT_PX + CLOCKS_PX, box.right, box.bottom - MARKS_PX)
    top, slots = volume_cards.most_of_days(days), _slots(len(days), plot)
    soft = mixed(palette.accent, palette.surface, 0.55)
    defs = stripes("partial", palette.accent, soft, 6, 3)
    defs += stripes("none", palette.gap, palette.surface, 5, 1.5)
    placed = [(day, _bar(day, top, slot)) for day, slot in zip(days, slots, strict=True)]
    drawn = "".join(_drawn(day, bar, units, palette) for day, bar in placed)
    return (
        f"<defs>{defs}</defs>{_scale(top, units, plot, palette)}{drawn}"
        f"{_clocks(placed, palette)}{_marks(days, slots, palette)}"
        f"{_legend(days, plot, palette)}"
    )


def _slots(count: int, plot: Box) -> list[Box]:
    width = (plot.right - plot.left) / count
    edges = [plot.left + n * width for n in range(count + 1)]
    return [Box(left, plot.top, right, plot.bottom) for left, right in pairwise(edges)]


def _bar(day: Day, top: float, slot: Box) -> Box:
    """A day's bar; without data it fills its slot."""
    aside = (3 if slot.right - slot.left >= _NARROW_PX else 1) / 2
    high = (slot.bottom - slot.top) * volume_cards.bar_share(day, top) / 100
    y = slot.top if day.gallons is None else slot.bottom - max(1.0, high)
    return Box(slot.left + aside, y, slot.right - aside, slot.bottom)


def _drawn(day: Day, bar: Box, units: Units, palette: Palette) -> str:
    fill = "url(#partial)" if day.under_way else palette.accent
    return (
        f'<rect class="day" x="{bar.left:.2f}" y="{bar.top:.2f}"'
        f' width="{bar.right - bar.left:.2f}" height="{bar.bottom - bar.top:.2f}" rx="1.5"'
        f' fill="{fill if day.gallons is not None else "url(#none)"}">'
        f"<title>{escape(volume_cards.day_words(day, units))}</title></rect>"
    )


def _clocks(placed: Sequence[tuple[Day, Box]], palette: Palette) -> str:
    """The length of a day that isn't 24 h, over its bar, also where neighbours are higher."""
    made = ""
    for day, bar in placed:
        base = bar.bottom if day.gallons is None else bar.top
        middle = (bar.left + bar.right) / 2
        made += words(day.odd_hours, middle, base - 4, palette.ink_2, 11, "middle")
    edge = f'stroke="{palette.surface}" stroke-width="3" stroke-linejoin="round"'
    return f'<g class="clocks" {edge} paint-order="stroke">{made}</g>' if made else ""


def _scale(top: float, units: Units, plot: Box, palette: Palette) -> str:
    """Lines at round values of the unit that suits the highest bar, and its name."""
    scale = units.scale(FLOW_AMOUNT, top)
    highest = top * scale.factor
    made = words(
        f"{volume_cards.DAYS_TITLE}, {scale.unit}", plot.left, plot.top - CLOCKS_PX - 2,
        palette.ink_2, SMALL_PX,
    )  # fmt: skip
    for value in steps(highest):
        y = plot.bottom - (plot.bottom - plot.top) * value / highest
        made += f'<path d="M{plot.left} {y:.2f}H{plot.right}" stroke="{palette.line}"/>' + words(
            number(value), plot.left - 8, y + 4, palette.ink_3, SMALL_PX, "end"
        )
    return made


def steps(highest: float) -> list[float]:
    """Round values from 0 to ``highest``, at most five."""
    least = highest / MOST_STEPS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(each * power for each in _STEPS if each * power >= least * (1 - 1e-9))
    return [n * step for n in range(math.floor(highest / step * (1 + 1e-9)) + 1)]


def _marks(days: Sequence[Day], slots: Sequence[Box], palette: Palette) -> str:
    """Labels of the Mondays that fit."""
    made, free = "", 0.0
    for day, slot in zip(days, slots, strict=True):
        text = volume_cards.day_mark(day)
        end = slot.left + width_px(text, SMALL_PX)
        if text and free <= slot.left and end <= slots[-1].right + MARGIN_PX["r"]:
            made += words(text, slot.left, slot.bottom + 15, palette.ink_3, SMALL_PX)
            free = end + APART_PX
    return made


def _legend(days: Sequence[Day], plot: Box, palette: Palette) -> str:
    if all(day.gallons is not None for day in days):
        return ""
    return no_data(plot.right - NO_DATA_PX, plot.top - CLOCKS_PX - 2, palette)


# --- Hours of the week ---------------------------------------------------------------------------

NAMES_PX: Final = 40
HOUR_MARKS_PX: Final = 18
LEGEND_PX: Final = 22
RAMP: Final = (96, 8)
GAP_PX: Final = 2
MARK_PX: Final = 44  # the least between two marked hours

Week = Sequence[Sequence[float | None]]


def hours(week: Week, units: Units, box: Box, palette: Palette) -> str:
    """In the card's shades: the highest mean is the accent itself."""
    if not volume_cards.flows(week):
        return nothing(volume_cards.NO_WEEK, box, palette)
    plot = Box(box.left + NAMES_PX, box.top, box.right, box.bottom - HOUR_MARKS_PX - LEGEND_PX)
    top = volume_cards.most_of_week(week)
    drawn = "".join(
        _row(day, name, top, units, palette, _part(plot, row))
        for row, (name, day) in enumerate(zip(WEEKDAYS, week, strict=True))
    )
    striped = any(flow is None for day in week for flow in day)
    return (
        f"<defs>{stripes('none', palette.line, palette.surface, 4, 1)}{_ramp(palette)}</defs>"
        f"{drawn}{_hour_marks(plot, palette)}"
        f"{_shade_legend(f'{units.flow(top)} {units.flow_name}', box, palette, striped=striped)}"
    )


def _part(plot: Box, row: int) -> Box:
    height = (plot.bottom - plot.top) / DAYS
    return Box(plot.left, plot.top + row * height, plot.right, plot.top + (row + 1) * height)


def _row(
    day: Sequence[float | None], name: str, top: float, units: Units, palette: Palette, row: Box
) -> str:
    middle, width = (row.top + row.bottom) / 2, (row.right - row.left) / HOURS
    size = f'width="{width - GAP_PX:.2f}" height="{row.bottom - row.top - GAP_PX:.2f}" rx="3"'
    made = words(name, row.left - NAMES_PX, middle + 4, palette.ink_3, SMALL_PX)
    for hour, flow in enumerate(day):
        x, fill = row.left + hour * width, shade(flow, top, palette)
        made += (
            f'<rect class="hour" x="{x:.2f}" y="{row.top:.2f}" {size} fill="{fill}">'
            f"<title>{escape(volume_cards.hour_words(flow, name, hour, units))}</title></rect>"
        )
    return made


def shade(flow: float | None, top: float, palette: Palette) -> str:
    if flow is None:
        return "url(#none)"
    return mixed(palette.accent, palette.bg, volume_cards.shade(flow, top) / 100)


def _hour_marks(plot: Box, palette: Palette) -> str:
    width = (plot.right - plot.left) / HOURS
    every = next(n for n in (3, volume_cards.MARKED_HOURS) if n * width >= MARK_PX or n > 3)
    return "".join(
        words(
            volume_cards.hour_text(hour),
            plot.left + hour * width,
            plot.bottom + 13,
            palette.ink_3,
            SMALL_PX,
        )
        for hour in range(0, HOURS, every)
    )


def _ramp(palette: Palette) -> str:
    first = shade(0, 1, palette)
    return (
        f'<linearGradient id="ramp"><stop offset="0" stop-color="{first}"/>'
        f'<stop offset="1" stop-color="{palette.accent}"/></linearGradient>'
    )


def _shade_legend(most: str, box: Box, palette: Palette, *, striped: bool) -> str:
    width, height = min(RAMP[0], (box.right - box.left) / 5), RAMP[1]
    base = box.bottom - 4
    ramp = box.right - width_px(most, SMALL_PX) - 8 - width
    made = (
        words("0", ramp - 8, base, palette.ink_3, SMALL_PX, "end")
        + f'<rect x="{ramp:.2f}" y="{base - height:.2f}" width="{width:.2f}" height="{height}"'
        f' rx="4" fill="url(#ramp)"/>'
        + words(most, ramp + width + 8, base, palette.ink_3, SMALL_PX)
    )
    if striped:
        made += no_data(box.left + NAMES_PX, base, palette)
    return made
