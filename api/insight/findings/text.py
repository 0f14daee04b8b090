"""Numbers and instants in the findings' sentences."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from api.metering.units import number as number
from api.timez import MINUTE_MS, offset_ms, to_datetime

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def count(value: float, noun: str) -> str:
    whole = round(value)
    return f"{whole:,} {noun}{'' if whole == 1 else 's'}"


def length(length_ms: int) -> str:
    """Formats a duration: ``23 min``, ``5 h 51 min``, ``3 d 4 h``."""
    hours, minutes = divmod(round(length_ms / MINUTE_MS), 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (0 if days else minutes, "min"))
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 min"


def date(instant_ms: int, tz: ZoneInfo) -> str:
    """Formats the local date: Mon 16 Nov."""
    wall = to_datetime(instant_ms + offset_ms(tz, instant_ms))
    return f"{_DAYS[wall.weekday()]} {wall.day} {_MONTHS[wall.month - 1]}"


def when(instant_ms: int, tz: ZoneInfo) -> str:
    """Formats the local date and time: Mon 16 Nov, 03:00."""
    wall = to_datetime(instant_ms + offset_ms(tz, instant_ms))
    return f"{date(instant_ms, tz)}, {wall:%H:%M}"


def span(start_ms: int, end_ms: int | None, tz: ZoneInfo) -> str:
    """Formats "since Mon 16 Nov, 03:00", or "from … to …" for a finished span."""
    if end_ms is None:
        return f"since {when(start_ms, tz)}"
    return f"from {when(start_ms, tz)} to {when(end_ms, tz)}"
