"""How often devices report: as configured, else as the service keeps it, else estimated from the
last week."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from api.catalog import MAX_IDS, RAW
from api.client import Client
from api.errors import NotOffered
from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, estimated
from api.metering.status import State
from api.timez import DAY_MS, HOUR_MS
from components.fleet.meters import Meter
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, Desk, batches

FRESH_MS: Final = DAY_MS
QUIET_FRESH_MS: Final = HOUR_MS  # nothing was measured: it may have begun to report since
SAMPLE: Final = 1_000  # readings: their steps are the week's, for a fraction of its cost
_STATES: Final = tuple(State)


class _Measured(NamedTuple):
    """``cadence`` None: there were no two readings to tell."""

    asked_ms: int
    cadence: Cadence | None


def cadences(
    desk: Desk, meters: Sequence[Meter], deadline: Deadline, now_ms: int
) -> dict[str, Cadence]:
    """By device id, as far as the deadline allows, cached for a day; a device of which nothing is
    known yet isn't in the answer."""
    configured = {m.id: Cadence(m.cadence_ms) for m in meters if m.cadence_ms is not None}
    rest = [m.id for m in meters if m.cadence_ms is None]
    key = (desk.principal, "cadences")
    cached: dict[str, _Measured] = dict(desk.memory.local(key) or {})
    due = [id for id in rest if _due(cached.get(id), now_ms)]
    if due:
        cached |= _kept_by_service(desk, due, deadline, now_ms)
        due = [id for id in rest if _due(cached.get(id), now_ms)]
        jobs = (partial(_measure, desk.client, id, now_ms) for id in due)
        cached |= dict(desk.answers(jobs, deadline))
        desk.memory.keep(key, cached)
    return configured | {id: cached[id].cadence or UNKNOWN for id in rest if id in cached}


def _kept_by_service(
    desk: Desk, ids: Sequence[str], deadline: Deadline, now_ms: int
) -> dict[str, _Measured]:
    """50 devices a question; none from a server that keeps no status."""

    def ask(some: Sequence[str]) -> dict[str, _Measured]:
        page = desk.client.statuses(states=_STATES, ids=some, limit=MAX_IDS)
        return {
            row.device.id: _Measured(now_ms, Cadence(round(row.cadence_s * 1000), row.event_driven))
            for row in page.rows
            if row.cadence_s is not None
        }

    found: dict[str, _Measured] = {}
    with suppress(NotOffered):
        for part in desk.answers((partial(ask, some) for some in batches(ids)), deadline):
            found |= part
    return found


def measured(client: Client, device_id: str, end_ms: int) -> Cadence | None:
    """From the first thousand readings of the week up to ``end_ms``."""
    rows = client.datapoints(
        device_id, RAW, from_ms=end_ms - LOOKED_BACK_MS, to_ms=end_ms, limit=SAMPLE
    )
    return estimated(rows.times_ms)


def _due(cached: _Measured | None, now_ms: int) -> bool:
    if cached is None:
        return True
    return now_ms - cached.asked_ms >= (FRESH_MS if cached.cadence else QUIET_FRESH_MS)


def _measure(client: Client, device_id: str, now_ms: int) -> tuple[str, _Measured]:
    found = None  # if it can't be asked, its other questions will tell
    with suppress(*ONE_DEVICE_ERRORS):
        found = measured(client, device_id, now_ms)
    return device_id, _Measured(now_ms, found)
