"""The page: the list beside the form, or beside the selected embed."""

from __future__ import annotations

from enum import StrEnum

from dash import dcc, html
from dash.development.base_component import Component

from components import session
from components.controls import EMBEDS_PATH, labelled


def embeds_page(rows: Component, panel: Component, *, chosen: str) -> Component:
    new = dcc.Link("New embed", href=session.site_path(EMBEDS_PATH), className="button")
    return html.Div(
        [
            dcc.Location(id=Ids.GO, refresh="callback-nav"),
            dcc.Store(id=Ids.CHOSEN, data=chosen),
            html.Div(
                [
                    html.H1("Embeds"),
                    html.P("Live views of devices on other sites.", className="quiet"),
                    *([new] if chosen else []),
                ],
                className="heading",
            ),
            html.Div(
                [
                    html.Section(rows, id=Ids.LIST, className="card", **labelled("Your embeds")),
                    html.Div(panel, id=Ids.PANEL),
                ],
                className="embeds",
            ),
        ]
    )


# --- Ids -----------------------------------------------------------------------------------------


class Ids(StrEnum):
    GO = "embeds-go"
    CHOSEN = "embeds-chosen"
    LIST = "embeds-list"
    PANEL = "embeds-panel"
    REVOKE = "embeds-revoke"
    REVOKE_PROBLEM = "embeds-revoke-problem"
    SNIPPET = "embeds-snippet"
    MAKE = "embeds-make"
    MAKE_PROBLEM = "embeds-make-problem"
    # The form's fields
    TITLE = "embed-title"
    VIEW = "embed-view"
    METRIC = "embed-metric"
    METRIC_FIELD = "embed-metric-field"
    DEVICES = "embed-devices"
    DEVICES_NOTE = "embed-devices-note"
    SEARCH = "embed-search"
    WINDOW = "embed-window"
    FIXED = "embed-fixed"
    FIRST = "embed-first"
    LAST = "embed-last"
    ZONE = "embed-zone"
    UNITS = "embed-units"
    THEME = "embed-theme"
    CONTROLS = "embed-controls"
    COMPARE = "embed-compare"
    COMPARE_FIELD = "embed-compare-field"
    NOTES = "embed-notes"
    ORIGINS = "embed-origins"
    ENDS = "embed-ends"
    ENDS_ON = "embed-ends-on"
    ENDS_ON_FIELD = "embed-ends-on-field"


# Problems are shown at these fields, which have the service's names.
FIELDS = ("title", "view", "devices", "metric", "window", "zone", "units", "theme", "controls",
          "compare", "notes", "origins", "expires")  # fmt: skip


def problem_id(field: str) -> str:
    return f"embed-{field}-problem"
