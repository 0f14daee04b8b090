"""What the chart shows now, for the other parts of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from api.catalog import RAW, RESOLUTION_BY_NAME, Resolution
from components import formatting
from components.chart_query import Drawn, caption
from components.ranges import PRESETS, Window
from components.units import US, Units
from components.url_state import (
    LONGEST_COMPARE,
    View,
    read_compare,
    read_question,
    read_window,
    text_param,
    units_param,
    write_window,
    zone_param,
)

_NAMES: Final = {"1h": "hour", "24h": "day", "7d": "week", "30d": "30 d", "1y": "year"}


@dataclass(frozen=True, slots=True)
class Shown:
    """``zone`` None: the device's. ``resolution`` is that of the rows. ``compare``: with what the
    chart is compared; ``difference`` says in volume what that shows."""

    window: Window
    zone: str | None = None
    units: Units = US
    resolution: Resolution = RAW
    compare: str = ""
    difference: str = ""

    @property
    def label(self) -> str:
        """``7 d``, ``5 h 50 min``."""
        for preset in PRESETS:
            if preset.length_ms == self.window.length_ms:
                return preset.label
        return formatting.duration(self.window.length_ms)

    @property
    def before(self) -> str:
        """The name of the preceding span of the same length."""
        for preset in PRESETS:
            if preset.length_ms == self.window.length_ms:
                return f"the {_NAMES[preset.name]} before"
        return f"the {self.label} before"


def write_shown(shown: Shown, request_id: Any = None) -> dict[str, Any]:
    first, last = write_window(shown.window)
    return {
        "from": first,
        "to": last,
        "zone": shown.zone,
        "units": shown.units.name,
        "resolution": shown.resolution.name,
        "compare": shown.compare or None,
        "asked": request_id,
    }


def shown_response(drawn: Drawn, view: View, request_id: Any) -> dict[str, Any]:
    """What the response shows, with the caption of its image."""
    shown = Shown(drawn.canvas.window, view.zone, view.units, drawn.frame.resolution, view.compare)
    texts = {"caption": caption(drawn), "difference": drawn.picture.compared.difference}
    return {**write_shown(shown, request_id), **texts}


def read_shown(params: Any) -> Shown | None:
    """None if nothing is shown yet. Raises BadRequest for invalid input."""
    params = read_question(params)
    window = read_window(str(params.get("from")), str(params.get("to")))
    if window is None:
        return None
    return Shown(
        window,
        zone_param(params),
        units_param(params),
        RESOLUTION_BY_NAME.get(str(params.get("resolution")), RAW),
        read_compare(text_param(params, "compare")),
        text_param(params, "difference", LONGEST_COMPARE),
    )
