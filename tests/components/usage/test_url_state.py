"""The usage page's view in its address."""

from __future__ import annotations

from datetime import date

from api.timez import local_ordinal, zone
from components.usage.url_state import MOST_DAYS, UsageView, read_usage_view, write_usage_view
from tests.tables import cases
from tests.world import ms

NEW_YORK, TOKYO = zone("America/New_York"), zone("Asia/Tokyo")

NOW = ms("2026-11-03T18:00Z")


@cases(
    ("text", "first", "last"),
    [
        ("7d", "2026-10-28", "2026-11-03"),
        ("30d", "2026-10-05", "2026-11-03"),
        ("month", "2026-11-01", "2026-11-03"),
        ("last-month", "2026-10-01", "2026-10-31"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2026-11", "2026-11-01", "2026-11-03"),
        ("2026-10-05..2026-10-06", "2026-10-05", "2026-10-06"),
        ("2026-10-05..2030-01-01", "2026-10-05", "2026-11-03"),
        ("2026-13", "2026-11-01", "2026-11-03"),
        ("2026-10-06..2026-10-05", "2026-11-01", "2026-11-03"),
        ("x..y..z", "2026-11-01", "2026-11-03"),
    ],
)
def test_ranges(text: str, first: str, last: str) -> None:
    view = read_usage_view({"range": text})
    dates = view.dates(local_ordinal(NEW_YORK, NOW))
    assert [date.fromordinal(day).isoformat() for day in dates] == [first, last]


def test_a_range_is_cut_to_its_latest_days_with_a_notice() -> None:
    view = read_usage_view({"range": "2020-01-01..2026-10-31"})
    assert len(view.dates(local_ordinal(NEW_YORK, NOW))) == MOST_DAYS
    assert view.cut


def test_a_view_is_in_its_address() -> None:
    fields = {
        "range": "2026-10",
        "zone": "Asia/Tokyo",
        "units": "metric",
        "devices": "a,b",
        "q": "main",
        "group": "East",
        "sort": "label",
        "open": "a",
    }
    assert write_usage_view(read_usage_view(fields)) == fields
    assert set(write_usage_view(UsageView()).values()) == {None}
