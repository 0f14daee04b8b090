"""Applies a viewer's options within an embed's permissions. Pure.

The browser sends options like those of a dashboard's page. An embed fixes everything except what
its ``controls`` name; other options are ignored. Devices and view can never be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dash import html
from dash.development.base_component import Component

from api.catalog import DEVICE_ZONE
from api.embeds import LONGEST_WINDOW_MS, EmbedDefinition, Rolling
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, SPANS, Span
from api.timez import zone_names
from components.controls import attributes, freshness_badge, segments, select
from components.fleet.queries import FleetView, read_fleet_view
from components.ranges import DEFAULT_PRESET, PRESET_BY_NAME, Preset, Window, preset_window
from components.units import UNITS as ALL_UNITS
from components.units import UNITS_BY_NAME, US, Units
from components.url_state import TAB_BY_NAME, USUAL, View, read_view, text_param

RANGE, ZONE, UNITS, THEME = "range", "zone", "units", "theme"
SYSTEM: Final = "system"  # the viewer's own light or dark

Wishes = Mapping[str, Any]


def read_question(question: Any) -> dict[str, Any]:
    """The options in a browser's query; anything that isn't a mapping is ignored."""
    return question if isinstance(question, dict) else {}


def chart_view(definition: EmbedDefinition, wishes: Wishes, now_ms: int) -> View:
    wished, ranged = read_view(wishes), RANGE in definition.controls
    view = replace(
        wished,
        tab=TAB_BY_NAME.get(definition.metric or ""),
        zone=_zone(definition, wished.zone),
        units=_units(definition, wishes),
        theme=theme(definition, wished.theme),
        compare=definition.compare,  # never a viewer's choice: it may show data outside the window
        usual=definition.compare == USUAL,
    )
    if not ranged or _is_endless(wished.window):
        view = replace(view, window=None, settled=False)
    if ranged and text_param(wishes, "range") in PRESET_BY_NAME:
        return replace(view, custom=None)
    return replace(view, custom=own_window(definition, now_ms), preset=DEFAULT_PRESET)


def _is_endless(window: Window | None) -> bool:
    """Whether a window is longer than any embed may have, which would be expensive."""
    return window is not None and window.length_ms > LONGEST_WINDOW_MS


def own_window(definition: EmbedDefinition, now_ms: int) -> Window:
    """The embed's window; a rolling one ends with the current minute."""
    if isinstance(definition.window, Rolling):
        return preset_window(Preset("", "", definition.window.last_s * 1000), None, now_ms)
    return Window(definition.window.from_ms, definition.window.to_ms)


def wall_view(definition: EmbedDefinition, wishes: Wishes) -> FleetView:
    """Tiles show one of the wall's spans."""
    wished = read_fleet_view(wishes)
    span = _own_span(definition)
    if RANGE in definition.controls and text_param(wishes, "window") in SPAN_BY_NAME:
        span = wished.span
    return FleetView(
        span=span,
        zone=_zone(definition, wished.zone),
        units=_units(definition, wishes),
        drawn=wished.drawn,  # tiles that needn't be sent again
    )


def _own_span(definition: EmbedDefinition) -> Span:
    window = definition.window
    length_ms = window.last_s * 1000 if isinstance(window, Rolling) else None
    return next((span for span in SPANS if span.length_ms == length_ms), DEFAULT_SPAN)


def theme(definition: EmbedDefinition, current: str) -> str:
    """``current``: the theme of the viewer's screen."""
    if definition.theme == SYSTEM or THEME in definition.controls:
        return current
    return definition.theme


def _zone(definition: EmbedDefinition, wished: str | None) -> str | None:
    """The zone, None for each device's own."""
    if ZONE in definition.controls and wished:
        return wished
    return None if definition.zone == DEVICE_ZONE else definition.zone


def _units(definition: EmbedDefinition, wishes: Wishes) -> Units:
    wished = UNITS_BY_NAME.get(text_param(wishes, "units"))
    if UNITS in definition.controls and wished is not None:
        return wished
    return UNITS_BY_NAME.get(definition.units, US)


# --- The heading: title and controls -------------------------------------------------------------

# Without the theme, which web/embed/assets/frame.js sets.
THEMES: Final = (("system", "System"), ("light", "Light"), ("dark", "Dark"))
Named = Sequence[tuple[str, str]]


def heading(title: str, *, line: Component, hidden: bool = False) -> Component:
    """``hidden``: the title is for screen readers only; the line takes its place."""
    live = freshness_badge()
    first = [line, live] if hidden else [html.H1(title), live]
    return html.Header(
        [
            html.H1(title, className="sr-only") if hidden else None,
            html.Div(first, className="title-line"),
            None if hidden else line,
        ],
        className="embed-heading",
    )


def controls(
    definition: EmbedDefinition, ranges: Named, *, field: str, own: str, chosen: str
) -> Component | None:
    """``field``: a range's name in the view's question. ``own``: the value of the embed's own
    range."""
    may = definition.controls
    made: list[Component] = []
    if RANGE in may:
        made.append(segments("Range", field, ranges, chosen=chosen, default=own))
    if UNITS in may:
        made.append(select("Units", "units", _usual_first(definition.units), chosen=""))
    if ZONE in may:
        made.append(select("Time zone", "zone", _zones(definition), chosen="", kind="zone"))
    if THEME in may:
        made.append(_themes(definition))
    return html.Div(made, className="embed-controls") if made else None


def _usual_first(name: str) -> Named:
    return sorted(((u.name, u.label) for u in ALL_UNITS), key=lambda each: each[0] != name)


def _zones(definition: EmbedDefinition) -> Named:
    usual = "Device’s zone" if definition.zone == DEVICE_ZONE else definition.zone
    return [("", usual), *((name, name) for name in sorted(zone_names()))]


def _themes(definition: EmbedDefinition) -> Component:
    options = sorted(THEMES, key=lambda each: each[0] != definition.theme)
    return html.Select(
        [html.Option(label, value="" if value == SYSTEM else value) for value, label in options],
        id="embed-theme",
        className="button select",
        title="Theme",
        **attributes(aria_label="Theme"),
    )
