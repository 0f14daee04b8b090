"""From the visible range to the requested one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import DAY, HOUR_MS, MINUTE_MS, MONTH
from api.timez import DAY_MS, zone
from components import ranges
from components.ranges import PRESET_BY_NAME, Window
from tests.tables import cases
from tests.world import ms

NOW = ms("2026-11-20T12:34:56.789Z")


@cases(
    ("width_px", "rows"),
    [(0, 400), (150, 400), (284, 600), (300, 600), (301, 800), (1_040, 2_200), (1_310, 2_800),
     (2_000, 4_000), (9_999, 4_000), (-5, 400), (1_040.4, 2_200)],
)  # fmt: skip
def test_a_budget_is_about_two_rows_a_pixel(width_px: float, rows: int) -> None:
    assert ranges.budget(width_px) == rows


def test_a_few_more_pixels_make_the_same_request() -> None:
    assert len({ranges.budget(px) for px in range(1_001, 1_101)}) == 1


def test_a_preset_ends_now_and_has_each_bucket_once() -> None:
    window = ranges.preset_window(PRESET_BY_NAME["24h"], NOW - 3 * HOUR_MS, NOW)
    assert window == Window(ms("2026-11-19T12:34Z"), ms("2026-11-20T12:33:59.999Z"))
    minutes = window.to_ms // MINUTE_MS - -(-window.from_ms // MINUTE_MS) + 1
    assert minutes == 1_440
    assert window.to_ms < NOW


@cases(
    ("last", "ends"),
    [
        (None, "2026-11-20T12:33:59.999Z"),  # never reported
        ("2026-11-20T12:34:50Z", "2026-11-20T12:33:59.999Z"),
        ("2026-11-19T12:34:00Z", "2026-11-20T12:33:59.999Z"),  # just within the preset
        ("2026-11-19T12:33:59.999Z", "2026-11-19T12:33:59.999Z"),  # just before it
        ("2017-12-31T23:00:00Z", "2017-12-31T23:00:59.999Z"),
        ("2026-11-21T12:00:00Z", "2026-11-20T12:33:59.999Z"),  # its clock is ahead
    ],
)
def test_a_preset_follows_a_device_that_stopped(last: str | None, ends: str) -> None:
    last_ms = ms(last) if last else None
    window = ranges.preset_window(PRESET_BY_NAME["24h"], last_ms, NOW)
    assert window.to_ms == ms(ends)
    assert window.length_ms == DAY_MS


@given(st.integers(-(10**14), 10**14), st.integers(-(10**14), 10**14))
def test_two_instants_give_a_window_or_none(from_ms: int, to_ms: int) -> None:
    window = ranges.bounded(from_ms, to_ms)
    if window is None:
        assert to_ms <= from_ms or to_ms <= 0 or from_ms >= ranges.LATEST_MS
    else:
        assert window.length_ms > ranges.SHORTEST_MS
        assert window.from_ms >= max(0, from_ms)


@cases(
    ("length_ms", "rows", "resolution"),
    [
        (365 * DAY_MS, 2_800, DAY),
        (365 * DAY_MS, 400, DAY),
        (401 * DAY_MS, 400, MONTH),
        (1_100 * DAY_MS, 2_800, DAY),
        (1_101 * DAY_MS, 2_800, MONTH),
        (20 * 365 * DAY_MS, 2_800, MONTH),
    ],
)
def test_long_windows_go_on_to_days_and_months(length_ms: int, rows: int, resolution: str) -> None:
    assert ranges.calendar_resolution(Window(0, length_ms - 1), rows) is resolution


@cases(
    ("start", "length_ms", "floored"),
    [
        ("2026-03-08T10:17:42Z", HOUR_MS, "2026-03-08T10:17:42Z"),  # may be raw: nothing to widen
        ("2026-03-08T10:17:42Z", 100 * MINUTE_MS, "2026-03-08T10:17:00Z"),
        ("2026-03-08T10:17:42Z", DAY_MS, "2026-03-08T10:10:00Z"),
        ("2026-03-08T10:17:42Z", 30 * DAY_MS, "2026-03-08T10:00:00Z"),
    ],
)
def test_the_bucket_at_the_left_edge_is_included(start: str, length_ms: int, floored: str) -> None:
    window = Window(ms(start), ms(start) + length_ms - 1)
    requests = ranges.widened(window, zone("America/New_York"))
    assert requests == Window(ms(floored), window.to_ms)


def test_days_and_months_are_complete() -> None:
    rome = zone("Europe/Rome")
    window = Window(ms("2026-03-29T10:00Z"), ms("2026-03-29T11:00Z"))
    assert ranges.widened(window, rome, DAY) == Window(
        ms("2026-03-28T23:00Z"), ms("2026-03-29T21:59:59.999Z")
    )
    assert ranges.widened(window, rome, MONTH) == Window(
        ms("2026-02-28T23:00Z"), ms("2026-03-31T21:59:59.999Z")
    )
