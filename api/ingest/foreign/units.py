"""Units of water, as files write them."""

from __future__ import annotations

import re
from typing import Final, Literal

from api.metering.units import LITRES, LITRES_PER_GALLON

Values = Literal["register", "amount", "rate"]

SECONDS: Final[dict[str, float]] = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}

_VOLUME_NAMES: Final = {
    "gal": "gal|gals|gallons?|us ?gal|galones",
    "kgal": "kgal|kgallons?",
    "imperial gal": "imp ?gal|igal",
    "ml": "ml|millilit(?:er|re)s?",
    "hl": "hl|hectolit(?:er|re)s?",
    "l": "l|lt|ltr|lit(?:er|re|ro|ri)s?|litros?|dm3|dm³|л|литр(?:а|ов|ы)?",
    "m3": "m3|m³|m\\^3|cbm|cum|kubikmeter|cubic ?met(?:er|re)s?|kl|kilolit(?:er|re)s?|mc"
    "|metri ?cubi|metros? ?cubicos?|m[eè]tres? ?cubes?|м3|м³|куб\\.? ?м",
    "ft3": "ft3|ft³|ft\\^3|cf|cu ?ft|cubic ?feet",
    "ccf": "ccf|hcf",
}
_TIME_NAMES: Final = {
    "s": "s|sec|secs|seconds?|sek",
    "min": "min|mins|minutes?|minuto",
    "h": "h|hr|hrs|hour|hours|std|stunde|ora|hora|heure|uur|tim|timme",
    "d": "d|day|days|tag|giorno|dia|jour",
}
_SHORT: Final = {
    "gpm": "gal/min", "gph": "gal/h", "gpd": "gal/d", "lpm": "l/min", "lps": "l/s", "lph": "l/h",
    "cfs": "ft3/s", "cmh": "m3/h", "cms": "m3/s", "mgd": "1000 kgal/d", "mld": "1000 m3/d",
}  # fmt: skip
_VOLUME: Final = "|".join(f"(?P<v{i}>{names})" for i, names in enumerate(_VOLUME_NAMES.values()))
_TIME: Final = "|".join(f"(?P<t{i}>{names})" for i, names in enumerate(_TIME_NAMES.values()))
_UNIT: Final = re.compile(
    r"(?:(?:(?<=[(\[])|(?<![a-z0-9])[x×*]\s?)(?P<times>\d+(?:[.,]\d+)?)\s*(?=[a-z])|(?<![a-z0-9]))"
    rf"(?:(?P<short>{'|'.join(_SHORT)})|(?:{_VOLUME})"
    rf"(?:(?:\s*/\s*|\s+per\s+|\s+)(?:{_TIME}))?)(?![a-z0-9])"
    r"(?P<pulse>\s*(?:/|per)\s*(?:pulse|imp|impuls|impulso|ip|count)s?\b)?"
)
_MEGALITRES: Final = re.compile(r"\bML ?/ ?d(?:ay)?\b")  # "ml/d" are millilitres
_TIMES: Final = re.compile(r"(\d+(?:\.\d+)?) (.+)")
_PULSE: Final = re.compile(r"(\d+(?:[.,]\d+)?)\s*$")


def unit_in(name: str) -> str:
    """Returns the unit of water that a heading names, such as ``l/min`` for "Durchfluss [l/min]",
    ``10 l`` for "pulses, 10 L/pulse" or "reading x10 l"; '' if it names none."""
    name = _MEGALITRES.sub("mld", name).lower().replace("-", "_").replace("_", " ")
    units = list(_UNIT.finditer(name))
    if not units:
        return ""
    match = units[-1]  # "litres (m3)" is in cubic metres
    if match["short"]:
        return _SHORT[match["short"]]
    volume = next(v for i, v in enumerate(_VOLUME_NAMES) if match[f"v{i}"])
    time = next((t for i, t in enumerate(_TIME_NAMES) if match[f"t{i}"]), "")
    before = _PULSE.search(name[: match.start()]) if match["pulse"] else None
    times = float((match["times"] or (before[1] if before else "1")).replace(",", "."))
    unit = f"{volume}/{time}" if time else volume
    return unit if times in (0, 1) else f"{times:g} {unit}"


def is_plain_unit(text: str) -> bool:
    """Whether the text is a unit of water and nothing else."""
    return bool(_UNIT.fullmatch(text.strip().lower()))


def row_unit(text: str, otherwise: str) -> str:
    """Returns the unit in a row's own column of units, ``otherwise`` where that is empty, '' for
    one that isn't of water."""
    text = text.strip()
    if not text:
        return otherwise
    return text.lower() if is_unit(text.lower()) else unit_in(text)


def split(unit: str) -> tuple[float, str]:
    """(10, "l") of ``10 l``, (1, "l") of ``l``."""
    match = _TIMES.fullmatch(unit)
    return (float(match[1]), match[2]) if match else (1.0, unit)


def is_unit(text: str) -> bool:
    volume, slash, time = split(text)[1].partition("/")
    return volume in LITRES and (time in SECONDS if slash else True) and split(text)[0] > 0


def factor(unit: str, values: Values) -> float:
    """Returns the factor from a value to gallons, for rates to gallons a minute. Raises ValueError
    if the unit doesn't fit the kind of value."""
    times, unit = split(unit)
    volume, _, time = unit.partition("/")
    if volume not in LITRES or (time and time not in SECONDS) or bool(time) != (values == "rate"):
        wanted = "a volume a time, such as l/min" if values == "rate" else "a volume, such as m3"
        raise ValueError(f"{unit!r} is no unit of {values}s: {wanted}")
    gallons = times * LITRES[volume] / LITRES_PER_GALLON
    return gallons * 60.0 / SECONDS[time] if time else gallons
