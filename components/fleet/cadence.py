"""How often devices report: as configured, else estimated from the last week."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from api.catalog import RAW
from api.client import Client
from api.errors import NotOffered
from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, estimated
from api.timez import DAY_MS, HOUR_MS
from components.fleet.meters import Meter
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, Desk

FRESH_MS: Final = DAY_MS
QUIET_FRESH_MS: Final = HOUR_MS  # nothing was measured: it may have begun to report since
SAMPLE: Final = 1_000  # readings: their steps are the week's, for a fraction of its cost
SUBJECT: Final = "cadence"
MANY: Final = 100  # unknown devices, for which a page of the service's own estimates is asked
PAGE: Final = 1_000


class _Measured(NamedTuple):
    """``cadence_ms`` None: there were no two readings to tell."""

    asked_ms: int
    cadence_ms: int | None
    event_driven: bool = False

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.cadence_ms, self.event_driven) if self.cadence_ms else UNKNOWN


def cadences(
    desk: Desk, meters: Sequence[Meter], deadline: Deadline, now_ms: int
) -> dict[str, Cadence]:
    """By device id. Measured as far as the deadline allows and remembered for a day; a device of
    which nothing is known yet isn't in the answer."""
    known = {m.id: Cadence(m.cadence_ms) for m in meters if m.cadence_ms is not None}
    rest = [m.id for m in meters if m.cadence_ms is None]
    if not rest:
        return known
    book = desk.memory.book(desk.principal, SUBJECT, _Measured._make)
    kept = book.pull()
    if sum(_due(kept.get(id), now_ms) for id in rest) > MANY:
        book.put(_estimates(desk, now_ms), now_ms)
    jobs = (partial(_measure, desk.client, id, now_ms) for id in rest if _due(kept.get(id), now_ms))
    book.put(dict(desk.answers(jobs, deadline)), now_ms)
    return known | {id: kept[id].cadence for id in rest if id in kept}


def _estimates(desk: Desk, now_ms: int) -> dict[str, _Measured]:
    """The cadences that the service keeps, a page at each call: thousands of devices are known
    within a few refreshes. Nothing from a server that keeps none."""
    place = (desk.principal, SUBJECT)
    offset = desk.memory.local(place) or 0
    try:
        page = desk.client.statuses(order_by="label", limit=PAGE, offset=offset)
    except NotOffered:
        return {}
    desk.memory.keep(place, offset + PAGE if offset + PAGE < page.count else 0)
    return {
        row.device.id: _Measured(now_ms, round(row.cadence_s * 1_000), row.event_driven)
        for row in page.rows
        if row.cadence_s is not None
    }


def measured(client: Client, device_id: str, end_ms: int) -> Cadence | None:
    """From the first thousand readings of the week up to ``end_ms``."""
    rows = client.datapoints(
        device_id, RAW, from_ms=end_ms - LOOKED_BACK_MS, to_ms=end_ms, limit=SAMPLE
    )
    return estimated(rows.times_ms)


def _due(kept: _Measured | None, now_ms: int) -> bool:
    if kept is None:
        return True
    return now_ms - kept.asked_ms >= (FRESH_MS if kept.cadence_ms else QUIET_FRESH_MS)


def _measure(client: Client, device_id: str, now_ms: int) -> tuple[str, _Measured]:
    found = None  # where it can't be asked, its other questions will tell
    with suppress(*ONE_DEVICE_ERRORS):
        found = measured(client, device_id, now_ms)
    if found is None:
        return device_id, _Measured(now_ms, None)
    return device_id, _Measured(now_ms, found.ms, found.event_driven)
