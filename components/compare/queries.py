"""Queries of volumes side by side, one request for all compared items, and their numbers to draw,
the same for the page and the image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import DAY, FLOW_AMOUNT, Resolution
from api.client.expectations import ItemVolumes, Volumes
from api.metering.uptime import comparable
from api.timez import day_start, local_ordinal, zone_or_utc
from components import formatting
from components.charts.labels import axis, ticks
from components.concurrent_queries import ServiceAccess
from components.directory_queries import Directory, Meter, directory
from components.formatting import Clock
from components.units import Scale
from components.usage.queries import offered
from components.usage.url_state import OF_MEAN, CompareView, Dates, resolution_of

MOST_DEFAULT: Final = 6


@dataclass(frozen=True, slots=True)
class Compared:
    """``items``: as requested. ``figure`` None: nothing is chosen, or the range is in the
    future."""

    items: tuple[str, ...]
    dates: Dates
    tz: ZoneInfo
    volumes: Volumes | None = None
    figure: Figure | None = None


def compared(access: ServiceAccess, view: CompareView, now_ms: int) -> Compared:
    """Raises NotFound if no item exists, NotOffered if the server isn't a Weir server, and what the
    client raises."""
    listed = directory(access, now_ms)
    items = view.items or default_items(listed)
    tz = zone_or_utc(view.days.zone, _zone_of(items, listed))
    dates = view.days.dates(local_ordinal(tz, now_ms))
    from_ms, end_ms = day_start(tz, dates.first), day_start(tz, dates.last + 1)
    if not items or not len(dates):
        return Compared(items, dates, tz)
    volumes = access.client.volumes(
        items,
        resolution_of(len(dates)),
        from_ms=from_ms,
        to_ms=min(end_ms - 1, now_ms),
        timezone=tz.key,
    )
    drawn = figure(volumes, view, len(dates), now_ms) if len(volumes.edges_ms) > 1 else None
    return Compared(items, dates, tz, volumes, drawn)


def default_items(listed: Directory) -> tuple[str, ...]:
    """The groups with the most devices."""
    sizes = {group: sum(group in m.groups for m in listed.meters) for group in listed.groups}
    largest = sorted(listed.groups, key=lambda group: (-sizes[group], group))
    return tuple(f"group:{group}" for group in largest[:MOST_DEFAULT])


def _zone_of(items: Sequence[str], listed: Directory) -> str:
    """The zone of the first device, or of the first group's first device by label."""
    for item in items:
        kind, _, name = item.partition(":")
        if kind == "device" and name in listed.by_id:
            return listed.by_id[name].time_zone
        members = [m for m in listed.meters if name in m.groups] if kind == "group" else []
        if members:
            return min(members, key=lambda meter: meter.label).time_zone
    return "UTC"


def choices(access: ServiceAccess, sought: str, now_ms: int) -> tuple[list[str], list[Meter]]:
    """(groups, devices) that match a search."""
    words = " ".join(sought.split()).casefold()
    groups = [g for g in directory(access, now_ms).groups if words in g.casefold()]
    return groups, offered(access, sought, now_ms)


# --- The numbers to draw -------------------------------------------------------------------------


Values = Sequence[float | None]
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\s]+")


@dataclass(frozen=True, slots=True)
class Line:
    """``place``: gives the colour. ``values`` of the buckets and ``total``: in the figure's units;
    None if unknown."""

    place: int
    item: ItemVolumes
    values: Values
    total: float | None

    @property
    def doubtful(self) -> bool:
        """Whether the total lacks readings."""
        return not comparable(self.item.coverage)


