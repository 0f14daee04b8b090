"""What an image says beside its picture, so that it can be read wherever it ends up. Pure."""

from __future__ import annotations

from components import formatting
from components.chart_query import Drawn, exactness, zone_note
from components.clock import Clock


def range_words(drawn: Drawn) -> str:
    """``Fri 20 Nov 2026, 01:50 MST – Sat 21 Nov 2026, 01:50 MST``."""
    first, last = drawn.canvas.window
    clock = Clock(drawn.canvas.tz, first, last + 1)
    return f"{formatting.moment(first, clock)} – {formatting.moment(last + 1, clock)}"


def detail(drawn: Drawn) -> str:
    """``1 min rows · min and max exact``."""
    if not len(drawn.frame.series):
        return "no rows"
    resolution = drawn.frame.resolution
    rows = f"{resolution.label} rows" if resolution.aggregated else "readings"
    return f"{rows} · {exactness(drawn)}"


def caption(drawn: Drawn) -> dict[str, str]:
    """For the browser's own images (assets/image.js)."""
    return {
        "range": range_words(drawn),
        "detail": detail(drawn),
        "zone": zone_note(drawn),
        "resolution": drawn.frame.resolution.name,
    }
