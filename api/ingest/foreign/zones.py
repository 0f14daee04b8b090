"""Wall clock to instants. Order tells which one is meant in an hour that the clock shows twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from api.catalog import DAY_MS
from api.ingest.batch import Bools, Ints
from api.timez import offsets, zone


class _Last(NamedTuple):
    """The latest wall time of a device within a doubled hour, how many there were, and whether
    they are of the hour's second pass by now."""

    wall_ms: int
    times: int
    other_pass: bool


@dataclass(slots=True)
class WallClock:
    """Reads a file's wall times in their order. ``newest_first``: the file runs backwards."""

    newest_first: bool = False
    _last: dict[int, _Last] = field(default_factory=dict[int, _Last])

    def instants(self, wall: Ints, name: str, devices: Ints) -> Ints:
        """Epoch ms of wall times in that zone. A time that the spring clock skips counts as if the
        clock had not been changed yet."""
        if not len(wall) or name == "UTC":
            return wall
        tz = zone(name)
        pieces = offsets(tz, int(wall.min()) - DAY_MS, int(wall.max()) + DAY_MS)
        starts = np.array([start for start, _ in pieces])
        shifts = np.array([shift for _, shift in pieces])
        # The piece that a wall time lies in, if the clock of the piece before ran on to its end.
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
        """Whether the clock has been put back already. A clock that jumps against the file's order
        has; so has an hourly one whose first doubled time comes again at once."""
        before = self._last.get(device)
        other, count = False, 0
        if before is not None and abs(wall_ms - before.wall_ms) < DAY_MS:
            step = before.wall_ms - wall_ms if self.newest_first else wall_ms - before.wall_ms
            other = before.other_pass or step < 0 or (step == 0 and before.times == 1)
            count = before.times
        self._last[device] = _Last(wall_ms, count + 1, other)
        return other != self.newest_first
