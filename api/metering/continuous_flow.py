"""Continuous flow: water that never stops, the sign of a leak.

The rule of meters' makers: each of the 24 hours before the latest reading has at least a gallon, or
as many as the device's configuration says. The lowest of them measures the leak. One hour below
ends it; hours without readings neither begin nor end anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple

from api.metering.windows import Window
from api.timez import DAY_MS, HOUR_MS

HOURS: Final = 24
LEAST_GAL: Final = 1.0
LONGEST_MS: Final = 30 * HOUR_MS  # in which these hours must have been heard: four fifths of them
LOOKED_BACK_MS: Final = 31 * DAY_MS
BEFORE_MS: Final = 6 * HOUR_MS
# A main that supplies many never rests: it flows in more than this share of the hours looked back
# on, and in half of them by more than so many gallons.
MAIN_SHARE: Final = 0.95
MAIN_GAL: Final = 100.0


class Hour(NamedTuple):
    """``start_ms`` is its first instant."""

    start_ms: int
    gallons: float

    @property
    def end_ms(self) -> int:
        return self.start_ms + HOUR_MS


@dataclass(frozen=True, slots=True)
class Run:
    """Hours without a pause, up to the latest. ``lowest`` in gallons an hour, of the last 24;
    ``gallons`` of all; ``longer``: it may have begun before the hours that were read."""

    window: Window
    lowest: float
    gallons: float
    longer: bool = False

    @property
    def shown(self) -> Window:
        """The window of its chart, with some time before it."""
        before = max(self.window.length_ms // 4, BEFORE_MS)
        return Window(self.window.from_ms - before, self.window.to_ms)


@dataclass(frozen=True, slots=True)
class Finding:
    """``run`` where water flows without a pause; else ``paused_ms``, the end of the latest hour in
    which it paused. Neither: too few hours have readings. ``main``: the run is that of a meter
    which supplies many, no leak."""

    run: Run | None = None
    paused_ms: int | None = None
    main: bool = False


def find(told: Sequence[tuple[int, float]], least_gal: float = LEAST_GAL) -> Finding:
    """``told`` are hours in order, with gaps where there are no readings; an hour with less than
    ``least_gal`` is a pause."""
    hours = [Hour(*each) for each in told]
    last = max((i for i, hour in enumerate(hours) if hour.gallons < least_gal), default=-1)
    run = hours[last + 1 :]
    if len(run) < HOURS:
        recent = last >= 0 and hours[-1].end_ms - hours[last].end_ms <= LONGEST_MS
        return Finding(paused_ms=hours[last].end_ms if recent else None)
    latest = run[-HOURS:]
    if latest[-1].end_ms - latest[0].start_ms > LONGEST_MS:
        return Finding()
    window = Window(run[0].start_ms, run[-1].end_ms - 1)
    lowest, total = min(hour.gallons for hour in latest), sum(hour.gallons for hour in run)
    found = Run(window, lowest, total, longer=last < 0 and _is_long(window))
    return Finding(found, main=_is_main(hours, least_gal))


def _is_main(hours: Sequence[Hour], least_gal: float) -> bool:
    flowing = sum(hour.gallons >= least_gal for hour in hours)
    if flowing <= MAIN_SHARE * LOOKED_BACK_MS / HOUR_MS:
        return False
    return median(hour.gallons for hour in hours) > MAIN_GAL


def _is_long(window: Window) -> bool:
    """Whether it may have begun before the hours that were read."""
    return window.length_ms > LOOKED_BACK_MS - DAY_MS
