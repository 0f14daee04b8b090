"""What one meter of the demo fleet sends: a pure function of the meter and of time.

Asked for a span in one piece or in many, it answers with the same readings. ``origin_ms`` is when
the fleet was set up; fates count from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.ingest.batch import Bools, Columns
from api.ingest.demo import noise
from api.ingest.demo.fleet import SILENT_MS, UNACCOUNTED, Character, Fate, Pattern, sub_meters
from api.ingest.demo.noise import Floats, Ints
from api.ingest.demo.patterns import SHARES, Clock, draws
from api.ingest.demo.troubles import troubled

OUTAGE_MS: Final = (50 * HOUR_MS, 44 * HOUR_MS + 10 * MINUTE_MS)  # before the origin
WEAK_DBM: Final = -121.0
TAKEN_OUT_MS: Final = 9 * DAY_MS
_BURST_MS: Final = 11 * MINUTE_MS
_INDOORS: Final = 21.0
_OUTDOORS: Final = frozenset({"Irrigation", "Cooling", "Gateways"})

# Streams of chance of one meter; 1 to 9 belong to its pattern.
_LOSS, _JITTER, _BURST, _DRAW, _START, _LENGTH, _STRENGTH = range(10, 17)
_RSSI, _SIGNAL, _QUALITY, _CELSIUS = range(20, 24)


@dataclass(frozen=True, slots=True)
class _Sent:
    """Readings to be, in order: when (ms), at what rate (gal/min), over how long (s). ``index``
    numbers them for chance, whatever the span asked for."""

    instants: Ints
    index: Ints
    rates: Floats
    durations: Floats

    def only(self, which: Bools) -> _Sent:
        return _Sent(
            self.instants[which], self.index[which], self.rates[which], self.durations[which]
        )


def last_instant(one: Character, origin_ms: int, now_ms: int) -> int:
    """Up to when the meter has sent what it will have sent by now."""
    ends = {
        Fate.NEVER_SEEN: 0,
        Fate.INACTIVE: origin_ms - TAKEN_OUT_MS,
        Fate.SILENT: now_ms - SILENT_MS,
    }
    return min(ends.get(one.meter.fate, now_ms), now_ms)


def readings(one: Character, key: int, origin_ms: int, from_ms: int, to_ms: int) -> Columns:
    """The readings with from_ms ≤ recorded_at < to_ms, ascending, under the device's ``key``."""
    sent = _events if one.meter.pattern is Pattern.EVENTS else _periodic
    found = sent(one, from_ms, max(from_ms, to_ms))
    found = found.only((found.instants >= from_ms) & (found.instants < to_ms))
    found = found.only(_heard(one, found, origin_ms))
    clock = Clock.at(found.instants, one.meter.site.time_zone)
    flow = _flow(one, found, origin_ms)
    values = np.array([*flow, *_surroundings(one, clock, found.index)])
    return Columns(np.full(len(found.instants), key, np.int64), found.instants, values)


