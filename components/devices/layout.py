"""The frame of the list: controls and the grid. assets/devices.js fills it and keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from dash import dcc, html
from dash.development.base_component import Component
from dash_ag_grid import AgGrid

from components.controls import attributes, notice, search_field, segments
from components.devices.listing import BLOCK, SORTS, STATUSES, Listing, write_listing
from components.grid import THEME
from components.menu import WHAT_THEY_USED, Entry, Section, menu

ROW_PX: Final = 52


class Ids(StrEnum):
    """What assets/devices.js looks for by these names too."""

    PAGE = "devices"
    GRID = "devices-grid"
    SEARCH = "devices-search"
    ANSWER = "devices-answer"
    SIGHT = "devices-sight"
    STATES = "devices-states"
    FOUND = "devices-found"
    NOTICE = "devices-notice"
    EMPTY = "devices-empty"


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


@dataclass(frozen=True, slots=True)
class Column:
    """``field`` is the row's; where it is one of SORTS, the list can be ordered by it. ``share`` is
    its part of the width that is left over, ``narrow`` whether a phone shows it."""

    field: str
    label: str
    least_px: int
    share: float = 1
    narrow: bool = False
    renderer: str | None = None


COLUMNS: Final = (
    Column("label", "Device", 168, share=2.4, narrow=True, renderer="WeirDevice"),
    Column("state", "State", 148, share=1.2, narrow=True, renderer="WeirState"),
    Column("networkUniqueIdentifier", "Network id", 172),
    Column("category", "Category", 112, share=0.7),
    Column("model", "Model", 104, share=0.7),
    Column("deviceTimeZone", "Time zone", 160),
    Column("installedOn", "Installed", 116, share=0.7),
)


def devices_page(listing: Listing) -> Component:
    return html.Div(
        [
            *(dcc.Store(id=id) for id in (Ids.ANSWER, Ids.SIGHT, Ids.STATES)),
            _heading(listing),
            notice(Ids.NOTICE),
            html.Div(
                [_grid(listing), html.Div(id=Ids.EMPTY, className="empty", hidden=True)],
                className="card grid",
            ),
        ],
        id=Ids.PAGE,
        **attributes(data_ready="false"),
    )


def _heading(listing: Listing) -> Component:
    options = [(name, name.capitalize()) for name in STATUSES]
    return html.Div(
        [
            html.H1("Devices"),
            segments("Which", "status", options, chosen=listing.status, default=Listing().status),
            search_field(Ids.SEARCH, "Search devices", value=listing.search),
            html.Span(id=Ids.FOUND, className="quiet", role="status"),
            menu("Export", EXPORTS, name="Export this list", kind="push"),
        ],
        className="heading",
    )


def _grid(listing: Listing) -> Component:
    said = write_listing(listing)
    return AgGrid(
        id=Ids.GRID,
        rowModelType="infinite",
        getRowId="params.data.id",  # what is chosen stays chosen, whatever block it comes in
        columnDefs=[_column(column, listing) for column in COLUMNS],
        defaultColDef={"resizable": False, "suppressMovable": True, "sortable": False},
        dashGridOptions={
            "theme": THEME,
            "context": {name: said[name] for name in ("status", "q")},
            "rowHeight": ROW_PX,
            "cacheBlockSize": BLOCK,
            "maxBlocksInCache": 20,
            "infiniteInitialRowCount": 30,  # skeletons, until the number of rows is known
            # The component keeps one question of the grid at a time.
            "maxConcurrentDatasourceRequests": 1,
            "blockLoadDebounceMillis": 40,  # what is only scrolled past isn't asked for
            "rowBuffer": 12,
            "suppressMultiSort": True,
            "suppressColumnVirtualisation": True,
            "suppressDragLeaveHidesColumns": True,
            "suppressNoRowsOverlay": True,  # the page says why there is none
            "rowClassRules": {"waiting": "!params.data"},
            "tabToNextCell": {"function": "weirLeaveGrid(params)"},
            "enableCellTextSelection": True,
        },
        style={"height": "100%"},
    )


def _column(column: Column, listing: Listing) -> dict[str, Any]:
    made: dict[str, Any] = {
        "field": column.field,
        "headerName": column.label,
        "minWidth": column.least_px,
        "flex": column.share,
        "context": {"narrow": column.narrow},
    }
    if column.renderer:
        made["cellRenderer"] = column.renderer
    if column.field in SORTS:
        made |= {"sortable": True, "sortingOrder": ["asc", "desc"]}
    if column.field == listing.sort:
        made["sort"] = listing.order
    return made
