"""The status of the visible devices, from the fleet page's cache or from the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from api.catalog import MAX_IDS
from api.metering.windows import DEFAULT_SPAN
from components import formatting
from components.clock import Clock, known_zone
from components.fleet.device_list import directory
from components.fleet.device_status import Known
from components.fleet.meters import Meter
from components.fleet.queries import Desk
from components.fleet.states import state_of
from components.fleet.status_cache import knowledge, refresh_page

MOST: Final = MAX_IDS  # what one question to the service can name


def states(desk: Desk, ids: Sequence[str], now_ms: int) -> dict[str, Any]:
    """What the grid says of each device's state, by id; nothing of one that is inactive, out of
    scope or not known in time. Raises a WeirError where the service can't say."""
    by_id = directory(desk, now_ms).by_id
    meters = [by_id[id] for id in ids if id in by_id]
    refresh_page(desk, DEFAULT_SPAN, meters, now_ms)
    known = knowledge(desk, DEFAULT_SPAN)
    return {m.id: _told(m, known[m.id], now_ms) for m in meters if m.id in known}


def _told(meter: Meter, known: Known, now_ms: int) -> dict[str, str]:
    state = state_of(meter, known, now_ms)
    told = {"name": state.name, "shape": state.shape, "word": state.word}
    seen_ms = known.seen_ms
    if seen_ms is None:
        return told
    clock = Clock(known_zone(meter.time_zone), seen_ms, seen_ms)
    return told | {
        "seen": formatting.ago(seen_ms, now_ms),
        "seen_at": formatting.moment(seen_ms, clock, seconds=True),
    }


def read_sight(value: Any) -> tuple[str, ...]:
    """The ids that a browser sends, checked."""
    ids = value.get("ids") if isinstance(value, dict) else None
    if not isinstance(ids, list):
        return ()
    return tuple(dict.fromkeys(id for id in ids[:MOST] if isinstance(id, str)))
