"""What an address or a page's question says, by name. Read with doubt: what can't be understood
counts as not said. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.timez import zone_names
from components.units import UNITS_BY_NAME, US, Units


def said_text(said: Mapping[str, Any], name: str, longest: int | None = None) -> str:
    """Cut to ``longest``; empty where there is none."""
    value = said.get(name)
    return value[:longest] if isinstance(value, str) else ""


def said_zone(said: Mapping[str, Any]) -> str | None:
    """A time zone that exists."""
    zone = said_text(said, "zone")
    return zone if zone in zone_names() else None


def said_units(said: Mapping[str, Any]) -> Units:
    return UNITS_BY_NAME.get(said_text(said, "units"), US)
