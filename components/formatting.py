"""Numbers, units, durations and times as text. Pure, without markup."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import METERLESS, NETWORK_RSSI, RAW, SIGNAL_STRENGTH, Resolution
from api.metering.wall_clock import WallClock
from api.timez import DAY_MS, EPOCH_DAY, HOUR_MS, MINUTE_MS, offset_text, to_datetime

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


class Clock(WallClock):
    """The local time of a zone over a window, and the zone's abbreviations there."""

    def __init__(self, tz: ZoneInfo, from_ms: int, to_ms: int) -> None:
        super().__init__(tz, from_ms, to_ms)
        self._names = [abbreviation(tz, start) for start, _ in self.pieces]

    def name(self, instant_ms: int) -> str:
        """The zone's abbreviation at that instant: MST, CEST, UTC+05:30."""
        return self._names[self.piece(instant_ms)]


def abbreviation(tz: ZoneInfo, instant_ms: int) -> str:
    """MST, CEST; UTC+05:30 for a zone with an offset only."""
    moment = to_datetime(instant_ms).astimezone(tz)
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    offset = moment.utcoffset()
    assert offset is not None  # an aware datetime always has one
    return "UTC" + offset_text(round(offset.total_seconds() * 1000)).removesuffix(":00")


@lru_cache(maxsize=20_000)
def local_date(local_day: int) -> date:
    """The date of a local day, counted from 1970-01-01."""
    return date.fromordinal(local_day + EPOCH_DAY)


@lru_cache(maxsize=20_000)
def day_text(local_day: int, *, year: bool = True) -> str:
    """``Mon 16 Nov 2026``."""
    day = local_date(local_day)
    text = f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"
    return f"{text} {day.year}" if year else text


_MINUTES: Final = tuple(f"{m // 60:02}:{m % 60:02}" for m in range(24 * 60))


def minute_text(local_ms: int) -> str:
    """``21:40``."""
    return _MINUTES[local_ms % DAY_MS // MINUTE_MS]


def second_text(local_ms: int) -> str:
    """``21:40:07``."""
    return f"{minute_text(local_ms)}:{local_ms % MINUTE_MS // 1000:02}"


# --- Times of day ---------------------------------------------------------------------------------


NOTHING: Final = "–"
YEAR_MS: Final = 365 * DAY_MS
_YEARS: Final = 2  # from this many on, an age is in years
AHEAD_MS: Final = 5 * MINUTE_MS  # differences of clocks up to this are ignored
VOLUME_UNITS: Final = ((1_000_000_000, 1_000_000, "Mgal"), (1_000_000, 1_000, "kgal"))
# Below this the next smaller unit is written too.
_NEXT_UNIT_BELOW: Final = {"d": 100, "h": 48, "min": 10}
_DURATION_UNITS: Final = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (1000, "s"))


def number(value: float | None) -> str:
    """Three significant digits below a thousand, whole numbers with separators above.

    0.0123, 0.4, 9.81, 98.1, 412, 48,912; an en dash for None.
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size >= 999.5:
        return f"{value:,.0f}".replace("-", "−")
    text = _three_digits(value, size)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text.replace("-", "−")


def _three_digits(value: float, size: float) -> str:
    """Charts write thousands of numbers, so common sizes avoid a logarithm."""
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.{min(9, 2 - math.floor(math.log10(size)))}f}" if size else "0"


def decimals(values: Iterable[float | None]) -> int:
    """The number of decimals for all of these: three digits of the largest, and enough for the
    smallest to be visible, at most two."""
    sizes = [abs(v) for v in values if v and math.isfinite(v)]
    if not sizes or all(size == int(size) for size in sizes) or max(sizes) >= 999.5:
        return 0
    return max(_digits(max(sizes), 3), min(2, _digits(min(sizes), 1)))


def _digits(size: float, digits: int) -> int:
    return max(0, min(9, digits - 1 - math.floor(math.log10(size))))


def exact(value: float | None, places: int) -> str:
    """With that many decimals and separators; an en dash for None."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:,.{places}f}"
    return text.replace("-", "−") if any(c in "123456789" for c in text) else text.lstrip("-")


def volume(gallons: float | None) -> str:
    """98.1 gal, 48,912 gal, 1,235 kgal."""
    if gallons is None:
        return NOTHING
    unit, size = volume_unit(gallons)
    return f"{number(gallons / size)} {unit}"


def volume_unit(gallons: float) -> tuple[str, int]:
    """The unit for that many gallons, and how many gallons it is."""
    for least, size, unit in VOLUME_UNITS:
        if abs(gallons) >= least:
            return unit, size
    return "gal", 1


