"""The readings of one demo meter: a pure function of the meter and of time.

A span gives the same readings whether it is read in one piece or in many. ``origin_ms`` is when the
fleet was set up; conditions are relative to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.ingest.batch import Bools, Columns
from api.ingest.demo import noise
from api.ingest.demo.faults import faulty_rates
from api.ingest.demo.fleet import (
    EXCHANGED_MS,
    SET_BACK_MS,
    SILENT_MS,
    UNACCOUNTED,
    Character,
    Condition,
    Pattern,
    sub_meters,
)
from api.ingest.demo.noise import Floats, Ints
from api.ingest.demo.patterns import SHARES, Clock, draws
from api.metering.units import GALLONS_PER_CUBIC_METRE

OUTAGE_MS: Final = (50 * HOUR_MS, 44 * HOUR_MS + 10 * MINUTE_MS)  # time before the origin
WEAK_DBM: Final = -121.0
TAKEN_OUT_MS: Final = 9 * DAY_MS
FROST_MS: Final = 5 * DAY_MS  # time before the origin
_BURST_MS: Final = 11 * MINUTE_MS
_INDOORS: Final = 21.0
_OUTDOORS: Final = frozenset({"Irrigation", "Cooling", "Gateways"})

# Random streams of one meter; 1 to 9 belong to its pattern.
_LOSS, _JITTER, _BURST, _DRAW, _START, _LENGTH, _STRENGTH = range(10, 17)
_RSSI, _SIGNAL, _QUALITY, _CELSIUS = range(20, 24)


@dataclass(frozen=True, slots=True)
class _Sent:
    """Sent signals in order: instants (ms), rates (gal/min) and durations (s). ``index`` numbers
    them for their random stream, independent of the span."""

    instants: Ints
    index: Ints
    rates: Floats
    durations: Floats

    def only(self, which: Bools) -> _Sent:
        return _Sent(
            self.instants[which], self.index[which], self.rates[which], self.durations[which]
        )


def last_instant(one: Character, origin_ms: int, now_ms: int) -> int:
    """Returns the end of the meter's readings by now."""
    ends = {
        Condition.NEVER_SEEN: 0,
        Condition.INACTIVE: origin_ms - TAKEN_OUT_MS,
        Condition.SILENT: now_ms - SILENT_MS,
    }
    return min(ends.get(one.meter.condition, now_ms), now_ms)


def readings(one: Character, key: int, origin_ms: int, from_ms: int, to_ms: int) -> Columns:
    """Returns the readings with from_ms ≤ recorded_at < to_ms, ascending, under the device's
    ``key``."""
    sent = _events if one.meter.pattern is Pattern.EVENTS else _periodic
    signals = sent(one, from_ms, max(from_ms, to_ms))
    signals = signals.only((signals.instants >= from_ms) & (signals.instants < to_ms))
    signals = signals.only(_arrived(one, signals, origin_ms))
    clock = Clock.at(signals.instants, one.meter.site.time_zone)
    flow = _flow(one, signals, origin_ms)
    values = np.array([*flow, *_surroundings(one, clock, signals.index, origin_ms)])
    return Columns(np.full(len(signals.instants), key, np.int64), signals.instants, values)


def _slots(from_ms: int, to_ms: int, length_ms: int) -> Ints:
    """Returns every slot that may have a reading of the span; a reading lies within its slot."""
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
    """Returns the meter's own rates; for a main those of its sub-meters and the leakage before
    them."""
    parts = [SHARES[each.meter.pattern](each.stream, clock) * each.meter.rate
             for each in sub_meters(one)]  # fmt: skip
    if parts:
        total: Floats = (1 + UNACCOUNTED) * np.sum(parts, axis=0)
        return total
    return SHARES[one.meter.pattern](one.stream, clock) * one.meter.rate


def _events(one: Character, from_ms: int, to_ms: int) -> _Sent:
    """Returns a heartbeat early in each slot and, in some slots, the end of a draw later."""
    length_ms = one.meter.cadence_s * 1000
    slots = _slots(from_ms, to_ms, length_ms)

    def chance(name: int) -> Floats:
        return noise.uniform(noise.sub(one.stream, name), slots)

    clock = Clock.at(slots * length_ms, one.meter.site.time_zone)
    drawn = chance(_DRAW) < draws(one.stream, clock)
    seconds = np.rint(8 + 0.35 * one.meter.cadence_s * chance(_LENGTH) ** 2)
    ends = slots * length_ms + ((0.15 + 0.4 * chance(_START)) * length_ms).astype(np.int64)
    ends += seconds.astype(np.int64) * 1000
    heartbeats = slots * length_ms + int(0.1 * one.phase * length_ms)
    quiet = np.zeros(len(slots))
    instants = np.concatenate([heartbeats, ends[drawn]])
    order = np.argsort(instants, kind="stable")
    rates = np.concatenate([quiet, (one.meter.rate * (0.5 + 0.5 * chance(_STRENGTH)))[drawn]])
    return _Sent(
        instants[order],
        np.concatenate([2 * slots, 2 * slots[drawn] + 1])[order],
        rates[order],
        np.concatenate([quiet, seconds[drawn]])[order],
    )