def _slots(from_ms: int, to_ms: int, length_ms: int) -> Ints:
    """Every slot that may hold a reading of the span; a reading lies within its slot."""
    return np.arange(from_ms // length_ms, to_ms // length_ms + 1, dtype=np.int64)


def _periodic(one: Character, from_ms: int, to_ms: int) -> _Sent:
    length_ms = one.meter.cadence_s * 1000
    index = _slots(from_ms, to_ms, length_ms)
    late = noise.uniform(noise.sub(one.stream, _JITTER), index) * min(1500, length_ms // 50)
    instants = index * length_ms + int(one.phase * length_ms) + late.astype(np.int64)
    clock = Clock.at(instants, one.meter.site.time_zone)
    rates = _drawn(one, clock)
    return _Sent(instants, index, rates, np.full(len(index), float(one.meter.cadence_s)))


def _drawn(one: Character, clock: Clock) -> Floats:
    """Its own rates; a main's are those of its sub-meters, and what seeps away before them."""
    parts = [SHARES[each.meter.pattern](each.stream, clock) * each.meter.rate
             for each in sub_meters(one)]  # fmt: skip
    if parts:
        total: Floats = (1 + UNACCOUNTED) * np.sum(parts, axis=0)
        return total
    return SHARES[one.meter.pattern](one.stream, clock) * one.meter.rate


def _events(one: Character, from_ms: int, to_ms: int) -> _Sent:
    """A heartbeat early in each slot; in some, later, the end of a draw."""
    length_ms = one.meter.cadence_s * 1000
    slots = _slots(from_ms, to_ms, length_ms)

    def chance(name: int) -> Floats:
        return noise.uniform(noise.sub(one.stream, name), slots)

    clock = Clock.at(slots * length_ms, one.meter.site.time_zone)
    drawn = chance(_DRAW) < draws(one.stream, clock)
    seconds = np.rint(8 + 0.35 * one.meter.cadence_s * chance(_LENGTH) ** 2)
    ends = slots * length_ms + ((0.15 + 0.4 * chance(_START)) * length_ms).astype(np.int64)
    ends += seconds.astype(np.int64) * 1000
    beats = slots * length_ms + int(0.1 * one.phase * length_ms)
    quiet = np.zeros(len(slots))
    instants = np.concatenate([beats, ends[drawn]])
    order = np.argsort(instants, kind="stable")
    rates = np.concatenate([quiet, (one.meter.rate * (0.5 + 0.5 * chance(_STRENGTH)))[drawn]])
    return _Sent(
        instants[order],
        np.concatenate([2 * slots, 2 * slots[drawn] + 1])[order],
        rates[order],
        np.concatenate([quiet, seconds[drawn]])[order],
    )


def _heard(one: Character, sent: _Sent, origin_ms: int) -> Bools:
    """What of it arrived."""
    heard: Bools = noise.uniform(noise.sub(one.stream, _LOSS), sent.index) >= one.loss
    if one.meter.fate is Fate.STUCK:  # its radio is well
        heard[:] = True
    if one.meter.fate is Fate.DEGRADED:
        burst = noise.uniform(noise.sub(one.stream, _BURST), sent.instants // _BURST_MS)
        single = noise.uniform(noise.sub(one.stream, _BURST + 100), sent.index)
        heard &= (burst >= 0.04) & (single >= 0.025)
    if one.meter.fate is Fate.OUTAGE:
        start, end = (origin_ms - before for before in OUTAGE_MS)
        heard &= (sent.instants < start) | (sent.instants >= end)
    return heard & (sent.instants < last_instant(one, origin_ms, int(1e15)))


def _flow(one: Character, sent: _Sent, origin_ms: int) -> tuple[Floats, Floats, Floats]:
    """(rate, duration, amount): whole pulses counted, and what follows from them."""
    if one.meter.pattern is Pattern.NONE:
        nothing = np.full(len(sent.instants), np.nan)
        return nothing, nothing, nothing
    rates = troubled(one.meter.fate, sent.instants, sent.rates, origin_ms)
    amounts = np.rint(rates * sent.durations / 60 * one.pulses_per_gallon) / one.pulses_per_gallon
    return amounts * 60 / np.maximum(sent.durations, 1.0), sent.durations, amounts


def _surroundings(one: Character, clock: Clock, index: Ints) -> tuple[Floats, ...]:
    """(quality, signal strength, network rssi, temperature), in the catalog's order."""

    def wander(name: int, period_ms: int, noisy: float, index: Ints = index) -> Floats:
        stream = noise.sub(one.stream, name)
        slow = 2 * noise.wave(stream, clock.instants, period_ms) - 1
        return slow + noisy * noise.normal(noise.sub(stream, 1), index)

    outdoors = one.meter.kind in _OUTDOORS
    daily = np.sin((clock.hour - 9.5) * (2 * np.pi / 24)) * (7.5 if outdoors else 1.4)
    base = one.meter.site.outdoor_celsius if outdoors else _INDOORS
    middle, swing = {
        Fate.LOW_QUALITY: (44.0, 9.0),
        Fate.DEGRADED: (61.0, 20.0),
    }.get(one.meter.fate, (96.0 + 0.33 * (one.rssi + 72), 2.6))
    quality = np.clip(middle + swing * wander(_QUALITY, 5 * HOUR_MS, 0.35), 0, 100)
    middle = WEAK_DBM if one.meter.fate is Fate.WEAK_SIGNAL else one.signal
    signal = middle + 3 * wander(_SIGNAL, 3 * HOUR_MS, 0.6)
    rssi = one.rssi + 3 * wander(_RSSI, 2 * HOUR_MS, 0.6)
    celsius = base + daily + 1.6 * wander(_CELSIUS, 7 * HOUR_MS, 0.08)
    return np.rint(quality), np.rint(signal), np.rint(rssi), np.round(celsius, 1)
