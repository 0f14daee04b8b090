"""The service's expected replies, recounted from raw rows in the plainest Python.

Nothing here uses a rollup, an edge or an index: every function walks over all rows and takes each
bucket's date from zoneinfo.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from api.store.base import ReadingRow

MINUTE_MS = 60_000
LENGTHS = {"1min": 1, "5min": 5, "10min": 10, "1hour": 60}
RAW = (
    "flow_rate", "flow_duration", "flow_amount", "quality", "signal_strength", "network_rssi",
    "onboard_temperature",
)  # fmt: skip
AVERAGED = tuple(name for name in RAW if name != "flow_duration")
EXTREME = tuple(name for name in AVERAGED if name != "flow_amount")

Row = dict[str, Any]
Keep = Callable[[Row], bool]


def instant(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def bounds(from_ms: int | None, to_ms: int | None) -> Callable[[int], bool]:
    return lambda t: (from_ms is None or from_ms <= t) and (to_ms is None or t <= to_ms)


def mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def total(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) if present else None


# --- Rows ----------------------------------------------------------------------------------------


def raw(readings: Sequence[ReadingRow], inside: Callable[[int], bool]) -> list[Row]:
    """Each row as a dict; ``t`` is its instant."""
    rows_inside = [row for row in readings if inside(row[1])]
    return [{"t": r[1], **dict(zip(RAW, r[2:], strict=True))} for r in sorted(rows_inside, key=_at)]


def _at(row: ReadingRow) -> int:
    return row[1]


def buckets(
    readings: Sequence[ReadingRow], resolution: str, inside: Callable[[int], bool]
) -> list[Row]:
    """The rows of a rollup whose start is inside; ``t`` is the start."""
    length = LENGTHS[resolution] * MINUTE_MS
    grouped: dict[int, list[Row]] = {}
    for row in raw(readings, lambda t: inside(t // length * length)):
        grouped.setdefault(row["t"] // length * length, []).append(row)
    return [{"t": start, **_of_raw(rows)} for start, rows in sorted(grouped.items())]


def _of_raw(rows: list[Row]) -> Row:
    return {
        **{f"avg_{name}": mean(row[name] for row in rows) for name in AVERAGED},
        **{f"min_{name}": least(row[name] for row in rows) for name in EXTREME},
        **{f"max_{name}": most(row[name] for row in rows) for name in EXTREME},
        "total_flow_amount": total(row["flow_amount"] for row in rows),
    }


def _of_buckets(rows: list[Row], minutes: float) -> Row:
    amount = total(row["total_flow_amount"] for row in rows)
    return {
        **{f"avg_{name}": mean(row[f"avg_{name}"] for row in rows) for name in AVERAGED},
        **{f"min_{name}": least(row[f"min_{name}"] for row in rows) for name in EXTREME},
        **{f"max_{name}": most(row[f"max_{name}"] for row in rows) for name in EXTREME},
        "total_flow_amount": amount,
        "avg_flow_rate": None if amount is None or not minutes else amount / minutes,
    }


# --- Days, months, totals ------------------------------------------------------------------------


def calendar(
    readings: Sequence[ReadingRow],
    unit: str,
    zone: ZoneInfo,
    source: str,
    from_ms: int | None = None,
    to_ms: int | None = None,
    keep: Keep = lambda row: True,
) -> list[Row]:
    """Days or months of the zone from the rows of ``source``; ``t`` is their first instant."""
    rows = [row for row in buckets(readings, source, bounds(from_ms, to_ms)) if keep(row)]
    grouped: dict[date, list[Row]] = {}
    for row in rows:
        grouped.setdefault(unit_of(unit, zone, row["t"]), []).append(row)
    return [
        {
            "t": first_instant(unit, zone, when),
            **_of_buckets(
                group, _minutes_of(unit, zone, when, source, *_reach(rows, from_ms, to_ms))
            ),
        }
        for when, group in sorted(grouped.items())
    ]


def _reach(rows: list[Row], from_ms: int | None, to_ms: int | None) -> tuple[int, int]:
    return (
        rows[0]["t"] if from_ms is None else from_ms,
        rows[-1]["t"] if to_ms is None else to_ms,
    )


@lru_cache(maxsize=500_000)
def unit_of(unit: str, zone: ZoneInfo, ms: int) -> date:
    """The local date, or the first of its month."""
    day = instant(ms).astimezone(zone).date()
    return day if unit == "day" else day.replace(day=1)


@cache
def first_instant(unit: str, zone: ZoneInfo, when: date) -> int:
    """Found minute by minute, from well before it."""
    ms = int(datetime(when.year, when.month, when.day, tzinfo=UTC).timestamp()) * 1000
    ms -= 26 * 60 * MINUTE_MS
    while unit_of(unit, zone, ms) < when:
        ms += MINUTE_MS
    return ms


def _minutes_of(
    unit: str, zone: ZoneInfo, when: date, source: str, from_ms: int, to_ms: int
) -> float:
    """Bucket starts one by one, from well before the unit to well after it."""
    step, first = LENGTHS[source] * MINUTE_MS, first_instant(unit, zone, when)
    inside = bounds(from_ms, to_ms)
    starts = range(
        first - first % step, first + (33 if unit == "month" else 3) * 1440 * MINUTE_MS, step
    )
    return sum(LENGTHS[source] for s in starts if inside(s) and unit_of(unit, zone, s) == when)


def totals(
    readings: Sequence[ReadingRow],
    source: str,
    from_ms: int | None = None,
    to_ms: int | None = None,
    keep: Keep = lambda row: True,
) -> Row:
    """The one row over everything inside; nulls without rows."""
    inside = bounds(from_ms, to_ms)
    if source == "raw":
        assert from_ms is not None
        assert to_ms is not None
        rows = [row for row in raw(readings, inside) if keep(row)]
        amount, minutes = total(r["flow_amount"] for r in rows), (to_ms - from_ms) / MINUTE_MS
        rate = None if amount is None or not minutes else amount / minutes
        return _of_raw(rows) | {"avg_flow_rate": rate}
    rows = [row for row in buckets(readings, source, inside) if keep(row)]
    if not rows:
        return _of_buckets([], 0)
    low, high = _reach(rows, from_ms, to_ms)
    step = LENGTHS[source] * MINUTE_MS
    starts = range(low - low % step, high + 1, step)
    return _of_buckets(rows, LENGTHS[source] * sum(1 for s in starts if s >= low))


# --- Comparing -----------------------------------------------------------------------------------


def stamp(ms: int, zone: ZoneInfo | None, *, fraction: bool = False) -> str:
    """As in a reply, by the standard library's own formatting."""
    text = (
        instant(ms)
        .astimezone(zone or UTC)
        .isoformat(timespec="milliseconds" if fraction else "seconds")
    )
    return text if zone else text.replace("+00:00", "Z")


def shown(rows: list[Row], column: str, zone: ZoneInfo | None = None) -> list[Row]:
    """The rows as in a reply: with a stamp instead of ``t``."""
    fraction = column == "recorded_at"
    return [{column: stamp(row["t"], zone, fraction=fraction), **_values(row)} for row in rows]


def _values(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "t"}


def assert_same(responses: list[Row], owed: list[Row]) -> None:
    """Row by row, key by key; numbers except for the last digits."""
    assert len(responses) == len(owed)
    for number, (row, promised) in enumerate(zip(responses, owed, strict=True)):
        assert row.keys() == promised.keys()
        for name, value in promised.items():
            if isinstance(value, float) and isinstance(row[name], float):
                same = math.isclose(row[name], value, rel_tol=1e-9, abs_tol=1e-9)
            else:
                same = row[name] == value
            assert same, f"row {number}, {name}: {row[name]} is not {value}"
