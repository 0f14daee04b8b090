"""The usual flow of each hour, shown with the lines of devices with a finding: the median of the
profile in the evaluator's stored state. Computed once per hour and device in each process."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from api.catalog import HOUR_MS
from api.insight.finding_inputs import holidays_of
from api.insight.findings import State
from api.metering.profile import HOURS, day_types, untrained, usual
from api.metering.usual_band import LEAST_DAYS
from api.store.base import Device, EvaluationState, Store
from api.timez import ceil_to, floor_to, local_ordinal, offset_ms, zone_or_utc

MOST_CACHED: Final = 5_000
MINUTES: Final = 60


class UsualLine(NamedTuple):
    """gal/min of the hours from ``start_ms`` on; None where nothing is usual yet."""

    start_ms: int
    rates: Sequence[float | None]


_Cache = dict[tuple[int, int, int], UsualLine | None]
_lines: WeakKeyDictionary[Store, _Cache] = WeakKeyDictionary()
_making = Lock()


def usual_lines(
    store: Store, devices: Sequence[Device], from_ms: int, to_ms: int
) -> dict[int, UsualLine]:
    """Returns lines by device key, without devices with too little history."""
    first, last = floor_to(from_ms, HOUR_MS), ceil_to(to_ms, HOUR_MS)
    with _making:
        cache = _lines.setdefault(store, {})
        if len(cache) > MOST_CACHED:
            cache.clear()
        lines = {d.key: cache[place] for d in devices if (place := (d.key, first, last)) in cache}
    missing = [device for device in devices if device.key not in lines]
    if missing:
        made = _made(store, missing, first, last)
        lines |= made
        with _making:
            cache.update({(key, first, last): line for key, line in made.items()})
    return {key: line for key, line in lines.items() if line is not None}


def _made(
    store: Store, devices: Sequence[Device], first_ms: int, last_ms: int
) -> dict[int, UsualLine | None]:
    states = store.states_of([device.key for device in devices])
    organizations = {device.organization_id for device in devices}
    holidays = {each: holidays_of(store, each) for each in organizations}
    return {
        d.key: _line(d, states.get(d.key), holidays[d.organization_id], first_ms, last_ms)
        for d in devices
    }


def _line(
    device: Device,
    stored: EvaluationState | None,
    holidays: frozenset[int],
    first_ms: int,
    last_ms: int,
) -> UsualLine | None:
    if stored is None or not stored.data:
        return None
    try:
        state = State.load(stored.data)
    except ValueError:  # of another version: the evaluator recomputes it
        return None
    tz, history = zone_or_utc(device.time_zone), state.history
    profile = usual(history, holidays, untrained(history.day, tz, state.carried.day_spans))
    if profile.days < LEAST_DAYS:
        return None
    day = local_ordinal(tz, first_ms)
    types = day_types(day, local_ordinal(tz, last_ms) - day + 1, holidays)
    rates: list[float | None] = []
    for at in range(first_ms, last_ms, HOUR_MS):
        hour = (at + offset_ms(tz, at)) // HOUR_MS % HOURS
        gallons = float(profile.table[types[local_ordinal(tz, at) - day], hour])
        rates.append(gallons / MINUTES if gallons == gallons else None)
    return UsualLine(first_ms, rates)
