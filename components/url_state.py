"""The view of a chart, in its address and in the browser's query; and what of it is shown, for the
other parts of the page.

The same names everywhere: ``range``, ``from``, ``to``, ``metric``, ``zone``, ``units``. Input from
a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.catalog import (
    FLOW_AMOUNT,
    FLOW_RATE,
    NETWORK_RSSI,
    ONBOARD_TEMPERATURE,
    QUALITY,
    RAW,
    RESOLUTION_BY_NAME,
    SIGNAL_STRENGTH,
    Metric,
    Resolution,
)
from api.errors import BadRequest
from api.metering.comparison import OTHER_DEVICE
from api.timez import parse_instant, zone_names
from components import formatting
from components.ranges import (
    DEFAULT_PRESET,
    PRESET_BY_NAME,
    PRESETS,
    Preset,
    Window,
    bounded,
    preset_window,
    write_window,
)
from components.units import UNITS_BY_NAME, Units, read_units, usual_units, write_units

NARROWEST_PX: Final = 200
USUAL_PX: Final = 1_000
WIDEST_PX: Final = 8_000
BETWEEN: Final = ".."  # two instants of a custom range, in an address


@dataclass(frozen=True, slots=True)
class Tab:
    """The metrics of a chart: one, or two that belong together. ``bars``: totals of buckets, drawn
    from zero; otherwise averages between their extremes."""

    name: str
    label: str
    metrics: tuple[Metric, ...]
    bars: bool = False

    @property
    def metric(self) -> Metric:
        return self.metrics[0]


TABS: Final = (
    Tab("flow_rate", "Flow rate", (FLOW_RATE,)),
    Tab("volume", "Volume", (FLOW_AMOUNT,), bars=True),
    Tab("quality", "Quality", (QUALITY,)),
    Tab("signal", "Signal", (SIGNAL_STRENGTH, NETWORK_RSSI)),
    Tab("temperature", "Temperature", (ONBOARD_TEMPERATURE,)),
)
TAB_BY_NAME: Final = {tab.name: tab for tab in TABS}
DEFAULT_TAB: Final = TABS[0]


USUAL: Final = "usual"
COMPARISONS: Final = {
    "day": "Previous day",
    "week": "Previous week",
    "month": "Previous month",
    "year": "Previous year",
    USUAL: "Usual",
}
SHOWN: Final = "1"  # of an option that is on
LONGEST_COMPARE: Final = 120


@dataclass(frozen=True, slots=True)
class View:
    """``custom``: a custom range; otherwise ``preset`` is the range. ``window``: a zoom into it;
    None shows the whole range. ``tab`` and ``zone`` None: the device's. ``settled``: the reader has
    moved the axis to the window already, so a reply must not move it back. ``compare``: a name of
    `COMPARISONS`, "device:" and an identifier, or "". ``usual``: show the band of usual values."""

    preset: Preset = DEFAULT_PRESET
    custom: Window | None = None
    window: Window | None = None
    tab: Tab | None = None
    zone: str | None = None
    units: Units = field(default_factory=usual_units)
    theme: str = "light"
    width_px: int = USUAL_PX
    settled: bool = False
    compare: str = ""
    usual: bool = False

    def whole(self, last_ms: int | None, now_ms: int) -> Window:
        """The whole range. ``last_ms``: the device's last reading."""
        return self.custom or preset_window(self.preset, last_ms, now_ms)


def read_view(params: Mapping[str, Any]) -> View:
    """From the query of an address or from the browser."""
    chosen = text_param(params, "range")
    return View(
        preset=PRESET_BY_NAME.get(chosen, DEFAULT_PRESET),
        custom=read_window(*chosen.split(BETWEEN)) if chosen.count(BETWEEN) == 1 else None,
        window=read_window(text_param(params, "from"), text_param(params, "to")),
        tab=TAB_BY_NAME.get(text_param(params, "metric")),
        zone=zone_param(params),
        units=units_param(params),
        theme="dark" if params.get("theme") == "dark" else "light",
        width_px=_width(params.get("width_px")),
        settled=params.get("settled") is True,
        compare=read_compare(text_param(params, "compare")),
        usual=text_param(params, "usual") == SHOWN,
    )


