"""Which findings of a device are kept: what an evaluation found, beside what people said of it."""

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


class Kept(NamedTuple):
    """Rows that are new or changed, names that are to be taken back, and all rows as they then
    are."""

    rows: list[FindingRow]
    gone: list[Name]
    all: list[FindingRow]


def row_of(key: int, device_id: str, found: Finding) -> FindingRow:
    return FindingRow(
        key=key,
        kind=found.kind,
        opened_ms=found.opened_ms,
        id=str(uuid5(_NAMES, f"{device_id} {found.kind} {found.opened_ms}")),
        severity=found.severity,
        rank=SEVERITIES.index(found.severity),
        start_ms=found.start_ms,
        end_ms=found.end_ms,
        value=found.value,
        unit=found.unit,
        usual=found.usual,
        gallons=found.gallons,
        cost_per_day=found.cost_per_day,
        words=found.words,
        offers_new_normal=found.offers_new_normal,
        usual_per_day=found.usual_per_day,
    )


def kept(found: Iterable[FindingRow], stored: Sequence[FindingRow], since_ms: int) -> Kept:
    """``stored``: of the device, open at ``since_ms`` or opened since, and all dismissed ones.

    A dismissed finding stays, also where the raised threshold finds it no more: then it ends when
    it was dismissed, if it hadn't before. What overlaps it under another name, because a higher
    threshold opens later, is the same and not kept again.
    """
    before = {(row.kind, row.opened_ms): row for row in stored}
    after = {(row.kind, row.opened_ms): row for row in found}
    dismissed = [row for row in stored if row.dismissed_ms is not None]
    rows: dict[Name, FindingRow] = {}
    for name, row in after.items():
        known = before.get(name)
        if known is not None:
            rows[name] = replace(
                row,
                dismissed_ms=known.dismissed_ms,
                dismissed_by=known.dismissed_by,
                reason=known.reason,
                judgement=known.judgement,
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
    return Kept(changed, gone, list(rows.values()))


def _overlaps(row: FindingRow, dismissed: FindingRow) -> bool:
    if row.kind != dismissed.kind:
        return False
    until_ms = dismissed.end_ms if dismissed.end_ms is not None else dismissed.dismissed_ms
    starts_within = row.start_ms <= max(until_ms or 0, dismissed.start_ms)
    return starts_within and (row.end_ms is None or row.end_ms >= dismissed.start_ms)


def open_findings(rows: Iterable[FindingRow]) -> OpenFindings:
    """Kinds in the order of the registry; the worst finding by severity, then cost a day."""
    found = [row for row in rows if row.state == "open"]
    if not found:
        return OpenFindings()
    worst = min(found, key=lambda row: (row.rank, -(row.cost_per_day or 0.0)))
    kinds = sorted({row.kind for row in found}, key=_PLACE.__getitem__)
    return OpenFindings(kinds, worst.rank, worst.cost_per_day)
