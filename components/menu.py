"""A menu: a button that opens a few entries, each a row of data. assets/menu.js closes it; a script
that does an entry's deed may say how it went (`say` of `assets/menu.js`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dash import html
from dash.development.base_component import Component

from components import session
from components.controls import attributes, labelled


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to have. ``href`` is the address of a file; with ``here`` it is of the view as the
    page's own address has it, whose query is handed on. Without an address it is a button, and
    ``deed`` is what a script of the page makes of it (``data-deed``)."""

    label: str
    note: str = ""
    href: str = ""
    deed: str = ""
    here: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Entries that belong together, under a heading."""

    heading: str
    entries: tuple[Entry, ...]


def menu(
    label: str, sections: Sequence[Section], *, name: str, body_id: str = "", kind: str = ""
) -> Component:
    """``name`` is what a screen reader calls the button. With ``body_id`` a callback may fill the
    menu later, by what `body` gives."""
    identity: dict[str, Any] = {"id": body_id} if body_id else {}
    return html.Details(
        [
            html.Summary(label, className="button", **labelled(name)),
            html.Div(
                [
                    html.Div(body(sections), className="menu-entries", **identity),
                    html.P(className="menu-said", role="status"),
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

# How long a signed address may be good.
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
    """A card's own image: ``card`` is its name in the image's address."""
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
