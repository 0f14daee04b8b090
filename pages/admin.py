"""The administration: devices, groups, keys, the organization, data quality."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, register_page
from dash.development.base_component import Component

from components import session, shell
from components.admin.layout import PATH, Ids, admin_page
from components.controls import message

register_page(__name__, path=PATH, title="Administration · Weir")
NOT_YOURS = "The administration is for administrators."


def layout(**_: Any) -> Component:
    if not session.me().role.may_administer:
        return shell.frame(message("For administrators", NOT_YOURS), place=PATH)
    return shell.frame(admin_page(), place=PATH)


clientside_callback(
    ClientsideFunction("admin", "opened"),
    Output(Ids.STATUS, "hidden"),
    Input(Ids.PAGE, "id"),
)
