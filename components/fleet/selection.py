"""The devices on the fleet page, in order. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final, NamedTuple

from components.fleet.device_status import Known
from components.fleet.meters import Meter
from components.fleet.states import STATES, State, is_fresh, reasons, state_of
from components.fleet.url_state import PAGE_SIZE, FleetView


class Row(NamedTuple):
    """One device, judged. ``flow`` is the last reading's rate where that is of now; ``why``
    somebody should look at it."""

    meter: Meter
    known: Known | None
    state: State
    flow: float | None
    why: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """Whether further requests for the device make sense."""
        return self.known is not None and not self.known.failure


@dataclass(frozen=True, slots=True)
class Chosen:
    """``counts`` are of what search and group leave, by state; ``matching`` of these have a chosen
    status; ``rows`` are the page's, ``first`` the place of the first of them (from 1)."""

    rows: tuple[Row, ...]
    counts: Mapping[State, int]
    matching: int
    page: int
    pages: int

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE_SIZE + 1 if self.matching else 0

    @property
    def last(self) -> int:
        return min(self.page * PAGE_SIZE, self.matching)


def judge(meter: Meter, known: Known | None, now_ms: int) -> Row:
    state = state_of(meter, known, now_ms)
    flow = known.flow if known is not None and is_fresh(known, now_ms) else None
    return Row(meter, known, state, flow, reasons(meter, known, state))


def choose(rows: Sequence[Row], view: FleetView) -> Chosen:
    """The page of a view: search and group, then statuses, then order. A page beyond the last
    shows the last. Devices that are held stay, in their order, whatever has become of them."""
    found, shown = _found(rows, view)
    page, pages = _page(shown, view)
    picked = _there(rows, view.held)
    if not picked:
        ordered = nsmallest(page * PAGE_SIZE, shown, key=ORDERS[view.sort])
        picked = ordered[(page - 1) * PAGE_SIZE :]
    return Chosen(tuple(picked), _counts(found), len(shown), page, pages)


def rechosen(rows: Sequence[Row], view: FleetView, before: Chosen) -> Chosen:
    """The same devices, which have been judged anew since: in their new order, with new counts."""
    found, shown = _found(rows, view)
    page, pages = _page(shown, view)
    picked = _there(rows, [row.meter.id for row in before.rows])
    if not view.held:
        picked.sort(key=ORDERS[view.sort])
    return Chosen(tuple(picked), _counts(found), len(shown), page, pages)


def in_scope(rows: Sequence[Row], view: FleetView) -> Sequence[Row]:
    """The devices that match search and group: those of the totals."""
    return _found(rows, view)[0]


def everything(rows: Sequence[Row], view: FleetView) -> list[Row]:
    """All that a view is of, whatever the page."""
    return sorted(_found(rows, view)[1], key=ORDERS[view.sort])


def _found(rows: Sequence[Row], view: FleetView) -> tuple[Sequence[Row], Sequence[Row]]:
    """What search and group leave, and what of it has a chosen status."""
    found = rows
    if view.search or view.group:
        found = [row for row in rows if _matches(row.meter, view)]
    if not view.statuses:
        return found, found
    return found, [row for row in found if row.state.name in view.statuses]


def _page(shown: Sequence[Row], view: FleetView) -> tuple[int, int]:
    pages = max(1, -(-len(shown) // PAGE_SIZE))
    return min(view.page, pages), pages


def _counts(found: Sequence[Row]) -> Mapping[State, int]:
    counts = Counter(row.state for row in found)
    return {state: counts[state] for state in STATES}


def _matches(meter: Meter, view: FleetView) -> bool:
    """One field holds the search, whatever its case."""
    group = not view.group or view.group in meter.groups
    return group and view.search.casefold() in meter.sought


def _there(rows: Sequence[Row], ids: Sequence[str]) -> list[Row]:
    if not ids:
        return []
    wanted = set(ids)
    there = {row.meter.id: row for row in rows if row.meter.id in wanted}
    return [there[id] for id in dict.fromkeys(ids) if id in there]


# --- Orders: ascending keys, ties by label -------------------------------------------------------

_LAST: Final = float("inf")


def _name(row: Row) -> tuple[str, str]:
    return row.meter.label.casefold(), row.meter.serial


def _worst(row: Row) -> tuple[Any, ...]:
    known = row.known
    quality = None if known is None else known.quality_min
    return row.state.rank, _up(row), _LAST if quality is None else quality, _name(row)


def _uptime(row: Row) -> tuple[Any, ...]:
    return _up(row), _name(row)


def _up(row: Row) -> float:
    known = row.known
    return known.actual / known.expected if known is not None and known.expected else _LAST


def _seen(row: Row) -> tuple[Any, ...]:
    seen = None if row.known is None else row.known.seen_ms
    return _LAST if seen is None else seen, _name(row)


def _flow(row: Row) -> tuple[Any, ...]:
    return _LAST if row.flow is None else -row.flow, _name(row)


ORDERS: Final[Mapping[str, Callable[[Row], Any]]] = {
    "worst": _worst,
    "label": _name,
    "seen": _seen,
    "uptime": _uptime,
    "flow": _flow,
}
