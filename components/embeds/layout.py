"""The page: the list beside the form, or beside the selected embed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import EMBED_CONTROLS, EMBED_THEMES, EMBED_TITLE_LENGTH, EMBED_VIEWS
from components import session
from components.controls import EMBEDS_PATH, SEARCH_HINT, attributes, labelled
from components.embeds.queries import ENDS, FIXED, Draft, windows
from components.units import UNITS
from components.url_state import COMPARISONS, SHOWN, TABS


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


# --- The form -------------------------------------------------------------------------------------


Options = Sequence[tuple[str, str]]
ZONES = "embed-zones"


def new_embed(draft: Draft, devices: Options) -> Component:
    """``devices``: the first ones to choose from, (id, label)."""
    return html.Section(
        [
            html.H2("New embed"),
            html.Div(
                [_what(draft, devices), _how(draft)],
                className="embed-fields",
            ),
            html.Div(
                [
                    html.Button("Create embed", id=Ids.MAKE, type="button",
                                className="button primary"),
                    html.P(id=Ids.MAKE_PROBLEM, className="problem", role="alert"),
                ],
                className="embed-make",
            ),
        ],
        className="card embed-panel",
        **attributes(aria_label="New embed"),
    )  # fmt: skip


def _what(draft: Draft, devices: Options) -> Component:
    views = [(view.name, view.label) for view in EMBED_VIEWS]
    tabs = [(tab.name, tab.label) for tab in TABS]
    chart = draft.view == "chart"
    return html.Div(
        [
            _radios(Ids.VIEW, "view", "Shows", views, draft.view),
            _devices(draft, devices),
            _radios(
                Ids.METRIC, "metric", "Metric", tabs, draft.metric,
                field_id=Ids.METRIC_FIELD, hidden=not chart,
            ),
            _window(draft),
        ]
    )  # fmt: skip


def _how(draft: Draft) -> Component:
    units = [(each.name, each.label) for each in UNITS]
    hint = "Shown above it; optional"
    return html.Div(
        [
            _text(Ids.TITLE, "title", "Title", draft.title, hint, longest=EMBED_TITLE_LENGTH),
            _origins(draft),
            _text(Ids.ZONE, "zone", "Time zone", draft.zone, "Each device’s own", choices=ZONES),
            _radios(Ids.UNITS, "units", "Units", units, draft.units),
            _radios(Ids.THEME, "theme", "Theme", _words(EMBED_THEMES), draft.theme),
            _checks(
                Ids.CONTROLS, "controls", "Viewers may change", _words(EMBED_CONTROLS),
                draft.controls,
            ),
            _radios(
                Ids.COMPARE, "compare", "Chart compared with",
                [("", "Nothing"), *COMPARISONS.items()], draft.compare,
                field_id=Ids.COMPARE_FIELD, hidden=draft.view != "chart",
            ),
            _checks(
                Ids.NOTES, "notes", "Shows too", [(SHOWN, "Notes and maintenance")], draft.notes
            ),
            _ends(draft),
        ]
    )  # fmt: skip


def _words(words: Sequence[str]) -> Options:
    return [(word, word.capitalize()) for word in words]


# --- Fields --------------------------------------------------------------------------------------


def problem(field: str) -> Component:
    return html.P(id=problem_id(field), className="problem", role="alert")


def _text(
    id: str,
    field: str,
    label: str,
    value: str,
    hint: str,
    *,
    longest: int | None = None,
    choices: str = "",
) -> Component:
    listed: dict[str, Any] = {"list": choices} if choices else {}
    return html.Div(
        [
            *_labelled(id, label, value, hint, maxLength=longest, **listed),
            *([html.Datalist(id=choices)] if choices else []),
            problem(field),
        ],
        className="embed-field",
    )


def _labelled(id: str, label: str, value: str, hint: str, **more: Any) -> list[Component]:
    return [html.Label(label, htmlFor=id), _typed(id, value, hint, **more)]


def _typed(
    id: str, value: str, hint: str, type: Literal["text", "search"] = "text", **more: Any
) -> Component:
    return dcc.Input(
        id=id,
        type=type,
        value=value,
        placeholder=hint,
        className="search wide",
        autoComplete="off",
        **more,
    )


def _group(
    label: str, field: str, *inside: Component, id: str = "", hidden: bool = False
) -> Component:
    named: dict[str, Any] = {"id": id} if id else {}
    return html.Fieldset(
        [html.Legend(label), *inside, problem(field)],
        className="embed-field",
        hidden=hidden,
        **named,
    )


def _radios(
    id: str,
    field: str,
    label: str,
    options: Options,
    chosen: str,
    *,
    field_id: str = "",
    hidden: bool = False,
) -> Component:
    return _group(label, field, radios(id, options, chosen), id=field_id, hidden=hidden)


def radios(id: str, options: Options, chosen: str) -> Component:
    return dcc.RadioItems(
        id=id, options=as_options(options), value=chosen, className="embed-choices", inline=True
    )


def as_options(options: Options) -> list[dict[str, str]]:
    return [{"value": value, "label": label} for value, label in options]


def _checks(id: str, field: str, label: str, options: Options, chosen: Sequence[str]) -> Component:
    checks = dcc.Checklist(
        id=id,
        options=as_options(options),
        value=list(chosen),
        className="embed-choices",
        inline=True,
    )
    return _group(label, field, checks)


def _devices(draft: Draft, devices: Options) -> Component:
    return _group(
        "Devices",
        "devices",
        html.Label("Search devices", htmlFor=Ids.SEARCH, className="sr-only"),
        _typed(Ids.SEARCH, "", SEARCH_HINT, type="search"),
        dcc.Checklist(
            id=Ids.DEVICES,
            options=as_options(devices),
            value=list(draft.devices),
            className="embed-devices",
        ),
        html.P(id=Ids.DEVICES_NOTE, className="quiet", role="status"),
    )


def _window(draft: Draft) -> Component:
    return _group(
        "Window",
        "window",
        radios(Ids.WINDOW, windows(draft.view), draft.window),
        html.Div(
            [_wall(Ids.FIRST, "From", draft.first), _wall(Ids.LAST, "To", draft.last)],
            id=Ids.FIXED,
            className="embed-pair",
            hidden=draft.window != FIXED,
        ),
    )


def _wall(id: str, label: str, value: str) -> Component:
    return html.Div(_labelled(id, label, value, "2026-03-08 00:00"))


def _origins(draft: Draft) -> Component:
    return html.Div(
        [
            html.Label("Sites that may show it", htmlFor=Ids.ORIGINS),
            dcc.Textarea(
                id=Ids.ORIGINS,
                value=draft.origins,
                placeholder="https://portal.example\nhttps://wiki.example:8443",
                className="search wide",
                rows=2,
                spellCheck=False,
            ),
            html.P("One per line. If empty, only this site’s own pages.", className="quiet"),
            problem("origins"),
        ],
        className="embed-field",
    )


def _ends(draft: Draft) -> Component:
    return _group(
        "Ends",
        "expires",
        radios(Ids.ENDS, ENDS, draft.ends),
        html.Div(
            _labelled(Ids.ENDS_ON, "Last day", draft.ends_on, "2027-03-31"),
            id=Ids.ENDS_ON_FIELD,
            hidden=draft.ends != "on",
        ),
    )