def span(low: float | None, high: float | None) -> str:
    """6.9–12.6, both with the same number of decimals; one number if both read the same. A negative
    bound is separated by "to"."""
    if number(low) == number(high):
        return number(low)
    places = decimals([low, high])
    first, last = (exact(end, places) if end else number(end) for end in (low, high))
    if first == last:
        return first
    return f"{first} to {last}" if "−" in first + last else f"{first}–{last}"


def whole(count: int) -> str:
    return f"{count:,}"


def plural(count: int, one: str) -> str:
    """``1 row``, ``1,003 rows``."""
    return f"{whole(count)} {one if count == 1 else one + 's'}"


def duration(length_ms: int) -> str:
    """The two largest units, the second one only if the first is small: 38 s, 2 min 5 s, 36 min, 5
    h 50 min, 2 d 3 h, 250 d."""
    for (size, unit), (next_size, next_unit) in pairwise(_DURATION_UNITS):
        count, rest = divmod(length_ms, size)
        if count:
            fraction = rest // next_size if count < _NEXT_UNIT_BELOW[unit] else 0
            return f"{count} {unit} {fraction} {next_unit}" if fraction else f"{count} {unit}"
    return f"{length_ms // 1000} s"


def ago(then_ms: int, now_ms: int) -> str:
    """38 s ago, 3 min ago; just now within five seconds, also for clocks slightly ahead. A later
    time is marked: 1 h in the future."""
    elapsed = now_ms - then_ms
    if elapsed < -AHEAD_MS:
        return f"{duration(-elapsed)} in the future"
    if elapsed < 5000:
        return "just now"
    if elapsed >= _YEARS * YEAR_MS:
        return f"{elapsed // YEAR_MS} y ago"
    if elapsed >= DAY_MS:
        return f"{whole(elapsed // DAY_MS)} d ago"
    if MINUTE_MS <= elapsed < HOUR_MS:
        elapsed -= elapsed % MINUTE_MS
    return f"{duration(elapsed)} ago"


def moment(instant_ms: int, clock: Clock, *, seconds: bool = False) -> str:
    """``Mon 16 Nov 2026, 21:40 MST``."""
    local = clock.local(instant_ms)
    time = second_text(local) if seconds else minute_text(local)
    return f"{day_text(local // DAY_MS)}, {time} {clock.name(instant_ms)}"


def date_of(instant_ms: int, clock: Clock) -> str:
    """``12 Mar 2025``."""
    day = local_date(clock.local(instant_ms) // DAY_MS)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def bucket(start_ms: int, end_ms: int, resolution: Resolution, clock: Clock) -> str:
    """The span of one row: ``Mon 16 Nov 2026, 21:40–21:50 MST``, ``Mon 16 Nov 2026``, ``Nov 2026``;
    a raw row's instant with its seconds. The hour in which clocks go back is ``01:00 EDT–01:00
    EST``."""
    local = clock.local(start_ms)
    day = local // DAY_MS
    if resolution is RAW:
        return moment(start_ms, clock, seconds=True)
    if resolution.calendar:
        date = local_date(day)
        return (
            day_text(day) if resolution.name == "day" else f"{MONTHS[date.month - 1]} {date.year}"
        )
    before, after = clock.name(start_ms), clock.name(end_ms)
    first = minute_text(local) + (f" {before}" if before != after else "")
    return f"{day_text(day)}, {first}–{minute_text(clock.local(end_ms))} {after}"


# --- Radio ---------------------------------------------------------------------------------------


def measures_water(category: str) -> bool:
    return category not in METERLESS


def radio_words(signal_strength: float | None, network_rssi: float | None) -> str:
    """``−87 dBm RSSI``, otherwise ``−104 dBm signal``; an en dash without either."""
    value, name = radio_values(network_rssi, signal_strength)
    return f"{value} {name.partition(',')[0]}".strip()


def radio_values(
    network_rssi: float | None, signal_strength: float | None, *, nothing: str = ""
) -> tuple[str, str]:
    """(``−87 dBm``, ``RSSI, signal −104 dBm``): the main number, and its meaning."""
    named = ((network_rssi, NETWORK_RSSI, "RSSI"), (signal_strength, SIGNAL_STRENGTH, "signal"))
    measured = [
        (f"{exact(value, 0)} {metric.unit}", name)
        for value, metric, name in named
        if value is not None
    ]
    if not measured:
        return NOTHING, nothing
    (value, name), *others = measured
    return value, ", ".join((name, *(f"{other} {text}" for text, other in others)))


def percent(share: float | None) -> str:
    """99.6%, 100.0%: always one decimal, rounded down: 100.0% only if nothing is missing, 0.0% only
    if everything is."""
    if share is None:
        return NOTHING
    return "<0.1%" if 0 < share < 0.001 else f"{int(share * 1000 + 1e-9) / 10:.1f}%"
