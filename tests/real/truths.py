"""Counts from the real meters' files, made without the service: once by the authors of the data,
and once here from the CSV, where exact repeats must be left out first."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

SOURCES = (
    "ampds2_year1",
    "bwdf_dma01_06",
    "daiad_amphiro_A_events",
    "daiad_swm_60meters",
    "weusedto",
)
STORED_S = {"1hour": 3600, "10min": 600, "5min": 300, "1min": 60}


class Raw(NamedTuple):
    at_s: int
    rate: float | None
    duration: float | None
    amount: float | None


@dataclass(frozen=True)
class Source:
    """One real source: its files, and the counts from them."""

    name: str
    folder: Path

    @property
    def readings(self) -> Path:
        return self.folder / f"{self.name}.csv.gz"

    @property
    def devices(self) -> Path:
        return self.folder / f"{self.name}.devices.json"

    @cached_property
    def given(self) -> dict[str, dict[str, Any]]:
        """The given counts, by device."""
        return _json(self.folder / "truths" / f"{self.name}.json.gz")["devices"]

    @cached_property
    def given_hours(self) -> dict[str, dict[str, list[float | None]]]:
        return _json(self.folder / "truths" / f"{self.name}.hours.json.gz")

    @cached_property
    def rows(self) -> dict[str, list[Raw]]:
        """Every row of the file by device, in the file's order."""
        rows: defaultdict[str, list[Raw]] = defaultdict(list)
        with gzip.open(self.readings, "rt") as file:
            for device, at, rate, duration, amount, *_ in list(csv.reader(file))[1:]:
                at_s = _seconds(at)
                rows[device].append(
                    Raw(at_s, *(float(t) if t else None for t in (rate, duration, amount)))
                )
        return rows

    @cached_property
    def repeats(self) -> int:
        """The number of rows that repeat an earlier row exactly."""
        with gzip.open(self.readings, "rb") as file:
            lines = file.read().splitlines()[1:]
        return len(lines) - len(set(lines))

    @cached_property
    def truth(self) -> dict[str, dict[str, Any]]:
        """The expected results of the service: the given counts, or a recount from distinct rows if
        the file has repeats."""
        if not self.repeats:
            return self.given
        return {
            d: recount(list(dict.fromkeys(rows)), self.given[d]) for d, rows in self.rows.items()
        }

    @cached_property
    def hours(self) -> dict[str, dict[str, list[float | None]]]:
        if not self.repeats:
            return self.given_hours
        return {d: recount_hours(dict.fromkeys(rows)) for d, rows in self.rows.items()}

    def observed(self, device: str, window: dict[str, Any], resolution: str) -> int:
        """How many buckets start in the window and have a row.

        The given counts are of those whose row lies in the window. That is the same unless a window
        ends within a bucket: half an hour has the start of its hour, and may lack its rows.
        """
        low, high = (_seconds(window[side]) for side in ("from", "to"))
        if (high + 1) % STORED_S.get(resolution, 1) == 0:
            return int(window["observed"][resolution])
        assert resolution == "1hour"
        return sum(low <= _seconds(hour) <= high for hour in self.hours[device])


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def _json(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.load(file)


# --- The recount ----------------------------------------------------------------------------------


def recount(rows: Sequence[Raw], wanted: dict[str, Any]) -> dict[str, Any]:
    """Days, months and windows of one device in the shape of the given counts; ``wanted`` has the
    windows and their zone."""
    zone = ZoneInfo(wanted["timezone"])

    def local(form: str) -> Callable[[Raw], str]:
        return lambda row: datetime.fromtimestamp(row.at_s, zone).strftime(form)

    return {
        "timezone": wanted["timezone"],
        "days": _calendar(rows, wanted["days"], local("%Y-%m-%d")),
        "months": _calendar(rows, wanted["months"], local("%Y-%m")),
        "windows": [_window(rows, window) for window in wanted["windows"]],
    }


def _calendar(
    rows: Iterable[Raw], wanted: dict[str, Any], name: Callable[[Raw], str]
) -> dict[str, dict[str, Any]]:
    groups: defaultdict[str, list[Raw]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return {
        key: {
            "bucket_utc": wanted[key]["bucket_utc"],
            "minutes": wanted[key]["minutes"],
            "rows": len(group),
            "avg_throughput": _total(group) / wanted[key]["minutes"],
            "total": _total(group),
            **_extremes(group, "min", "max"),
        }
        for key, group in groups.items()
    }


def _window(rows: Iterable[Raw], wanted: dict[str, Any]) -> dict[str, Any]:
    low, high = (_seconds(wanted[side]) for side in ("from", "to"))
    inside = [row for row in rows if low <= row.at_s <= high]
    observed = {name: len({r.at_s // s for r in inside}) for name, s in STORED_S.items()}
    observed["raw"] = len(inside)
    fields = {
        "name": wanted["name"],
        "from": wanted["from"],
        "to": wanted["to"],
        "observed": observed,
        "expected_bucket_starts": wanted["expected_bucket_starts"],
        "total_flow_amount": _total(inside) if inside else None,
        **_extremes(inside, "min_flow_rate", "max_flow_rate"),
        "adaptive": {
            budget: list(_adaptive(observed, int(budget))) for budget in wanted["adaptive"]
        },
        "lastSeen": None,
    }
    if inside:
        last = max(row.at_s for row in inside)
        fields["lastSeen"] = datetime.fromtimestamp(last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        fields["last_rows_at_that_instant"] = [list(r[1:]) for r in inside if r.at_s == last]
    return fields


def _adaptive(observed: dict[str, int], budget: int) -> tuple[str, int, bool]:
    """Coarse to fine; the last that fits."""
    chosen = "1hour"
    if observed[chosen] > budget:
        return chosen, observed[chosen], True
    for finer in ("10min", "5min", "1min", "raw"):
        if observed[finer] > budget:
            break
        chosen = finer
    return chosen, observed[chosen], False


def recount_hours(rows: Iterable[Raw]) -> dict[str, list[float | None]]:
    groups: defaultdict[int, list[Raw]] = defaultdict(list)
    for row in rows:
        groups[row.at_s // 3600 * 3600].append(row)
    return {
        datetime.fromtimestamp(hour, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"): [
            _total(group),
            len(group),
            *_extremes(group, "min", "max").values(),
            _mean([row.rate for row in group if row.rate is not None]),
        ]
        for hour, group in groups.items()
    }


def _total(rows: Iterable[Raw]) -> float:
    return math.fsum(row.amount for row in rows if row.amount is not None)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _extremes(rows: Iterable[Raw], low: str, high: str) -> dict[str, float | None]:
    rates = [row.rate for row in rows if row.rate is not None]
    return {low: min(rates, default=None), high: max(rates, default=None)}


# --- Comparing -----------------------------------------------------------------------------------


def alike(result: Any, expected: Any) -> bool:
    """Equal, with numbers within the data's tolerance: their source has twelve digits."""
    if isinstance(result, dict) and isinstance(expected, dict):
        return result.keys() == expected.keys() and all(
            alike(result[k], expected[k]) for k in result
        )
    if isinstance(result, list | tuple) and isinstance(expected, list | tuple):
        return len(result) == len(expected) and all(map(alike, result, expected))
    if isinstance(result, float) or isinstance(expected, float):
        if result is None or expected is None:
            return False
        return math.isclose(result, expected, rel_tol=1e-6, abs_tol=1e-6)
    return bool(result == expected)
