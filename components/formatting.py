"""Numbers, units, durations and times in words, as people read them. Pure text, no markup."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from api.catalog import METERLESS, NETWORK_RSSI, RAW, SIGNAL_STRENGTH, Resolution
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from components.clock import MONTHS, Clock, day_text, local_date, minute_text, second_text

NOTHING: Final = "–"
YEAR_MS: Final = 365 * DAY_MS
_YEARS: Final = 2  # from so many on, nobody counts in days
AHEAD_MS: Final = 5 * MINUTE_MS  # by so much a meter's clock may differ without a word
VOLUME_UNITS: Final = ((1_000_000_000, 1_000_000, "Mgal"), (1_000_000, 1_000, "kgal"))
_NEXT_UNIT_BELOW: Final = {"d": 100, "h": 48, "min": 10}  # then the next unit is written too
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
    """A chart says thousands of numbers: the usual sizes go without a logarithm."""
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.{min(9, 2 - math.floor(math.log10(size)))}f}" if size else "0"


def decimals(values: Iterable[float | None]) -> int:
    """How many decimals suit all of these: three digits of the largest, and enough for the smallest
    to be seen, up to two."""
    sizes = [abs(v) for v in values if v and math.isfinite(v)]
    if not sizes or all(size == int(size) for size in sizes) or max(sizes) >= 999.5:
        return 0
    return max(_digits(max(sizes), 3), min(2, _digits(min(sizes), 1)))


def _digits(size: float, digits: int) -> int:
    return max(0, min(9, digits - 1 - math.floor(math.log10(size))))


def exact(value: float | None, places: int) -> str:
    """With so many decimals and separators; an en dash for None."""
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
    """The unit for so many gallons, and how many gallons it is."""
    for least, size, unit in VOLUME_UNITS:
        if abs(gallons) >= least:
            return unit, size
    return "gal", 1


def span(low: float | None, high: float | None) -> str:
    """6.9–12.6, both with as many decimals; one number where both read the same. A negative
    bound is set apart by "to"."""
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
    """The two largest units, the second while the first is small: 38 s, 2 min 5 s, 36 min,
    5 h 50 min, 2 d 3 h, 250 d."""
    for (size, unit), (next_size, next_unit) in pairwise(_DURATION_UNITS):
        count, rest = divmod(length_ms, size)
        if count:
            fraction = rest // next_size if count < _NEXT_UNIT_BELOW[unit] else 0
            return f"{count} {unit} {fraction} {next_unit}" if fraction else f"{count} {unit}"
    return f"{length_ms // 1000} s"


def ago(then_ms: int, now_ms: int) -> str:
    """38 s ago; just now within five seconds, and for clocks that run a little ahead. What is of
    later says so: 1 h in the future."""
    elapsed = now_ms - then_ms
    if elapsed < -AHEAD_MS:
        return f"{duration(-elapsed)} in the future"
    if elapsed < 5000:
        return "just now"
    if elapsed >= _YEARS * YEAR_MS:
        return f"{elapsed // YEAR_MS} y ago"
    if elapsed >= DAY_MS:
        return f"{whole(elapsed // DAY_MS)} d ago"
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
    """The span of one row: ``Mon 16 Nov 2026, 21:40–21:50 MST``, ``Mon 16 Nov 2026``,
    ``Nov 2026``; a raw row's instant with its seconds. The hour in which a clock is set back reads
    ``01:00 EDT–01:00 EST``."""
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
    """``−87 dBm RSSI``, else ``−104 dBm signal``; an en dash where neither is of now."""
    value, name = radio_values(network_rssi, signal_strength)
    return f"{value} {name.partition(',')[0]}".strip()


def radio_values(
    network_rssi: float | None, signal_strength: float | None, *, nothing: str = ""
) -> tuple[str, str]:
    """(``−87 dBm``, ``RSSI, signal −104 dBm``): the number that matters, and what it is."""
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
