"""Faults of demo meters: how a condition changes their flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.catalog import DAY_MS, HOUR_MS
from api.ingest.demo.fleet import Condition
from api.ingest.demo.noise import Floats, Ints

LEAK_GPM: Final = 0.9


@dataclass(frozen=True, slots=True)
class FlowFault:
    """A change of rates, from ``from_ms`` to ``to_ms`` before the origin (None: still going on)."""

    from_ms: int
    to_ms: int | None
    change: Callable[[Floats], Floats]


FLOW_FAULTS: Final[dict[Condition, FlowFault]] = {
    Condition.LEAKING: FlowFault(6 * DAY_MS, None, lambda rates: rates + LEAK_GPM),
    Condition.NIGHT_FLOW: FlowFault(6 * DAY_MS, None, lambda rates: rates + 0.2),
    Condition.BURST: FlowFault(30 * HOUR_MS, None, lambda rates: rates + 9.0),
    Condition.HIGH_FLOW: FlowFault(2 * HOUR_MS, None, lambda rates: rates * 0 + 38.0),
    Condition.UNUSUAL_DAY: FlowFault(28 * HOUR_MS, 14 * HOUR_MS, lambda rates: rates + 9.0),
    Condition.NO_USE: FlowFault(10 * DAY_MS, None, lambda rates: rates * 0),
    Condition.STUCK: FlowFault(20 * HOUR_MS, None, lambda rates: rates * 0 + 2.0),
    Condition.BACKWARDS: FlowFault(5 * HOUR_MS, None, lambda rates: rates * 0 - 1.5),
}


def faulty_rates(condition: Condition, instants: Ints, rates: Floats, origin_ms: int) -> Floats:
    """Returns the rates (gal/min) at these instants under that condition."""
    fault = FLOW_FAULTS.get(condition)
    if fault is None:
        return rates
    within = instants >= origin_ms - fault.from_ms
    if fault.to_ms is not None:
        within &= instants < origin_ms - fault.to_ms
    changed = rates.copy()
    changed[within] = fault.change(rates[within])
    return changed
