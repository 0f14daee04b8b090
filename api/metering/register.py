"""Registers: what flowed between two readings of a meter that counts up.

A register that falls has started again at 0 if it has so few digits that it must, was exchanged
where the device's configuration says so, and otherwise was set back: what flowed is unknown then,
never negative.

Volumes are counted in whole parts of 2^-26 gallon (60 nanolitres). So they are exact doubles, and
whatever the order of adding, their sum is the last register minus the first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from api.catalog import DAY_MS, HOUR_MS
from api.metering.units import LITRES, LITRES_PER_GALLON
from api.timez import floor_to, parse_instant

Floats = npt.NDArray[np.float64]

ROLLED_OVER_BELOW: Final = 0.1  # of a register's range: what may have flowed past its end
FEWEST_VALUES: Final = 24
FEWEST_RISES: Final = 5
MOST_FALLS: Final = 0.01  # of the steps: exchanges, counters set back

PARTS_A_GALLON: Final = 2.0**26
LARGEST: Final = 1e15  # a register as sent, in either direction
MISSED_AFTER: Final = 1.5  # reporting intervals without a register are a gap
BY_HOUR_MS: Final = 92 * DAY_MS  # longer gaps are spread by the day

# --- The settings of a device ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exchange:
    """From ``at_ms`` on, registers are a new meter's, which began at ``first``. ``last`` is the old
    one's, None if nobody read it. Both as the device sends them."""

    at_ms: int
    last: float | None = None
    first: float = 0.0


@dataclass(frozen=True, slots=True)
class RegisterSettings:
    """What a device's configuration says of its register.

    ``unit``: of a register that is sent without one, '' if not set. ``litres_per_pulse``: what is
    sent without a unit counts pulses. ``digits``: whole digits of what is sent; it starts again at
    0 after that many nines. ``offset``: added to what is sent, in ``unit``, for people to
    read. ``spread``: the volume of a gap counts evenly over it, or else at its end.
    ``interval_ms``: between two registers as configured.
    """

    unit: str = ""
    litres_per_pulse: float | None = None
    digits: int | None = None
    offset: float = 0.0
    spread: bool = True
    exchanges: tuple[Exchange, ...] = ()
    interval_ms: int = HOUR_MS

    @property
    def gap_ms(self) -> int:
        """A longer step between two registers is a gap."""
        return max(HOUR_MS, round(MISSED_AFTER * self.interval_ms))

    def shown_unit(self, unit: str = "") -> str:
        """The unit in which a register that was sent in ``unit`` is read by people."""
        return unit or self.unit or GALLONS

    def shown(self, value: float, unit: str = "") -> float:
        """A register as people read it, in `shown_unit`."""
        if not unit and self.litres_per_pulse is not None:
            value = value * self.litres_per_pulse / LITRES[self.shown_unit()]
        return value + self.offset if not unit or unit == self.unit else value

    def parts(self, value: float, unit: str) -> int:
        """A register as sent, in parts of a gallon."""
        litres = LITRES[unit or self.unit or GALLONS]
        if not unit and self.litres_per_pulse is not None:
            litres = self.litres_per_pulse
        return round(value * (litres / LITRES_PER_GALLON * PARTS_A_GALLON))


GALLONS: Final = "gal"


def _positive(value: Any) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError("must be a number above 0")
    return number


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    if not abs(value) <= LARGEST:
        raise ValueError(f"must be a number up to {LARGEST:g}")
    return float(value)


def unit_of(value: Any) -> str:
    """A unit of registers. Raises ValueError, in words."""
    unit = value.lower() if isinstance(value, str) else ""
    if unit not in LITRES:
        raise ValueError(f"must be one of {', '.join(LITRES)}")
    return unit


def _digits(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 15:
        raise ValueError("must be a whole number from 1 to 15")
    return value


def _spread(value: Any) -> bool:
    if value not in ("spread", "end"):
        raise ValueError("must be spread or end")
    return value == "spread"


def _exchanges(value: Any) -> tuple[Exchange, ...]:
    if not isinstance(value, list):
        raise ValueError("must be an array of exchanges")
    exchanges = sorted(map(_exchange, cast("list[object]", value)), key=lambda each: each.at_ms)
    if len({each.at_ms for each in exchanges}) < len(exchanges):
        raise ValueError("has two exchanges at one instant")
    return tuple(exchanges)


def _exchange(value: object) -> Exchange:
    given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if not isinstance(given.get("at"), str) or given.keys() - {"at", "last", "first"}:
        raise ValueError("must have exchanges of at (an instant), last and first")
    last, first = given.get("last"), given.get("first")
    return Exchange(
        parse_instant(given["at"]),
        None if last is None else _number(last),
        0.0 if first is None else _number(first),
    )


_SETTINGS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "registerUnit": ("unit", unit_of),
    "litresPerPulse": ("litres_per_pulse", _positive),
    "registerDigits": ("digits", _digits),
    "registerOffset": ("offset", _number),
    "registerGap": ("spread", _spread),
    "meterExchanges": ("exchanges", _exchanges),
}
REGISTER_SETTINGS: Final = tuple(_SETTINGS)
"""Their names in a device's ``config``."""


def check_settings(config: Mapping[str, Any]) -> None:
    """Raises ValueError, naming the setting, for a configuration that can't be used."""
    for name, (_, parse) in _SETTINGS.items():
        if config.get(name) is not None:
            try:
                parse(config[name])
            except ValueError as error:
                raise ValueError(f"{name} {error}") from None


