"""The status of one device in one window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.client import DeviceStatus
from api.metering import status, uptime
from api.metering.cadence import Cadence
from api.metering.status import Activity


class CurrentStatus(NamedTuple):
    """``seen_ms`` None: it has never reported.
    ``flow`` is the last reading's. ``failure`` says why this device has no answer."""

    as_of_ms: int
    cadence_ms: int
    seen_ms: int | None = None
    actual: int = 0
    expected: int = 0
    bucket_ms: int = 0
    quality_min: float | None = None
    quality_max: float | None = None
    flow: float | None = None
    failure: str = ""
    event_driven: bool = False

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.cadence_ms, self.event_driven)

    @property
    def uptime(self) -> float | None:
        return uptime.share(self.actual, self.expected)


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


def is_fresh(current: CurrentStatus, now_ms: int) -> bool:
    """Whether the last reading is recent enough to count as current."""
    return status.is_fresh(current.seen_ms, current.cadence, now_ms)


def state_of(
    quality_limit: float, current: CurrentStatus | None, now_ms: int, *, active: bool = True
) -> State:
    if not active:
        return INACTIVE
    if current is None:
        return UNKNOWN
    if current.failure:
        return FAILED
    observed = Activity(
        current.cadence, current.seen_ms, current.actual, current.expected, current.quality_min
    )
    return SHOWN[status.state_of(observed, quality_limit, now_ms)]
