"""What is the matter with some meters' flow: how a fate changes what they would have sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.ingest.demo.fleet import Fate
from api.ingest.demo.noise import Floats, Ints

LEAK_GPM: Final = 0.9


@dataclass(frozen=True, slots=True)
class Trouble:
    """From and up to how long before the origin, or on and on; and what it makes of the rates."""

    from_ms: int
    to_ms: int | None
    change: Callable[[Floats], Floats]


TROUBLES: Final[dict[Fate, Trouble]] = {
    Fate.LEAKING: Trouble(6 * DAY_MS, None, lambda rates: rates + LEAK_GPM),
    Fate.BURST: Trouble(30 * HOUR_MS, None, lambda rates: rates + 9.0),
    Fate.HIGH_FLOW: Trouble(26 * HOUR_MS, 26 * HOUR_MS - 25 * MINUTE_MS, lambda r: r * 0 + 40.0),
    Fate.UNUSUAL_DAY: Trouble(48 * HOUR_MS, 30 * HOUR_MS, lambda rates: rates + 5.0),
    Fate.NO_USE: Trouble(10 * DAY_MS, None, lambda rates: rates * 0),
    Fate.STUCK: Trouble(20 * HOUR_MS, None, lambda rates: rates * 0 + 2.0),
    Fate.BACKWARDS: Trouble(5 * HOUR_MS, 4 * HOUR_MS, lambda rates: rates * 0 - 1.5),
}


def troubled(fate: Fate, instants: Ints, rates: Floats, origin_ms: int) -> Floats:
    """The rates (gal/min) at these instants under that fate."""
    trouble = TROUBLES.get(fate)
    if trouble is None:
        return rates
    within = instants >= origin_ms - trouble.from_ms
    if trouble.to_ms is not None:
        within &= instants < origin_ms - trouble.to_ms
    changed = rates.copy()
    changed[within] = trouble.change(rates[within])
    return changed
