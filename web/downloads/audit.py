"""The audit log as a file: all entries that match, latest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from api.client.annotations import AuditEntry
from api.client.fields import Json
from api.timez import now_ms, stamp
from components.admin.audit import read_filter
from components.admin.queries import every_entry
from components.fleet.queries import ServiceAccess
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table

_COLUMNS = (
    Column("at_utc", Kind.INSTANT, width=20),
    Column("author", Kind.TEXT, width=28),
    Column("kind", Kind.TEXT),
    Column("action", Kind.TEXT),
    Column("subject", Kind.TEXT, width=38),
    Column("reason", Kind.TEXT, width=40),
    Column("before", Kind.TEXT, width=60),
    Column("after", Kind.TEXT, width=60),
)


def audit_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """Raises Forbidden for those who may not see it."""
    filters = read_filter(query)
    access.client.audit(limit=1)  # refused before a file is begun
    parts = (_part(some) for some in every_entry(access.client, filters))
    name = file_stem("audit", stamp(now_ms()).replace(":", ""))
    return Table(name, "Audit log", _COLUMNS, parts)


def _part(entries: Sequence[AuditEntry]) -> Part:
    return [
        [each.at_ms for each in entries],
        [each.author for each in entries],
        [each.kind for each in entries],
        [each.action for each in entries],
        [each.subject for each in entries],
        [each.reason or None for each in entries],
        [_text(each.before) for each in entries],
        [_text(each.after) for each in entries],
    ]


def _text(state: Json | None) -> str | None:
    return None if state is None else orjson.dumps(dict(state)).decode()
