"""How the states of a device are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.client import DeviceStatus
from api.metering import status
from api.metering.status import Heard
from components.fleet.device_status import Known
from components.fleet.meters import Meter


@dataclass(frozen=True, slots=True)
class State:
    """Told by colour (``name`` in the stylesheet), shape and word. ``rank`` 0 is the worst."""

    name: str
    shape: str
    word: str
    rank: int


SILENT: Final = State("silent", "■", "Silent", 0)
DEGRADED: Final = State("degraded", "▲", "Degraded", 1)
FAILED: Final = State("unknown", "◌", "Unavailable", 2)  # the service fails for this one alone
NO_DATA: Final = State("nodata", "○", "No data", 3)
REPORTING: Final = State("reporting", "●", "Reporting", 4)
UNKNOWN: Final = State("unknown", "◌", "Loading", 5)
INACTIVE: Final = State("inactive", "○", "Inactive", 6)
STATES: Final = (REPORTING, DEGRADED, SILENT, NO_DATA)
STATE_BY_NAME: Final = {state.name: state for state in STATES}
SHOWN: Final = {
    status.State.SILENT: SILENT,
    status.State.DEGRADED: DEGRADED,
    status.State.NO_DATA: NO_DATA,
    status.State.REPORTING: REPORTING,
    status.State.INACTIVE: INACTIVE,
}


def shown(row: DeviceStatus) -> State:
    """The state of a device as the service keeps it."""
    if row.as_of_ms is None and row.state != status.State.INACTIVE:
        return UNKNOWN
    return SHOWN[status.State(row.state)]


# The names by which the service filters.
SERVICE_NAMES: Final = {state.name: service.value for service, state in SHOWN.items()}


def is_fresh(known: Known, now_ms: int) -> bool:
    """Whether the last reading is recent enough to count as current."""
    return status.is_fresh(known.seen_ms, known.cadence, now_ms)


def state_of(meter: Meter, known: Known | None, now_ms: int, *, active: bool = True) -> State:
    if not active:
        return INACTIVE
    if known is None:
        return UNKNOWN
    if known.failure:
        return FAILED
    heard = Heard(known.cadence, known.seen_ms, known.actual, known.expected, known.quality_min)
    return SHOWN[status.state_of(heard, meter.quality_limit, now_ms)]
