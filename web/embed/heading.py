"""What stands above an embed's chart or tiles: its title, its words, its controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dash import html
from dash.development.base_component import Component

from api.catalog import DEVICE_ZONE
from api.embeds import EmbedDefinition
from api.timez import zone_names
from components.controls import freshness_badge, segments, select
from components.markup import attributes
from components.units import UNITS
from web.embed.permissions import RANGE, SYSTEM, THEME, ZONE
from web.embed.permissions import UNITS as UNITS_CONTROL

# Not among the view's wishes: the theme is the frame's own affair, and assets/frame.js sees to it.
THEMES: Final = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))
Named = Sequence[tuple[str, str]]


def heading(title: str, *, line: Component, hidden: bool = False) -> Component:
    """``hidden``: the title is only for those who don't see; the line takes its place."""
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
    """``field`` is what a range is called in the view's question; ``own`` the usual one's value."""
    may = definition.controls
    made: list[Component] = []
    if RANGE in may:
        made.append(segments("Range", field, ranges, chosen=chosen, default=own))
    if UNITS_CONTROL in may:
        made.append(select("Units", "units", _usual_first(definition.units), chosen=""))
    if ZONE in may:
        made.append(select("Time zone", "zone", _zones(definition), chosen="", kind="zone"))
    if THEME in may:
        made.append(_themes(definition))
    return html.Div(made, className="embed-controls") if made else None


def _usual_first(name: str) -> Named:
    return sorted(((u.name, u.label) for u in UNITS), key=lambda each: each[0] != name)


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
