"""Queries of the audit log."""

from __future__ import annotations

from collections.abc import Iterator

from api.client import Client
from api.client.annotations import AuditEntry, AuditPage
from components import session
from components.admin.audit import PAGE, AuditFilter

BATCH = 1_000


def audit_page(filters: AuditFilter) -> AuditPage:
    """One page of entries. Raises Forbidden without the role of administrator."""
    first, last = filters.bounds
    return session.current_client().audit(
        kind=filters.kind, search=filters.search, from_ms=first, to_ms=last, limit=PAGE,
        offset=(filters.page - 1) * PAGE,
    )  # fmt: skip


def every_entry(client: Client, filters: AuditFilter) -> Iterator[tuple[AuditEntry, ...]]:
    """All matching entries, latest first, loaded in batches."""
    first, last = filters.bounds
    offset = 0
    while True:
        page = client.audit(
            kind=filters.kind, search=filters.search, from_ms=first, to_ms=last, limit=BATCH,
            offset=offset,
        )  # fmt: skip
        if page.entries:
            yield page.entries
        offset += len(page.entries)
        if not page.entries or offset >= page.count:
            return
