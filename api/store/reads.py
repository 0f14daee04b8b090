"""Reads of the time series, for every dialect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY_MS,
    FLOW_RATE,
    HOUR_MS,
    METRICS,
    Metric,
    Resolution,
)
from api.store.base import (
    Device,
    LatestFound,
    LatestQuestion,
    Piece,
    Row,
    Span,
    Where,
)
from api.store.core import Seam
from api.store.sql import latest as latest_sql
from api.store.sql import series as sql
from api.store.sql.arithmetic import Arithmetic

JUMP_FROM = 5_000  # rows to skip from which the hour counters are asked where to land
CHUNK_MS = 30 * DAY_MS  # of hours, summed at once on the way there

_BLANK = AGGREGATES.index(next(a for a in AGGREGATES if a.name == f"avg_{FLOW_RATE.name}"))


class SeriesPart(Seam):
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
        """The same page as a shorter span and the offset that is left in it, by the counters."""
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
        """(first hour, last hour, rows in them) of stretches of these hours, ascending."""
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

    def pieces(
        self,
        device: Device,
        source: Resolution,
        span: Span,
        edges: Sequence[int],
        where: Where = (),
    ) -> list[Piece]:
        low, high = sql.closed(span)
        starts: dict[int, int] = {}  # where a group begins within the span → its edge
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

        found = self.reckon(grouped)
        return [
            Piece(starts[row[0]], row[1], row[2], (*row[3 : 3 + _BLANK], None, *row[4 + _BLANK :]))
            for row in found
        ]

    def latest(self, devices: Sequence[Device], question: LatestQuestion) -> dict[int, LatestFound]:
        keys = list(dict.fromkeys(device.key for device in devices))
        query = latest_sql.latest(keys, question)
        parts = self.fetch(query) if query else []
        return latest_sql.gathered(keys, parts)
