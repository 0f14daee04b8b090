"""The project's performance goals, each defined once. A ratio is Weir's way ÷ the floor named
beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["", "/s", " µs"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a ratio (no unit), on things per second, or on the microseconds of one
    response."""

    bound: float
    unit: Unit = ""

    def met(self, figure: float) -> bool:
        return figure >= self.bound if self.unit == "/s" else figure <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.unit == '/s' else '≤'} {self.bound:,g}{self.unit}"


ADAPTIVE_ROWS = Goal(1.15)  # choose, fetch, dump ÷ fetching and dumping the same rows
ADAPTIVE_BODY = Goal(1.3)  # the public JSON body ÷ the same
ADAPTIVE_CHART = Goal(0.8)  # the columns of our own charts ÷ the same
ADAPTIVE_MIN_ROWS = 168  # below this, most of it is one call's fixed cost: no goal
COMPARED_CHART = Goal(1.5)  # a chart with a comparison ÷ the plain one
LATEST_DAY = Goal(1.5)  # 50 devices × 24 h ÷ 50 seeks and as many counter sums
LATEST_WEEK = Goal(0.12)  # 50 devices × 7 d ÷ plain counting
TOTAL = Goal(1.1)  # total and month ÷ a bare aggregate of the same rows
MONTH = Goal(1.1)
DAY = Goal(2.2)  # days in zones on the whole hour ÷ the bare aggregate
DAY_OFF_THE_HOUR = Goal(3.5)
OFFSET = Goal(0.15)  # at offset 1,000,000 ÷ plain OFFSET
COUNT = Goal(0.02)  # count=true ÷ plain count
GROWTH = Goal(1.25)  # p50 of the whole fleet's store ÷ p50 of a small one's
POSTGRES_LATEST = Goal(0.15)  # one query ÷ 150
POSTGRES_ADAPTIVE = Goal(1.2)  # ÷ psycopg's own floor
DUCKDB_LATEST = Goal(0.1)
DUCKDB_ADAPTIVE_DAY = Goal(0.2)
INGEST = Goal(9)  # with all rollups ÷ raw only, batches of 1,000
INGEST_RATE = Goal(10_000, "/s")
REQUEST = Goal(150, " µs")  # the service without SQL and rows
