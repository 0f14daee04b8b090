"""The audit log: added to and read, never changed."""

from __future__ import annotations

from api.store.base.audit import AuditQuery
from api.store.query import Query, both
from api.store.tables import Table


def _matching(query: AuditQuery) -> Query:
    exact = {
        "organization_id": query.organization_id,
        "kind": query.kind,
        "author": query.author,
    }
    parts = [Query(f"{name} = ?", (value,)) for name, value in exact.items() if value is not None]
    if query.from_ms is not None:
        parts.append(Query("at_ms >= ?", (query.from_ms,)))
    if query.to_ms is not None:
        parts.append(Query("at_ms <= ?", (query.to_ms,)))
    if query.text:
        parts.append(containing(("author", "subject", "reason"), query.text))
    return both(Query("1 = 1"), *parts)


def containing(columns: tuple[str, ...], text: str) -> Query:
    """Matches text that is part of one of these columns, in upper or lower case."""
    text = text.lower()
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    some = " OR ".join(f"LOWER({column}) LIKE ? ESCAPE '\\'" for column in columns)
    return Query(f"({some})", (f"%{text}%",) * len(columns))


def page(table: Table, query: AuditQuery) -> Query:
    rows = _matching(query)
    return Query(
        f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {rows.sql}"
        " ORDER BY at_ms DESC, id DESC LIMIT ? OFFSET ?",
        (*rows.params, query.limit, query.offset),
    )


def count(table: Table, query: AuditQuery) -> Query:
    rows = _matching(query)
    return Query(f"SELECT COUNT(*) FROM {table.name} WHERE {rows.sql}", rows.params)
