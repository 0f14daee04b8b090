"""Volume by day as a drawing: the card's bars, with the scale that a reader can't ask for. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

from api.catalog import FLOW_AMOUNT
from components.charts.figure import MARGIN_PX
from components.device import daily_volume
from components.device.daily_volume import Day
from components.formatting import number
from components.theme import Palette
from components.units import Units
from web.images.page_frame import NO_DATA_PX, SMALL_PX, Box, no_data, nothing
from web.images.svg import mixed, stripes, words
from web.images.text_width import width_px

CLOCKS_PX: Final = 16  # room for what an odd day says over its bar
MARKS_PX: Final = 18
UNIT_PX: Final = 16
APART_PX: Final = 6
MOST_STEPS: Final = 4
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_NARROW_PX: Final = 12  # bars of less have a hairline between them, as on a phone


def bars(found: Sequence[Day], units: Units, box: Box, palette: Palette) -> str:
    """As high as on the card: the highest has all the room."""
    if not daily_volume.any_heard(found):
        return nothing(daily_volume.EMPTY, box, palette)
    plot = Box(MARGIN_PX["l"], box.top + UNIT_PX + CLOCKS_PX, box.right, box.bottom - MARKS_PX)
    top, slots = daily_volume.most(found), _slots(len(found), plot)
    soft = mixed(palette.accent, palette.surface, 0.55)
    defs = stripes("partial", palette.accent, soft, 6, 3)
    defs += stripes("none", palette.gap, palette.surface, 5, 1.5)
    placed = [(day, _bar(day, top, slot)) for day, slot in zip(found, slots, strict=True)]
    drawn = "".join(_drawn(day, bar, units, palette) for day, bar in placed)
    return (
        f"<defs>{defs}</defs>{_scale(top, units, plot, palette)}{drawn}"
        f"{_clocks(placed, palette)}{_marks(found, slots, palette)}"
        f"{_legend(found, plot, palette)}"
    )


def _slots(count: int, plot: Box) -> list[Box]:
    width = (plot.right - plot.left) / count
    edges = [plot.left + n * width for n in range(count + 1)]
    return [Box(left, plot.top, right, plot.bottom) for left, right in pairwise(edges)]


def _bar(day: Day, top: float, slot: Box) -> Box:
    """Of a day without data it is all of its slot."""
    aside = (3 if slot.right - slot.left >= _NARROW_PX else 1) / 2
    high = (slot.bottom - slot.top) * daily_volume.share(day, top) / 100
    y = slot.top if day.gallons is None else slot.bottom - max(1.0, high)
    return Box(slot.left + aside, y, slot.right - aside, slot.bottom)


def _drawn(day: Day, bar: Box, units: Units, palette: Palette) -> str:
    fill = "url(#partial)" if day.under_way else palette.accent
    return (
        f'<rect class="day" x="{bar.left:.2f}" y="{bar.top:.2f}"'
        f' width="{bar.right - bar.left:.2f}" height="{bar.bottom - bar.top:.2f}" rx="1.5"'
        f' fill="{fill if day.gallons is not None else "url(#none)"}">'
        f"<title>{escape(daily_volume.words_of(day, units))}</title></rect>"
    )


def _clocks(placed: Sequence[tuple[Day, Box]], palette: Palette) -> str:
    """How long an odd day is, over its bar and over its neighbours', which may be higher."""
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
        f"{daily_volume.TITLE}, {scale.unit}", plot.left, plot.top - CLOCKS_PX - 2, palette.ink_2,
        SMALL_PX,
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


def _marks(found: Sequence[Day], slots: Sequence[Box], palette: Palette) -> str:
    """Mondays, as far as they have room."""
    made, free = "", 0.0
    for day, slot in zip(found, slots, strict=True):
        text = daily_volume.mark(day)
        end = slot.left + width_px(text, SMALL_PX)
        if text and free <= slot.left and end <= slots[-1].right + MARGIN_PX["r"]:
            made += words(text, slot.left, slot.bottom + 15, palette.ink_3, SMALL_PX)
            free = end + APART_PX
    return made


def _legend(found: Sequence[Day], plot: Box, palette: Palette) -> str:
    if all(day.gallons is not None for day in found):
        return ""
    return no_data(plot.right - NO_DATA_PX, plot.top - CLOCKS_PX - 2, palette)
