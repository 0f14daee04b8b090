"""Contrast of the colours, and the configuration of graphs."""

from __future__ import annotations

import pytest

from components.chart_card import chart_card
from components.chart_query import Subject
from components.charts import figure
from components.theme import DARK, GRAPH_CONFIG, LIGHT, Palette, css, palette
from components.url_state import View
from tests.components.rows import NOON
from tests.tables import cases


def luminance(colour: str) -> float:
    """WCAG's relative luminance of ``#rrggbb``."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@cases("theme", [LIGHT, DARK])
@cases("ground", ["bg", "surface"])
@cases("ink", ["ink", "ink_2", "ink_3"])
def test_text_can_be_read(theme: Palette, ground: str, ink: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_on_the_accent_and_its_tint_can_be_read(theme: Palette) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.accent, theme.tint) >= 4.5


@cases("theme", [LIGHT, DARK])
@cases("graphic", ["accent", "ok", "warn", "bad", "off"])
def test_graphics_stand_out(theme: Palette, graphic: str) -> None:
    assert contrast(getattr(theme, graphic), theme.surface) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_beside_each_other_stand_out_and_differ(theme: Palette) -> None:
    assert len(set(theme.series)) == 12
    assert min(contrast(colour, theme.surface) for colour in theme.series) >= 3


def test_the_stylesheet_has_every_token_in_both_themes() -> None:
    written, paper = css().split("@media print")
    assert f"--surface:{LIGHT.surface};" in paper
    for theme in (LIGHT, DARK):
        assert f"--on-accent:{theme.on_accent};" in written
        assert written.count(f"--surface:{theme.surface};") == 2
    assert "prefers-color-scheme:dark" in written


def test_an_unknown_theme_is_the_light_one() -> None:
    assert palette("dark") is DARK
    assert palette("light") is palette(None) is palette("pink") is LIGHT


def test_no_graph_offers_an_upload() -> None:
    """plotly.js offers one by default, with a button and an address of its own."""
    assert GRAPH_CONFIG["showSendToCloud"] is False
    assert GRAPH_CONFIG["plotlyServerURL"] == ""
    assert GRAPH_CONFIG["displaylogo"] is False
    assert GRAPH_CONFIG["displayNotifier"] is False


def test_the_chart_uses_the_one_configuration() -> None:
    card = chart_card(Subject("d", "UTC", None), View(), NOON)
    graphs = [c for c in card._traverse() if type(c).__name__ == "Graph"]
    assert [graph.config for graph in graphs] == [GRAPH_CONFIG]
    assert graphs[0].figure["layout"]["margin"] == figure.MARGIN_PX
