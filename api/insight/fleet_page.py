"""The lines of flow and uptime strips of a page of devices.

Bounded by the page: each part is one query for all devices that share a cadence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from api.catalog import DAY_MS, MINUTE_MS, Resolution
from api.insight.projected_cache import until_projected
from api.insight.usual_lines import UsualLine, usual_lines
from api.metering.cadence import Cadence
from api.metering.uptime import resolution_for
from api.metering.windows import SPANS, Cell, Span, Window, cells, strip_window
from api.store.base import Attention, FlowRow, Scope, StatusEntry, StatusQuery, Store
from api.timez import floor_to

CHECKED_WITHIN_MS: Final = 10 * MINUTE_MS  # twice the evaluator's interval


class Line(NamedTuple):
    """The rows of ``step_ms`` from ``start_ms`` on; None where there is no row. ``usual``: shown
    with the line of a device with an open finding, over days."""

    start_ms: int
    step_ms: int
    rows: Sequence[FlowRow | None]
    usual: UsualLine | None = None


class Strip(NamedTuple):
    """The cells of ``step_ms`` from ``start_ms`` on: buckets with a reading, and expected buckets
    that have ended."""

    start_ms: int
    step_ms: int
    observed: Sequence[int]
    expected: Sequence[int]


def lines(store: Store, entries: Sequence[StatusEntry], span: Span, now_ms: int) -> dict[int, Line]:
    """Returns lines by device key."""
    step = span.line.fixed_ms
    made: dict[int, Line] = {}
    for resolution, members in _by_resolution(entries).items():
        window = strip_window(span, resolution, now_ms)
        start, end = window.from_ms, min(window.to_ms, now_ms) + 1
        count = -(-(end - start) // step)

        def load(
            keys: Collection[int],
            members: Sequence[StatusEntry] = members,
            start: int = start,
            end: int = end,
            count: int = count,
        ) -> dict[int, Sequence[FlowRow | None]]:
            some = [each.device for each in members if each.device.key in keys]
            by_device = store.flow_rows(some, span.line, start, end)
            by_key: dict[int, Sequence[FlowRow | None]] = {}
            for device in some:
                rows: list[FlowRow | None] = [None] * count
                for row in by_device.get(device.key, ()):
                    rows[(row.start_ms - start) // step] = row
                by_key[device.key] = rows
            return by_key

        name, token = ("line", span.name), (start, count)
        rows_by_key = until_projected(store, name, token, _as_of(members), load)
        with_finding = [each.device for each in members if each.findings]
        compares = DAY_MS <= span.length_ms <= 7 * DAY_MS  # otherwise hours are too long or short
        usual = usual_lines(store, with_finding, start, end) if compares else {}
        for key, rows in rows_by_key.items():
            made[key] = Line(start, step, rows, usual.get(key))
    return made


def strips(
    store: Store, entries: Sequence[StatusEntry], span: Span, now_ms: int
) -> dict[int, Strip]:
    """Returns strips by device key."""
    made: dict[int, Strip] = {}
    for resolution, members in _by_resolution(entries).items():
        window, edge = strip_window(span, resolution, now_ms), floor_to(now_ms, resolution.fixed_ms)

        def load(
            keys: Collection[int],
            members: Sequence[StatusEntry] = members,
            window: Window = window,
            edge: int = edge,
            resolution: Resolution = resolution,
        ) -> dict[int, Strip]:
            step = span.cell_length_ms(resolution)
            some = [each for each in members if each.device.key in keys]
            devices = [each.device for each in some]
            counts = store.cell_counts(devices, resolution, step, window.from_ms, now_ms + 1)
            return {
                each.device.key: _strip(
                    each, counts.get(each.device.key, {}), span, resolution, window, edge, now_ms
                )
                for each in some
            }

        name, token = ("strip", span.name), (resolution.name, edge)
        made |= until_projected(store, name, token, _as_of(members), load)
    return made


def _as_of(entries: Sequence[StatusEntry]) -> dict[int, int | None]:
    return {each.device.key: each.status.as_of_ms if each.status else None for each in entries}


def _strip(
    entry: StatusEntry,
    counts: Mapping[int, int],
    span: Span,
    resolution: Resolution,
    window: Window,
    edge: int,
    now_ms: int,
) -> Strip:
    step = span.cell_length_ms(resolution)
    cells_ = cells(span, resolution, _counted_from(entry, span), now_ms)
    seen = entry.status.seen_ms if entry.status is not None else None
    open_cell = (edge - window.from_ms) // step if seen is not None and seen >= edge else -1
    observed = [
        _closed(counts.get(at, 0) - (at == open_cell), cell) for at, cell in enumerate(cells_)
    ]
    return Strip(window.from_ms, step, observed, [cell.expected for cell in cells_])


def attention(store: Store, scope: Scope, query: StatusQuery, now_ms: int) -> Attention:
    return store.attention(scope, query, now_ms - CHECKED_WITHIN_MS)


def _closed(count: int, cell: Cell) -> int:
    """Leaves out the current bucket, and readings from before the installation."""
    return max(0, min(count, cell.expected))


def _counted_from(entry: StatusEntry, span: Span) -> int | None:
    """Returns the installation date where it shortens the window. The status has checked it, since
    readings may disprove it."""
    status = entry.status
    if status is None:
        return entry.device.installed_on_ms
    due = status.windows[SPANS.index(span)].expected * status.bucket_ms
    return entry.device.installed_on_ms if due < span.length_ms else None


def _by_resolution(entries: Iterable[StatusEntry]) -> dict[Resolution, list[StatusEntry]]:
    """Groups devices; those without a status have nothing to show."""
    groups: defaultdict[Resolution, list[StatusEntry]] = defaultdict(list)
    for entry in entries:
        status = entry.status
        if status is not None:
            groups[resolution_for(Cadence(status.cadence_ms, status.event_driven))].append(entry)
    return groups
