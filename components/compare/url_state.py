"""The view of the compare page, in its address and in the browser's query.

Input from a browser is checked: invalid values are ignored. A file or an image is read strictly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from api.catalog import COARSEST_STORED, DAY, Resolution
from api.metering.attributes import LONGEST_NAME
from components.image_query import READING, SIZED, Pairs, Rule, Size, checked, one_of, size_of
from components.url_state import text_param
from components.usage.url_state import (
    MOST_COMPARED,
    RANGES,
    UsageView,
    range_of,
    read_usage_view,
    write_usage_view,
)

PATH: Final = "/compare"
MOST_ITEMS: Final = MOST_COMPARED
MOST_IN_ONE: Final = 4  # with more lines each has a chart of its own by default
LONGEST_ITEMS: Final = 4_000
DEFAULT_RANGE: Final = "30d"
MORE_RANGES: Final = (("365d", "1 y"),)
HOURS_UP_TO_DAYS: Final = 8
OF_MEAN: Final = "mean"
LAYOUTS: Final = ("one", "each")
_ITEM: Final = re.compile(r"(device|group):.+")


@dataclass(frozen=True, slots=True)
class CompareView:
    """``items``: ``device:<id>`` or ``group:<name>``; none means the largest groups. ``by``: "" for
    volumes, `OF_MEAN`, or the name of an attribute. ``layout``: one of `LAYOUTS`, or "" to depend
    on the number of lines. ``days``: range, zone and units."""

    days: UsageView
    items: tuple[str, ...] = ()
    by: str = ""
    layout: str = ""

    def split(self, count: int) -> bool:
        """Whether each of ``count`` lines has a chart of its own."""
        return self.layout == "each" or (not self.layout and count > MOST_IN_ONE)


def resolution_of(days: int) -> Resolution:
    return COARSEST_STORED if days <= HOURS_UP_TO_DAYS else DAY


def read_items(text: str) -> tuple[str, ...]:
    """The items of a parameter. Each is percent-encoded, since a group's name may have commas."""
    items = (unquote(each) for each in text[:LONGEST_ITEMS].split(","))
    return tuple(dict.fromkeys(each for each in items if _ITEM.fullmatch(each)))[:MOST_ITEMS]


def write_item(item: str) -> str:
    kind, _, name = item.partition(":")
    return f"{kind}:{quote(name, safe='')}"


def read_compare_view(params: Mapping[str, Any]) -> CompareView:
    days = read_usage_view({name: params.get(name) for name in ("range", "zone", "units")})
    if range_of(text_param(params, "range")) is None:
        days = UsageView(range=DEFAULT_RANGE, zone=days.zone, units=days.units)
    layout = text_param(params, "layout")
    return CompareView(
        days,
        read_items(text_param(params, "items")),
        text_param(params, "by", LONGEST_NAME),
        layout if layout in LAYOUTS else "",
    )


def write_compare_view(view: CompareView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    days = write_usage_view(view.days)
    return {
        "range": view.days.range if view.days.range != DEFAULT_RANGE else None,
        "zone": days["zone"],
        "units": days["units"],
        "items": ",".join(map(write_item, view.items)) or None,
        "by": view.by or None,
        "layout": view.layout or None,
    }


# --- Strictly ------------------------------------------------------------------------------------


def _readable(text: str) -> bool:
    parts = text.split(",")
    return len(text) <= LONGEST_ITEMS and len(read_items(text)) == len(set(parts)) <= MOST_ITEMS


_RANGE: Final = (
    f"must be one of {', '.join(RANGES)}, a number of days (90d), a month (2026-10) or two dates"
    " (2026-10-01..2026-10-15)"
)
RULES: Final[Mapping[str, Rule]] = {
    **READING,
    "range": Rule(lambda text: range_of(text) is not None, _RANGE),
    "items": Rule(
        _readable,
        f"must be 1 to {MOST_ITEMS} of device:<id> and group:<name>, percent-encoded, separated"
        " by commas",
    ),
    "by": Rule(
        lambda text: 0 < len(text) <= LONGEST_NAME,
        f"must be {OF_MEAN}, or the name of an attribute",
    ),
    "layout": one_of(LAYOUTS),
}
USUAL_PX: Final = (1_200, 640)


def checked_compare_view(pairs: Pairs) -> CompareView:
    """Raises BadRequest that names every parameter that is unknown, repeated or invalid."""
    return read_compare_view(checked(pairs, RULES))


def checked_picture(pairs: Pairs) -> tuple[CompareView, str, Size]:
    """The view, theme and size of an image. Raises BadRequest in the same way."""
    params = checked(pairs, {**RULES, **SIZED})
    return read_compare_view(params), params.get("theme", "light"), size_of(params, USUAL_PX)
