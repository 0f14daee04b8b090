"""Small components that several pages use: segmented controls, selects, search fields, grids,
menus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import dash_ag_grid
from dash import Dash, dcc, html
from dash.development.base_component import Component
from dash.fingerprint import build_fingerprint

from api.errors import ServiceError, UnexpectedAnswer, Unreachable, WeirError
from components import session
from components.units import UNITS, Units, usual_units

SEARCH_HINT: Final = "Search label, serial, network id"


def segments(
    name: str, field: str, options: Sequence[tuple[str, str]], *, chosen: str, default: str
) -> Component:
    """A row of buttons, one of them pressed. ``field``: the field of the view that they set
    (assets/chart.js). ``options``: (value, label)."""
    return html.Div(
        [
            html.Button(
                label,
                type="button",
                className="segment",
                **attributes(
                    data_set=field,
                    data_value=value,
                    data_default=_truth(value == default),
                    aria_pressed=_truth(value == chosen),
                ),
            )
            for value, label in options
        ],
        className="segments",
        role="group",
        **labelled(name),
    )


def _truth(value: bool) -> str:
    return "true" if value else "false"


def message(title: str, *body: Component | str) -> Component:
    """A page with a message alone."""
    return html.Section([html.H1(title), *(html.P(part) for part in body)], className="message")


def failure(error: WeirError) -> str:
    """An error as a sentence for the reader."""
    if isinstance(error, Unreachable | UnexpectedAnswer):
        return str(error)
    if isinstance(error, ServiceError):
        pause = f" Try again in {error.retry_after_s:.0f} s." if error.retry_after_s else ""
        return f"{error}{pause}"
    return "Something went wrong."


def failed_page(what: str, error: WeirError, href: str) -> Component:
    """An error page with a button to try again."""
    again = html.A("Try again", href=session.site_path(href), className="button")
    return message(what, failure(error), again)


def select(
    name: str, field: str, options: Sequence[tuple[str, str]], *, chosen: str, kind: str = ""
) -> Component:
    """A native select of ``options`` (value, label), the default first. ``field``: the field of the
    view that it sets. React gets no value, since the page's script sets it."""
    return html.Select(
        [html.Option(label, value=value) for value, label in options],
        className=f"button select {kind}".strip(),
        title=name,
        **labelled(name),
        **attributes(data_set=field, data_value=chosen, data_default=options[0][0]),
    )


def units_select(chosen: Units) -> Component:
    usual = usual_units()
    options = [(u.name, u.label) for u in sorted(UNITS, key=lambda each: each is not usual)]
    return select("Units", "units", options, chosen=chosen.name)


def zone_select(usual: str, chosen: str | None) -> Component:
    """The choice of a time zone. ``usual``: the label of the default. The page has these two
    options only; `assets/zones.js` adds all other names when the browser is idle."""
    options = [("", usual), *([(chosen, chosen)] if chosen else ())]
    return select("Time zone", "zone", options, chosen=chosen or "", kind="zone")


def search_field(
    id: str, name: str, *, value: str = "", hint: str = f"{SEARCH_HINT}  /"
) -> Component:
    """``hint``: the placeholder, which ends with the field's key if the page's script has one."""
    field = dcc.Input(
        id=id,
        type="search",
        value=value,
        placeholder=hint,
        className="search",
        autoComplete="off",
    )
    return html.Div([field], role="search", **labelled(name))


def freshness_badge() -> Component:
    """The age of the page's data; empty on a page without data. assets/freshness.js writes it."""
    return html.Span(id="freshness", className="live")


def notice(id: str) -> Component:
    """The notice why the page isn't up to date. assets/freshness.js writes it."""
    return html.Div(id=id, className="notice", role="alert", hidden=True)


# --- Attributes that Dash takes by name only -----------------------------------------------------


def labelled(name: str) -> dict[str, Any]:
    """The ``aria-label`` of an element."""
    return {"aria-label": name}


def attributes(**values: str) -> dict[str, Any]:
    """Keyword arguments as attributes: ``aria_hidden="true"`` as ``aria-hidden``,
    ``data_set="zone"`` as ``data-set``."""
    return {name.replace("_", "-"): value for name, value in values.items()}


# --- The link from a view to an embed of it ------------------------------------------------------

EMBEDS_PATH = "/embeds"


def embed_link(view: str, *device_ids: str) -> Component:
    params = {"view": view, **({"device": ",".join(device_ids)} if device_ids else {})}
    return html.A(
        "Embed",
        href=session.site_path(f"{EMBEDS_PATH}?{urlencode(params)}"),
        className="button",
        title="Show this on another site",
        **attributes(data_embed=view),
    )


# --- grids ----------------------------------------------------------------------------------------


LIBRARY: Final = "dash_ag_grid"
FILES: Final = ("dash_ag_grid.min.js", "async-community.js")

