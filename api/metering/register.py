"""Registers: the volume between two readings of a meter that counts up.

A register that falls has either rolled over to 0 (few enough digits), been exchanged (as the
device's configuration notes), or been set back. In the last case the volume is unknown, never
negative.

Volumes are counted in whole parts of 2^-26 gallon (60 nanolitres). They are exact as doubles, and
in whatever order they are added, their sum is the last register minus the first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from api.catalog import DAY_MS, HOUR_MS
from api.metering.units import LITRES, LITRES_PER_GALLON, plain
from api.timez import floor_to, parse_instant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

ROLLED_OVER_BELOW: Final = 0.1  # share of a register's range: the largest roll-over
FEWEST_VALUES: Final = 24
FEWEST_RISES: Final = 5
MOST_FALLS: Final = 0.01  # share of the steps that may be exchanges or counters set back

PARTS_A_GALLON: Final = 2.0**26
LARGEST: Final = 1e15  # a register as sent, in either direction
NEGATIVE: Final = "is negative, and a register counts up from 0"
_MOST_PARTS: Final = 2.0**62  # beyond, 64 bits can't hold a difference
MISSED_AFTER: Final = 1.5  # a step of more reporting intervals without a register is a gap
BY_HOUR_MS: Final = 92 * DAY_MS  # longer gaps are spread by day instead of by hour

# --- The settings of a device ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exchange:
    """From ``at_ms`` on, registers are those of a new meter that started at ``first``. ``last`` is
    the old meter's last register, or None if nobody read it. Both are in the unit that the device
    sends."""

    at_ms: int
    last: float | None = None
    first: float = 0.0


@dataclass(frozen=True, slots=True)
class RegisterSettings:
    """The register settings of a device's configuration.

    ``unit``: of a register sent without one; '' if not set. ``litres_per_pulse``: registers sent
    without a unit count pulses of this size. ``digits``: whole digits before the register rolls
    over to 0. ``offset``: added, in ``unit``, where people read the register. ``spread``: the
    volume of a gap is spread evenly over it; otherwise it is booked at its end. ``interval_ms``:
    the configured time between two registers.
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
        """Returns the longest step between two registers, in ms, that isn't a gap."""
        return max(HOUR_MS, round(MISSED_AFTER * self.interval_ms))

    def shown_unit(self, unit: str = "") -> str:
        """Returns the unit in which screens show a register sent in ``unit``."""
        return unit or self.unit or GALLONS

    def shown(self, value: float, unit: str = "") -> float:
        """Converts a register to the unit of `shown_unit`, as people read it."""
        if not unit and self.litres_per_pulse is not None:
            value = value * self.litres_per_pulse / LITRES[self.shown_unit()]
        return value + self.offset if not unit or unit == self.unit else value

    def parts(self, value: float, unit: str) -> int:
        """Converts a register as sent to parts of a gallon."""
        return round(value * self.parts_a_unit(unit))

    def parts_a_unit(self, unit: str) -> float:
        """Returns how many parts of a gallon 1 is in ``unit``."""
        litres = LITRES[unit or self.unit or GALLONS]
        if not unit and self.litres_per_pulse is not None:
            litres = self.litres_per_pulse
        return litres / LITRES_PER_GALLON * PARTS_A_GALLON


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
        raise ValueError(f"must be a number up to {plain(LARGEST)}")
    return float(value)


def _count(value: Any) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError("must have registers from 0")
    return number


def unit_of(value: Any) -> str:
    """Returns a register unit. Raises ValueError with a message for the user."""
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
        None if last is None else _count(last),
        0.0 if first is None else _count(first),
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
"""Names in a device's ``config``."""


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
    """Returns the value of ``meterExchanges`` with an exchange added at an instant, or removed from
    it. Raises ValueError, with a message for the user, where there is none to remove, or one that
    can't be."""
    rows = cast("list[Mapping[str, Any]]", given) if isinstance(given, list) else []
    others = [row for row in rows if _exchange(row).at_ms != at_ms]
    if exchange is None and len(others) == len(rows):
        raise ValueError("has no exchange")
    added = [] if exchange is None else [exchange]
    for row in added:
        _exchange(row)
    return sorted([*others, *added], key=lambda row: parse_instant(row["at"]))


