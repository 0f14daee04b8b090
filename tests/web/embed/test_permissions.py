"""Which of a viewer's options an embed allows."""

from __future__ import annotations

from typing import Any

import pytest

from api.catalog import EMBED_CONTROLS
from api.embeds import EmbedDefinition, Fixed, Rolling
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from components.ranges import Window
from components.units import METRIC, US
from tests.tables import cases
from tests.world import ms
from web.embed.permissions import chart_view, wall_view

NOW = ms("2026-11-20T12:34:56Z")
END = ms("2026-11-20T12:34Z")  # of the minute before
FIXED = Fixed(ms("2026-03-01T00:00Z"), ms("2026-03-08T00:00Z"))
EVERY_WISH: dict[str, Any] = {
    "device": "00000000-0000-4000-8000-000000000009",
    "view": "wall",
    "metric": "quality",
    "range": "7d",
    "window": "7d",
    "from": "2026-11-01T00:00:00Z",
    "to": "2026-11-02T00:00:00Z",
    "zone": "Asia/Tokyo",
    "units": "metric",
    "theme": "dark",
    "width_px": 640,
    "settled": True,
    "compare": "year",
    "usual": "1",
    "q": "drip",
    "status": "silent",
    "held": ["another"],
}


def definition(**fields: Any) -> EmbedDefinition:
    usual: dict[str, Any] = {"view": "chart", "devices": ("a",), "metric": "flow_rate"}
    return EmbedDefinition(**{**usual, "zone": "America/Denver", "theme": "light", **fields})


def test_without_controls_only_the_width_is_the_viewers_choice() -> None:
    wished, unwished = (
        chart_view(definition(), text, NOW) for text in (EVERY_WISH, {"width_px": 640})
    )
    assert wished == unwished
    assert wished.width_px == 640
    assert wall_view(definition(view="wall"), EVERY_WISH) == wall_view(definition(view="wall"), {})


def test_viewers_cannot_change_the_comparison() -> None:
    """Another time may be outside the window that its creator chose."""
    every = tuple(EMBED_CONTROLS)
    free = chart_view(definition(controls=every), EVERY_WISH, NOW)
    assert (free.compare, free.usual) == ("", False)
    set_ = chart_view(definition(controls=every, compare="usual"), EVERY_WISH, NOW)
    assert (set_.compare, set_.usual) == ("usual", True)


@cases(
    ("control", "field", "usual", "granted"),
    [
        ("range", "window", None, Window(ms("2026-11-01T00:00Z"), ms("2026-11-02T00:00Z"))),
        ("zone", "zone", "America/Denver", "Asia/Tokyo"),
        ("units", "units", US, METRIC),
        ("theme", "theme", "light", "dark"),
    ],
)
def test_a_control_allows_its_own_option_only(
    control: str, field: str, usual: object, granted: object
) -> None:
    for each in EMBED_CONTROLS:
        view = chart_view(definition(controls=(each,)), EVERY_WISH, NOW)
        assert getattr(view, field) == (granted if each == control else usual), each
        assert view.tab is not None
        assert view.tab.name == "flow_rate"


@cases(
    ("window", "shown"),
    [
        (Rolling(3600), Window(END - HOUR_MS, END - 1)),
        (Rolling(600), Window(END - 10 * MINUTE_MS, END - 1)),
        (Rolling(3 * 86_400), Window(END - 3 * DAY_MS, END - 1)),
        (FIXED, Window(FIXED.from_ms, FIXED.to_ms)),
    ],
)
def test_a_rolling_window_moves_with_the_clock_and_a_fixed_one_stays(
    window: Rolling | Fixed, shown: Window
) -> None:
    assert chart_view(definition(window=window), {}, NOW).custom == shown


def test_a_viewer_can_return_to_the_embeds_own_range() -> None:
    result = definition(controls=("range",), window=FIXED)
    assert chart_view(result, {"range": "7d"}, NOW).custom is None
    assert chart_view(result, {"range": "7d"}, NOW).preset.name == "7d"
    for none_of_ours in (None, "", "custom", "9y", "2026-01-01T00:00:00Z..2026-02-01T00:00:00Z"):
        got = chart_view(result, {"range": none_of_ours}, NOW).custom
        assert got == Window(FIXED.from_ms, FIXED.to_ms)


@cases(
    ("theme", "controls", "shown", "granted"),
    [
        ("system", (), "dark", "dark"),
        ("system", (), "light", "light"),
        ("light", (), "dark", "light"),
        ("dark", (), "light", "dark"),
        ("light", ("theme",), "dark", "dark"),
    ],
)
def test_a_theme_that_is_fixed_stays(
    theme: str, controls: tuple[str, ...], shown: str, granted: str
) -> None:
    view = chart_view(definition(theme=theme, controls=controls), {"theme": shown}, NOW)
    assert view.theme == granted


@cases("name", ["1h", "24h", "7d", "30d"])
def test_tiles_show_the_span_of_their_window(name: str) -> None:
    seconds = {"1h": 3_600, "24h": 86_400, "7d": 7 * 86_400, "30d": 30 * 86_400}[name]
    view = wall_view(definition(view="wall", window=Rolling(seconds)), {})
    assert view.span.name == name


def test_each_devices_own_zone_is_none() -> None:
    assert chart_view(definition(zone="device"), {}, NOW).zone is None
    assert wall_view(definition(view="wall", zone="device"), {}).zone is None


@pytest.mark.parametrize(
    ("first", "granted"),
    [
        ("2021-11-20T00:00:00Z", True),
        ("2020-11-20T00:00:00Z", False),
        ("1970-01-01T00:00:00Z", False),
    ],
)
def test_a_range_is_at_most_the_longest_of_embeds(first: str, granted: bool) -> None:
    wishes = {"from": first, "to": "2026-11-20T00:00:00Z", "settled": True}
    view = chart_view(definition(controls=("range",)), wishes, NOW)
    assert (view.window is not None) == granted
    assert view.settled == granted
