"""The audit log, for administrators: every change, with filters, also as a file."""

from __future__ import annotations

from typing import Any

from dash import Input, Output, callback, html, no_update, register_page
from dash.development.base_component import Component

from api.errors import Forbidden, NotOffered, WeirError
from components import html_json, shell
from components.admin.audit import (
    PATH,
    Ids,
    counted,
    files,
    filters,
    heading,
    pages,
    read_filter,
    table,
)
from components.admin.queries import audit_page
from components.controls import failed_page, failure, message
from components.html_json import sheet
from components.shell import ADMIN_PATH, admin_tabs

register_page(__name__, path=PATH, title="Audit log · Weir")
NOT_YOURS = "The audit log is for administrators with a key for all devices."
NOT_OFFERED = "This dashboard shows another server’s devices, which keeps its own audit log."


def layout(**query: Any) -> Component:
    audit_filter = read_filter(query)
    try:
        page = audit_page(audit_filter)
    except NotOffered:
        return shell.frame(message("No audit log here", NOT_OFFERED), place=PATH)
    except Forbidden:
        return shell.frame(message("For administrators", NOT_YOURS), place=PATH)
    except WeirError as error:
        return shell.frame(failed_page("The audit log can’t be loaded", error, PATH), place=PATH)
    body = html.Section(
        [
            html_json.store(Ids.LIST),
            html.Div(table(page.entries), id=Ids.LIST, className="sheet"),
            html.Div(pages(audit_filter, page.count), id=Ids.MORE, className="audit-pages"),
        ],
        className="card wide annotation-card",
    )
    top = (html.H1("Administration"), admin_tabs(PATH), heading(audit_filter, page.count))
    return shell.frame(*top, filters(audit_filter), body, place=ADMIN_PATH)


@callback(
    html_json.output(Ids.LIST),
    Output(Ids.COUNT, "children"),
    Output(Ids.MORE, "children"),
    Output(Ids.FILES, "children"),
    Input(Ids.KIND, "value"),
    Input(Ids.SEARCH, "value"),
    Input(Ids.FROM, "value"),
    Input(Ids.TO, "value"),
    prevent_initial_call=True,
)
def filtered(kind: Any, search: Any, first: Any, last: Any) -> tuple[Any, ...]:
    """The log; on failure the last one stays."""
    audit_filter = read_filter({"kind": kind, "q": search, "from": first, "to": last})
    try:
        page = audit_page(audit_filter)
    except WeirError as error:
        return no_update, failure(error), no_update, no_update
    return (
        sheet(table(page.entries)),
        counted(page.count),
        pages(audit_filter, page.count),
        files(audit_filter),
    )


html_json.drawn(Ids.LIST)
