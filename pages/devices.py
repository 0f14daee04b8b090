"""The device list: ten thousand rows, of which the grid loads those in view.

assets/devices.js fills and refreshes it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from dash import (
    ClientsideFunction,
    Input,
    Output,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.development.base_component import Component
from dash_ag_grid import AgGrid

from api.errors import WeirError
from api.insight.findings import KINDS
from api.timez import now_ms
from components import session, shell
from components.controls import (
    THEME,
    WHAT_THEY_USED,
    Entry,
    Section,
    attributes,
    failure,
    labelled,
    menu,
    notice,
    search_field,
    select,
    units_select,
    zone_select,
)
from components.devices.columns import COLUMNS, ROW_PX, Column
from components.devices.queries import (
    BLOCK,
    CONTEXT,
    PATH,
    STATUSES,
    Listing,
    group_names,
    list_texts,
    read_listing,
    read_request,
    rows,
    write_listing,
)
from components.session import current_client
from components.url_state import read_question, unread

CACHED_BLOCKS: Final = 4  # each refresh loads these again


class Ids(StrEnum):
    """Ids, also used by assets/devices.js."""

    PAGE = "devices"
    GRID = "devices-grid"
    SEARCH = "devices-search"
    ANSWER = "devices-answer"
    COUNT_TEXT = "devices-found"
    GROUP = "devices-group"
    COLUMNS = "devices-columns"
    NOTICE = "devices-notice"
    EMPTY = "devices-empty"


register_page(__name__, path=PATH, title="Devices · Weir")


def layout(**query: Any) -> Component:
    """The frame without data: the grid loads the rows."""
    listing = read_listing(query)
    return shell.frame(
        devices_page(listing), place=PATH, tools=devices_tools(listing), remarks=unread(query, {})
    )


@callback(
    Output(Ids.GRID, "getRowsResponse"),
    Output(Ids.ANSWER, "data"),
    Input(Ids.GRID, "getRowsRequest"),
    prevent_initial_call=True,
)
def answer(request: Any) -> tuple[Any, Any]:
    """The rows that the grid requests, and the texts of the list; on failure the present rows
    stay."""
    if request is None:  # before the grid's first request
        return no_update, no_update
    question = read_request(read_question(request))
    try:
        page = rows(current_client(), question, now_ms())
        around = list_texts(question.listing, page.total) | {
            "groups": group_names(),
            "remark": page.remark,
        }
    except WeirError as error:
        return no_update, {"error": failure(error)}
    return {"rowData": page.rows, "rowCount": page.total}, around


clientside_callback(ClientsideFunction("devices", "requested"), Input(Ids.GRID, "getRowsRequest"))
clientside_callback(ClientsideFunction("devices", "received"), Input(Ids.ANSWER, "data"))

# --- The frame -----------------------------------------------------------------------------------


EXPORTS: Final = (
    Section(
        "These devices",
        (
            Entry("CSV", ".csv", href="/download/devices.csv", here=True),
            Entry("Excel workbook", ".xlsx", href="/download/devices.xlsx", here=True),
        ),
    ),
    WHAT_THEY_USED,
)


def devices_page(listing: Listing) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.ANSWER),
            _heading(listing),
            _filters(listing),
            notice(Ids.NOTICE),
            html.Div(
                [_grid(listing), html.Div(id=Ids.EMPTY, className="empty", hidden=True)],
                className="card grid",
            ),
        ],
        id=Ids.PAGE,
        **attributes(data_ready="false", **_first_readings()),
    )


def _first_readings() -> dict[str, str]:
    """Where an administrator of an empty store goes on."""
    if not session.me().role.may_administer:
        return {}
    return {"data_first": session.site_path(shell.HOME)}


def devices_tools(listing: Listing) -> list[Component]:
    return [units_select(listing.units), zone_select("Each device’s zone", listing.zone)]


def _heading(listing: Listing) -> Component:
    return html.Div(
        [
            html.H1("Devices"),
            html.Span(id=Ids.COUNT_TEXT, className="quiet", role="status"),
            html.Div(
                [_choice_of_columns(listing), menu("Export", EXPORTS, name="Export this list")],
                className="fleet-right",
            ),
        ],
        className="heading",
    )


def _filters(listing: Listing) -> Component:
    states = [(name, label) for name, (label, _) in STATUSES.items()]
    kinds = [("", "Any or no finding"), *((kind.name, kind.label) for kind in KINDS)]
    return html.Div(
        [
            search_field(Ids.SEARCH, "Search devices", value=listing.search),
            select("State", "status", states, chosen=listing.status),
            select("Open finding", "kind", kinds, chosen=listing.kind),
            html.Span(id=Ids.GROUP),
        ],
        className="devices-filters",
    )


def _choice_of_columns(listing: Listing) -> Component:
    """The choice of the grid's columns. assets/devices.js stores it in the browser and in the
    address."""
    choices = [
        html.Li(
            html.Button(
                column.label,
                type="button",
                className="column-choice",
                role="menuitemcheckbox",
                **attributes(
                    data_column=column.name,
                    data_usual=str(column.usual).lower(),
                    aria_checked=str(column.name in listing.columns).lower(),
                ),
            )
        )
        for column in COLUMNS
        if not column.fixed
    ]
    return html.Details(
        [
            html.Summary("Columns", className="button", **labelled("Choose columns")),
            html.Div(
                [
                    html.Ul(choices, role="menu", **labelled("Columns")),
                    html.Button("Usual columns", type="button", className="button column-reset"),
                ],
                className="menu-body",
            ),
        ],
        id=Ids.COLUMNS,
        className="menu columns",
    )


def _grid(listing: Listing) -> Component:
    view = write_listing(listing)
    return AgGrid(
        id=Ids.GRID,
        rowModelType="infinite",
        getRowId="params.data.id",  # the selection stays, whatever block a row is in
        columnDefs=[_column(column, listing) for column in COLUMNS],
        defaultColDef={"resizable": False, "suppressMovable": True, "sortable": False},
        dashGridOptions={
            "theme": THEME,
            "context": {name: view[name] for name in CONTEXT},
            "rowHeight": ROW_PX,
            "cacheBlockSize": BLOCK,
            "maxBlocksInCache": CACHED_BLOCKS,
            "infiniteInitialRowCount": 30,  # placeholder rows, until the number of rows is known
            # The component handles one request of the grid at a time.
            "maxConcurrentDatasourceRequests": 1,
            "blockLoadDebounceMillis": 40,  # rows that are only scrolled past aren't requested
            "rowBuffer": 12,
            "suppressMultiSort": True,
            "suppressColumnVirtualisation": True,
            "suppressDragLeaveHidesColumns": True,
            "suppressNoRowsOverlay": True,  # the page gives the reason for an empty list
            "rowClassRules": {"waiting": "!params.data"},
            "tabToNextCell": {"function": "weirLeaveGrid(params)"},
            "enableCellTextSelection": True,
        },
        style={"height": "100%"},
    )


def _column(column: Column, listing: Listing) -> dict[str, Any]:
    made: dict[str, Any] = {
        "field": column.name,
        "headerName": column.label,
        "minWidth": column.least_px,
        "flex": column.share,
        "hide": not (column.fixed or column.name in listing.columns),
        "context": {"narrow": column.narrow, "fixed": column.fixed},
    }
    if column.renderer:
        made["cellRenderer"] = column.renderer
    if column.numeric:
        made |= {"cellClass": "numeric", "headerClass": "numeric"}
    if column.low:
        low = f"params.data && params.data.low.includes('{column.name}')"
        made["cellClassRules"] = {"low": low}
    if column.order:
        made |= {"sortable": True, "sortingOrder": ["asc", "desc"]}
    if column.name == listing.sort:
        made["sort"] = listing.order
    return made
