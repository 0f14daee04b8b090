"""Which devices the wall shows, in which order. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from components.fleet.known import Known
from components.fleet.meters import Meter
from components.fleet.states import STATES, State, is_fresh, state_of
from components.fleet.view import PAGE_SIZE, FleetView


class Row(NamedTuple):
    """One device, judged."""

    meter: Meter
    known: Known | None
    state: State


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


def judged(meters: Iterable[Meter], known: Mapping[str, Known], now_ms: int) -> list[Row]:
    return [Row(m, k := known.get(m.id), state_of(m, k, now_ms)) for m in meters]


def choose(rows: Sequence[Row], view: FleetView, now_ms: int) -> Chosen:
    """The page of a view: search and group, then statuses, then order. A page beyond the last
    shows the last. Devices that are held stay, in their order, whatever has become of them."""
    found = [row for row in rows if _matches(row.meter, view)]
    shown = [row for row in found if not view.statuses or row.state.name in view.statuses]
    pages = max(1, -(-len(shown) // PAGE_SIZE))
    page = min(view.page, pages)
    held = _held(rows, view.held)
    if not held:
        shown.sort(key=_order(view.sort, now_ms))
        held = shown[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    counts = Counter(row.state for row in found)
    return Chosen(tuple(held), {s: counts[s] for s in STATES}, len(shown), page, pages)


def _matches(meter: Meter, view: FleetView) -> bool:
    words = view.search.casefold().split()
    return all(word in meter.sought for word in words) and (
        not view.group or view.group in meter.groups
    )


def _held(rows: Sequence[Row], ids: Sequence[str]) -> list[Row]:
    if not ids:
        return []
    wanted = set(ids)
    there = {row.meter.id: row for row in rows if row.meter.id in wanted}
    return [there[id] for id in dict.fromkeys(ids) if id in there]


# --- Orders: ascending keys, ties by label -------------------------------------------------------

_LAST: Final = float("inf")


def _order(sort: str, now_ms: int) -> Callable[[Row], Any]:
    if sort == "flow":
        return lambda row: (_flow(row, now_ms), *_name(row))
    return {"worst": _worst, "label": _name, "seen": _seen, "uptime": _uptime}[sort]


def _name(row: Row) -> tuple[str, str]:
    return row.meter.label.casefold(), row.meter.serial


def _worst(row: Row) -> tuple[Any, ...]:
    quality = row.known.quality_min if row.known else None
    return row.state.rank, _up(row), _LAST if quality is None else quality, *_name(row)


def _uptime(row: Row) -> tuple[Any, ...]:
    return _up(row), *_name(row)


def _up(row: Row) -> float:
    uptime = row.known.uptime if row.known else None
    return _LAST if uptime is None else uptime


def _seen(row: Row) -> tuple[Any, ...]:
    seen = row.known.seen_ms if row.known else None
    return _LAST if seen is None else seen, *_name(row)


def _flow(row: Row, now_ms: int) -> float:
    known = row.known
    if known is None or known.flow is None or not is_fresh(known, now_ms):
        return _LAST
    return -known.flow
