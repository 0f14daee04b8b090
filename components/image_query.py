"""The parameters of an image's address, read strictly, since a wrong image looks like a right one.

They are the page's own parameters (`components/url_state.py`, `components/fleet/queries.py`), and
theme and size. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from api.errors import BadRequest, ParameterProblem
from api.insight.findings import KIND_BY_NAME
from api.metering.windows import SPAN_BY_NAME
from api.timez import parse_instant, zone_names
from components.charts.figure import MARGIN_PX
from components.fleet.queries import LAST_PAGE, LONGEST_SEARCH, SORTS, FleetView, read_fleet_view
from components.ranges import PRESET_BY_NAME
from components.status_queries import STATE_BY_NAME
from components.theme import PALETTES
from components.units import UNITS_BY_NAME
from components.url_state import (
    BETWEEN,
    COMPARISONS,
    SHOWN,
    TAB_BY_NAME,
    View,
    read_compare,
    read_view,
    read_window,
)

WIDTHS_PX: Final = (320, 2_000)
HEIGHTS_PX: Final = (240, 1_500)
SCALES: Final = (1.0, 3.0)
MOST_PIXELS: Final = 25_000_000
USUAL_PX: Final = (1_000, 420)
USUAL_WALL_PX: Final = 1_200

Pairs = Iterable[tuple[str, str]]
Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Size:
    """In CSS pixels; a PNG has ``scale`` times as many. ``height`` 0: as high as the content."""

    width: int
    height: int
    scale: float


@dataclass(frozen=True, slots=True)
class Rule:
    """The allowed values of a parameter, as a test and as text."""

    holds: Check
    words: str


def one_of(names: Iterable[str]) -> Rule:
    allowed = tuple(names)
    return Rule(lambda text: text in allowed, f"must be one of {', '.join(allowed)}")


def whole(least: int, most: int) -> Rule:
    def holds(text: str) -> bool:
        return text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most

    return Rule(holds, f"must be a whole number from {least:,} to {most:,}")


def _scale(text: str) -> bool:
    plain = text.isascii() and len(text) < 10 and text.replace(".", "", 1).isdigit()
    return plain and SCALES[0] <= float(text) <= SCALES[1]


def _range(text: str) -> bool:
    first, between, last = text.partition(BETWEEN)
    return text in PRESET_BY_NAME or (bool(between) and read_window(first, last) is not None)


def _instant(text: str) -> bool:
    try:
        parse_instant(text)
    except ValueError:
        return False
    return True


READING: Final = {
    "zone": Rule(lambda text: text in zone_names(), "must be an IANA time zone"),
    "units": one_of(UNITS_BY_NAME),
}
_SHARED: Final = {
    **READING,
    "theme": one_of(PALETTES),
    "width": whole(*WIDTHS_PX),
    "scale": Rule(_scale, f"must be a number from {SCALES[0]:g} to {SCALES[1]:g}"),
}
SIZED: Final[Mapping[str, Rule]] = {**_SHARED, "height": whole(*HEIGHTS_PX)}
_CHART: Final[Mapping[str, Rule]] = {
    **_SHARED,
    "range": Rule(
        _range,
        f"must be one of {', '.join(PRESET_BY_NAME)}, or two date-times with .. between them",
    ),
    "from": Rule(_instant, "must be a date-time"),
    "to": Rule(_instant, "must be a date-time"),
    "metric": one_of(TAB_BY_NAME),
    "compare": Rule(
        lambda text: bool(read_compare(text)),
        f"must be one of {', '.join(COMPARISONS)}, or device: and an identifier",
    ),
    "usual": one_of((SHOWN,)),
    "height": whole(*HEIGHTS_PX),
}
_WALL: Final[Mapping[str, Rule]] = {
    **_SHARED,
    "window": one_of(SPAN_BY_NAME),
    "q": Rule(
        lambda text: len(text) <= LONGEST_SEARCH, f"must be at most {LONGEST_SEARCH} characters"
    ),
    "status": Rule(
        lambda text: set(text.split(",")) <= STATE_BY_NAME.keys(),
        f"must be from {', '.join(STATE_BY_NAME)}, separated by commas",
    ),
    "group": Rule(
        lambda text: len(text) <= LONGEST_SEARCH, f"must be at most {LONGEST_SEARCH} characters"
    ),
    "finding": one_of(KIND_BY_NAME),
    "sort": one_of(SORTS),
    "page": whole(1, LAST_PAGE),
}


def read_chart(pairs: Pairs) -> tuple[View, Size]:
    """The chart's view, as wide as its plot. Raises BadRequest that names every parameter that is
    unknown, repeated or out of bounds."""
    params = checked(pairs, _CHART)
    if ("from" in params) != ("to" in params):
        raise refused([("to" if "from" in params else "from", "must be used with the other one")])
    if "from" in params and read_window(params["from"], params["to"]) is None:
        raise refused([("from", "must be before to")])
    size = size_of(params, USUAL_PX)
    width_px = size.width - MARGIN_PX["l"] - MARGIN_PX["r"]
    return replace(read_view(params), width_px=width_px), size


def read_card(pairs: Pairs) -> tuple[View, Size]:
    """Zone, units and theme of a card's image; the card sets its own weeks. Raises BadRequest as
    `read_chart`."""
    params = checked(pairs, SIZED)
    return read_view(params), size_of(params, USUAL_PX)


def read_wall(pairs: Pairs) -> tuple[FleetView, str, Size]:
    """The wall's view, theme and size. Raises BadRequest as `read_chart`."""
    params = checked(pairs, _WALL)
    return (
        read_fleet_view(params),
        params.get("theme", "light"),
        size_of(params, (USUAL_WALL_PX, 0)),
    )


def checked(pairs: Pairs, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The parameters, each name once. Raises BadRequest that names every parameter that breaks its
    rule or has none."""
    params: dict[str, str] = {}
    wrong: list[tuple[str, str]] = []
    for name, text in pairs:
        if name not in rules:
            wrong.append(
                (name, f"is not a parameter here; the parameters are {', '.join(sorted(rules))}")
            )
        elif name in params:
            wrong.append((name, "is given twice"))
        elif not rules[name].holds(text):
            wrong.append((name, rules[name].words))
        params[name] = text
    if wrong:
        raise refused(wrong)
    return params


def size_of(params: Mapping[str, str], usual: tuple[int, int]) -> Size:
    width, height = (int(params.get(n, u)) for n, u in zip(("width", "height"), usual, strict=True))
    scale = float(params.get("scale", 1))
    bound(width, height, scale)
    return Size(width, height, scale)


def bound(width: int, height: int, scale: float) -> None:
    """Raises BadRequest for more pixels than an image may have."""
    if math.ceil(width * scale) * math.ceil(height * scale) > MOST_PIXELS:
        raise refused([("scale", f"makes an image of more than {MOST_PIXELS:,} pixels")])


def refused(problems: Iterable[tuple[str, str]]) -> BadRequest:
    return BadRequest("", errors=tuple(ParameterProblem(*each) for each in problems))
