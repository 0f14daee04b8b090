"""The windows of the wall: how long, in which cells, at which detail the line is drawn.

All edges are multiples of a length in UTC, so that what was asked about a finished cell holds for
everybody who looks later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.catalog import RESOLUTION_BY_NAME, STORED, Resolution
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, bucket_starts, ceil_to, floor_to
from components.ranges import Window


@dataclass(frozen=True, slots=True)
class Span:
    """``cell_ms`` is a heartbeat cell's usual length. The line is drawn from ``line`` rows, so many
    of them to one point that its points are not narrower than a pixel."""

    name: str
    label: str
    length_ms: int
    cell_ms: int
    line: Resolution
    rows_per_point: int = 1

    def cell_length_ms(self, resolution: Resolution) -> int:
        """A cell holds at least one bucket."""
        return max(self.cell_ms, resolution.fixed_ms)


SPANS: Final = (
    Span("1h", "1 h", HOUR_MS, 2 * MINUTE_MS, RESOLUTION_BY_NAME["1min"]),
    Span("24h", "24 h", DAY_MS, 30 * MINUTE_MS, RESOLUTION_BY_NAME["10min"]),
    Span("7d", "7 d", 7 * DAY_MS, 3 * HOUR_MS, RESOLUTION_BY_NAME["1hour"]),
    Span("30d", "30 d", 30 * DAY_MS, 12 * HOUR_MS, RESOLUTION_BY_NAME["1hour"], 4),
)
SPAN_BY_NAME: Final = {span.name: span for span in SPANS}
DEFAULT_SPAN: Final = SPAN_BY_NAME["24h"]


def uptime_resolution(cadence_ms: int) -> Resolution:
    """The finest buckets that a healthy device fills all of: the smallest at least its cadence
    long, or the coarsest there is."""
    return next((r for r in STORED if r.fixed_ms >= cadence_ms), STORED[-1])


def first_due_ms(span: Span, installed_on_ms: int | None) -> int:
    """From when on readings are due at all: the first cell edge after the installation."""
    return 0 if installed_on_ms is None else ceil_to(installed_on_ms, span.cell_ms)


def uptime_window(span: Span, resolution: Resolution, due_ms: int, now_ms: int) -> Window | None:
    """The closed buckets of the span's length up to now, from ``due_ms`` on; None where there is
    none yet. It ends 1 ms before an edge: the bucket that is under way isn't expected."""
    edge = floor_to(now_ms, resolution.fixed_ms)
    start = max(edge - span.length_ms, ceil_to(due_ms, resolution.fixed_ms))
    return Window(start, edge - 1) if start < edge else None


def strip_window(span: Span, resolution: Resolution, now_ms: int) -> Window:
    """What the heartbeat strip and the line above it show: whole cells, the last one under way."""
    length = span.cell_length_ms(resolution)
    end = floor_to(now_ms, length) + length
    return Window(end - max(span.length_ms, 2 * length), end - 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a strip, as far as it is closed. ``expected`` buckets start in it."""

    start_ms: int
    to_ms: int
    expected: int
    finished: bool


def cells(span: Span, resolution: Resolution, due_ms: int, now_ms: int) -> list[Cell]:
    """The strip's cells. Nothing is expected before ``due_ms`` and of buckets under way."""
    strip, length = strip_window(span, resolution, now_ms), span.cell_length_ms(resolution)
    edge = floor_to(now_ms, resolution.fixed_ms)
    return [_cell(start, length, resolution, due_ms, edge) for start in range(
        strip.from_ms, strip.to_ms, length)]  # fmt: skip


def _cell(start: int, length: int, resolution: Resolution, due_ms: int, edge: int) -> Cell:
    end = min(start + length, edge)
    due = start >= due_ms and start < end
    expected = bucket_starts(start, end - 1, resolution.fixed_ms) if due else 0
    return Cell(start, end - 1, expected, finished=end == start + length)
