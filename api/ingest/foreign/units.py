"""Units of water, by the ways in which files write them."""

from __future__ import annotations

import re
from typing import Final, Literal

from api.metering.units import LITRES, LITRES_PER_GALLON

Values = Literal["register", "amount", "rate"]

SECONDS: Final[dict[str, float]] = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
UNITS: Final = (*LITRES, *(f"{volume}/{time}" for volume in LITRES for time in SECONDS))

_VOLUME_NAMES: Final = {
    "gal": "gal|gals|gallons?|us ?gal|galones",
    "kgal": "kgal|kgallons?",
    "imperial gal": "imp ?gal|igal",
    "ml": "ml|millilit(?:er|re)s?",
    "hl": "hl|hectolit(?:er|re)s?",
    "l": "l|lt|ltr|lit(?:er|re|ro|ri)s?|litros?",
    "m3": "m3|m³|m\\^3|cbm|cum|kubikmeter|cubic ?met(?:er|re)s?",
    "ft3": "ft3|ft³|ft\\^3|cf|cuft|cubic ?feet",
    "ccf": "ccf|hcf",
}
_TIME_NAMES: Final = {
    "s": "s|sec|secs|seconds?|sek",
    "min": "min|mins|minutes?|minuto",
    "h": "h|hr|hrs|hour|hours|std|stunde|ora|hora|heure",
    "d": "d|day|days|tag|giorno|dia|jour",
}
_SHORT: Final = {
    "gpm": "gal/min", "gph": "gal/h", "gpd": "gal/d", "lpm": "l/min", "lps": "l/s", "lph": "l/h",
    "cfs": "ft3/s", "cmh": "m3/h", "cms": "m3/s",
}  # fmt: skip
_VOLUME: Final = "|".join(f"(?P<v{i}>{names})" for i, names in enumerate(_VOLUME_NAMES.values()))
_TIME: Final = "|".join(f"(?P<t{i}>{names})" for i, names in enumerate(_TIME_NAMES.values()))
_UNIT: Final = re.compile(
    rf"(?<![a-z0-9])(?:(?P<short>{'|'.join(_SHORT)})|(?:{_VOLUME})"
    rf"(?:(?:\s*/\s*|\s+per\s+|\s+)(?:{_TIME}))?)(?![a-z0-9])"
)


def unit_in(name: str) -> str:
    """The unit of water that a heading names, such as ``l/min`` for "Durchfluss [l/min]"; '' if it
    names none."""
    units = list(_UNIT.finditer(name.lower().replace("-", "_").replace("_", " ")))
    if not units:
        return ""
    match = units[-1]  # "litres (m3)" is in cubic metres
    if match["short"]:
        return _SHORT[match["short"]]
    volume = next(v for i, v in enumerate(_VOLUME_NAMES) if match[f"v{i}"])
    time = next((t for i, t in enumerate(_TIME_NAMES) if match[f"t{i}"]), "")
    return f"{volume}/{time}" if time else volume


def factor(unit: str, values: Values) -> float:
    """What a value is multiplied by: to gallons, for rates to gallons a minute. ValueError if the
    unit isn't one of such values."""
    volume, _, time = unit.partition("/")
    if volume not in LITRES or (time and time not in SECONDS) or bool(time) != (values == "rate"):
        wanted = "a volume a time, such as l/min" if values == "rate" else "a volume, such as m3"
        raise ValueError(f"{unit!r} is no unit of {values}s: {wanted}")
    gallons = LITRES[volume] / LITRES_PER_GALLON
    return gallons * 60.0 / SECONDS[time] if time else gallons
