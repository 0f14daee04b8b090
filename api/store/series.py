"""Reads of the time series, for every dialect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import fsum

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY_MS,
    FLOW_RATE,
    HOUR_MS,
    METRICS,
    RAW,
    Metric,
    Resolution,
)
from api.store.base import (
    ChartMarks,
    Device,
    LatestQuery,
    LatestResult,
    Piece,
    Row,
    Span,
    Volume,
    Where,
)
from api.store.registers import RegistersPart
from api.store.sql import latest as latest_sql
from api.store.sql import series as sql
from api.store.sql import volumes as volumes_sql
from api.store.sql.arithmetic import Arithmetic

JUMP_FROM = 5_000  # rows to skip from which the hour counters find the page
CHUNK_MS = 30 * DAY_MS  # the span summed in one step

_BLANK = AGGREGATES.index(next(a for a in AGGREGATES if a.name == f"avg_{FLOW_RATE.name}"))


class SeriesPart(RegistersPart):
    """`api.store.base.TimeSeries` for every dialect."""

    def count(
        self,
        device: Device,
        resolution: Resolution,
        span: Span,
        where: Where = (),
        *,
        at_most: int | None = None,
    ) -> int:
        def matching(arithmetic: Arithmetic) -> list[Row]:
            return self.fetch(
                sql.count_matching(device.key, resolution, span, where, at_most, arithmetic)
            )

        if where:
            return int(self.reckon(matching)[0][0])
        query = sql.count_by_hours(device.key, resolution, span, at_most)
        return int(self.fetch(query)[0][0]) if query else 0

    def rows(
        self,
        device: Device,
        resolution: Resolution,
        span: Span,
        where: Where = (),
        *,
        limit: int,
        offset: int = 0,
        metrics: Collection[Metric] = METRICS,
    ) -> list[Row]:
        if offset >= JUMP_FROM and not where and resolution is not COARSEST_STORED:
            span, offset = self._land(device, resolution, span, offset)

        def page(arithmetic: Arithmetic) -> list[Row]:
            columns = sql.row_columns(resolution, frozenset(metrics), arithmetic)
            return self.fetch(
                sql.page(device.key, resolution, columns, span, where, limit, offset, arithmetic)
            )

        return self.reckon(page)

    def _land(
        self, device: Device, resolution: Resolution, span: Span, offset: int
    ) -> tuple[Span, int]:
        """Returns the same page as a shorter span and a smaller offset, computed from the hour
        counters."""
        bounds = sql.closed(span)
        whole = sql.whole_buckets(bounds, HOUR_MS)
        head = self.count(device, resolution, Span(bounds.low, whole.low - 1))
        if whole.low > whole.high or offset < head:
            return span, offset
        left = offset - head
        for low, high, count in self._chunks(device, resolution, whole):
            if left < count:
                landing = sql.landing_hour(device.key, resolution, sql.Closed(low, high), left)
                start, before = self.fetch(landing)[0]
                return Span(start, bounds.high), left - before
            left -= count
        return Span(whole.high + HOUR_MS, bounds.high), left

    def _chunks(
        self, device: Device, resolution: Resolution, hours: sql.Closed
    ) -> Iterator[tuple[int, int, int]]:
        """Yields (first hour, last hour, rows in them) of consecutive ranges of these hours."""
        first, last = self.fetch(sql.counted_hours(device.key, hours))[0]
        if first is None:
            return
        ranges = [
            (low, min(low + CHUNK_MS - HOUR_MS, last)) for low in range(first, last + 1, CHUNK_MS)
        ]
        ends = dict(ranges)
        for low, count in self.fetch_over(sql.hourly_counts(device.key, resolution), ranges):
            yield low, ends[low], count

    def bounds(
        self, device: Device, resolution: Resolution, span: Span, where: Where = ()
    ) -> tuple[int, int] | None:
        def ends(arithmetic: Arithmetic) -> Row:
            return self.fetch(sql.bounds(device.key, resolution, span, where, arithmetic))[0]

        first, last = self.reckon(ends)
        return None if first is None else (first, last)

    def undated(self, device: Device, span: Span) -> list[int]:
        return [ts for (ts,) in self.fetch(sql.undated(device.key, span))]

    def chart_marks(self, device: Device, resolution: Resolution, span: Span) -> ChartMarks:
        # Few devices have either: one statement shows that, at half the cost of two.
        undated, registers = self.fetch(sql.has_marks(device.key, span))[0]
        return ChartMarks(
            self.undated(device, span) if undated and resolution is RAW else [],
            self.spread_spans(device, span) if registers else [],
        )

    def pieces(
        self,
        device: Device,
        source: Resolution,
        span: Span,
        edges: Sequence[int],
        where: Where = (),
    ) -> list[Piece]:
        low, high = sql.closed(span)
        starts: dict[int, int] = {}  # first instant of a group within the span → its edge
        ranges: list[tuple[int, int]] = []
        for start, end in pairwise(edges):
            first, last = max(start, low), min(end - 1, high)
            if first <= last:
                starts[first] = start
                ranges.append((first, last))
        if not ranges:
            return []

        def grouped(arithmetic: Arithmetic) -> list[Row]:
            return self.fetch_over(sql.pieces(device.key, source, where, arithmetic), ranges)

        rows = self.reckon(grouped)
        return [
            Piece(starts[row[0]], row[1], row[2], (*row[3 : 3 + _BLANK], None, *row[4 + _BLANK :]))
            for row in rows
        ]

    def latest(
        self, devices: Sequence[Device], latest_query: LatestQuery
    ) -> dict[int, LatestResult]:
        keys = list(dict.fromkeys(device.key for device in devices))
        query = latest_sql.latest(keys, latest_query)
        parts = self.fetch(query) if query else []
        return latest_sql.results_by_device(keys, parts)

    def gallons_in(self, device: Device, spans: Sequence[tuple[int, int]]) -> float | None:
        def summed(arithmetic: Arithmetic) -> list[Row]:
            query = volumes_sql.over_spans(device.key, spans, arithmetic)
            return self.fetch(query) if query else []

        present = [gallons for (gallons,) in self.reckon(summed) if gallons is not None]
        return fsum(present) if present else None

    def volumes(
        self, devices: Sequence[Device], source: Resolution, edges: Sequence[int]
    ) -> dict[int, list[Volume]]:
        ranges = [(low, high - 1) for low, high in pairwise(edges)]
        keys = [device.key for device in devices]
        if not (keys and ranges):
            return {}

        def summed(arithmetic: Arithmetic) -> list[Row]:
            return self.fetch(volumes_sql.volumes(self.dialect, keys, source, ranges, arithmetic))

        by_device: defaultdict[int, list[Volume]] = defaultdict(list)
        for key, *row in self.reckon(summed):
            by_device[key].append(Volume(*row))
        return by_device
