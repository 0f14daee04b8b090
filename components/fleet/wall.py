"""The wall as the browser draws it: one JSON object, every word of it decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from api.errors import WeirError
from components import formatting
from components.clock import Clock, known_zone
from components.controls import failure
from components.fleet.day_volumes import Volume, volumes
from components.fleet.device_list import Directory, directory
from components.fleet.device_status import Known
from components.fleet.queries import Deadline, Desk
from components.fleet.selection import Chosen, Row, choose, in_scope, judge, rechosen
from components.fleet.sparkline_rows import Line, lines
from components.fleet.states import STATES
from components.fleet.status_cache import knowledge, refresh_page, sweep
from components.fleet.tiles import filled, tiles_of
from components.fleet.totals import totals
from components.fleet.uptime_strip import Beat, beats
from components.fleet.url_state import SORTS, FleetView, write_fleet_view

# What one refresh may spend on questions that nobody has asked yet. The devices in sight are
# always asked; everything else goes on with the next refresh, and says so.
SWEEP_S: Final = 0.2
PAGE_S: Final = 0.2
VOLUME_S: Final = 0.1

# When the browser asks again: at once where the page in sight isn't complete, soon where the rest
# of the fleet isn't, else in its own time.
PAGE_AGAIN_MS: Final = 100
SCOPE_AGAIN_MS: Final = 1_000
AGAIN_MS: Final = 15_000
SOON_COMPLETE: Final = 500  # so many devices are worth asking soon for their volumes


@dataclass(frozen=True, slots=True)
class _Extras:
    """What tiles and sums show beside the states. ``trouble``: why some of it is missing."""

    lines: Mapping[str, Line] = field(default_factory=dict[str, Line])
    beats: Mapping[str, Beat] = field(default_factory=dict[str, Beat])
    volumes: Mapping[str, Volume] = field(default_factory=dict[str, Volume])
    trouble: str = ""


def board(desk: Desk, view: FleetView, now_ms: int) -> dict[str, Any]:
    """Everything the wall shows of that view. Raises a WeirError where the service as a whole
    can't answer; what ails a single device is told in its tile."""
    listed = directory(desk, now_ms)
    # Listing ten thousand took its time: paint their labels and states first.
    first = listed.listed_ms == now_ms and len(listed.meters) > SOON_COMPLETE
    if not first:
        sweep(desk, view.span, listed.meters, Deadline(SWEEP_S), now_ms)
    rows, chosen = _judged(desk, view, listed, now_ms)
    known = knowledge(desk, view.span)
    extras = _Extras() if first else _extras(desk, view, listed, chosen, known, now_ms)
    scope = in_scope(rows, view)
    ids = {row.meter.id for row in scope}
    return {
        "view": write_fleet_view(view),
        "at": now_ms,
        "at_words": _clock_words(view, now_ms),
        "again_ms": again_ms(rows, chosen, extras.lines, extras.beats, extras.volumes),
        "trouble": extras.trouble,
        "unit": view.units.flow_unit,
        "tiles": tiles_of(chosen.rows, extras.lines, extras.beats, view, now_ms),
        "totals": [
            asdict(total)
            for total in totals(
                scope,
                {id: volume for id, volume in extras.volumes.items() if id in ids},
                span=view.span,
                units=view.units,
                default_price=listed.price,
            )
        ],
        **_controls(listed, chosen, view, rows),
    }


def _judged(
    desk: Desk, view: FleetView, listed: Directory, now_ms: int
) -> tuple[list[Row], Chosen]:
    """Every device judged by what is known, those of the page by what is asked now."""
    known = knowledge(desk, view.span)
    rows = [judge(meter, known.get(meter.id), now_ms) for meter in listed.meters]
    before = choose(rows, view)
    page = [row.meter for row in before.rows]
    refresh_page(desk, view.span, page, now_ms)
    known = knowledge(desk, view.span)
    anew = {meter.id: judge(meter, known.get(meter.id), now_ms) for meter in page}
    rows = [anew.get(row.meter.id, row) for row in rows]
    return rows, rechosen(rows, view, before)


def _extras(
    desk: Desk,
    view: FleetView,
    listed: Directory,
    chosen: Chosen,
    known: Mapping[str, Known],
    now_ms: int,
) -> _Extras:
    """States were answered: where these aren't, the wall stands without them for once."""
    shown, page = [row.meter for row in chosen.rows if row.answered], Deadline(PAGE_S)
    try:
        return _Extras(
            lines(desk, view.span, shown, known, page, now_ms),
            beats(desk, view.span, shown, known, page, now_ms),
            volumes(desk, view.zone, listed.meters, known, Deadline(VOLUME_S), now_ms),
        )
    except WeirError as error:
        return _Extras(trouble=failure(error))


def again_ms(
    rows: Sequence[Row],
    chosen: Chosen,
    drawn: Mapping[str, Line],
    pulses: Mapping[str, Beat],
    told: Mapping[str, Volume],
) -> int:
    unknown = any(row.known is None for row in chosen.rows)
    if unknown or not filled(chosen.rows, drawn, pulses):
        return PAGE_AGAIN_MS
    if any(row.known is None for row in rows):
        return SCOPE_AGAIN_MS
    waiting = any(row.meter.id not in told for row in rows)
    return SCOPE_AGAIN_MS if waiting and len(rows) <= SOON_COMPLETE else AGAIN_MS


# --- Words around the tiles ----------------------------------------------------------------------


def _clock_words(view: FleetView, now_ms: int) -> str:
    return formatting.moment(now_ms, Clock(known_zone(view.zone), now_ms, now_ms), seconds=True)


def _controls(
    listed: Directory, chosen: Chosen, view: FleetView, rows: Sequence[Row]
) -> dict[str, Any]:
    return {
        "chips": [
            {
                "name": state.name,
                "shape": state.shape,
                "word": state.word,
                "count": formatting.whole(chosen.counts[state]),
                "pressed": state.name in view.statuses,
            }
            for state in STATES
        ],
        "groups": list(listed.groups),
        "pages": {
            "page": chosen.page,
            "last": chosen.pages,
            "words": _pages_words(chosen),
        },
        "found": _found(chosen, view),
        "empty": "" if chosen.rows else _empty(view, len(rows)),
    }


def _pages_words(chosen: Chosen) -> str:
    """``51–100 of 132``; how many there are where one page holds them all."""
    if chosen.pages == 1:
        return formatting.plural(chosen.matching, "device")
    span = f"{formatting.whole(chosen.first)}–{formatting.whole(chosen.last)}"
    return f"{span} of {formatting.whole(chosen.matching)}"


def _found(chosen: Chosen, view: FleetView) -> str:
    """What a screen reader says when a filter has changed."""
    return f"{formatting.plural(chosen.matching, 'device')}, sorted: {SORTS[view.sort]}"


def _empty(view: FleetView, scope: int) -> str:
    """Why there is no tile."""
    if not scope:
        return "You don’t have access to any active device."
    if view.search and not (view.statuses or view.group):
        return f"No device matches “{view.search}”."
    return "No device matches this search and these filters."
