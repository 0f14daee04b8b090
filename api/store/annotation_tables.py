"""The tables of notes, maintenance, corrections and the audit log."""

from __future__ import annotations

from typing import Final

from api.store.table_definition import Column, Table

# kind: note, maintenance or correction, of a device or of a group. A note without to_ms marks an
# instant. repeats: "", daily, weekly or monthly, until until_ms, on the wall clock of zone.
# metrics: comma-separated; a factor of null excludes them. ended_ms: when a correction was revoked.
ANNOTATION: Final = Table(
    "annotation",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("kind", "text"),
        Column("device_key", "int", required=False),
        Column("group_name", "text", required=False),
        Column("from_ms", "int"),
        Column("to_ms", "int", required=False),
        Column("body", "text"),
        Column("repeats", "text"),
        Column("until_ms", "int", required=False),
        Column("zone", "text"),
        Column("metrics", "text"),
        Column("factor", "real", required=False),
        Column("created_ms", "int"),
        Column("created_by", "text"),
        Column("changed_ms", "int", required=False),
        Column("changed_by", "text", required=False),
        Column("ended_ms", "int", required=False),
        Column("ended_by", "text", required=False),
        Column("end_reason", "text", required=False),
    ),
    key=("id",),
    indexes=(
        "CREATE INDEX annotation_by_device ON annotation (device_key, kind)",
        "CREATE INDEX annotation_by_group ON annotation"
        " (group_name, organization_id, kind, from_ms)",
        "CREATE INDEX annotation_in_force ON annotation (device_key)"
        " WHERE kind = 'correction' AND ended_ms IS NULL",
        "CREATE INDEX annotation_by_organization ON annotation"
        " (organization_id, kind, from_ms, id)",
    ),
)


def audit_table(name: str) -> Table:
    """Returns an audit table: who did what. ``before_value`` and ``after_value`` are JSON, null
    where there is none."""
    return Table(
        name,
        (
            Column("id", "text"),
            Column("at_ms", "int"),
            Column("organization_id", "text"),
            Column("author", "text"),
            Column("kind", "text"),
            Column("action", "text"),
            Column("subject", "text"),
            Column("before_value", "text", required=False),
            Column("after_value", "text", required=False),
            Column("reason", "text"),
        ),
        key=("id",),
        indexes=(f"CREATE INDEX {name}_by_time ON {name} (organization_id, at_ms, id)",),
    )


AUDIT: Final = audit_table("audit")
