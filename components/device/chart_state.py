"""The state of the chart, for the other parts of the page; and a custom range in local time,
converted to UTC, also on days when clocks change. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import RAW, RESOLUTION_BY_NAME, Resolution
from api.timez import DAY_MS, from_datetime, offsets
from components import formatting
from components.chart_query import Drawn, caption
from components.formatting import abbreviation, day_text, minute_text
from components.ranges import PRESETS, Window, bounded
from components.units import Units, usual_units
from components.url_state import (
    LONGEST_COMPARE,
    View,
    read_compare,
    read_question,
    read_window,
    text_param,
    units_param,
    write_window,
    zone_param,
)

_NAMES: Final = {"1h": "hour", "24h": "day", "7d": "week", "30d": "30 d", "1y": "year"}


@dataclass(frozen=True, slots=True)
class Shown:
    """``zone`` None: the device's. ``resolution``: of the rows. ``compare``: the comparison;
    ``difference``: its difference in volume as text."""

    window: Window
    zone: str | None = None
    units: Units = field(default_factory=usual_units)
    resolution: Resolution = RAW
    compare: str = ""
    difference: str = ""

    @property
    def label(self) -> str:
        """``7 d``, ``5 h 50 min``."""
        for preset in PRESETS:
            if preset.length_ms == self.window.length_ms:
                return preset.label
        return formatting.duration(self.window.length_ms)

    @property
    def before(self) -> str:
        """The name of the preceding span of the same length."""
        for preset in PRESETS:
            if preset.length_ms == self.window.length_ms:
                return f"the {_NAMES[preset.name]} before"
        return f"the {self.label} before"


def write_shown(shown: Shown, request_id: Any = None) -> dict[str, Any]:
    first, last = write_window(shown.window)
    return {
        "from": first,
        "to": last,
        "zone": shown.zone,
        "units": shown.units.name,
        "resolution": shown.resolution.name,
        "compare": shown.compare or None,
        "request_id": request_id,
    }


def shown_response(drawn: Drawn, view: View, request_id: Any) -> dict[str, Any]:
    """The chart's state with the caption of its image."""
    shown = Shown(drawn.canvas.window, view.zone, view.units, drawn.frame.resolution, view.compare)
    texts = {"caption": caption(drawn), "difference": drawn.picture.compared.difference}
    return {**write_shown(shown, request_id), **texts}


def read_shown(params: Any) -> Shown | None:
    """None before a chart is shown. Raises BadRequest for invalid input."""
    params = read_question(params)
    window = read_window(str(params.get("from")), str(params.get("to")))
    if window is None:
        return None
    return Shown(
        window,
        zone_param(params),
        units_param(params),
        RESOLUTION_BY_NAME.get(str(params.get("resolution")), RAW),
        read_compare(text_param(params, "compare")),
        text_param(params, "difference", LONGEST_COMPARE),
    )


# --- A custom range -------------------------------------------------------------------------------


_WALL: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?")
RANGE_FIELDS: Final = {"first": "From", "last": "To"}


def read_wall(text: Any) -> int | None:
    """``2026-03-08T02:30`` as milliseconds of local time; None for anything else."""
    if not isinstance(text, str) or not _WALL.fullmatch(text):
        return None
    try:
        return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


def instants(tz: ZoneInfo, wall_ms: int) -> list[int]:
    """The instants of that local time in the zone, ascending: one, two if clocks go back, none if
    they skip it."""
    pieces = offsets(tz, wall_ms - 2 * DAY_MS, wall_ms + 2 * DAY_MS)
    matches: list[int] = []
    for index, (start, offset) in enumerate(pieces):
        end = pieces[index + 1][0] if index + 1 < len(pieces) else wall_ms + 3 * DAY_MS
        if start <= wall_ms - offset < end:
            matches.append(wall_ms - offset)
    return matches


def skipped(tz: ZoneInfo, wall_ms: int) -> tuple[int, int]:
    """The local times before and after a skipped hour."""
    pieces = offsets(tz, wall_ms - 2 * DAY_MS, wall_ms + 2 * DAY_MS)
    for (_, before), (start, after) in pairwise(pieces):
        if start + before <= wall_ms < start + after:
            return start + before, start + after
    raise ValueError("that time exists")


@dataclass(frozen=True, slots=True)
class CustomRange:
    """The range as in an address, "" while there is none; ``problem``: why not; and for an
    ambiguous time the abbreviations of both, by field."""

    range: str = ""
    problems: list[str] = field(default_factory=list[str])
    twice: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def custom_range(params: Mapping[str, Any], tz: ZoneInfo) -> CustomRange:
    """``first`` and ``last``: local times. ``first_fold`` and ``last_fold``: "0" or "1", the choice
    for an ambiguous time. The range ends when the minute of ``last`` begins."""
    result = CustomRange()
    ends = {name: _instant(name, params, tz, result) for name in RANGE_FIELDS}
    first, last = ends["first"], ends["last"]
    if first is None or last is None:
        return result
    window = bounded(first, last - 1)
    if window is None:
        return CustomRange(problems=["The range must end after it starts."], twice=result.twice)
    return CustomRange("..".join(write_window(window)), [], result.twice)


def _instant(name: str, params: Mapping[str, Any], tz: ZoneInfo, result: CustomRange) -> int | None:
    wall = read_wall(params.get(name))
    if wall is None:
        result.problems.append(f"{RANGE_FIELDS[name]}: give a date and a time.")
        return None
    matches = instants(tz, wall)
    when = f"{minute_text(wall)} on {day_text(wall // DAY_MS)}"
    if not matches:
        before, after = skipped(tz, wall)
        result.problems.append(
            f"{RANGE_FIELDS[name]}: {when} doesn’t exist in {tz.key}. Clocks go from"
            f" {minute_text(before)} to {minute_text(after)}."
        )
        return None
    if len(matches) == 1:
        return matches[0]
    names = [abbreviation(tz, each) for each in matches]
    result.twice[name] = names
    fold = params.get(f"{name}_fold")
    if fold not in ("0", "1"):
        result.problems.append(
            f"{RANGE_FIELDS[name]}: {when} occurs twice that night:"
            f" choose {names[0]} or {names[1]}."
        )
        return None
    return matches[int(fold)]
