"""The plain alternatives to the chart's zoom, with one device's readings in a file: ``python
plain_zoom.py raw|resampler FILE PORT POINTS``.

`raw` sends every reading of the visible range; `resampler` is plotly-resampler, which thins them
out. It needs an older plotly.js than Weir uses, so this file stands alone: another Python may run
it, with dash, numpy and plotly-resampler.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import plotly.graph_objects as go
from dash import Dash, Input, Output, Patch, dcc, no_update

HEIGHT_PX = 420
LAYOUT: dict[str, Any] = {"height": HEIGHT_PX, "dragmode": "zoom"}


def raw(x: Any, y: Any) -> Dash:
    app = Dash(__name__)
    figure = go.Figure(go.Scatter(x=x, y=y, mode="lines"), LAYOUT)
    app.layout = dcc.Graph(id="graph", figure=figure)

    @app.callback(Output("graph", "figure"), Input("graph", "relayoutData"))
    def zoom(relayout: dict[str, Any] | None) -> Any:
        ends = [(relayout or {}).get(f"xaxis.range[{end}]") for end in (0, 1)]
        if None in ends:
            return no_update
        start, end = (np.datetime64(text.replace(" ", "T")) for text in ends)
        shown = (x >= start) & (x <= end)
        patch = Patch()
        patch["data"][0]["x"], patch["data"][0]["y"] = x[shown], y[shown]
        return patch

    return app


def resampler(x: Any, y: Any, points: int) -> Dash:
    from plotly_resampler import FigureResampler

    app = Dash(__name__)
    figure = FigureResampler(go.Figure(layout=LAYOUT), default_n_shown_samples=points)
    figure.add_trace(go.Scatter(mode="lines", name="flow"), hf_x=x, hf_y=y)
    app.layout = dcc.Graph(id="graph", figure=figure)
    figure.register_update_graph_callback(app, "graph")
    return app


if __name__ == "__main__":
    kind, path, port, points = sys.argv[1:]
    with np.load(path) as stored:
        x, y = stored["times"].astype("datetime64[ms]"), stored["flows"]
    app = raw(x, y) if kind == "raw" else resampler(x, y, int(points))
    app.run(host="127.0.0.1", port=int(port), debug=False)
