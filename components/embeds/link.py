"""The way from a view to an embed of it. assets/embeds.js adds what the view is at that moment."""

from __future__ import annotations

from urllib.parse import urlencode

from dash import html
from dash.development.base_component import Component

from components import session
from components.markup import attributes

PATH = "/embeds"


def embed_link(view: str, *device_ids: str) -> Component:
    said = {"view": view, **({"device": ",".join(device_ids)} if device_ids else {})}
    return html.A(
        "Embed",
        href=session.site_path(f"{PATH}?{urlencode(said)}"),
        className="button",
        title="Show this in another site’s page",
        **attributes(data_embed=view),
    )
