"""Windows of time, and which of their buckets are due.

A bucket is due if it starts in the window, has ended, and starts no earlier than the device's
installation. Every comparison of readings with expectations counts these buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import RESOLUTION_BY_NAME, Resolution
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, bucket_starts, ceil_to, day_start, floor_to


class Window(NamedTuple):
    """Inclusive bounds, epoch milliseconds."""

    from_ms: int
    to_ms: int

    @property
    def length_ms(self) -> int:
        return self.to_ms + 1 - self.from_ms


@dataclass(frozen=True, slots=True)
class Span:
    """A status window that ends now. ``cell_ms`` is the usual length of a cell of the uptime strip.
    A line over it is drawn from rows of ``line``, ``rows_per_point`` rows to a point, so that
    points aren't narrower than a pixel."""

    name: str
    label: str
    length_ms: int
    cell_ms: int
    line: Resolution
    rows_per_point: int = 1

    def cell_length_ms(self, resolution: Resolution) -> int:
        """Returns the length of a cell in ms: at least one bucket."""
        return max(self.cell_ms, resolution.fixed_ms)


SPANS: Final = (
    Span("1h", "1 h", HOUR_MS, 2 * MINUTE_MS, RESOLUTION_BY_NAME["1min"]),
    Span("24h", "24 h", DAY_MS, 30 * MINUTE_MS, RESOLUTION_BY_NAME["10min"]),
    Span("7d", "7 d", 7 * DAY_MS, 3 * HOUR_MS, RESOLUTION_BY_NAME["1hour"]),
    Span("30d", "30 d", 30 * DAY_MS, 12 * HOUR_MS, RESOLUTION_BY_NAME["1hour"], 4),
)
SPAN_BY_NAME: Final = {span.name: span for span in SPANS}
DEFAULT_SPAN: Final = SPAN_BY_NAME["24h"]


def due_buckets(
    window: Window, resolution: Resolution, installed_on_ms: int | None, now_ms: int
) -> Window | None:
    """Returns the window from the first due bucket's start to 1 ms before the last one's end; None
    where none is due. As the interface specifies, a bucket belongs to the window in which it
    starts."""
    length = resolution.fixed_ms
    first = ceil_to(max(window.from_ms, installed_on_ms or 0), length)
    end = min(window.to_ms + 1, floor_to(now_ms, length))
    return Window(first, end - 1) if first < end else None


def latest_buckets(
    span: Span, resolution: Resolution, installed_on_ms: int | None, now_ms: int
) -> Window | None:
    """Returns the due buckets of the span's length up to the last closed one; at least one bucket
    if the device was installed by then."""
    edge = floor_to(now_ms, resolution.fixed_ms)
    return due_buckets(Window(edge - span.length_ms, edge - 1), resolution, installed_on_ms, now_ms)


def strip_window(span: Span, resolution: Resolution, now_ms: int) -> Window:
    """Returns the window of the uptime strip and the line above it: whole cells, including the
    current one."""
    length = span.cell_length_ms(resolution)
    end = floor_to(now_ms, length) + length
    return Window(end - max(span.length_ms, 2 * length), end - 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """The closed part of one cell of an uptime strip; ``expected`` of its buckets are due."""

    start_ms: int
    to_ms: int
    expected: int
    finished: bool


def cells(
    span: Span, resolution: Resolution, installed_on_ms: int | None, now_ms: int
) -> list[Cell]:
    """The strip's cells, in order."""
    strip, length = strip_window(span, resolution, now_ms), span.cell_length_ms(resolution)
    edge = floor_to(now_ms, resolution.fixed_ms)
    made: list[Cell] = []
    for start in range(strip.from_ms, strip.to_ms, length):
        end = min(start + length, edge)
        due = due_buckets(Window(start, end - 1), resolution, installed_on_ms, now_ms)
        expected = bucket_starts(*due, resolution.fixed_ms) if due else 0
        made.append(Cell(start, end - 1, expected, finished=end == start + length))
    return made


def whole_minutes(window: Window, now_ms: int) -> Window:
    """Returns the minutes that start in the window and have started by now."""
    return Window(ceil_to(window.from_ms, MINUTE_MS), min(window.to_ms, now_ms))


def before(window: Window) -> Window:
    """The window of the same length that ends where this one starts."""
    return Window(window.from_ms - window.length_ms, window.from_ms - 1)


def local_days(tz: ZoneInfo, first: int, last: int) -> Iterator[tuple[int, Window]]:
    """Yields (ordinal, instants) of the local days from one date to another. Days that the zone
    skipped are left out."""
    for ordinal in range(first, last + 1):
        start, end = day_start(tz, ordinal), day_start(tz, ordinal + 1)
        if start < end:
            yield ordinal, Window(start, end - 1)