# The only files of the grid's package that are served; no page loads them by itself. The enterprise
# part isn't served: it loads fonts from other hosts.
dash_ag_grid._js_dist[:] = [  # pyright: ignore[reportPrivateUsage]
    {"relative_package_path": file, "namespace": LIBRARY, "dynamic": True} for file in FILES
]

# ag-grid's parameters as variables of the stylesheet, so that switching the theme concerns the
# stylesheet alone.
_LOOK: Final = {
    "backgroundColor": "var(--surface)",
    "foregroundColor": "var(--ink)",
    "accentColor": "var(--accent)",
    "borderColor": "var(--line)",
    "chromeBackgroundColor": "var(--surface)",
    "headerBackgroundColor": "var(--surface)",
    "headerTextColor": "var(--ink-2)",
    "headerFontSize": 12,
    "headerFontWeight": 400,
    "headerHeight": 36,
    "headerColumnResizeHandleColor": "transparent",
    "rowHoverColor": "var(--bg)",
    "subtleTextColor": "var(--ink-3)",
    "textColor": "var(--ink)",
    "fontFamily": "inherit",
    "fontSize": 13,
    "cellHorizontalPadding": 16,
    "wrapperBorder": False,
    "wrapperBorderRadius": 10,
    "browserColorScheme": "inherit",
}
THEME: Final[Any] = {"function": f"themeQuartz.withParams({json.dumps(_LOOK)})"}


def script_addresses(app: Dash) -> list[str]:
    """The addresses of the grid's scripts, in the form that browsers cache for good."""
    folder = Path(dash_ag_grid.__file__).parent
    prefix = f"{app.config.requests_pathname_prefix}_dash-component-suites/{LIBRARY}/"
    return [
        prefix + build_fingerprint(file, dash_ag_grid.__version__, _second(folder / file))
        for file in FILES
    ]


def _second(file: Path) -> int:
    return int(file.stat().st_mtime)


# --- menus ----------------------------------------------------------------------------------------


FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))  # of tables


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a menu. ``href``: the address of a file; with ``here`` it gets the query of the
    page's own address. Without an address it is a button, and ``deed`` (``data-deed``) names the
    action of the page's script."""

    label: str
    note: str = ""
    href: str = ""
    deed: str = ""
    here: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Entries under one heading."""

    heading: str
    entries: tuple[Entry, ...]


def menu(
    label: str, sections: Sequence[Section], *, name: str, body_id: str = "", kind: str = ""
) -> Component:
    """``name``: for screen readers. ``body_id``: lets a callback fill the menu later, with the
    result of `body`."""
    identity: dict[str, Any] = {"id": body_id} if body_id else {}
    return html.Details(
        [
            html.Summary(label, className="button", **labelled(name)),
            html.Div(
                [
                    html.Div(body(sections), className="menu-entries", **identity),
                    html.P(className="menu-status", role="status"),
                ],
                className="menu-body",
            ),
        ],
        className=f"menu {kind}".strip(),
    )


def body(sections: Sequence[Section]) -> list[Component]:
    return [part for section in sections for part in _section(section)]


def _section(section: Section) -> list[Component]:
    return [
        html.P(section.heading, className="menu-heading"),
        html.Ul([html.Li(_entry(entry)) for entry in section.entries]),
    ]


def _entry(entry: Entry) -> Component:
    words = [html.Span(entry.label), html.Span(entry.note, className="quiet")]
    if entry.href:
        current = attributes(data_here="") if entry.here else {}
        return html.A(words, href=session.site_path(entry.href), className="menu-entry", **current)
    return html.Button(
        words, type="button", className="menu-entry", **attributes(data_deed=entry.deed)
    )


# --- Images by the server ------------------------------------------------------------------------

# Choices for the lifetime of a signed address.
LINK_DAYS: Final = {1: "1 day", 30: "30 days", 365: "1 year"}

PDF: Final = Entry("PDF", ".pdf", deed="server-pdf")
WALL: Final = Section(
    "Image of this wall",
    (
        Entry("PNG", ".png", deed="server-png"),
        Entry("SVG", ".svg", deed="server-svg"),
        PDF,
    ),
)
LINKS: Final = Section(
    "Copy image link",
    tuple(Entry(f"Good for {words}", deed=f"signed-{days}") for days, words in LINK_DAYS.items()),
)


def of_card(heading: str, card: str) -> Section:
    """The image of a card: ``card`` is its name in the image's address."""
    entries = (replace(entry, deed=f"{entry.deed}-{card}") for entry in WALL.entries)
    return Section(heading, tuple(entries))


# --- Usage of the devices in view ----------------------------------------------------------------

WHAT_THEY_USED: Final = Section(
    "Usage",
    (
        Entry("Usage summary", href="/usage", here=True),
        Entry("Report …", "to print", href="/report", here=True),
    ),
)
