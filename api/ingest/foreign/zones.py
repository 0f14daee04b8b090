"""Converts wall-clock times to instants. In an hour that the clock repeats, the order of the rows
decides which one is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from api.catalog import DAY_MS, MINUTE_MS
from api.ingest.batch import Bools, Ints
from api.timez import offsets, zone

_IN_HEADING: Final = re.compile(
    r"(?<![A-Za-z])(?:UTC|GMT)(?![A-Za-z])\s*(?:([+-]\d{1,2})(?::?00)?(?!\d|:\d))?(?!\s*[+-]\d)"
)

_JOINT: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")  # of DateTimeUTC


def zone_in(heading: str) -> str:
    """Returns the zone that the heading of a time names: UTC of ``Time (UTC)``, Etc/GMT+5 of
    ``Date Time, GMT-05:00``; "" if it names none."""
    match = _IN_HEADING.search(_JOINT.sub(" ", heading))
    if not match:
        return ""
    hours = int(match[1] or 0)
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"


class _Last(NamedTuple):
    """The latest and the first wall-clock time of a device within a repeated hour, and whether the
    device is in the hour's second pass."""

    wall_ms: int
    first_ms: int
    other_pass: bool


@dataclass(slots=True)
class WallClock:
    """Reads a file's wall-clock times in their order. ``newest_first``: the file runs backwards."""

    newest_first: bool = False
    _last: dict[int, _Last] = field(default_factory=dict[int, _Last])

    def instants(self, wall: Ints, name: str, devices: Ints) -> Ints:
        """Returns epoch ms of wall-clock times in that zone. A time that the spring change skips
        counts as if the clock had not been changed yet."""
        if not len(wall) or name == "UTC":
            return wall
        tz = zone(name)
        pieces = offsets(tz, int(wall.min()) - DAY_MS, int(wall.max()) + DAY_MS)
        starts = np.array([start for start, _ in pieces])
        shifts = np.array([shift for _, shift in pieces])
        # The offset under which a wall-clock time lies, if the earlier offset is used up to its
        # end.
        ends = starts[1:] + np.maximum(shifts[1:], shifts[:-1])
        late = np.searchsorted(ends, wall, side="right")
        result = wall - shifts[late]
        following = np.minimum(late + 1, len(starts) - 1)
        doubled: Bools = (following > late) & (wall - shifts[following] >= starts[following])
        for index in np.flatnonzero(doubled).tolist():
            if self._second_pass(int(devices[index]), int(wall[index])):
                result[index] = wall[index] - shifts[following[index]]
        return result

    def _second_pass(self, device: int, wall_ms: int) -> bool:
        """Whether the clock has been set back already. It has if the times jump against the file's
        order, or if an hourly series repeats the first time of the hour, by up to a minute."""
        before = self._last.get(device)
        other, first_ms = False, wall_ms
        if before is not None and abs(wall_ms - before.wall_ms) < DAY_MS:
            step = before.wall_ms - wall_ms if self.newest_first else wall_ms - before.wall_ms
            other = (
                before.other_pass
                or step < 0
                or (step == 0 and abs(wall_ms - before.first_ms) < MINUTE_MS)
            )
            first_ms = before.first_ms
        self._last[device] = _Last(wall_ms, first_ms, other)
        return other != self.newest_first
