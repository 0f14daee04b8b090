"""The views of a usage summary and of a comparison, in their addresses and in the browser's query.

Input from a browser is checked: invalid values are ignored. A file or an image is read strictly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from api.catalog import COARSEST_STORED, DAY, Resolution
from api.metering.attributes import LONGEST_NAME
from components.formatting import MONTHS
from components.image_query import READING, SIZED, Pairs, Rule, Size, checked, one_of, size_of
from components.units import Units, usual_units, write_units
from components.url_state import text_param, units_param, zone_param

# --- Usage ---------------------------------------------------------------------------------------


MOST_DEVICES: Final = 200
MOST_DAYS: Final = 366
MOST_COMPARED: Final = 12  # shown side by side
MOST_CHOSEN: Final = 50  # chosen one by one, in an address
LONGEST_TEXT: Final = 100
BETWEEN: Final = ".."
RANGES: Final = {
    "7d": "7 d",
    "30d": "30 d",
    "month": "This month",
    "last-month": "Last month",
}
DEFAULT_RANGE: Final = "month"
SORTS: Final = {
    "volume": "most volume first",
    "label": "label",
    "cost": "highest cost first",
    "mean-flow": "highest mean flow first",
    "max-flow": "highest max flow first",
    "uptime": "least uptime first",
    "days": "fewest days with data first",
}
DEFAULT_SORT: Final = "volume"
MONTHS_BACK: Final = 13
_MONTH: Final = re.compile(r"\d{4}-\d\d")
_LAST_DAYS: Final = re.compile(r"([1-9]\d{0,2})d", re.ASCII)


class Dates(NamedTuple):
    """Ordinals of local days, both included."""

    first: int
    last: int

    def __len__(self) -> int:
        return max(0, self.last - self.first + 1)


@dataclass(frozen=True, slots=True)
class UsageView:
    """``range``: a name of RANGES, a number of days up to today (``90d``), a month (``2026-10``) or
    two dates, both included (``2026-10-01..2026-10-15``). ``zone`` None: each device's own days.
    ``devices``: chosen one by one; otherwise all active ones that match ``search`` and ``group``.
    ``opened``: its days are shown."""

    range: str = DEFAULT_RANGE
    zone: str | None = None
    units: Units = field(default_factory=usual_units)
    devices: tuple[str, ...] = ()
    search: str = ""
    group: str = ""
    sort: str = DEFAULT_SORT
    opened: str = ""

    def dates(self, today: int) -> Dates:
        """The dates up to today; the latest of them if there are too many."""
        span = _dates(self.range, date.fromordinal(today))
        last = min(span.last, today)
        return Dates(max(span.first, last - MOST_DAYS + 1), last)

    @property
    def length(self) -> int:
        """The largest number of days of a device: a current range may have fewer."""
        if _LAST_DAYS.fullmatch(self.range):
            return int(self.range[:-1])
        if self.range in RANGES:
            return 31
        return min(MOST_DAYS, len(_dates(self.range, date.max)))

    @property
    def cut(self) -> bool:
        """Whether the range is longer than a summary."""
        return BETWEEN in self.range and len(_dates(self.range, date.max)) > MOST_DAYS

    @property
    def moves(self) -> bool:
        """Whether the range will be another one tomorrow."""
        return self.range in RANGES or _LAST_DAYS.fullmatch(self.range) is not None


def _dates(text: str, today: date) -> Dates:
    if BETWEEN in text:
        first, last = (date.fromisoformat(part) for part in text.split(BETWEEN))
        return Dates(first.toordinal(), last.toordinal())
    if _LAST_DAYS.fullmatch(text):
        return Dates(today.toordinal() - int(text[:-1]) + 1, today.toordinal())
    if text == "last-month":
        return month_of(today.replace(day=1) - timedelta(days=1))
    return month_of(today if text == "month" else date.fromisoformat(f"{text}-01"))


def months_before(dates: Dates, months: int) -> Dates:
    """The same days that many months earlier, as far as that month has them."""
    first, last = (_month_before(date.fromordinal(day), months) for day in dates)
    return Dates(first.toordinal(), last.toordinal())


def _month_before(day: date, months: int) -> date:
    month = day.year * 12 + day.month - 1 - months
    first = date(month // 12, month % 12 + 1, 1)
    return date.fromordinal(min(first.toordinal() + day.day - 1, month_of(first).last))


def month_of(day: date) -> Dates:
    first = day.replace(day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return Dates(first.toordinal(), following.toordinal() - 1)


def months(today: date) -> list[tuple[str, str]]:
    """(``2026-10``, ``Oct 2026``) of the last months, latest first."""
    made: list[tuple[str, str]] = []
    first = today.replace(day=1)
    for _ in range(MONTHS_BACK):
        made.append((f"{first:%Y-%m}", f"{MONTHS[first.month - 1]} {first.year}"))
        first = (first - timedelta(days=1)).replace(day=1)
    return made


def read_usage_view(params: Mapping[str, Any]) -> UsageView:
    sort = text_param(params, "sort", LONGEST_TEXT)
    chosen = (id for id in text_param(params, "devices", MOST_CHOSEN * 40).split(",") if id)
    return UsageView(
        range=range_of(text_param(params, "range", LONGEST_TEXT)) or DEFAULT_RANGE,
        zone=zone_param(params),
        units=units_param(params),
        devices=tuple(dict.fromkeys(chosen))[:MOST_CHOSEN],
        search=" ".join(text_param(params, "q", LONGEST_TEXT).split()),
        group=text_param(params, "group", LONGEST_TEXT),
        sort=sort if sort in SORTS else DEFAULT_SORT,
        opened=text_param(params, "open", LONGEST_TEXT),
    )


def write_usage_view(view: UsageView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    return {
        "range": view.range if view.range != DEFAULT_RANGE else None,
        "zone": view.zone,
        "units": write_units(view.units),
        "devices": ",".join(view.devices) or None,
        "q": view.search or None,
        "group": view.group or None,
        "sort": view.sort if view.sort != DEFAULT_SORT else None,
        "open": view.opened or None,
    }


def range_of(text: str) -> str | None:
    """A range in its canonical form; None for an invalid one."""
    last = _LAST_DAYS.fullmatch(text)
    if text in RANGES or (last and int(last[1]) <= MOST_DAYS):
        return text
    try:
        if _MONTH.fullmatch(text):
            return f"{date.fromisoformat(f'{text}-01'):%Y-%m}"
        first, last_day = (date.fromisoformat(part) for part in text.split(BETWEEN))
    except ValueError:
        return None
    within = date(1970, 1, 2) <= first <= last_day <= date(2199, 12, 30)
    return f"{first.isoformat()}{BETWEEN}{last_day.isoformat()}" if within else None


# --- A comparison --------------------------------------------------------------------------------


COMPARE_PATH: Final = "/compare"
MOST_ITEMS: Final = MOST_COMPARED
MOST_IN_ONE: Final = 4  # with more lines each has a chart of its own by default
LONGEST_ITEMS: Final = 4_000
COMPARE_RANGE: Final = "30d"
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
        days = UsageView(range=COMPARE_RANGE, zone=days.zone, units=days.units)
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
        "range": view.days.range if view.days.range != COMPARE_RANGE else None,
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
COMPARE_RULES: Final[Mapping[str, Rule]] = {
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
    return read_compare_view(checked(pairs, COMPARE_RULES))


def checked_picture(pairs: Pairs) -> tuple[CompareView, str, Size]:
    """The view, theme and size of an image. Raises BadRequest in the same way."""
    params = checked(pairs, {**COMPARE_RULES, **SIZED})
    return read_compare_view(params), params.get("theme", "light"), size_of(params, USUAL_PX)
