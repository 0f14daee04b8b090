"""Rows received over HTTP: resolves their devices, submits them to the writer, reports each row's
result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from api import timez
from api.domain.identify import storable
from api.ingest import live_rows
from api.ingest.assigned_timestamps import AssignedTimestamps
from api.ingest.decode import DEVICE, Devices, Rejection
from api.ingest.request_body import payloads
from api.ingest.submission import Entry, Fate, Receipt, Submission
from api.store.base import Directory, Scope

Post = Callable[[Submission], Receipt]
"""Hands rows over and waits for their receipt. Raises Busy, Unavailable."""

Report = dict[str, Any]


class HttpIntake:
    """`api.server.intake.Intake`, for any number of threads."""

    def __init__(
        self, directory: Directory, post: Post, now_ms: Callable[[], int] = timez.now_ms
    ) -> None:
        self._directory, self._post, self._now_ms = directory, post, now_ms
        self._moments = AssignedTimestamps()

    def take(
        self, scope: Scope, source: str, body: bytes, content_type: str, coding: str, every: bool
    ) -> Report:
        """The response: counts, and the result of each row that wasn't simply stored, or with
        ``every`` of all. Only the devices of ``scope`` are known."""
        rows = payloads(body, content_type, coding)
        devices = self._devices(scope, rows)
        submission = live_rows.submission(
            scope.organization_id, source, rows, devices, self._now_ms(), self._moments
        )
        receipt = self._post(submission)
        results = [
            _result(place, fate, entry, place in submission.undated)
            for place, (entry, fate) in enumerate(
                zip(submission.entries, receipt.fates, strict=True)
            )
        ]
        count = receipt.count()
        return {
            "accepted": count.get(Fate.STORED, 0),
            "repeated": count.get(Fate.REPEATED, 0),
            "refused": count.get(Fate.REFUSED, 0),
            "results": results if every else [r for r in results if _tells(r)],
        }

    def _devices(self, scope: Scope, rows: Sequence[object]) -> Devices:
        named = dict.fromkeys(name for row in rows if (name := _device(row)))
        identifiers = [name for name in named if storable(name)]
        found = self._directory.resolve(scope, identifiers) if identifiers else []
        pairs = zip(identifiers, found, strict=True)
        return Devices({name: device.key for name, device in pairs if device is not None})


def _device(row: object) -> str:
    name = cast("dict[str, object]", row).get(DEVICE) if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""


def _result(place: int, fate: Fate, entry: Entry, undated: bool) -> Report:
    result: Report = {"row": place, "result": fate.value}
    if isinstance(entry, Rejection):
        result["reason"] = entry.reason
    elif undated:  # the mark of a reading that is of when it came
        result["recordedAt"] = timez.stamp(entry[1], fraction=True)
    return result


def _tells(result: Report) -> bool:
    return result["result"] != Fate.STORED or "recordedAt" in result
