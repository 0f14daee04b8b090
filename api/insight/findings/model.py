"""The words of the findings: what a kind is, what it sees, and what it finds.

Instants are epoch milliseconds of data time; volumes gallons; rates gal/min.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.metering.profile import Floats, History, Usual

Severity = Literal["critical", "warning", "notice"]
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "notice")  # worst first
SILENT_AFTER_CADENCES: Final = 3
SILENT_AFTER_MS: Final = 15 * 60_000


# --- What is given ------------------------------------------------------------------------------


class HourRow(NamedTuple):
    """One 1hour bucket. ``gallons`` is None where no reading has a volume. ``coverage`` (0 to 1) is
    the share of the hour's expected readings that are there; 1 for an event-driven meter.
    ``quality`` and ``signal`` (dBm) are means, ``temperature`` (°C) and ``min_rate`` minima."""

    start_ms: int
    gallons: float | None
    coverage: float = 1.0
    min_rate: float | None = None
    max_rate: float | None = None
    quality: float | None = None
    signal: float | None = None
    temperature: float | None = None


class Minute(NamedTuple):
    """One 1min bucket that holds readings. ``rate`` is None where none of them has a flow."""

    start_ms: int
    rate: float | None


class RegisterFall(NamedTuple):
    """A register that went back, by so many gallons, from ``before``, as nothing explains."""

    recorded_at_ms: int
    gallons: float
    before: float


class Readings(Protocol):
    """What a device has sent. Each answer is ascending; the same instants give the same answer
    until readings arrive that touch them."""

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        """From the bucket ``from_ms`` (None: the first) to the latest, which may not be over."""
        ...

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        """from_ms ≤ start_ms < to_ms. None are kept of old times: then hours must do."""
        ...

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]: ...


@dataclass(frozen=True, slots=True)
class Device:
    """What the rules must know of a device. ``price`` per gallon. ``holidays``: local dates as
    proleptic ordinals. ``excluded``: spans of maintenance and corrections, which don't train the
    profile; ``maintained``: those of maintenance, in which nothing is expected. ``max_rate``: what
    its size allows."""

    zone: ZoneInfo
    cadence_s: float
    price: float | None = None
    holidays: frozenset[int] = frozenset()
    excluded: tuple[tuple[int, int], ...] = ()
    maintained: tuple[tuple[int, int], ...] = ()
    max_rate: float | None = None

    def is_maintained(self, from_ms: int, to_ms: int) -> bool:
        """Whether any of [from_ms, to_ms) lies in maintenance."""
        return any(start < to_ms and from_ms < end for start, end in self.maintained)

    @property
    def silent_after_ms(self) -> int:
        return max(int(SILENT_AFTER_CADENCES * self.cadence_s * 1000), SILENT_AFTER_MS)

    @property
    def reading_ms(self) -> int:
        """What a 1min row stands for: a reading tells of the time since the one before."""
        return max(60_000, int(self.cadence_s * 1000))


# --- What a kind sees ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Today:
    """What is usual on the local day of an hour: `Usual`, and its 24 hours' forecast."""

    usual: Usual
    expected: Floats


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour. ``row`` is None where there is no reading; ``hour`` is of the local clock. Of the
    latest, unfinished hour only the kinds that are ``live`` get it, up to ``until_ms``."""

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
    """A local day that is over: its 24 volumes (NaN: none with enough coverage), what was expected,
    and the days before it."""

    day: int
    start_ms: int
    end_ms: int
    volumes: Floats
    today: Today
    history: History


@dataclass(frozen=True, slots=True)
class Night:
    """02:00–05:00 of a local day, over; ``flow`` in gal/min is its lowest rolling hour."""

    day: int
    start_ms: int
    end_ms: int
    flow: float | None
    mean: float
    """Of the last weeks, in gal/h."""


Event = Hour | Day | Night


# --- What a kind finds --------------------------------------------------------------------------


class Draft(NamedTuple):
    """A finding as its kind keeps it. ``opened_ms``: when the rule could first know. ``value`` in
    the kind's unit. ``hours``: without the pauses. ``trains``: it became usual, so that its hours
    train the profile. ``extra``: one more number of the kind's own. ``usual_per_day``: set by the
    driver when it closes, see `Finding`."""

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
        """By how much "not a problem" raised the threshold."""
        return self.values["factor"]

    @property
    def normal_from_ms(self) -> int:
        """0: nobody took one as the new normal."""
        return int(self.values[NORMAL_FROM.name])


Step = Callable[[Any, Draft | None, Any, Context], tuple[Any, Sequence[Draft]]]
"""(memory, latest draft, event, context) → (memory, drafts from the given one on, changed or not).
Pure: of several drafts the last is the one that may go on."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One number that can be set per device, group or organization. ``unit`` "" for a plain number;
    ``flag``: 0 or 1. None as a default: not set."""

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
"""When somebody took an open finding as the new normal; of kinds that judge by the profile."""
CRITICAL_HOURS: Final = Setting("critical_after", "Critical once open for", "h", 72, 1, 8760)
CRITICAL_COST: Final = Setting("critical_cost", "Critical from a cost a day of", "", 50, 0, 1e9)
LOSS: Final = (CRITICAL_HOURS, CRITICAL_COST)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding: a row of the registry.

    ``name`` is its name in the interface, ``label`` on screen, ``unit`` that of its number.
    ``headline`` says on screen what is wrong, for how long (``{length}``), without a number of its
    own; ``caption`` says what its number is. ``bound``: what its gallons and cost are, where
    they aren't measured. ``against``: what ``usual`` of its findings is.
    ``noun``: its label is one that can be counted, as leaks.
    ``difference``: its number is one, against what is usual.
    ``memory`` makes what `step` carries on, from the fields of a stored one or from none.
    ``loss``: water is lost; ``per_day`` tells how many gallons a day. ``masks``: the hours of its
    findings don't train the profile. ``live``: it sees the unfinished hour too.
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
    loss: bool = False
    per_day: Callable[[Draft], float | None] = lambda draft: None
    masks: bool = False
    live: bool = False
    needs: Callable[[Device, Mapping[str, float]], bool] = lambda device, values: True
    noun: bool = False
    major: Callable[[Draft, Mapping[str, float]], bool] = lambda draft, values: False

    def counted(self, count: int) -> str:
        """``leak``, ``leaks``; ``silent`` of any number of them."""
        noun = self.label.lower()
        return f"{noun}s" if self.noun and count != 1 else noun

    def load(self, fields: Sequence[Any]) -> Any:
        """The memory that was stored as its fields."""
        return self.memory(*fields)

    @property
    def all_settings(self) -> tuple[Setting, ...]:
        return (ENABLED, FACTOR, *self.settings, *(LOSS if self.loss else ()))


@dataclass(frozen=True, slots=True)
class Finding:
    """A span in which something was not as it should be. ``cost_per_day`` in the device's currency;
    None without a price or a loss. ``usual_per_day``: gallons of the device, as of the day on which
    it closed; while it is open, of the day under way; 0 while too little is known."""

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
