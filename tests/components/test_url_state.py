"""The view in a page's address and in the browser's requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.ranges import PRESETS, Window
from components.units import METRIC, UNITS
from components.url_state import TAB_BY_NAME, TABS, USUAL_PX, View, read_view, write_view
from tests.tables import cases
from tests.world import ms


def test_an_empty_query_is_the_default_view() -> None:
    assert read_view({}) == View()


def test_every_parameter_is_read() -> None:
    fields = {
        "range": "7d",
        "from": "2026-03-08T05:00:00.000Z",
        "to": "2026-03-09 04:00:00.1234",  # as plotly.js writes it
        "metric": "temperature",
        "units": "metric",
        "zone": "Asia/Tokyo",
        "theme": "dark",
        "width_px": 1_310,
        "settled": True,
    }
    view = read_view(fields)
    assert view.preset.name == "7d"
    assert view.window == Window(ms("2026-03-08T05:00Z"), ms("2026-03-09T04:00:00.123Z"))
    assert (view.tab, view.zone, view.theme) == (TAB_BY_NAME["temperature"], "Asia/Tokyo", "dark")
    assert view.units is METRIC
    assert (view.width_px, view.settled) == (1_310, True)


@cases(
    "fields",
    [
        {"range": "2 weeks"},
        {"range": ["7d", "1h"]},
        {"range": ".."},
        {"range": "2026-03-08T05:00:00Z..2026-03-08T04:00:00Z"},
        {"range": "2026-03-08T05:00:00Z..2026-03-09T04:00:00Z..2026-03-10T04:00:00Z"},
        {"units": "furlongs"},
        {"from": "2026-03-08T05:00:00Z"},
        {"from": "2026-03-08T05:00:00Z", "to": "2026-03-08T05:00:00Z"},
        {"from": "yesterday", "to": "today"},
        {"from": None, "to": 7},
        {"metric": "flow_duration"},
        {"metric": "__class__"},
        {"zone": "Mars/Olympus"},
        {"zone": "../../etc/passwd"},
        {"theme": "pink"},
        {"width_px": "1310"},
        {"width_px": float("nan")},
        {"width_px": -3},
        {"width_px": 10**9},
        {"width_px": True},
        {"settled": "yes"},
        {"unheard": "of"},
    ],
)
def test_invalid_parameters_are_ignored(fields: dict[str, Any]) -> None:
    assert read_view(fields) == View()


WINDOWS = st.none() | st.builds(
    lambda start, length: Window(start, start + length),
    st.integers(0, 4 * 10**12),
    st.integers(10_000, 10**11),
)
CHOSEN = st.builds(View, preset=st.sampled_from(PRESETS)) | st.builds(View, custom=WINDOWS)
VIEWS = st.builds(
    lambda chosen, **rest: replace(chosen, **rest),
    CHOSEN,
    window=WINDOWS,
    tab=st.none() | st.sampled_from(TABS),
    units=st.sampled_from(UNITS),
    zone=st.none() | st.sampled_from(["UTC", "Europe/Rome", "Asia/Kathmandu"]),
)


@given(VIEWS)
def test_an_address_opens_the_same_view(view: View) -> None:
    assert read_view(write_view(view)) == view


def test_an_address_leaves_out_defaults() -> None:
    written = write_view(View())
    assert {name for name, value in written.items() if value} == {"range"}
    assert read_view({"metric": "flow_rate"}).tab is TABS[0]
    assert View().width_px == USUAL_PX
