"""The plain alternative to the wall: fifty `dcc.Graph`, filled by one callback.

``python -m benchmarks.site.plain_wall FILE PORT``; the file holds each device's line.
"""

from __future__ import annotations

import sys

import numpy as np
from dash import Dash, Input, Output, dcc, html

GRAPH_PX = 130


def application(path: str) -> Dash:
    with np.load(path) as arrays:
        times, flows = arrays["times"], arrays["flows"]
    x = times.astype("datetime64[ms]")
    ids = [f"graph-{number}" for number in range(len(flows))]
    app = Dash(__name__)
    graphs = [
        dcc.Graph(id=id, config={"displayModeBar": False}, style={"height": GRAPH_PX}) for id in ids
    ]
    grid = {"display": "grid", "gridTemplateColumns": "repeat(5, 1fr)"}
    app.layout = html.Div([dcc.Store(id="asked"), html.Div(graphs, id="graphs", style=grid)])

    @app.callback([Output(id, "figure") for id in ids], Input("asked", "data"))
    def fill(step_number: int | None) -> list[dict[str, object]]:
        """Moves on by a bucket with each refresh, like a live wall."""
        step = step_number or 0
        return [
            {
                "data": [{"type": "scatter", "mode": "lines", "x": x, "y": np.roll(y, -step)}],
                "layout": {"margin": {"l": 20, "r": 4, "t": 4, "b": 16}, "uirevision": "same"},
            }
            for y in flows
        ]

    return app


if __name__ == "__main__":
    application(sys.argv[1]).run(host="127.0.0.1", port=int(sys.argv[2]), debug=False)
