"""What a reader looks at, as it stands in the address and in the browser's question.

The same names everywhere: ``range``, ``from``, ``to``, ``metric``, ``zone``. Whatever comes from a
browser is read with doubt: what can't be understood counts as not said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.catalog import FLOW_RATE, METRICS, Metric
from api.timez import parse_instant, stamp, zone_names
from components.ranges import DEFAULT_PRESET, PRESET_BY_NAME, Preset, Window, bounded

DRAWN_METRICS: Final = tuple(m for m in METRICS if m.extremes)
_METRIC_BY_NAME: Final = {metric.name: metric for metric in DRAWN_METRICS}
NARROWEST_PX: Final = 200
USUAL_PX: Final = 1_000
WIDEST_PX: Final = 8_000


@dataclass(frozen=True, slots=True)
class View:
    """``window`` is a zoom into the preset, or a range of its own; None shows the whole preset.
    ``zone`` None is the device's. ``settled`` means that the axis shows the window already, since
    the reader moved it there: an answer must not move it back."""

    preset: Preset = DEFAULT_PRESET
    window: Window | None = None
    metric: Metric = FLOW_RATE
    zone: str | None = None
    theme: str = "light"
    width_px: int = USUAL_PX
    settled: bool = False


def read_view(said: Mapping[str, Any]) -> View:
    """From an address' query or from the browser's question."""
    return View(
        preset=PRESET_BY_NAME.get(_text(said, "range"), DEFAULT_PRESET),
        window=_window(said),
        metric=_METRIC_BY_NAME.get(_text(said, "metric"), FLOW_RATE),
        zone=_text(said, "zone") if _text(said, "zone") in zone_names() else None,
        theme="dark" if said.get("theme") == "dark" else "light",
        width_px=_width(said.get("width_px")),
        settled=said.get("settled") is True,
    )


def write_view(view: View) -> dict[str, str | None]:
    """The part of a view that an address holds; None for what is usual."""
    window = view.window
    return {
        "range": view.preset.name,
        "from": stamp(window.from_ms, fraction=True) if window else None,
        "to": stamp(window.to_ms, fraction=True) if window else None,
        "metric": None if view.metric is FLOW_RATE else view.metric.name,
        "zone": view.zone,
    }


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _window(said: Mapping[str, Any]) -> Window | None:
    try:
        return bounded(parse_instant(_text(said, "from")), parse_instant(_text(said, "to")))
    except ValueError:
        return None


def _width(value: Any) -> int:
    if type(value) not in (int, float) or not NARROWEST_PX <= value <= WIDEST_PX:
        return USUAL_PX
    return int(value)
