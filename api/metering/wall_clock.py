"""The wall clock of a zone over a window. Looks up the zone once per change of its offset."""

from __future__ import annotations

from bisect import bisect_right
from zoneinfo import ZoneInfo

from api.timez import HOUR_MS, floor_to, offsets


class WallClock:
    """A zone's wall clock over [from_ms, to_ms]. Instants outside use the offset of the nearest
    end."""

    def __init__(self, tz: ZoneInfo, from_ms: int, to_ms: int) -> None:
        self.tz = tz
        self.pieces = offsets(tz, from_ms, max(from_ms, to_ms))
        self._starts = [start for start, _ in self.pieces[1:]]

    def piece(self, instant_ms: int) -> int:
        """Returns the index of the offset that holds at that instant."""
        return bisect_right(self._starts, instant_ms) if self._starts else 0

    def local(self, instant_ms: int) -> int:
        """Returns the wall-clock time, as if it were milliseconds of UTC."""
        return instant_ms + self.pieces[self.piece(instant_ms)][1]

    def hour(self, instant_ms: int) -> tuple[int, int]:
        """Returns [first, end) of the wall-clock hour that holds the instant. It is shorter than an
        hour where an offset change by less than a whole hour begins or ends it."""
        index = self.piece(instant_ms)
        piece, offset = self.pieces[index]
        first = floor_to(instant_ms + offset, HOUR_MS) - offset
        end = self.pieces[index + 1][0] if index + 1 < len(self.pieces) else first + HOUR_MS
        return max(first, piece), min(first + HOUR_MS, end)
