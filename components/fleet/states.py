"""The states of a device, and the rules that tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.timez import MINUTE_MS
from components.fleet.device_status import Known
from components.fleet.meters import Meter

UPTIME_LIMIT: Final = 0.95
SILENT_AFTER_CADENCES: Final = 3
SILENT_AFTER_MS: Final = 15 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class State:
    """Told by colour (``name`` in the stylesheet), shape and word. ``rank`` 0 is the worst."""

    name: str
    shape: str
    word: str
    rank: int


SILENT: Final = State("silent", "■", "Silent", 0)
DEGRADED: Final = State("degraded", "▲", "Degraded", 1)
FAILED: Final = State("unknown", "◌", "No answer", 2)  # the service fails for this one alone
NO_DATA: Final = State("nodata", "○", "No data", 3)
REPORTING: Final = State("reporting", "●", "Reporting", 4)
UNKNOWN: Final = State("unknown", "◌", "Not asked yet", 5)
STATES: Final = (REPORTING, DEGRADED, SILENT, NO_DATA)
STATE_BY_NAME: Final = {state.name: state for state in STATES}


def silent_after_ms(cadence_ms: int) -> int:
    return max(SILENT_AFTER_CADENCES * cadence_ms, SILENT_AFTER_MS)


def is_fresh(known: Known, now_ms: int) -> bool:
    """Whether the last reading is recent enough to speak of now."""
    seen = known.seen_ms
    return seen is not None and now_ms - seen <= silent_after_ms(known.cadence_ms)


def low_uptime(known: Known) -> bool:
    return known.uptime is not None and known.uptime < UPTIME_LIMIT


def low_quality(meter: Meter, known: Known) -> bool:
    return known.quality_min is not None and known.quality_min < meter.quality_limit


def state_of(meter: Meter, known: Known | None, now_ms: int) -> State:
    if known is None:
        return UNKNOWN
    if known.failure:
        return FAILED
    if known.seen_ms is None:
        return NO_DATA
    if not is_fresh(known, now_ms):
        return SILENT
    return DEGRADED if low_uptime(known) or low_quality(meter, known) else REPORTING


def reasons(meter: Meter, known: Known | None, state: State) -> tuple[str, ...]:
    """Why somebody should look at the device; empty where nobody need."""
    if known is None or state is REPORTING or state is UNKNOWN:
        return ()
    if state is SILENT or state is FAILED:
        return (state.word.lower(),)
    if state is NO_DATA:
        return ("never reported",) if meter.installed else ()
    low = (low_uptime(known), "low uptime"), (low_quality(meter, known), "low quality")
    return tuple(word for holds, word in low if holds)
