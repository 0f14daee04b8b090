"""How often a device reports: as configured, else as it did over the last week."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from api.catalog import RAW
from api.client import Client
from api.timez import DAY_MS, HOUR_MS
from components.fleet.meters import MIN_CADENCE_MS, Meter
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, Desk

LOOKED_BACK_MS: Final = 7 * DAY_MS
FRESH_MS: Final = DAY_MS
QUIET_FRESH_MS: Final = HOUR_MS  # nothing was measured: it may have begun to report since
SAMPLE: Final = 1_000  # readings: their median is the week's, for a fraction of its cost
SUBJECT: Final = "cadence"


class _Measured(NamedTuple):
    """``cadence_ms`` None: there were no two readings to tell."""

    asked_ms: int
    cadence_ms: int | None


def median_step_ms(times_ms: Sequence[int]) -> int | None:
    """None where there are no two readings; at least a minute."""
    steps = [after - before for before, after in pairwise(times_ms)]
    return max(MIN_CADENCE_MS, round(median(steps))) if steps else None


def cadences(
    desk: Desk, meters: Sequence[Meter], deadline: Deadline, now_ms: int
) -> dict[str, int]:
    """By device id. Measured as far as the deadline allows and remembered for a day; a device of
    which nothing is known yet isn't in the answer."""
    known = {m.id: m.cadence_ms for m in meters if m.cadence_ms is not None}
    rest = [m.id for m in meters if m.cadence_ms is None]
    if not rest:
        return known
    book = desk.memory.book(desk.principal, SUBJECT, _Measured._make)
    kept = book.pull()
    jobs = (partial(_measure, desk.client, id, now_ms) for id in rest if _due(kept.get(id), now_ms))
    book.put(dict(desk.answers(jobs, deadline)), now_ms)
    return known | {id: kept[id].cadence_ms or MIN_CADENCE_MS for id in rest if id in kept}


def _due(kept: _Measured | None, now_ms: int) -> bool:
    if kept is None:
        return True
    return now_ms - kept.asked_ms >= (FRESH_MS if kept.cadence_ms else QUIET_FRESH_MS)


def _measure(client: Client, device_id: str, now_ms: int) -> tuple[str, _Measured]:
    """From at most ten thousand readings of the week, the earliest of them."""
    cadence_ms = None  # where it can't be asked, its other questions will tell
    with suppress(*ONE_DEVICE_ERRORS):
        rows = client.datapoints(
            device_id, RAW, from_ms=now_ms - LOOKED_BACK_MS, to_ms=now_ms, limit=SAMPLE
        )
        cadence_ms = median_step_ms(rows.times_ms)
    return device_id, _Measured(now_ms, cadence_ms)
