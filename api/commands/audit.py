"""`weir audit`: the audit log."""

from __future__ import annotations

import json

import click

from api.commands.arguments import instant, organization
from api.commands.command import Group, when
from api.commands.store_access import opened, opened_web
from api.store.base import AuditEntry, AuditQuery

group = Group("audit", help="The audit log: who changed what.")


@group.command("list")
@click.option("--org", "organization_id", help="Only this organization's.")
@click.option("--kind", help="Only of this kind: key, embed, note, correction, …")
@click.option("--author", help="Only what this credential or user did.")
@click.option("--search", default="", help="Text in author, subject or reason.")
@click.option("--from", "first", help="From this time on, ISO 8601.")
@click.option("--to", "last", help="Up to when, ISO 8601.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
def list_all(
    organization_id: str | None,
    kind: str | None,
    author: str | None,
    search: str,
    first: str | None,
    last: str | None,
    limit: int,
) -> object:
    """List changes to keys, embeds, notes, corrections, settings and the like, latest first.

    Changes by command are by `command:` and the user's name. A deleted organization's stay.
    """
    from api.routes.audit import entries

    query = AuditQuery(
        organization_id=organization_id,
        kind=kind,
        author=author,
        text=search,
        from_ms=None if first is None else instant("--from", first),
        to_ms=None if last is None else instant("--to", last),
        limit=limit,
    )
    with opened(read_only=True) as store, opened_web(read_only=True) as web:
        if organization_id is not None and not store.count_audit(query):
            organization(store, organization_id)
        rows = entries([store, web], query)
    return [_row(entry) for entry in rows]


def _row(entry: AuditEntry) -> dict[str, object]:
    return {
        "at": when(entry.at_ms),
        "author": entry.author,
        "kind": entry.kind,
        "action": entry.action,
        "subject": entry.subject,
        "before": None if entry.before is None else json.dumps(entry.before),
        "after": None if entry.after is None else json.dumps(entry.after),
        "reason": entry.reason,
        "organizationId": entry.organization_id,
    }
