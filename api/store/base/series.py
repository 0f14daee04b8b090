"""The interface for reading the time series."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from api.catalog import METRICS, Aggregate, Metric, Resolution
from api.store.base.directory import Device


class Span(NamedTuple):
    """Inclusive bounds on recorded_at or on a bucket's start; None: unbounded."""

    from_ms: int | None = None
    to_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter: a column, an SQL operator of the catalog, a finite value. A null never matches.
    Over raw rows an Aggregate means its metric's plain value."""

    column: Metric | Aggregate
    operator: str
    value: float


Where = tuple[Condition, ...]
Row = tuple[Any, ...]


class Piece(NamedTuple):
    """The source rows of one calendar bucket, or of a whole range, aggregated.

    ``values`` follow catalog.AGGREGATES: total_, min_ and max_ are exact, avg_ is the unweighted
    mean of the source rows' values. avg_flow_rate is None here: it is a total divided by covered
    minutes, which `api.domain.calendar` knows. ``first_ms`` and ``last_ms`` are the first and last
    source row's start.
    """

    start_ms: int
    first_ms: int
    last_ms: int
    values: Row


class Volume(NamedTuple):
    """A device's volume from ``start_ms`` to the next edge: ``gallons`` is None where no row has a
    value; ``rows`` is the number of source rows."""

    start_ms: int
    gallons: float | None
    rows: int


@dataclass(frozen=True, slots=True)
class LatestQuery:
    """What to read for each device. ``uptime``: resolution in which buckets are counted.
    ``quality``: resolution from which quality is taken (may be RAW). None: not requested."""

    span: Span
    uptime: Resolution | None = None
    quality: Resolution | None = None
    last: bool = False


class LatestResult(NamedTuple):
    """``last`` is (recorded_at ms, then the values in the order of catalog.METRICS)."""

    observed: int = 0
    quality_min: float | None = None
    quality_max: float | None = None
    last: Row | None = None


class ChartMarks(NamedTuple):
    """What a chart shows about a device's rows besides their values: results of
    `TimeSeries.undated` and `Ingest.spread_spans`."""

    undated: list[int]
    spread: list[tuple[int, int]]


class TimeSeries(Protocol):
    """Reads. Rows are ordered by time (raw: then by seq); conditions are ANDed. A sum or mean that
    doesn't fit a double is None."""

    def count(
        self,
        device: Device,
        resolution: Resolution,
        span: Span,
        where: Where = (),
        *,
        at_most: int | None = None,
    ) -> int:
        """Counts the rows of a raw or stored resolution. With ``at_most`` the count may stop there:
        any result ≥ at_most means "at least this many". Without conditions it is a sum of the
        hourly counters and two edges, whatever the length of the span."""
        ...

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
        """Returns rows. Raw: (recorded_at ms, *METRICS). Stored: (bucket start ms, *AGGREGATES),
        where avg_ is the mean over the bucket's raw rows. ``metrics`` restricts them to the values
        of these, in order."""
        ...

    def bounds(
        self, device: Device, resolution: Resolution, span: Span, where: Where = ()
    ) -> tuple[int, int] | None:
        """Returns the instants of the first and last row in the span, None if there is none."""
        ...

    def undated(self, device: Device, span: Span) -> list[int]:
        """Returns the instants in the span, ascending, of readings that were sent without a
        timestamp and got their arrival time."""
        ...

    def chart_marks(self, device: Device, resolution: Resolution, span: Span) -> ChartMarks:
        """Returns the marks of a chart over the span, undated readings only among raw rows. One
        short query where there are none."""
        ...

    def pieces(
        self,
        device: Device,
        source: Resolution,
        span: Span,
        edges: Sequence[int],
        where: Where = (),
    ) -> list[Piece]:
        """Returns the matching rows of a raw or stored source, grouped by ascending ``edges``: one
        group from each edge up to the next, n groups for n + 1 edges. Groups without a row are left
        out."""
        ...

    def latest(
        self, devices: Sequence[Device], latest_query: LatestQuery
    ) -> dict[int, LatestResult]:
        """Returns, by device key, an entry for every given device. Uses a single query."""
        ...

    def gallons_in(self, device: Device, spans: Sequence[tuple[int, int]]) -> float | None:
        """Returns the gallons of these spans (inclusive bounds on a minute's start), from hours and
        the minutes at their ends; None where no row has a value. Uses a single query."""
        ...

    def volumes(
        self, devices: Sequence[Device], source: Resolution, edges: Sequence[int]
    ) -> dict[int, list[Volume]]:
        """Returns, by device key, what a stored source holds from each ascending edge up to the
        next. Groups without a row are left out. Uses a single query."""
        ...
