"""The audit log of an organization is two logs, read as one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from api.routes.audit import entries
from api.store.base import AuditEntry, AuditQuery

DAY_MS = 1_772_928_000_000


@dataclass
class _Log:
    """Lists its entries as a store does: the newest first."""

    there: list[AuditEntry]

    def audit(self, query: AuditQuery) -> list[AuditEntry]:
        newest_first = sorted(self.there, key=lambda entry: (entry.at_ms, entry.id), reverse=True)
        return newest_first[query.offset : query.offset + query.limit]

    def count_audit(self, query: AuditQuery) -> int:
        return len(self.there)

    def record(self, entries: object) -> None:
        raise AssertionError("read only")


def _entry(at_ms: int, number: int) -> AuditEntry:
    return AuditEntry(at_ms, "org", "command:me", "embed", "revoke", "", id=f"{number:04}")


@pytest.mark.parametrize(
    "times_ms",
    [[DAY_MS] * 12, [DAY_MS + n // 4 for n in range(12)], [DAY_MS + n for n in range(12)]],
    ids=["all in one millisecond", "four in each", "one in each"],
)
def test_pages_of_both_logs_are_in_the_order_of_the_changes(times_ms: list[int]) -> None:
    made = [_entry(at_ms, number) for number, at_ms in enumerate(times_ms)]
    logs = [_Log(made[::2]), _Log(made[1::2])]
    pages = [entries(logs, AuditQuery("org", limit=5, offset=offset)) for offset in (0, 5, 10)]
    assert [entry for page in pages for entry in page] == made[::-1]
