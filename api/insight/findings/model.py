"""The data types of findings: kinds, their inputs and their results.

Instants are epoch milliseconds of data time, volumes gallons, rates gal/min.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.metering import status
from api.metering.profile import Floats, History, Usual

Severity = Literal["critical", "warning", "notice"]
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "notice")  # worst first


# --- Inputs ----------------------------------------------------------------------------------


class HourRow(NamedTuple):
    """One 1hour bucket. ``gallons`` is None where no reading has a volume. ``coverage`` (0 to 1) is
    the share of the hour's expected readings that exist; 1 for an event-driven meter. ``quality``
    and ``signal`` (dBm) are means; ``temperature`` (°C) and ``min_rate`` are minima."""

    start_ms: int
    gallons: float | None
    coverage: float = 1.0
    min_rate: float | None = None
    max_rate: float | None = None
    quality: float | None = None
    signal: float | None = None
    temperature: float | None = None


class Minute(NamedTuple):
    """One 1min bucket with readings. ``rate`` is None where none of them has a flow."""

    start_ms: int
    rate: float | None


class RegisterFall(NamedTuple):
    """An unexplained fall of a register, in gallons, from ``before``."""

    recorded_at_ms: int
    gallons: float
    before: float


class Readings(Protocol):
    """A device's readings. Each result ascends, and stays the same until readings arrive that
    change it."""

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        """Returns the hours from the bucket ``from_ms`` (None: the first) to the latest, which may
        be unfinished."""
        ...

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        """Returns the minutes with from_ms ≤ start_ms < to_ms. Old minutes aren't stored; hours are
        used instead."""
        ...

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]: ...


@dataclass(frozen=True, slots=True)
class Device:
    """The facts of a device that the rules need. ``price`` is per gallon. ``holidays`` are local
    dates as proleptic ordinals. ``excluded``: spans of maintenance and corrections, which aren't
    used for training; ``maintained``: those of maintenance, in which nothing is expected.
    ``max_rate``: the limit of its size."""

    zone: ZoneInfo
    cadence_s: float
    price: float | None = None
    holidays: frozenset[int] = frozenset()
    excluded: tuple[tuple[int, int], ...] = ()
    maintained: tuple[tuple[int, int], ...] = ()
    max_rate: float | None = None

    def is_maintained(self, from_ms: int, to_ms: int) -> bool:
        """Whether maintenance overlaps [from_ms, to_ms)."""
        return any(start < to_ms and from_ms < end for start, end in self.maintained)

    @property
    def silent_after_ms(self) -> int:
        return status.silent_after_ms(self.cadence_s * 1000)

    @property
    def reading_ms(self) -> int:
        """Returns the time that a 1min row covers: a reading covers the time since the one
        before."""
        return max(60_000, int(self.cadence_s * 1000))


# --- What a kind gets --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Today:
    """What is usual on the local day of an hour: `Usual`, and the forecast of its 24 hours."""

    usual: Usual
    expected: Floats


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour. ``row`` is None where there is no reading; ``hour`` is the local hour of day. The
    latest, unfinished hour is passed only to ``live`` kinds, up to ``until_ms``."""

    start_ms: int
    row: HourRow | None
    hour: int
    today: Callable[[], Today]
    readings: Readings
    until_ms: int

    @property
    def end_ms(self) -> int:
        return self.start_ms + HOUR_MS

    @property
    def gallons(self) -> float | None:
        return None if self.row is None else self.row.gallons

    def minutes(self) -> Sequence[Minute]:
        return self.readings.minutes(self.start_ms, self.until_ms)


@dataclass(frozen=True, slots=True)
class Day:
    """A finished local day: its 24 volumes (NaN: too little coverage), the expected volumes, and
    the days before it."""

    day: int
    start_ms: int
    end_ms: int
    volumes: Floats
    today: Today
    history: History


@dataclass(frozen=True, slots=True)
class Night:
    """02:00–05:00 of a local day, finished; ``flow`` in gal/min is its lowest rolling hour."""

    day: int
    start_ms: int
    end_ms: int
    flow: float | None
    mean: float
    """Returns the mean of the last weeks, in gal/h."""


Event = Hour | Day | Night


# --- What a kind returns ------------------------------------------------------------------------


class Draft(NamedTuple):
    """A finding while its kind works on it. ``opened_ms``: when the rule could first detect it.
    ``value`` is in the kind's unit. ``hours`` excludes pauses. ``trains``: it became normal, so
    that its hours are used for training. ``extra``: another number that the kind defines.
    ``usual_per_day``: set by the driver when the finding closes, see `Finding`."""

    start_ms: int
    opened_ms: int
    end_ms: int | None = None
    value: float = 0.0
    usual: float | None = None
    gallons: float | None = None
    hours: int = 0
    trains: bool = False
    extra: float | None = None
    usual_per_day: float | None = None