def exchanged(
    given: Any, at_ms: int, exchange: Mapping[str, Any] | None
) -> list[Mapping[str, Any]]:
    """The value of ``meterExchanges`` with the exchange at an instant, or without one. Raises
    ValueError, in words, where there is none to take away."""
    rows = cast("list[Mapping[str, Any]]", given) if isinstance(given, list) else []
    others = [row for row in rows if _exchange(row).at_ms != at_ms]
    if exchange is None and len(others) == len(rows):
        raise ValueError("has no exchange")
    added = [] if exchange is None else [exchange]
    return sorted([*others, *added], key=lambda row: parse_instant(row["at"]))


def settings_of(config: Mapping[str, Any] | None, interval_s: float | None) -> RegisterSettings:
    """The settings of a stored configuration; what can't be used in it is ignored."""
    values: dict[str, Any] = {}
    for name, (attribute, parse) in _SETTINGS.items():
        if config and config.get(name) is not None:
            try:
                values[attribute] = parse(config[name])
            except ValueError:
                continue
    if interval_s:
        values["interval_ms"] = round(interval_s * 1000)
    return RegisterSettings(**values)


# --- From register to register --------------------------------------------------------------------


class Flag(StrEnum):
    """What is unusual of the step up to a register."""

    SPREAD = "spread"
    EXCHANGE = "exchange"
    ROLLOVER = "rollover"
    BACK = "back"


class Register(NamedTuple):
    """A register as sent. ``unit`` '': that of the device's settings."""

    at_ms: int
    value: float
    unit: str = ""


class Step(NamedTuple):
    """What flowed from one register (``from_ms``, None: this one is the first) to the next.

    ``parts`` of a gallon; None if unknown. ``fall``: by how many it fell where nothing explains it.
    """

    from_ms: int | None
    at_ms: int
    parts: int | None = None
    flags: tuple[Flag, ...] = ()
    fall: int = 0

    @property
    def gallons(self) -> float | None:
        return None if self.parts is None else self.parts / PARTS_A_GALLON


class Booked(NamedTuple):
    """Water of a reading: gallons a minute, seconds, gallons; all None where unknown."""

    at_ms: int
    rate: float | None = None
    seconds: float | None = None
    gallons: float | None = None


def steps(registers: Sequence[Register], settings: RegisterSettings) -> list[Step]:
    """The step up to each register of one meter, which are in order of time, each at an instant of
    its own."""
    if not registers:
        return []
    result = [Step(None, registers[0].at_ms)]
    counts = [settings.parts(each.value, each.unit) for each in registers]
    exchanges = [each.at_ms for each in settings.exchanges]
    for place in range(1, len(registers)):
        before, after = registers[place - 1], registers[place]
        first, end = bisect_right(exchanges, before.at_ms), bisect_right(exchanges, after.at_ms)
        legs: list[tuple[int, int]] = []
        begun = counts[place - 1]
        for exchange in settings.exchanges[first:end]:
            if exchange.last is not None:
                legs.append((begun, settings.parts(exchange.last, before.unit)))
            begun = settings.parts(exchange.first, after.unit)
        legs.append((begun, counts[place]))
        result.append(_step(before.at_ms, after, legs, exchanged=end > first, settings=settings))
    return result


def _step(
    from_ms: int,
    after: Register,
    legs: Sequence[tuple[int, int]],
    *,
    exchanged: bool,
    settings: RegisterSettings,
) -> Step:
    flags = [Flag.EXCHANGE] if exchanged else []
    full = 0 if settings.digits is None else settings.parts(10.0**settings.digits, after.unit)
    parts = fall = 0
    for low, high in legs:
        part = high - low
        if part < 0 and 0 <= part + full < ROLLED_OVER_BELOW * full:
            part += full
            flags.append(Flag.ROLLOVER)
        if part < 0:
            fall -= part
        parts += part
    if fall:
        return Step(from_ms, after.at_ms, None, (*flags, Flag.BACK), fall)
    if settings.spread and after.at_ms - from_ms > settings.gap_ms:
        flags.append(Flag.SPREAD)
    return Step(from_ms, after.at_ms, parts, tuple(flags))


def booked(step: Step) -> list[Booked]:
    """The readings of a step, in order of time. The last one is at its register. Of a spread step
    there is one more at the last millisecond of each hour (UTC; of long gaps, each day) in it."""
    if step.parts is None or step.from_ms is None:
        return [Booked(step.at_ms)]
    whole_ms = step.at_ms - step.from_ms
    rate = step.parts / PARTS_A_GALLON * 60_000 / whole_ms
    cuts = _cuts(step.from_ms, step.at_ms) if Flag.SPREAD in step.flags else ()
    rows: list[Booked] = []
    begun_ms, counted = step.from_ms, 0
    for at_ms, end_ms in [*((cut - 1, cut) for cut in cuts), (step.at_ms, step.at_ms)]:
        up_to_here = step.parts * (end_ms - step.from_ms) // whole_ms
        gallons = (up_to_here - counted) / PARTS_A_GALLON
        rows.append(Booked(at_ms, rate, (end_ms - begun_ms) / 1000, gallons))
        begun_ms, counted = end_ms, up_to_here
    return rows


def _cuts(from_ms: int, to_ms: int) -> Iterator[int]:
    """The ends of the hours, of long gaps the days, whose last millisecond is within a gap."""
    length = HOUR_MS if to_ms - from_ms <= BY_HOUR_MS else DAY_MS
    for end_ms in range(floor_to(from_ms, length) + length, to_ms + 1, length):
        if end_ms - 1 > from_ms:
            yield end_ms


# --- In files -----------------------------------------------------------------------------------


def looks_like_register(values: Floats) -> bool:
    """Whether one meter's values in order of time count up as a register does."""
    steps = np.diff(values[~np.isnan(values)])
    if len(steps) + 1 < FEWEST_VALUES:
        return False
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    return falls <= MOST_FALLS * len(steps) and rises >= FEWEST_RISES
