"""The page: the list beside the form, or beside the embed that is looked at."""

from __future__ import annotations

from dash import dcc, html
from dash.development.base_component import Component

from components import session
from components.embeds.ids import Ids
from components.embeds.link import PATH
from components.markup import labelled


def embeds_page(rows: Component, panel: Component, *, chosen: str) -> Component:
    new = dcc.Link("New embed", href=session.site_path(PATH), className="button")
    return html.Div(
        [
            dcc.Location(id=Ids.GO, refresh="callback-nav"),
            dcc.Store(id=Ids.CHOSEN, data=chosen),
            html.Div(
                [
                    html.H1("Embeds"),
                    html.P("Live views of devices in other sites’ pages.", className="quiet"),
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