def is_open(draft: Draft | None) -> bool:
    return draft is not None and draft.end_ms is None


@dataclass(frozen=True, slots=True)
class Context:
    """``values``: the kind's settings. ``drafts``: the latest of each kind, by its name."""

    device: Device
    values: Mapping[str, float]
    drafts: Mapping[str, Draft | None]

    @property
    def factor(self) -> float:
        """Returns the factor by which "not a problem" raised the threshold."""
        return self.values["factor"]

    @property
    def normal_from_ms(self) -> int:
        """Returns 0 if no finding was taken as the new normal."""
        return int(self.values[NORMAL_FROM.name])


Step = Callable[[Any, Draft | None, Any, Context], tuple[Any, Sequence[Draft]]]
"""(memory, latest draft, event, context) → (memory, drafts from the given one on, changed or not).
Pure. Of several drafts, only the last one may continue."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that can be set per device, group or organization. ``unit`` "" is a plain number; a
    ``flag`` is 0 or 1. A default of None means not set."""

    name: str
    label: str
    unit: str
    default: float
    least: float
    most: float
    flag: bool = False


ENABLED: Final = Setting("enabled", "Look for it", "", 1, 0, 1, flag=True)
FACTOR: Final = Setting("factor", "Threshold raised by", "×", 1, 1, 100)
NORMAL_FROM: Final = Setting("normal_from", "New normal since (epoch ms)", "ms", 0, 0, 2**53)
"""When an open finding was taken as the new normal; for kinds that judge by the profile."""
CRITICAL_HOURS: Final = Setting("critical_after", "Critical once open for", "h", 72, 1, 8760)
CRITICAL_COST: Final = Setting("critical_cost", "Critical from a cost a day of", "", 50, 0, 1e9)
LOSS: Final = (CRITICAL_HOURS, CRITICAL_COST)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding: a row of the registry.

    ``name`` is its name in the interface, ``label`` its name on screen, ``unit`` the unit of its
    number. ``headline`` says on screen what is wrong and for how long (``{length}``), without a
    number; ``caption`` describes its number. ``bound`` qualifies its gallons and cost where they
    aren't measured. ``against`` describes the ``usual`` of its findings.

    ``limit`` describes when it opens, for a kind without settings of its own.

    ``noun``: its label can be counted, like leaks. ``difference``: its number is a difference from
    the usual.

    ``memory`` makes the state of `step` from stored fields or from none. ``loss``: water is lost;
    ``per_day`` returns how many gallons a day. ``masks``: the hours of its findings aren't used to
    train the profile. ``live``: it also gets the unfinished hour.
    """

    name: str
    label: str
    unit: str
    severity: Severity
    memory: Callable[..., Any]
    step: Step
    sees: tuple[type, ...]
    words: Callable[[Draft, ZoneInfo], str]
    headline: str
    caption: str
    bound: Literal["", "at least", "up to"] = ""
    against: Literal["usual", "limit"] = "usual"
    difference: bool = False
    settings: tuple[Setting, ...] = ()
    limit: str = ""
    loss: bool = False
    per_day: Callable[[Draft], float | None] = lambda draft: None
    masks: bool = False
    live: bool = False
    needs: Callable[[Device, Mapping[str, float]], bool] = lambda device, values: True
    noun: bool = False
    major: Callable[[Draft, Mapping[str, float]], bool] = lambda draft, values: False

    def counted(self, count: int) -> str:
        """Returns the label for a number of findings: ``leak`` or ``leaks``; ``silent`` for any
        number."""
        noun = self.label.lower()
        return f"{noun}s" if self.noun and count != 1 else noun

    def load(self, fields: Sequence[Any]) -> Any:
        """Restores the memory from its stored fields."""
        return self.memory(*fields)

    @property
    def all_settings(self) -> tuple[Setting, ...]:
        return (ENABLED, FACTOR, *self.settings, *(LOSS if self.loss else ()))


@dataclass(frozen=True, slots=True)
class Finding:
    """A span with a problem. ``cost_per_day`` is in the device's currency; None without a price or
    a loss. ``usual_per_day``: the device's usual gallons on the day on which the finding closed, or
    on the current day while it is open; 0 while too little is known."""

    kind: str
    severity: Severity
    start_ms: int
    end_ms: int | None
    opened_ms: int
    value: float
    unit: str
    usual: float | None
    gallons: float | None
    cost_per_day: float | None
    words: str
    offers_new_normal: bool = field(default=False)
    usual_per_day: float = field(default=0.0)

    @property
    def state(self) -> Literal["open", "closed"]:
        return "open" if self.end_ms is None else "closed"
