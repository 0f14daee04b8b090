"""Importing files of readings, for administrators: drop, check, import, undo.

assets/imports.js fills the frame from the service's responses.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc, html, register_page
from dash.development.base_component import Component

from api.catalog import IMPORT_PIECE_BYTES
from components import session, shell
from components.controls import attributes, message
from components.shell import IMPORT_PATH as PATH
from components.units import usual_units

register_page(__name__, path=PATH, title="Import readings · Weir")
FILES_PATH: Final = f"{PATH}/files"  # web/dashboard.py
TITLE: Final = "Import readings"
HINT: Final = (
    "CSV, TSV, JSON, NDJSON or XLSX, also as .gz or .zip. Weir guesses what the columns mean; you"
    " check it before anything is stored."
)
NOT_YOURS: Final = "Importing files is for administrators with a key for all devices."


class Ids(StrEnum):
    """Ids, also used by assets/imports.js."""

    PAGE = "import-page"
    BODY = "import-body"
    STATUS = "import-status"


def layout(**_: Any) -> Component:
    if not session.me().role.may_administer:
        return shell.frame(message("For administrators", NOT_YOURS), place=PATH)
    return shell.frame(import_page(), place=PATH)


def import_page() -> Component:
    settings = {
        "files": session.site_path(FILES_PATH),
        "devices": session.site_path("/devices"),
        "pieceBytes": IMPORT_PIECE_BYTES,
        "organization": session.me().organization_id,
        "units": {unit: usual_units().shown(unit)._asdict() for unit in ("gal", "gal/min")},
    }
    return html.Div(
        [
            dcc.Link("Devices", href=session.site_path("/devices"), className="quiet"),
            html.H1(TITLE),
            html.P(HINT, className="quiet import-hint"),
            html.P(id=Ids.STATUS, className="notice", role="status", hidden=True),
            html.Div(id=Ids.BODY, className="import-body"),
        ],
        id=Ids.PAGE,
        className="import-page",
        **attributes(data_settings=json.dumps(settings)),
    )


clientside_callback(
    ClientsideFunction("imports", "opened"),
    Output(Ids.STATUS, "hidden"),
    Input(Ids.PAGE, "id"),
)