@dataclass(frozen=True)
class Figure:
    """``lines``: in the reader's order. ``lacking``: labels of the items without the attribute.
    ``edges_ms``: of the finished buckets. ``unit``: of the values; ``total_unit``: of the
    totals."""

    lines: tuple[Line, ...]
    lacking: tuple[str, ...]
    edges_ms: Sequence[int]
    tz: ZoneInfo
    resolution: Resolution
    title: str
    unit: str
    total_title: str
    total_unit: str

    @property
    def ranked(self) -> list[Line]:
        """The lines by total, the largest first; those without a total last."""
        return sorted(
            self.lines, key=lambda line: (line.total is None, -(line.total or 0), line.item.label)
        )

    @property
    def greatest(self) -> float:
        """The largest total, for the longest bar."""
        return max((line.total for line in self.lines if line.total is not None), default=0.0)

    @property
    def empty(self) -> bool:
        return all(value is None for line in self.lines for value in line.values)

    @cached_property
    def scale(self) -> tuple[float, float, list[float]]:
        """(low, high, ticks) of the one scale that all lines share."""
        present = [v for line in self.lines for v in line.values if v is not None]
        return axis(min(0.0, *present), max(0.0, *present)) if present else (0.0, 1.0, [])

    def y(self, value: float) -> float:
        """From 0 (the bottom) to 1."""
        low, high, _ = self.scale
        return (value - low) / (high - low)

    def x(self, at_ms: float) -> float:
        first, last = self.edges_ms[0], self.edges_ms[-1]
        return (at_ms - first) / max(1, last - first)

    def runs(self, line: Line) -> list[list[tuple[float, float]]]:
        """The line's points, each at the middle of its bucket, split where a bucket has no
        value."""
        made: list[list[tuple[float, float]]] = []
        before = None
        for index, value in enumerate(line.values):
            if value is not None:
                middle = (self.edges_ms[index] + self.edges_ms[index + 1]) / 2
                if before != index - 1 or not made:
                    made.append([])
                made[-1].append((self.x(middle), self.y(value)))
                before = index
        return made

    def columns(self, width_px: int) -> list[tuple[float, str]]:
        """(x, text) of the tick labels that fit that many pixels."""
        first, last = self.edges_ms[0], self.edges_ms[-1]
        marks = ticks(first, last, self.tz, width_px)
        pairs = zip(marks.values_ms, marks.texts, strict=True)
        return [(self.x(at), text) for at, text in pairs if first <= at < last]

    def times(self) -> list[str]:
        """Each bucket's time as text."""
        clock = Clock(self.tz, self.edges_ms[0], self.edges_ms[-1])
        pairs = zip(self.edges_ms, self.edges_ms[1:], strict=False)
        return [formatting.bucket(start, end, self.resolution, clock) for start, end in pairs]


def figure(volumes: Volumes, view: CompareView, days: int, now_ms: int) -> Figure:
    """``days``: the length of the range. The current bucket counts in the totals only: as a point
    it would look like a fall."""
    resolution = resolution_of(days)
    over = sum(1 for edge in volumes.edges_ms[1:] if edge <= now_ms)
    edges = volumes.edges_ms[: over + 1]
    tz = zone_or_utc(volumes.timezone)
    having = [
        (place, each)
        for place, each in enumerate(volumes.items)
        if view.by in ("", OF_MEAN) or view.by in each.attributes
    ]
    lacking = tuple(each.label for each in volumes.items if each not in [one for _, one in having])
    each_bucket = "day" if resolution is DAY else "hour"
    if view.by == OF_MEAN:
        lines = _of_mean(having, over)
        return Figure(
            lines, lacking, edges, tz, resolution,
            f"Volume by {each_bucket} as a share of each one’s own mean", "%",
            "Volume, as a share of the mean of all", "%",
        )  # fmt: skip
    divided = [(place, each, each.attributes.get(view.by, 1.0)) for place, each in having]
    scale = _scale(
        view, [v / by for _, e, by in divided for v in e.volumes[:over] if v is not None]
    )
    total_scale = _scale(view, [e.gallons / by for _, e, by in divided if e.gallons is not None])
    lines = tuple(
        Line(
            place,
            each,
            [None if v is None else scale.of(v / by) for v in each.volumes[:over]],
            None if each.gallons is None else total_scale.of(each.gallons / by),
        )
        for place, each, by in divided
    )
    per = per_words(view.by)
    return Figure(
        lines, lacking, edges, tz, resolution,
        f"Volume by {each_bucket}{per}", scale.unit, f"Volume{per}", total_scale.unit,
    )  # fmt: skip


def _scale(view: CompareView, gallons: Sequence[float]) -> Scale:
    return view.days.units.scale(FLOW_AMOUNT, max(map(abs, gallons), default=0.0))


def _of_mean(having: Sequence[tuple[int, ItemVolumes]], over: int) -> tuple[Line, ...]:
    totals = [each.gallons for _, each in having if each.gallons is not None]
    mean_total = sum(totals) / len(totals) if totals else 0.0
    lines: list[Line] = []
    for place, each in having:
        present = [v for v in each.volumes[:over] if v is not None]
        mean = sum(present) / len(present) if present else 0.0
        values = [None if v is None or mean <= 0 else 100 * v / mean for v in each.volumes[:over]]
        has_share = each.gallons is not None and mean_total > 0
        lines.append(
            Line(place, each, values, 100 * (each.gallons or 0) / mean_total if has_share else None)
        )
    return tuple(lines)


def attribute_words(name: str) -> str:
    """``floorArea`` as ``floor area``."""
    return _WORD.sub(" ", name).strip().lower()


def per_words(by: str) -> str:
    """``" per person"``, ``" per unit of floor area"``; "" without an attribute."""
    if not by:
        return ""
    words = attribute_words(by)
    plural = words.endswith("s") and not words.endswith("ss")
    return f" per {words[:-1]}" if plural else f" per unit of {words}"


def shared_attributes(volumes: Volumes) -> list[str]:
    """The attributes of any of the items, by name."""
    return sorted({name for each in volumes.items for name in each.attributes})
