"""The status of one device in one window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.client import DeviceStatus
from api.metering import status, uptime
from api.metering.cadence import Cadence
from api.metering.status import Activity
from api.metering.windows import DEFAULT_SPAN


class CurrentStatus(NamedTuple):
    """``seen_ms`` None: it has never reported. ``flow``: of the last reading. ``failure``: why
    there is no status."""

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


def status_of_row(row: DeviceStatus, now_ms: int) -> CurrentStatus:
    """The status as the service stores it, in the wall's default window, so that every page shows
    the same state."""
    cadence = Cadence(round((row.cadence_s or 0) * 1000), row.event_driven)
    window = row.windows[DEFAULT_SPAN.name]
    return CurrentStatus(
        as_of_ms=now_ms,
        cadence_ms=cadence.ms,
        seen_ms=row.last_seen_ms,
        actual=window.actual,
        expected=window.expected,
        bucket_ms=uptime.resolution_for(cadence).fixed_ms,
        quality_min=window.quality_min,
        quality_max=window.quality_max,
        flow=row.flow,
        event_driven=cadence.event_driven,
    )


@dataclass(frozen=True, slots=True)
class State:
    """A state's colour (``name`` in the stylesheet), shape and word. ``rank`` 0 is the worst."""

    name: str
    shape: str
    word: str
    rank: int


SILENT: Final = State("silent", "■", "Silent", 0)
DEGRADED: Final = State("degraded", "▲", "Degraded", 1)
FAILED: Final = State("unknown", "◌", "Unavailable", 2)  # the service fails for this device alone
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
    """The state of a device as the service stores it."""
    if row.as_of_ms is None and row.state != status.State.INACTIVE:
        return UNKNOWN
    return SHOWN[status.State(row.state)]


# The names that the service filters by.
SERVICE_NAMES: Final = {state.name: service.value for service, state in SHOWN.items()}


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
