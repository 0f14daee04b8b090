"""The grid: its scripts, which only the pages that show one load, and its look.

Dash puts a component library's scripts into every page of an app that imports it; the grid's weigh
half of what the fleet page does. So they are declared to Dash as loaded on demand, and
`assets/grid.js` stands in for the library until a page shows a grid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import dash_ag_grid
from dash import Dash
from dash.fingerprint import build_fingerprint

LIBRARY: Final = "dash_ag_grid"
FILES: Final = ("dash_ag_grid.min.js", "async-community.js")

# Served where they are asked for, named in no page. What isn't here isn't served: not the
# enterprise part, which asks other hosts for fonts.
dash_ag_grid._js_dist[:] = [  # pyright: ignore[reportPrivateUsage]
    {"relative_package_path": file, "namespace": LIBRARY, "dynamic": True} for file in FILES
]

# ag-grid's parameters in terms of the stylesheet's variables, so that a theme's switch is the
# stylesheet's affair alone.
_LOOK: Final = {
    "backgroundColor": "var(--surface)",
    "foregroundColor": "var(--ink)",
    "accentColor": "var(--accent)",
    "borderColor": "var(--line)",
    "chromeBackgroundColor": "var(--surface)",
    "headerBackgroundColor": "var(--surface)",
    "headerTextColor": "var(--ink-2)",
    "headerFontSize": 12,
    "headerFontWeight": 400,
    "headerHeight": 36,
    "headerColumnResizeHandleColor": "transparent",
    "rowHoverColor": "var(--bg)",
    "subtleTextColor": "var(--ink-3)",
    "textColor": "var(--ink)",
    "fontFamily": "inherit",
    "fontSize": 13,
    "cellHorizontalPadding": 16,
    "wrapperBorder": False,
    "wrapperBorderRadius": 10,
    "browserColorScheme": "inherit",
}
THEME: Final[Any] = {"function": f"themeQuartz.withParams({json.dumps(_LOOK)})"}


def script_addresses(app: Dash) -> list[str]:
    """Where the grid's scripts are, in the form that browsers may keep for ever."""
    folder = Path(dash_ag_grid.__file__).parent
    prefix = f"{app.config.requests_pathname_prefix}_dash-component-suites/{LIBRARY}/"
    return [
        prefix + build_fingerprint(file, dash_ag_grid.__version__, _second(folder / file))
        for file in FILES
    ]


def _second(file: Path) -> int:
    return int(file.stat().st_mtime)
