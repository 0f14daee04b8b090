"""Importing files of readings, for administrators: drop, check, import, undo."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, register_page
from dash.development.base_component import Component

from components import session, shell
from components.controls import message
from components.imports.layout import PATH, Ids, import_page

register_page(__name__, path=PATH, title="Import readings · Weir")
NOT_YOURS = "Importing files is for administrators with a key for all devices."


def layout(**_: Any) -> Component:
    if not session.me().role.may_administer:
        return shell.frame(message("For administrators", NOT_YOURS), place=PATH)
    return shell.frame(import_page(), place=PATH)


clientside_callback(
    ClientsideFunction("imports", "opened"),
    Output(Ids.STATUS, "hidden"),
    Input(Ids.PAGE, "id"),
)
