"""What an address or a page's question says, by name. Read with doubt: what can't be understood
counts as not said. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.timez import zone_names
from components.units import UNITS_BY_NAME, US, Units

LONGEST_SHOWN: Final = 60
NAMES: Final = {
    "zone": "time zone",
    "units": "units",
    "range": "range",
    "window": "window",
    "metric": "metric",
    "from": "start of a range",
    "to": "end of a range",
}


def said_text(said: Mapping[str, Any], name: str, longest: int | None = None) -> str:
    """Cut to ``longest``; empty where there is none."""
    value = said.get(name)
    return value[:longest] if isinstance(value, str) else ""


def said_zone(said: Mapping[str, Any]) -> str | None:
    """A time zone that exists."""
    zone = said_text(said, "zone")
    return zone if zone in zone_names() else None


def unread(said: Mapping[str, Any], readable: Mapping[str, bool]) -> list[str]:
    """What an address says that the page can't show, in sentences. ``readable`` are the names whose
    values the page has looked at, and whether each could be read."""
    units = said_text(said, "units") in UNITS_BY_NAME
    could = {"zone": said_zone(said) is not None, "units": units, **readable}
    return [
        f"The address names no {NAMES[name]} that there is: “{value[:LONGEST_SHOWN]}”."
        " The usual one is shown."
        for name, ok in could.items()
        if (value := said_text(said, name)) and not ok
    ]


def said_units(said: Mapping[str, Any]) -> Units:
    return UNITS_BY_NAME.get(said_text(said, "units"), US)