def _arrived(one: Character, sent: _Sent, origin_ms: int) -> Bools:
    """Returns which of the signals arrived."""
    arrived: Bools = noise.uniform(noise.sub(one.stream, _LOSS), sent.index) >= one.loss
    if one.meter.condition is Condition.STUCK:  # no fault of its radio
        arrived[:] = True
    if one.meter.condition is Condition.DEGRADED:
        bursts = sent.instants // _BURST_MS
        lost = noise.uniform(noise.sub(one.stream, _BURST), bursts) < 0.08
        single = noise.uniform(noise.sub(one.stream, _BURST + 100), sent.index)
        # Never two in a row: it reports too seldom, but isn't silent.
        arrived &= ~(lost & (bursts % 2 == 0)) & (single >= 0.025)
    if one.meter.condition is Condition.OUTAGE:
        start, end = (origin_ms - before for before in OUTAGE_MS)
        arrived &= (sent.instants < start) | (sent.instants >= end)
    return arrived & (sent.instants < last_instant(one, origin_ms, int(1e15)))


def _flow(one: Character, sent: _Sent, origin_ms: int) -> tuple[Floats, Floats, Floats]:
    """Returns (rate, duration, amount): whole pulses are counted, and the rest is derived from
    them."""
    if one.meter.pattern is Pattern.NONE:
        nothing = np.full(len(sent.instants), np.nan)
        return nothing, nothing, nothing
    rates = faulty_rates(one.meter.condition, sent.instants, sent.rates, origin_ms)
    gallons = np.rint(rates * sent.durations / 60 * one.pulses_per_gallon) / one.pulses_per_gallon
    return gallons * 60 / np.maximum(sent.durations, 1.0), sent.durations, gallons


def _surroundings(one: Character, clock: Clock, index: Ints, origin_ms: int) -> tuple[Floats, ...]:
    """Returns (quality, signal strength, network rssi, temperature), in the catalog's order."""

    def wander(name: int, period_ms: int, noisy: float, index: Ints = index) -> Floats:
        stream = noise.sub(one.stream, name)
        slow = 2 * noise.wave(stream, clock.instants, period_ms) - 1
        return slow + noisy * noise.normal(noise.sub(stream, 1), index)

    outdoors = one.meter.kind in _OUTDOORS
    daily = np.sin((clock.hour - 9.5) * (2 * np.pi / 24)) * (7.5 if outdoors else 1.4)
    base = one.meter.site.outdoor_celsius if outdoors else _INDOORS
    if one.meter.condition is Condition.FROST:
        base = np.where(clock.instants >= origin_ms - FROST_MS, base - 8.0, base)
    middle, swing = {
        Condition.LOW_QUALITY: (34.0, 9.0),
        Condition.DEGRADED: (64.0, 16.0),
    }.get(one.meter.condition, (96.0 + 0.33 * (one.rssi + 72), 2.6))
    quality = np.clip(middle + swing * wander(_QUALITY, 5 * HOUR_MS, 0.35), 0, 100)
    middle = WEAK_DBM if one.meter.condition is Condition.WEAK_SIGNAL else one.signal
    signal = middle + 3 * wander(_SIGNAL, 3 * HOUR_MS, 0.6)
    rssi = one.rssi + 3 * wander(_RSSI, 2 * HOUR_MS, 0.6)
    celsius = base + daily + 1.6 * wander(_CELSIUS, 7 * HOUR_MS, 0.08)
    return np.rint(quality), np.rint(signal), np.rint(rssi), np.round(celsius, 1)


# --- Registers -----------------------------------------------------------------------------------

FIRST_REGISTER: Final = 1_187.0  # m³
SET_BACK: Final = 5.0  # m³


def registers(instants: Ints, gallons: Floats, origin_ms: int) -> Floats:
    """Returns the meter's register in m³, from its volumes since its first reading. The meter was
    exchanged for a new one, which was once set back."""
    counted = FIRST_REGISTER + np.cumsum(gallons) / GALLONS_PER_CUBIC_METRE
    old = instants < origin_ms - EXCHANGED_MS
    at_exchange = counted[old][-1] if old.any() else FIRST_REGISTER
    set_back = np.where(instants < origin_ms - SET_BACK_MS, 0.0, SET_BACK)
    new: Floats = np.where(old, counted, counted - at_exchange - set_back)
    return np.round(new, 3)
