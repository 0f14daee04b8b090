"""The frame of the import page, which assets/imports.js fills from the service's responses."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Final

from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import IMPORT_PIECE_BYTES
from components import session
from components.controls import attributes
from components.shell import IMPORT_PATH

PATH: Final = IMPORT_PATH
FILES_PATH: Final = f"{PATH}/files"  # web/forwarding.py
TITLE: Final = "Import readings"
HINT: Final = (
    "CSV, TSV, NDJSON or XLSX, also as .gz. Weir guesses what the columns mean; you check it before"
    " anything is stored."
)


class Ids(StrEnum):
    """What assets/imports.js looks for by these names too."""

    PAGE = "import-page"
    BODY = "import-body"
    STATUS = "import-status"


def import_page() -> Component:
    settings = {
        "files": session.site_path(FILES_PATH),
        "devices": session.site_path("/devices"),
        "pieceBytes": IMPORT_PIECE_BYTES,
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
