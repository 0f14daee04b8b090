"""How water is used: rates at instants, as a share of a meter's busy rate. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.ingest.demo import noise
from api.ingest.demo.fleet import Pattern
from api.ingest.demo.noise import Floats, Ints
from api.timez import offsets, zone

_THURSDAY: Final = 3  # 1970-01-01
_SATURDAY: Final = 5


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall-clock times of ascending instants. ``hour`` is fractional."""

    instants: Ints
    day: Ints
    hour: Floats
    weekend: Floats

    @classmethod
    def at(cls, instants: Ints, time_zone: str) -> Clock:
        local = instants + _offsets(instants, time_zone)
        day, rest = np.divmod(local, DAY_MS)
        weekend = ((day + _THURSDAY) % 7 >= _SATURDAY).astype(np.float64)
        return cls(instants, day, rest / HOUR_MS, weekend)


def _offsets(instants: Ints, time_zone: str) -> Ints:
    if not len(instants):
        return instants
    pieces = offsets(zone(time_zone), int(instants[0]), int(instants[-1]))
    starts = np.array([start for start, _ in pieces], np.int64)
    shifts = np.array([shift for _, shift in pieces], np.int64)
    return shifts[np.searchsorted(starts, instants, side="right") - 1]


def _bump(hour: Floats, peak: float | Floats, width: float) -> Floats:
    """A bump over the hours of the day that wraps around midnight without a step."""
    away = (hour - peak + 12) % 24 - 12
    return np.exp(-((away / width) ** 2) / 2)


def _lively(stream: int, clock: Clock) -> Floats:
    """Human use: varies over minutes, around 1."""
    slow = noise.wave(noise.sub(stream, 1), clock.instants, 47 * MINUTE_MS)
    quick = noise.wave(noise.sub(stream, 2), clock.instants, 3 * MINUTE_MS)
    return (0.55 + 0.9 * slow) * (0.7 + 0.6 * quick)


def domestic(stream: int, clock: Clock) -> Floats:
    morning = _bump(clock.hour, 7.1 + 2.3 * clock.weekend, 1.0) * (1 - 0.3 * clock.weekend)
    noon = _bump(clock.hour, 12.7, 1.7) * (0.28 + 0.2 * clock.weekend)
    evening = _bump(clock.hour, 18.9, 1.6) * 0.76
    night = _bump(clock.hour, 23.2, 1.1) * 0.12
    return (morning + noon + evening + night) * _lively(stream, clock) + 0.004


def office(stream: int, clock: Clock) -> Floats:
    open_ = 1 / (1 + np.exp(-(clock.hour - 8.2) * 3)) / (1 + np.exp((clock.hour - 17.8) * 2.4))
    lunch = 0.35 * _bump(clock.hour, 12.4, 0.6)
    return (open_ * 0.75 + lunch) * (1 - 0.88 * clock.weekend) * _lively(stream, clock)


def steady(stream: int, clock: Clock) -> Floats:
    warm = 0.22 * _bump(clock.hour, 15.5, 3.8)
    drift = 0.16 * noise.wave(noise.sub(stream, 1), clock.instants, 9 * HOUR_MS)
    ripple = 0.05 * noise.wave(noise.sub(stream, 2), clock.instants, 4 * MINUTE_MS)
    return 0.6 + warm + drift + ripple


def schedule(stream: int, clock: Clock) -> Floats:
    """On every other night: two zones of valves one after the other, from half past three."""
    night = (clock.day + stream % 2) % 2 == 0
    shares = np.zeros(len(clock.instants))
    shares[night & (clock.hour >= 3.5) & (clock.hour < 4.75)] = 0.92
    shares[night & (clock.hour >= 4.75) & (clock.hour < 6.25)] = 0.74
    return shares


def cycles(stream: int, clock: Clock) -> Floats:
    """In most slots, filling for a time of its own length; in more slots by day."""
    slot_ms = (70 + stream % 60) * MINUTE_MS
    slot, rest = np.divmod(clock.instants, slot_ms)
    chance = 0.35 + 0.5 * _bump(clock.hour, 13.0, 4.5) - 0.2 * clock.weekend
    used = noise.uniform(noise.sub(stream, 3), slot) < chance
    share = 0.18 + 0.3 * noise.uniform(noise.sub(stream, 4), slot)
    return (used & (rest < share * slot_ms)).astype(np.float64) * 0.85


def nothing(stream: int, clock: Clock) -> Floats:
    return np.zeros(len(clock.instants))


SHARES: Final[dict[Pattern, Callable[[int, Clock], Floats]]] = {
    Pattern.DOMESTIC: domestic,
    Pattern.OFFICE: office,
    Pattern.STEADY: steady,
    Pattern.SCHEDULE: schedule,
    Pattern.CYCLES: cycles,
    Pattern.NONE: nothing,
}


def draws(stream: int, clock: Clock) -> Floats:
    """Returns the probability of a draw within one heartbeat of an event-driven meter."""
    busy = _bump(clock.hour, 12.2, 2.2) + _bump(clock.hour, 18.6, 1.8) + _bump(clock.hour, 7.8, 1.3)
    return 0.04 + 0.55 * np.minimum(busy, 1.0) * (1 - 0.25 * clock.weekend)
