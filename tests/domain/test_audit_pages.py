"""One page of several audit logs."""

from __future__ import annotations

from collections.abc import Sequence

from api.routes.audit import entries
from api.store.base import AuditEntry, AuditQuery


class Log:
    """An audit log in memory."""

    def __init__(self, *written: AuditEntry) -> None:
        self._entries = sorted(written, key=lambda each: (each.at_ms, each.id), reverse=True)

    def record(self, entries: Sequence[AuditEntry]) -> None:
        raise NotImplementedError

    def audit(self, query: AuditQuery) -> list[AuditEntry]:
        return self._entries[query.offset : query.offset + query.limit]

    def count_audit(self, query: AuditQuery) -> int:
        return len(self._entries)


def test_entries_of_one_millisecond_are_listed_in_their_order() -> None:
    """Deleting an organization ends its embeds, which have a log of their own."""
    written = [AuditEntry(n // 4, "org", "ada", "key", "change", str(n)) for n in range(12)]
    logs = [Log(*written[::2]), Log(*written[1::2])]
    latest_first = list(reversed(written))
    assert entries([*logs], AuditQuery()) == latest_first
    assert entries([*logs], AuditQuery(limit=3, offset=2)) == latest_first[2:5]
