"""Merges the findings of an evaluation with a device's stored ones, some of which may be
dismissed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from api.insight.findings import KINDS, SEVERITIES, Finding
from api.store.base import FindingRow, OpenFindings

_NAMES: Final = UUID("5a1a1f3c-3f0e-4c57-9d53-6a0f4f3a9c11")
_PLACE: Final = {kind.name: place for place, kind in enumerate(KINDS)}

Name = tuple[str, int]


class Merged(NamedTuple):
    """``rows``: new or changed ones to save. ``gone``: identifiers of those to delete. ``all``: the
    rows afterwards."""

    rows: list[FindingRow]
    gone: list[Name]
    all: list[FindingRow]


def row_of(key: int, device_id: str, finding: Finding) -> FindingRow:
    return FindingRow(
        key=key,
        kind=finding.kind,
        opened_ms=finding.opened_ms,
        id=str(uuid5(_NAMES, f"{device_id} {finding.kind} {finding.opened_ms}")),
        severity=finding.severity,
        rank=SEVERITIES.index(finding.severity),
        start_ms=finding.start_ms,
        end_ms=finding.end_ms,
        value=finding.value,
        unit=finding.unit,
        usual=finding.usual,
        gallons=finding.gallons,
        cost_per_day=finding.cost_per_day,
        words=finding.words,
        offers_new_normal=finding.offers_new_normal,
        usual_per_day=finding.usual_per_day,
    )


def merge_stored(
    evaluated: Iterable[FindingRow], stored: Sequence[FindingRow], since_ms: int
) -> Merged:
    """``stored``: the device's findings that were open at ``since_ms`` or opened since, and all
    dismissed ones.

    A dismissed finding stays even if the raised threshold no longer detects it: it then ends when
    it was dismissed, unless it ended before. If a finding overlaps it but opens at another time,
    because of the higher threshold, it is the same one and isn't saved again.
    """
    before = {(row.kind, row.opened_ms): row for row in stored}
    after = {(row.kind, row.opened_ms): row for row in evaluated}
    dismissed = [row for row in stored if row.dismissed_ms is not None]
    rows: dict[Name, FindingRow] = {}
    for name, row in after.items():
        stored_row = before.get(name)
        if stored_row is not None:
            rows[name] = replace(
                row,
                dismissed_ms=stored_row.dismissed_ms,
                dismissed_by=stored_row.dismissed_by,
                reason=stored_row.reason,
                judgement=stored_row.judgement,
            )
        elif not any(_overlaps(row, other) for other in dismissed):
            rows[name] = row
    gone = [
        name
        for name, row in before.items()
        if row.opened_ms >= since_ms and name not in rows and row.dismissed_ms is None
    ]
    for name, row in before.items():
        if name not in rows and name not in gone:
            lost = row.end_ms is None and row.dismissed_ms is not None
            rows[name] = replace(
                row, end_ms=max(row.dismissed_ms or 0, row.start_ms) if lost else row.end_ms
            )
    changed = [row for name, row in rows.items() if row != before.get(name)]
    return Merged(changed, gone, list(rows.values()))


def _overlaps(row: FindingRow, dismissed: FindingRow) -> bool:
    if row.kind != dismissed.kind:
        return False
    until_ms = dismissed.end_ms if dismissed.end_ms is not None else dismissed.dismissed_ms
    starts_within = row.start_ms <= max(until_ms or 0, dismissed.start_ms)
    return starts_within and (row.end_ms is None or row.end_ms >= dismissed.start_ms)


def open_findings(rows: Iterable[FindingRow]) -> OpenFindings:
    """Returns the kinds in the order of the registry, and the worst finding by severity, then cost
    a day."""
    open_rows = [row for row in rows if row.state == "open"]
    if not open_rows:
        return OpenFindings()
    worst = min(open_rows, key=lambda row: (row.rank, -(row.cost_per_day or 0.0)))
    kinds = sorted({row.kind for row in open_rows}, key=_PLACE.__getitem__)
    return OpenFindings(kinds, worst.rank, worst.cost_per_day)
