"""Windows and cells of the wall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import RESOLUTION_BY_NAME, STORED, Resolution
from api.timez import bucket_starts
from components.fleet.windows import (
    SPANS,
    Span,
    cells,
    first_due_ms,
    strip_window,
    uptime_resolution,
    uptime_window,
)
from tests.components.fleet.meters import DAY, HOUR, MINUTE, NOW

ONE_MINUTE, ONE_HOUR = RESOLUTION_BY_NAME["1min"], RESOLUTION_BY_NAME["1hour"]
NAMES = {span.name: span for span in SPANS}

instants = st.integers(1_500_000_000_000, 2_000_000_000_000)
spans, resolutions = st.sampled_from(SPANS), st.sampled_from(STORED)


@pytest.mark.parametrize(
    ("cadence_s", "name"),
    [(60, "1min"), (61, "5min"), (300, "5min"), (301, "10min"), (600, "10min"), (601, "1hour"),
     (3600, "1hour"), (86_400, "1hour")],
)  # fmt: skip
def test_uptime_is_counted_in_the_finest_buckets_a_healthy_device_fills(
    cadence_s: int, name: str
) -> None:
    assert uptime_resolution(cadence_s * 1000).name == name


@pytest.mark.parametrize(
    ("span", "resolution", "expected"),
    [("24h", ONE_MINUTE, 1440), ("24h", ONE_HOUR, 24), ("1h", ONE_HOUR, 1), ("30d", ONE_HOUR, 720)],
)
def test_a_window_expects_as_many_buckets_as_fit_its_length(
    span: str, resolution: Resolution, expected: int
) -> None:
    window = uptime_window(NAMES[span], resolution, 0, NOW)
    assert window is not None
    assert bucket_starts(*window, resolution.fixed_ms) == expected
    assert window.to_ms < NOW
    assert (window.to_ms + 1) % resolution.fixed_ms == 0


def test_a_window_begins_with_the_installation() -> None:
    due = first_due_ms(NAMES["24h"], NOW - 2 * HOUR)
    assert 0 <= due - (NOW - 2 * HOUR) < 30 * MINUTE
    window = uptime_window(NAMES["24h"], ONE_MINUTE, due, NOW)
    assert window is not None
    assert window.from_ms == due
    assert uptime_window(NAMES["24h"], ONE_MINUTE, NOW + DAY, NOW) is None


@given(spans, resolutions, instants)
def test_cells_tile_their_strip_and_stop_at_the_last_closed_bucket(
    span: Span, resolution: Resolution, now: int
) -> None:
    made = cells(span, resolution, 0, now)
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
    due = first_due_ms(span, now - age)
    for cell in cells(span, resolution, due, now):
        assert not cell.expected or cell.start_ms >= now - age
