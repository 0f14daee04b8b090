"""The rates of a tariff as lines: ``0.02 above 3000 06-01..09-30 mon-fri 17-21``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from api.metering.tariff import RATE_DIGITS, TIER_DIGITS, WEEKDAYS
from api.metering.units import LARGE, PER_GALLON, shown_unit

_RATE_LINE: Final = re.compile(
    r"(?P<rate>[\d.]+)(?: above (?P<above>[\d.]+))?"
    r"(?: (?P<first>\d\d-\d\d)\.\.(?P<last>\d\d-\d\d))?"
    r"(?: (?P<days>[a-z]{3}(?:[-,][a-z]{3})*))?(?: (?P<from>\d{1,2})-(?P<to>\d{1,2}))?"
)


def read_rate_line(line: str, units: str) -> dict[str, Any]:
    """The rate of a line such as ``0.02 above 3000 06-01..09-30 mon-fri 17-21``, typed in these
    ``units``. Raises ValueError."""
    match = _RATE_LINE.fullmatch(" ".join(line.lower().split()))
    if match is None:
        raise ValueError(f"The rate {line.strip()[:60]!r} can't be read.")
    rate = rate_body(match["rate"], match["above"] or "0", units)
    if match["first"]:
        rate["season"] = [match["first"], match["last"]]
    if match["days"]:
        rate["days"] = [day for part in match["days"].split(",") for day in _weekdays(part)]
    if match["from"]:
        rate["hours"] = [int(match["from"]), int(match["to"])]
    return rate


def rate_body(rate: str, above: str, units: str) -> dict[str, Any]:
    """The rate as a request has it, of a price and a tier's volume that were typed in ``units``."""
    return {
        "perGallon": shown_unit(PER_GALLON, units).stored_text(rate, RATE_DIGITS),
        "above": shown_unit(LARGE, units).stored_text(above, TIER_DIGITS),
    }


def _weekdays(part: str) -> list[str]:
    first, _, last = part.partition("-")
    ends = [day for day in (first, last or first) if day in WEEKDAYS]
    if len(ends) < 2:
        raise ValueError(f"{part!r} isn't a weekday such as mon, or mon-fri.")
    low, high = map(WEEKDAYS.index, ends)
    return [WEEKDAYS[day % 7] for day in range(low, (high if high >= low else high + 7) + 1)]


def rate_line(rate: Mapping[str, Any], units: str, volume: str = "") -> str:
    """The line that `read_rate_line` reads. ``volume``: a unit to write after a tier's volume, for
    readers."""
    parts = [shown_unit(PER_GALLON, units).text(rate["perGallon"])]
    if rate.get("above") not in (None, "0"):
        above = shown_unit(LARGE, units).text(rate["above"])
        parts.append(f"above {float(above):,.10g}{volume}" if volume else f"above {above}")
    parts += ["..".join(rate["season"])] if rate.get("season") else []
    parts += [",".join(rate["days"])] if rate.get("days") else []
    parts += ["{:02}-{:02}".format(*map(int, rate["hours"]))] if rate.get("hours") else []
    return " ".join(parts)
