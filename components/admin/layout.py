"""The frame of the administration, which assets/admin.js fills from the service's responses."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Final

from dash import html
from dash.development.base_component import Component
from dash_ag_grid import AgGrid

from api.metering.units import METRIC_UNITS
from components import session
from components.controls import THEME, attributes, labelled
from components.shell import ADMIN_PATH, AUDIT_PATH, IMPORT_PATH
from components.units import UNITS, usual_units

PATH: Final = ADMIN_PATH
IMPORT_FILES_PATH: Final = f"{IMPORT_PATH}/files"  # web/dashboard.py
SERVICE_PATH: Final = f"{PATH}/service"  # web/dashboard.py
ROW_PX: Final = 48
TABS: Final = (
    ("devices", "Devices"),
    ("groups", "Groups"),
    ("keys", "Keys and people"),
    ("organization", "Organization"),
    ("quality", "Data quality"),
)


class Ids(StrEnum):
    """Ids, also used by assets/admin.js."""

    PAGE = "admin"
    BODY = "admin-body"
    STATUS = "admin-status"
    GRID = "admin-grid"
    EMPTY = "admin-empty"


def tabs(current: str = "") -> Component:
    """The tabs of the administration; ``current`` is the path of the open one."""
    links = [
        html.A(
            label,
            href=session.site_path(f"{PATH}?tab={name}"),
            className="admin-tab",
            **attributes(data_tab=name),
        )
        for name, label in TABS
    ]
    more = attributes(aria_current="page") if current == AUDIT_PATH else {}
    audit = html.A("Audit log", href=session.site_path(AUDIT_PATH), className="admin-tab", **more)
    return html.Nav([*links, audit], className="admin-tabs", **labelled("Administration"))


def admin_page() -> Component:
    return html.Div(
        [
            html.H1("Administration"),
            tabs(),
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