def settings_of(config: Mapping[str, Any] | None, interval_s: float | None) -> RegisterSettings:
    """Reads the settings of a stored configuration. Unusable values are ignored."""
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
    """What is unusual about the step up to a register."""

    SPREAD = "spread"
    EXCHANGE = "exchange"
    ROLLOVER = "rollover"
    BACK = "back"


class Register(NamedTuple):
    """A register as sent. ``unit`` '' means the unit of the device's settings."""

    at_ms: int
    value: float
    unit: str = ""


class Step(NamedTuple):
    """The volume between two registers. ``from_ms`` is None for the first register. ``parts`` of a
    gallon are None if unknown. ``fall`` is an unexplained fall, in parts of a gallon."""

    from_ms: int | None
    at_ms: int
    parts: int | None = None
    flags: tuple[Flag, ...] = ()
    fall: int = 0

    @property
    def gallons(self) -> float | None:
        return None if self.parts is None else self.parts / PARTS_A_GALLON


class Booked(NamedTuple):
    """The water of one reading: gal/min, seconds and gallons; None where unknown."""

    at_ms: int
    rate: float | None = None
    seconds: float | None = None
    gallons: float | None = None


def steps(registers: Sequence[Register], settings: RegisterSettings) -> list[Step]:
    """Returns the step up to each register of one meter. The registers ascend in time, each at its
    own instant."""
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


class PlainWater(NamedTuple):
    """The reading of each register: gallons a minute, seconds, gallons; None at the first one.
    ``unusual``: indexes of registers that need `steps` and `booked` instead."""

    rates: list[float | None]
    seconds: list[float | None]
    gallons: list[float | None]
    unusual: list[int]


def plain_water(
    at_ms: Ints, values: Floats, units: Sequence[str], settings: RegisterSettings
) -> PlainWater:
    """Derives many registers at once, with the same bits as `steps` and `booked`."""
    import numpy as np  # every command opens a store, few need this

    factors = {unit: settings.parts_a_unit(unit) for unit in set(units)}
    several = len(factors) > 1
    counts = np.rint(
        values * (np.array([factors[u] for u in units]) if several else factors[units[0]])
    )
    with np.errstate(invalid="ignore"):
        parts, whole_ms = np.diff(counts.astype(np.int64)), np.diff(at_ms)
    unusual = parts < 0
    if settings.spread:
        unusual |= whole_ms > settings.gap_ms
    for exchange in settings.exchanges:
        unusual |= (at_ms[:-1] < exchange.at_ms) & (exchange.at_ms <= at_ms[1:])
    if not (np.abs(counts) < _MOST_PARTS).all():
        unusual[:] = True
    gallons = parts / PARTS_A_GALLON
    columns = (gallons * 60_000 / whole_ms, whole_ms / 1000, gallons)
    rates, seconds, volumes = ([None, *column.tolist()] for column in columns)
    return PlainWater(rates, seconds, volumes, (np.flatnonzero(unusual) + 1).tolist())


def booked(step: Step) -> list[Booked]:
    """Splits a step into readings, in order of time. The last reading is at the register. A step
    spread over a gap also has one at the last millisecond of each hour in it (UTC; of each day in
    long gaps)."""
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
    """Yields the ends of hours (of days, in long gaps) whose last millisecond lies within a gap."""
    length = HOUR_MS if to_ms - from_ms <= BY_HOUR_MS else DAY_MS
    for end_ms in range(floor_to(from_ms, length) + length, to_ms + 1, length):
        if end_ms - 1 > from_ms:
            yield end_ms


# --- In files -----------------------------------------------------------------------------------


def looks_like_register(values: Floats) -> bool:
    """Whether one meter's values, in order of time, count up as a register does."""
    import numpy as np

    return only_rises(np.diff(values[~np.isnan(values)]))


def only_rises(steps: Floats, falls_allowed: int = 0) -> bool:
    """Whether the differences between neighbouring values are those of registers.
    ``falls_allowed``: even if they are more than MOST_FALLS."""
    if len(steps) + 1 < FEWEST_VALUES:
        return False
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    return falls <= max(falls_allowed, MOST_FALLS * len(steps)) and rises >= FEWEST_RISES
