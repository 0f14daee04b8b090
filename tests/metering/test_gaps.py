"""Gaps between rows."""

from __future__ import annotations

from api.catalog import RAW, RESOLUTION_BY_NAME
from api.metering.cadence import Cadence
from api.metering.gaps import breaks, gaps, patience_ms
from api.metering.windows import Window
from api.timez import HOUR_MS, MINUTE_MS
from tests.tables import cases

FIVE, DAY = RESOLUTION_BY_NAME["5min"], RESOLUTION_BY_NAME["day"]


@cases(
    ("cadence", "resolution", "minutes"),
    [
        (Cadence(10_000), RAW, 0.5),
        (Cadence(MINUTE_MS), RAW, 3),
        (Cadence(MINUTE_MS), FIVE, 7.5),
        (Cadence(15 * MINUTE_MS), FIVE, 45),
        (Cadence(MINUTE_MS, event_driven=True), RAW, 180),
        (None, RAW, 3),  # without a cadence: as of a device that reports each minute
        (Cadence(MINUTE_MS), DAY, 0),
    ],
)
def test_the_step_after_which_a_gap_begins(
    cadence: Cadence | None, resolution: object, minutes: float
) -> None:
    assert resolution in (RAW, FIVE, DAY)
    assert patience_ms([], resolution, cadence) == minutes * MINUTE_MS  # pyright: ignore[reportArgumentType]


def test_gaps_lie_between_rows_and_at_both_ends() -> None:
    starts = [HOUR_MS, HOUR_MS + MINUTE_MS, 2 * HOUR_MS]
    ends = [start + MINUTE_MS for start in starts]
    broken = breaks(starts, ends, 3 * MINUTE_MS)
    assert broken == [False, True]
    assert gaps(starts, ends, broken, Window(0, 3 * HOUR_MS), 3 * MINUTE_MS) == [
        Window(0, starts[0]),
        Window(ends[1], starts[2]),
        Window(ends[2], 3 * HOUR_MS),
    ]
    assert gaps([], [], [], Window(0, 9), 1) == [Window(0, 9)]
