"""What a chart's line is compared with: another, dashed line, and the band of what is usual.

Positions are epoch milliseconds, which plotly.js takes as UTC: cheaper than texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from components.charts.frames import largest, rounded
from components.theme import Palette

Values = Sequence[float | None]
BAND_OPACITY: Final = "2e"
_BROKEN: Final = 1.5  # bucket lengths apart, nothing is drawn between two


@dataclass(frozen=True, slots=True)
class OtherLine:
    """``at_ms``: the middles of the buckets on the chart's own axis; ``levels`` in the chart's
    unit. ``days``: (start on the chart's axis, the other's date), where that changes."""

    name: str
    unit: str
    at_ms: Sequence[int]
    levels: Values
    length_ms: int
    days: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class UsualBand:
    """Eight days in ten lie between ``low`` and ``high``."""

    unit: str
    at_ms: Sequence[int]
    low: Values
    middle: Values
    high: Values
    length_ms: int


@dataclass(frozen=True, slots=True)
class Compared:
    """``words``: both volumes and their difference, under the chart; ``difference`` alone."""

    line: OtherLine | None = None
    band: UsualBand | None = None
    words: str = ""
    difference: str = ""
    note: str = ""

    @property
    def levels(self) -> list[Values]:
        lines: list[Values] = [] if self.line is None else [self.line.levels]
        return lines if self.band is None else [*lines, self.band.high, self.band.low]


NOTHING: Final = Compared()


def compared_traces(compared: Compared, palette: Palette) -> list[dict[str, Any]]:
    """After all others, since scripts know those by their place."""
    made: list[dict[str, Any]] = []
    if compared.band is not None:
        made += _band_traces(compared.band, palette)
    if compared.line is not None:
        made.append(_line_trace(compared.line, palette))
    return made


def _line_trace(line: OtherLine, palette: Palette) -> dict[str, Any]:
    x, y = _path(line.at_ms, line.levels, _runs(line.at_ms, line.levels, line.length_ms))
    meta = {"name": line.name, "unit": line.unit, "days": line.days, "length_ms": line.length_ms}
    return {
        "type": "scatter", "name": line.name, "x": x, "y": y, "meta": {"compared": meta},
        "mode": "lines", "connectgaps": False,
        "line": {"width": 1.25, "color": palette.ink_2, "dash": "4px,3px"},
    }  # fmt: skip


def _band_traces(band: UsualBand, palette: Palette) -> list[dict[str, Any]]:
    x: list[int | None] = []
    y: list[float | None] = []
    scale = largest(band.high)
    low, high = rounded(band.low, scale), rounded(band.high, scale)
    runs = _runs(band.at_ms, band.middle, band.length_ms)
    for run in runs:
        there = [band.at_ms[index] for index in run]
        x += [*there, *reversed(there), None]
        y += [*(high[i] for i in run), *(low[i] for i in reversed(run)), None]
    mx, my = _path(band.at_ms, band.middle, runs)
    meta = {
        "unit": band.unit,
        "length_ms": band.length_ms,
        "low": [value for value in low if value is not None],
        "high": [value for value in high if value is not None],
        "at": [at for at, value in zip(band.at_ms, low, strict=True) if value is not None],
    }
    return [
        {
            "type": "scatter", "name": "usual, 10–90 %", "x": x, "y": y, "mode": "lines",
            "fill": "toself", "fillcolor": f"{palette.accent}{BAND_OPACITY}", "line": {"width": 0},
            "meta": {"usual": meta},
        },
        {
            "type": "scatter", "name": "usual", "x": mx, "y": my, "mode": "lines",
            "connectgaps": False,
            "line": {"width": 1, "color": palette.accent, "dash": "1px,3px"},
        },
    ]  # fmt: skip


def _path(
    at_ms: Sequence[int], levels: Values, runs: Sequence[Sequence[int]]
) -> tuple[list[int | None], list[float | None]]:
    x: list[int | None] = []
    y: list[float | None] = []
    values = rounded(levels, largest(levels))
    for run in runs:
        x += [*(at_ms[index] for index in run), None]
        y += [*(values[index] for index in run), None]
    return x, y


def _runs(at_ms: Sequence[int], levels: Values, length_ms: int) -> list[Sequence[int]]:
    """Places that have a level, broken where one is missing between them."""
    places = [index for index, level in enumerate(levels) if level is not None]
    if not places:
        return []
    reach = _BROKEN * length_ms
    breaks = [
        place
        for place, (before, after) in enumerate(pairwise(places), 1)
        if at_ms[after] - at_ms[before] > reach
    ]
    return [places[start:end] for start, end in pairwise([0, *breaks, len(places)])]
