"""Windows, expected buckets, and cells of the uptime strip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import RESOLUTION_BY_NAME, STORED, Resolution
from api.metering.cadence import Cadence
from api.metering.uptime import resolution_for
from api.metering.windows import (
    SPANS,
    Span,
    Window,
    cells,
    due_buckets,
    latest_buckets,
    strip_window,
)
from api.timez import bucket_starts
from tests.components.fleet.meters import DAY, HOUR, MINUTE, NOW
from tests.tables import cases

ONE_MINUTE, ONE_HOUR = RESOLUTION_BY_NAME["1min"], RESOLUTION_BY_NAME["1hour"]
NAMES = {span.name: span for span in SPANS}

instants = st.integers(1_500_000_000_000, 2_000_000_000_000)
spans, resolutions = st.sampled_from(SPANS), st.sampled_from(STORED)


@cases(
    ("cadence_s", "name"),
    [(60, "1min"), (61, "5min"), (300, "5min"), (301, "10min"), (600, "10min"), (601, "1hour"),
     (3600, "1hour"), (86_400, "1hour")],
)  # fmt: skip
def test_uptime_is_counted_in_the_finest_buckets_a_healthy_device_fills(
    cadence_s: int, name: str
) -> None:
    assert resolution_for(Cadence(cadence_s * 1000)).name == name


@cases(
    ("span", "resolution", "expected"),
    [("24h", ONE_MINUTE, 1440), ("24h", ONE_HOUR, 24), ("1h", ONE_HOUR, 1), ("30d", ONE_HOUR, 720)],
)
def test_a_window_expects_as_many_buckets_as_fit_its_length(
    span: str, resolution: Resolution, expected: int
) -> None:
    window = latest_buckets(NAMES[span], resolution, None, NOW)
    assert window is not None
    assert bucket_starts(*window, resolution.fixed_ms) == expected
    assert window.to_ms < NOW
    assert (window.to_ms + 1) % resolution.fixed_ms == 0


def test_a_window_begins_with_the_installation() -> None:
    """From the next bucket on, for any length of the strip's cells."""
    at = NOW - 2 * HOUR
    window = latest_buckets(NAMES["24h"], ONE_MINUTE, at, NOW)
    assert window is not None
    assert 0 <= window.from_ms - at < MINUTE
    assert latest_buckets(NAMES["24h"], ONE_MINUTE, NOW + DAY, NOW) is None


@cases(
    ("from_ms", "to_ms", "installed_ms", "due"),
    [
        (0, 3_599_999, None, (0, 3_599_999)),
        (1, 3_600_000, None, (60_000, 3_600_000)),  # a minute that starts in the window counts
        (0, 3_629_999, None, (0, 3_629_999)),
        (7_140_000, 7_229_999, None, (7_140_000, 7_199_999)),  # the current one isn't over
        (0, 3_599_999, 90_000, (120_000, 3_599_999)),
        (0, 99_999_999, None, (0, 7_199_999)),  # not after now
        (0, 59_998, None, (0, 59_998)),
        (1, 59_999, None, None),
        (0, 3_599_999, 99_999_999, None),
    ],
)
def test_expected_buckets(
    from_ms: int, to_ms: int, installed_ms: int | None, due: tuple[int, int] | None
) -> None:
    result = due_buckets(Window(from_ms, to_ms), ONE_MINUTE, installed_ms, 7_230_000)
    assert result == (Window(*due) if due else None)


@given(spans, resolutions, instants)
def test_cells_tile_their_strip_and_stop_at_the_last_closed_bucket(
    span: Span, resolution: Resolution, now: int
) -> None:
    made = cells(span, resolution, None, now)
    strip = strip_window(span, resolution, now)
    length = span.cell_length_ms(resolution)
    assert [c.start_ms for c in made] == list(range(strip.from_ms, strip.to_ms, length))
    assert strip.from_ms <= now <= strip.to_ms
    edge = now - now % resolution.fixed_ms
    for cell in made:
        starts = range(cell.start_ms, min(cell.start_ms + length, edge), resolution.fixed_ms)
        assert cell.expected == len(starts)
        assert cell.to_ms < edge
        assert cell.finished == (cell.start_ms + length <= edge)


@given(spans, resolutions, instants, st.integers(0, 40 * DAY))
def test_nothing_is_expected_before_the_installation(
    span: Span, resolution: Resolution, now: int, age: int
) -> None:
    at = now - age
    for cell in cells(span, resolution, at, now):
        starts = range(cell.start_ms, cell.to_ms + 1, resolution.fixed_ms)
        assert cell.expected == sum(start >= at for start in starts)
