"""The administration: devices, groups, keys, the organization, data quality. assets/admin.js fills
the frame from the service's responses."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, clientside_callback, html, register_page
from dash.development.base_component import Component
from dash_ag_grid import AgGrid

from api.metering.units import METRIC_UNITS
from components import session, shell
from components.controls import THEME, attributes, message
from components.shell import ADMIN_PATH, IMPORT_PATH, admin_tabs
from components.units import UNITS, usual_units

PATH: Final = ADMIN_PATH
IMPORT_FILES_PATH: Final = f"{IMPORT_PATH}/files"  # web/dashboard.py
SERVICE_PATH: Final = f"{PATH}/service"  # web/dashboard.py
ROW_PX: Final = 48


class Ids(StrEnum):
    """Ids, also used by assets/admin.js."""

    PAGE = "admin"
    BODY = "admin-body"
    STATUS = "admin-status"
    GRID = "admin-grid"
    EMPTY = "admin-empty"


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

# --- The frame -----------------------------------------------------------------------------------


def admin_page() -> Component:
    return html.Div(
        [
            html.H1("Administration"),
            admin_tabs(),
            html.P(id=Ids.STATUS, className="notice", role="alert", hidden=True),
            html.Div(id=Ids.BODY, className="admin-body"),
            html.Div(
                [_grid(), html.P(id=Ids.EMPTY, className="empty", hidden=True)],
                className="grid card admin-grid-card",
            ),
        ],
        id=Ids.PAGE,
        className="admin-page",
        **attributes(data_settings=json.dumps(_settings())),
    )


def _settings() -> dict[str, object]:
    return {
        "service": session.site_path(SERVICE_PATH),
        "import": session.site_path(IMPORT_PATH),
        "imports": session.site_path(IMPORT_FILES_PATH),
        "device": session.site_path("/devices"),
        "rows": session.site_path("/download/devices"),
        "system": usual_units().name,
        "units": {
            system.name: {unit: system.shown(unit)._asdict() for unit in METRIC_UNITS}
            for system in UNITS
        },
    }


def _grid() -> Component:
    return AgGrid(
        id=Ids.GRID,
        getRowId="params.data.id",
        columnDefs=[],
        rowData=[],
        defaultColDef={
            "resizable": True,
            "suppressMovable": True,
            "sortable": True,
            "wrapHeaderText": True,
        },
        dashGridOptions={
            "theme": THEME,
            "rowHeight": ROW_PX,
            "headerHeight": ROW_PX,
            "rowSelection": {"mode": "multiRow"},
            "selectionColumnDef": {"pinned": "left", "width": 56, "resizable": False},
            "stopEditingWhenCellsLoseFocus": True,
            "suppressNoRowsOverlay": True,  # assets/admin-devices.js gives the reason
            "enableBrowserTooltips": True,
        },
        style={"height": "100%"},
    )
