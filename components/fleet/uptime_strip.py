"""Heartbeats: of each cell of the window, which part of the expected buckets was observed.

Asked by `latest` over each cell. What a finished cell held is remembered, and asked for anew only
when late readings may have come: the older the cell, the more seldom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from api.catalog import Resolution
from api.errors import WeirError
from api.metering.uptime import resolution_for
from api.metering.windows import Cell, Span, Window, cells, strip_window
from api.timez import MINUTE_MS
from components.fleet.device_status import Known
from components.fleet.install_date import believed
from components.fleet.meters import Meter
from components.fleet.queries import Deadline, Desk, batches, latest

LEAST_AGE_MS: Final = MINUTE_MS
AGE_SHARE: Final = 4  # a cell that ended 2 h ago is asked for anew after 30 min

NOT_DUE: Final = -1
NOT_KNOWN: Final = -2


class _Count(NamedTuple):
    asked_ms: int
    to_ms: int
    observed: int | None


class Beat(NamedTuple):
    """A device's strip: per cell its observed and expected buckets; observed None: not known.
    ``complete``: nothing is left to ask."""

    cells: Sequence[Cell]
    observed: Sequence[int | None]
    complete: bool

    def percents(self) -> tuple[int, ...]:
        """0–100 a cell; `NOT_DUE` where nothing was expected, `NOT_KNOWN` where nobody asked."""
        return tuple(_percent(c, n) for c, n in zip(self.cells, self.observed, strict=True))


@dataclass(slots=True)
class _Pulse:
    """A device's counts by cell start; and the strip that was made of them at ``made_ms``."""

    counts: dict[int, _Count] = field(default_factory=dict[int, _Count])
    beat: Beat | None = None
    made_ms: int = 0

    def still(self, strip: Sequence[Cell], now_ms: int) -> Beat | None:
        """The strip as it was last made, while no bucket has closed since and it is young."""
        beat = self.beat
        if beat is None or not beat.complete or now_ms - self.made_ms >= LEAST_AGE_MS:
            return None
        return beat if beat.cells[0] == strip[0] and beat.cells[-1] == strip[-1] else None


def _percent(cell: Cell, observed: int | None) -> int:
    """100 only where nothing is missing, 0 only where everything is."""
    if not cell.expected:
        return NOT_DUE
    if observed is None:
        return NOT_KNOWN
    share = min(1.0, observed / cell.expected)
    return round(share * 100) if share in (0, 1) else max(1, min(99, round(share * 100)))


def is_due(count: _Count | None, cell: Cell, now_ms: int) -> bool:
    """Whether to ask (again): a cell under way once another bucket has closed, a finished one at
    an interval that grows with its age."""
    if not cell.expected:
        return False
    if count is None or count.to_ms != cell.to_ms:
        return True
    age = now_ms - cell.to_ms
    return now_ms - count.asked_ms >= max(LEAST_AGE_MS, age // AGE_SHARE)


def beats(
    desk: Desk,
    span: Span,
    meters: Sequence[Meter],
    known: Mapping[str, Known],
    deadline: Deadline,
    now_ms: int,
) -> dict[str, Beat]:
    """The strips of these devices, asked for as far as the deadline allows, newest first."""
    meters = believed(desk, meters, now_ms - span.length_ms, deadline.half(), now_ms)
    strips = _strips(span, meters, known, now_ms)
    pulses = {id: _pulse(desk, span, id) for id in strips}
    found = {id: pulses[id].still(strip, now_ms) for id, (_, strip) in strips.items()}
    due: defaultdict[tuple[Resolution, Cell], list[str]] = defaultdict(list)
    for id, (resolution, strip) in strips.items():
        for cell in strip if found[id] is None else ():
            if is_due(pulses[id].counts.get(cell.start_ms), cell, now_ms):
                due[resolution, cell].append(id)
    _ask_all(desk, due, pulses, deadline, now_ms)
    return {id: found[id] or _made(strip, pulses[id], now_ms) for id, (_, strip) in strips.items()}


def _strips(
    span: Span, meters: Iterable[Meter], known: Mapping[str, Known], now_ms: int
) -> dict[str, tuple[Resolution, list[Cell]]]:
    """Each device's cells. Most share theirs: those of one cadence, installed before the strip."""
    shared: dict[tuple[Resolution, int | None], list[Cell]] = {}
    strips: dict[str, tuple[Resolution, list[Cell]]] = {}
    for meter in meters:
        resolution = resolution_for(known[meter.id].cadence)
        since = meter.installed_on_ms
        if since is not None and since <= strip_window(span, resolution, now_ms).from_ms:
            since = None
        if (resolution, since) not in shared:
            shared[resolution, since] = cells(span, resolution, since, now_ms)
        strips[meter.id] = resolution, shared[resolution, since]
    return strips


def _pulse(desk: Desk, span: Span, device_id: str) -> _Pulse:
    key = (desk.principal, "beats", span.name, device_id)
    pulse: _Pulse = desk.memory.local(key) or _Pulse()
    desk.memory.keep(key, pulse)
    return pulse


def _ask_all(
    desk: Desk,
    due: Mapping[tuple[Resolution, Cell], list[str]],
    pulses: Mapping[str, _Pulse],
    deadline: Deadline,
    now_ms: int,
) -> None:
    newest_first = sorted(due.items(), key=lambda item: -item[0][1].start_ms)
    jobs = (
        partial(_ask, desk, resolution, cell, ids, now_ms)
        for (resolution, cell), members in newest_first
        for ids in batches(members)
    )
    for cell, counts in desk.answers(jobs, deadline):
        for id, count in counts.items():
            pulses[id].counts[cell.start_ms] = count


def _ask(
    desk: Desk, resolution: Resolution, cell: Cell, ids: Sequence[str], now_ms: int
) -> tuple[Cell, dict[str, _Count]]:
    window = Window(cell.start_ms, cell.to_ms)
    answered = latest(desk.client, ids, ("uptime",), window, resolution)
    return cell, {
        id: _Count(now_ms, cell.to_ms, None if isinstance(told, WeirError) else told.uptime_actual)
        for id, told in answered.items()
    }


def _made(strip: Sequence[Cell], pulse: _Pulse, now_ms: int) -> Beat:
    """Counts of cells that have left the strip are forgotten."""
    starts = {cell.start_ms for cell in strip}
    for start in [s for s in pulse.counts if s not in starts]:
        pulse.counts.pop(start, None)
    counts = [pulse.counts.get(cell.start_ms) for cell in strip]
    complete = all(count or not cell.expected for cell, count in zip(strip, counts, strict=True))
    pulse.beat = Beat(strip, [count.observed if count else None for count in counts], complete)
    pulse.made_ms = now_ms
    return pulse.beat
