"""When it flows as a drawing: the card's hours of the week and what their shades mean. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from api.metering.hourly_profile import DAYS, HOURS
from components.clock import WEEKDAYS
from components.device import hourly_profile
from components.theme import Palette
from components.units import Units
from web.images.page_frame import SMALL_PX, Box, no_data, nothing
from web.images.svg import mixed, stripes, words
from web.images.text_width import width_px

NAMES_PX: Final = 40
MARKS_PX: Final = 18
LEGEND_PX: Final = 22
RAMP: Final = (96, 8)
GAP_PX: Final = 2
MARK_PX: Final = 44  # the least between two marked hours

Week = Sequence[Sequence[float | None]]


def hours(found: Week, units: Units, box: Box, palette: Palette) -> str:
    """In the card's shades: the highest mean is the accent itself."""
    if not hourly_profile.flows(found):
        return nothing(hourly_profile.EMPTY, box, palette)
    plot = Box(box.left + NAMES_PX, box.top, box.right, box.bottom - MARKS_PX - LEGEND_PX)
    top = hourly_profile.most(found)
    drawn = "".join(
        _row(day, name, top, units, palette, _part(plot, row))
        for row, (name, day) in enumerate(zip(WEEKDAYS, found, strict=True))
    )
    striped = any(flow is None for day in found for flow in day)
    return (
        f"<defs>{stripes('none', palette.line, palette.surface, 4, 1)}{_ramp(palette)}</defs>"
        f"{drawn}{_marks(plot, palette)}"
        f"{_legend(f'{units.flow(top)} {units.flow_name}', box, palette, striped=striped)}"
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
            f"<title>{escape(hourly_profile.words_of(flow, name, hour, units))}</title></rect>"
        )
    return made


def shade(flow: float | None, top: float, palette: Palette) -> str:
    if flow is None:
        return "url(#none)"
    return mixed(palette.accent, palette.bg, hourly_profile.share(flow, top) / 100)


def _marks(plot: Box, palette: Palette) -> str:
    width = (plot.right - plot.left) / HOURS
    every = next(n for n in (3, hourly_profile.MARKED_HOURS) if n * width >= MARK_PX or n > 3)
    return "".join(
        words(
            hourly_profile.hour_text(hour),
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


def _legend(most: str, box: Box, palette: Palette, *, striped: bool) -> str:
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
