"""Any address without a page. The response's status is 404 as well (web/static.py)."""

from __future__ import annotations

from typing import Any

from dash import dcc, register_page
from dash.development.base_component import Component

from components import session, shell
from components.controls import message

register_page(__name__, path="/404", title="Not found · Weir")


def layout(**_: Any) -> Component:
    return shell.frame(
        message(
            "Page not found",
            "The address may be mistyped, or the page may have moved.",
            dcc.Link("The whole fleet", href=session.site_path(shell.HOME), className="button"),
        )
    )
