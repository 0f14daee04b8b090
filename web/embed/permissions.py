"""What of a viewer's wishes an embed grants. Pure.

The browser says what it would like to see, in the words of a dashboard's question. An embed fixes
everything but what its ``controls`` name; a wish for anything else counts as not said. Devices and
view are never the browser's to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from api.catalog import DEVICE_ZONE, EMBED_WINDOW_S
from api.embeds import EmbedDefinition, Rolling
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, SPANS, Span
from components.fleet.url_state import FleetView, read_fleet_view
from components.ranges import DEFAULT_PRESET, PRESET_BY_NAME, Preset, Window, preset_window
from components.units import UNITS_BY_NAME, US, Units
from components.url_params import said_text
from components.url_state import TAB_BY_NAME, View, read_view

RANGE, ZONE, UNITS, THEME = "range", "zone", "units", "theme"
SYSTEM: Final = "system"  # the viewer's own light or dark
LONGEST_MS: Final = (EMBED_WINDOW_S.maximum or 0) * 1000

Wishes = Mapping[str, Any]


def said(question: Any) -> dict[str, Any]:
    """The wishes in a browser's question. Anybody may write one by hand: whatever is none counts
    as not said."""
    return question if isinstance(question, dict) else {}


def chart_view(definition: EmbedDefinition, wishes: Wishes, now_ms: int) -> View:
    wished, ranged = read_view(wishes), RANGE in definition.controls
    view = replace(
        wished,
        tab=TAB_BY_NAME.get(definition.metric or ""),
        zone=_zone(definition, wished.zone),
        units=_units(definition, wishes),
        theme=theme(definition, wished.theme),
    )
    if not ranged or _is_endless(wished.window):
        view = replace(view, window=None, settled=False)
    if ranged and said_text(wishes, "range") in PRESET_BY_NAME:
        return replace(view, custom=None)
    return replace(view, custom=own_window(definition, now_ms), preset=DEFAULT_PRESET)


def _is_endless(window: Window | None) -> bool:
    """Longer than any embed may be made: what it takes to answer grows with it."""
    return window is not None and window.length_ms > LONGEST_MS


def own_window(definition: EmbedDefinition, now_ms: int) -> Window:
    """The embed's window; a rolling one ends with the minute under way."""
    if isinstance(definition.window, Rolling):
        return preset_window(Preset("", "", definition.window.last_s * 1000), None, now_ms)
    return Window(definition.window.from_ms, definition.window.to_ms)


def wall_view(definition: EmbedDefinition, wishes: Wishes) -> FleetView:
    """Tiles show one of the wall's spans."""
    wished = read_fleet_view(wishes)
    span = _own_span(definition)
    if RANGE in definition.controls and said_text(wishes, "window") in SPAN_BY_NAME:
        span = wished.span
    return FleetView(
        span=span,
        zone=_zone(definition, wished.zone),
        units=_units(definition, wishes),
        drawn=wished.drawn,  # what needn't be sent again
    )


def _own_span(definition: EmbedDefinition) -> Span:
    window = definition.window
    length_ms = window.last_s * 1000 if isinstance(window, Rolling) else None
    return next((span for span in SPANS if span.length_ms == length_ms), DEFAULT_SPAN)


def theme(definition: EmbedDefinition, shown: str) -> str:
    """``shown`` is what the viewer's screen shows."""
    if definition.theme == SYSTEM or THEME in definition.controls:
        return shown
    return definition.theme


def _zone(definition: EmbedDefinition, wished: str | None) -> str | None:
    """None: each device's own."""
    if ZONE in definition.controls and wished:
        return wished
    return None if definition.zone == DEVICE_ZONE else definition.zone


def _units(definition: EmbedDefinition, wishes: Wishes) -> Units:
    wished = UNITS_BY_NAME.get(said_text(wishes, "units"))
    if UNITS in definition.controls and wished is not None:
        return wished
    return UNITS_BY_NAME.get(definition.units, US)
