"""Receives rows over HTTP: resolves their devices, submits them to the writer, and reports each
row's result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final, cast

import numpy as np

from api import timez
from api.catalog import FLOW_AMOUNT, FLOW_RATE, METRICS
from api.domain.identify import storable
from api.ingest import live_rows
from api.ingest.assigned_timestamps import AssignedTimestamps
from api.ingest.decode import DEVICE, Devices, Rejection
from api.ingest.request_body import payloads
from api.ingest.submission import Entry, Receipt, RowResult, Submission
from api.metering.meter_size import LEAST_SIZE_RATE, size_rate
from api.metering.register import FEWEST_VALUES, looks_like_register
from api.store.base import Directory, RegisterRow, Scope

Post = Callable[[Submission], Receipt]
"""Passes rows on and waits for their receipt. Raises Busy, Unavailable."""

Report = dict[str, Any]
MOST_WARNINGS: Final = 20
REGISTER_LIKE: Final = (
    "flowAmount looks like a register: it only rises for {name}; send it as register"
)
BEYOND_SIZE: Final = "flowRate is larger than a meter of its size can have: {flow:,.1f} for {name}"
_RATE: Final = 2 + METRICS.index(FLOW_RATE)
_AMOUNT: Final = 2 + METRICS.index(FLOW_AMOUNT)


class HttpIntake:
    """`api.server.intake.Intake`, for any number of threads."""

    def __init__(
        self, directory: Directory, post: Post, now_ms: Callable[[], int] = timez.now_ms
    ) -> None:
        self._directory, self._post, self._now_ms = directory, post, now_ms
        self._timestamps = AssignedTimestamps()

    def take(
        self, scope: Scope, source: str, body: bytes, content_type: str, coding: str, every: bool
    ) -> Report:
        """Returns the response: counts, and the result of each row that wasn't simply stored, or of
        every row with ``every``. Devices outside ``scope`` are unknown."""
        rows = payloads(body, content_type, coding)
        devices = self._devices(scope, rows)
        submission = live_rows.submission(
            scope.organization_id, source, rows, devices, self._now_ms(), self._timestamps
        )
        receipt = self._post(submission)
        results = [
            _row_report(place, result, entry, place in submission.undated)
            for place, (entry, result) in enumerate(
                zip(submission.entries, receipt.row_results, strict=True)
            )
        ]
        count = receipt.count()
        report: Report = {
            "accepted": count.get(RowResult.STORED, 0),
            "repeated": count.get(RowResult.REPEATED, 0),
            "refused": count.get(RowResult.REFUSED, 0),
            "results": results if every else [r for r in results if _is_notable(r)],
        }
        warnings = _warnings(rows, submission.entries)
        warnings += self._beyond_size(scope, rows, submission.entries)
        if warnings:
            report["warnings"] = warnings
        return report

    def _beyond_size(
        self, scope: Scope, rows: Sequence[object], entries: Sequence[Entry]
    ) -> list[str]:
        """Names the devices with a flow that their meter's size can't have."""
        largest: dict[str, float] = {}
        for row, entry in zip(rows, entries, strict=True):
            rate = None if isinstance(entry, Rejection | RegisterRow) else entry[_RATE]
            if rate is not None and rate > LEAST_SIZE_RATE:
                largest[_device(row)] = max(rate, largest.get(_device(row), 0.0))
        devices = self._directory.resolve(scope, list(largest)) if largest else []
        return [
            BEYOND_SIZE.format(name=name, flow=flow)
            for (name, flow), device in zip(largest.items(), devices, strict=True)
            if device is not None and flow > (size_rate(device.config) or inf)
        ][:MOST_WARNINGS]

    def _devices(self, scope: Scope, rows: Sequence[object]) -> Devices:
        named = dict.fromkeys(name for row in rows if (name := _device(row)))
        identifiers = [name for name in named if storable(name)]
        devices = self._directory.resolve(scope, identifiers) if identifiers else []
        pairs = zip(identifiers, devices, strict=True)
        return Devices({name: device.key for name, device in pairs if device is not None})


def _device(row: object) -> str:
    name = cast("dict[str, object]", row).get(DEVICE) if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""


def _warnings(rows: Sequence[object], entries: Sequence[Entry]) -> list[str]:
    """Returns warnings about a device's rows as a whole. The rows are stored all the same."""
    amounts: dict[str, list[tuple[int, float]]] = {}
    for row, entry in zip(rows, entries, strict=True):
        amount = None if isinstance(entry, Rejection | RegisterRow) else entry[_AMOUNT]
        if amount is not None:
            amounts.setdefault(_device(row), []).append((int(entry[1]), amount))
    names = [
        name
        for name, pairs in amounts.items()
        if len(pairs) >= FEWEST_VALUES
        and looks_like_register(np.array([value for _, value in sorted(pairs)]))
    ]
    return [REGISTER_LIKE.format(name=name) for name in names[:MOST_WARNINGS]]


def _row_report(place: int, result: RowResult, entry: Entry, undated: bool) -> Report:
    report: Report = {"row": place, "result": result.value}
    if isinstance(entry, Rejection):
        report["reason"] = entry.reason
    elif undated:  # shows that the reading got its arrival time
        report["recordedAt"] = timez.stamp(entry[1], fraction=True)
    return report


def _is_notable(result: Report) -> bool:
    return result["result"] != RowResult.STORED or "recordedAt" in result