def unread_view(params: Mapping[str, Any], view: View) -> list[str]:
    """A sentence for each invalid parameter of an address."""
    preset = text_param(params, "range") in PRESET_BY_NAME or view.custom is not None
    zoomed = view.window is not None
    could = {"range": preset, "metric": view.tab is not None, "from": zoomed, "to": zoomed}
    return unread(params, could | {"compare": bool(view.compare)})


def write_view(view: View) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    window = view.window
    return {
        "range": BETWEEN.join(write_window(view.custom)) if view.custom else view.preset.name,
        "from": write_window(window)[0] if window else None,
        "to": write_window(window)[1] if window else None,
        "metric": view.tab.name if view.tab else None,
        "zone": view.zone,
        "units": write_units(view.units),
        "compare": view.compare or None,
        "usual": SHOWN if view.usual else None,
    }


def read_compare(text: str) -> str:
    """The comparison; "" for anything invalid."""
    device = text.startswith(OTHER_DEVICE) and len(OTHER_DEVICE) < len(text) <= LONGEST_COMPARE
    return text if device or text in COMPARISONS else ""


def read_window(first: str, last: str) -> Window | None:
    try:
        return bounded(parse_instant(first), parse_instant(last))
    except ValueError:
        return None


def _width(value: Any) -> int:
    if type(value) not in (int, float) or not NARROWEST_PX <= value <= WIDEST_PX:
        return USUAL_PX
    return int(value)


# --- Reading parameters --------------------------------------------------------------------------


LONGEST_SHOWN: Final = 60
NAMES: Final = {
    "zone": "time zone",
    "units": "units",
    "range": "range",
    "window": "window",
    "metric": "metric",
    "from": "start of a range",
    "to": "end of a range",
    "compare": "comparison",
}


def text_param(params: Mapping[str, Any], name: str, longest: int | None = None) -> str:
    """Cut to ``longest`` characters; empty without a value."""
    value = params.get(name)
    return value[:longest] if isinstance(value, str) else ""


def zone_param(params: Mapping[str, Any]) -> str | None:
    """The time zone, if it exists."""
    zone = text_param(params, "zone")
    return zone if zone in zone_names() else None


def unread(params: Mapping[str, Any], readable: Mapping[str, bool]) -> list[str]:
    """A sentence for each parameter with an invalid value. ``readable``: the parameters that the
    page reads, and whether each is valid."""
    units = text_param(params, "units") in UNITS_BY_NAME
    could = {"zone": zone_param(params) is not None, "units": units, **readable}
    return [
        f"The address has no valid {NAMES[name]}: “{value[:LONGEST_SHOWN]}”. The default is shown."
        for name, ok in could.items()
        if (value := text_param(params, name)) and not ok
    ]


def units_param(params: Mapping[str, Any]) -> Units:
    return read_units(text_param(params, "units"))


# --- Reading input of a page's script ------------------------------------------------------------


def read_question(value: Any) -> dict[str, Any]:
    """The value of a Store, which is None at first."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _foreign("a query")
    return value


def read_text(value: Any) -> str:
    """The value of a field; None if empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _foreign("a text")
    return value


def read_texts(value: Any) -> tuple[str, ...]:
    """The values of a multiple choice."""
    listed = [] if value is None else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise _foreign("a choice")
    return tuple(listed)


def _foreign(kind: str) -> BadRequest:
    return BadRequest(f"The page sent an invalid value: not {kind}.")


# --- The shown chart -----------------------------------------------------------------------------


_SPAN_NAMES: Final = {"1h": "hour", "24h": "day", "7d": "week", "30d": "30 d", "1y": "year"}


@dataclass(frozen=True, slots=True)
class Shown:
    """``zone`` None: the device's. ``resolution``: of the rows. ``compare``: the comparison;
    ``difference``: its difference in volume as text. ``spread``: how long a register's volume is
    spread over gaps, as text."""

    window: Window
    zone: str | None = None
    units: Units = field(default_factory=usual_units)
    resolution: Resolution = RAW
    compare: str = ""
    difference: str = ""
    spread: str = ""

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
                return f"the {_SPAN_NAMES[preset.name]} before"
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
        "request_id": request_id,
    }


def read_shown(params: Any) -> Shown | None:
    """None before a chart is shown. Raises BadRequest for invalid input."""
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
        text_param(params, "spread", LONGEST_COMPARE),
    )
