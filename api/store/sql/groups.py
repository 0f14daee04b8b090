"""Groups of devices, and what refers to them: grants, settings of findings, rules and silences."""

from __future__ import annotations

from api.store.alert_tables import ALERT_RULE, ALERT_SILENCE
from api.store.annotation_tables import ANNOTATION
from api.store.billing_tables import BILLING
from api.store.query import Query
from api.store.tables import API_KEY, DEVICE, DEVICE_GROUP, INSIGHT_SETTING, KEY_GRANT

_IN_GROUP = (
    f"SELECT g.device_key FROM {DEVICE_GROUP.name} AS g JOIN {DEVICE.name} AS d"
    " ON d.key = g.device_key WHERE d.organization_id = ? AND g.name = ?"
)


def touch(organization_id: str, name: str, updated_ms: int) -> Query:
    return Query(
        f"UPDATE {DEVICE.name} SET updated_ms = ? WHERE key IN ({_IN_GROUP})",
        (updated_ms, organization_id, name),
    )


def delete(organization_id: str, name: str) -> Query:
    return Query(
        f"DELETE FROM {DEVICE_GROUP.name} WHERE name = ? AND device_key IN ({_IN_GROUP})",
        (name, organization_id, name),
    )


def rename(organization_id: str, name: str, new_name: str) -> list[Query]:
    """Renames a group in the devices' groups, the keys' grants, the settings of findings, silences
    and notes."""
    keys = f"SELECT key_id FROM {API_KEY.name} WHERE organization_id = ?"
    return [
        Query(
            f"UPDATE {DEVICE_GROUP.name} SET name = ? WHERE name = ? AND device_key IN"
            f" (SELECT key FROM {DEVICE.name} WHERE organization_id = ?)",
            (new_name, name, organization_id),
        ),
        Query(
            f"UPDATE {KEY_GRANT.name} SET value = ? WHERE kind IN ('group', 'ingest group')"
            f" AND value = ? AND key_id IN ({keys})",
            (new_name, name, organization_id),
        ),
        Query(
            f"UPDATE {INSIGHT_SETTING.name} SET target = ? WHERE level = 'group' AND target = ?"
            " AND organization_id = ?",
            (new_name, name, organization_id),
        ),
        Query(
            f"UPDATE {ALERT_SILENCE.name} SET group_name = ? WHERE group_name = ?"
            " AND organization_id = ?",
            (new_name, name, organization_id),
        ),
        Query(
            f"UPDATE {ANNOTATION.name} SET group_name = ? WHERE group_name = ?"
            " AND organization_id = ?",
            (new_name, name, organization_id),
        ),
    ]


def forget_settings(organization_id: str, name: str) -> Query:
    return Query(
        f"DELETE FROM {INSIGHT_SETTING.name} WHERE organization_id = ? AND level = 'group'"
        " AND target = ?",
        (organization_id, name),
    )


def definitions(organization_id: str) -> Query:
    """Returns (table, kind, id, name, definition as JSON) of the organization's alert rules,
    budgets, tariffs and scheduled reports."""
    parts = [
        f"SELECT '{table.name}', {kind}, id, name, definition FROM {table.name}"
        " WHERE organization_id = ?"
        for table, kind in ((ALERT_RULE, "'rule'"), (BILLING, "kind"))
    ]
    return Query(" UNION ALL ".join(parts), (organization_id,) * 2)


def redefine(table: str, id: str, name: str, definition: str) -> Query:
    """Replaces a definition; ``table`` comes from `definitions`."""
    return Query(
        f"UPDATE {table} SET name = ?, definition = ? WHERE id = ?", (name, definition, id)
    )


def keys_of_group(organization_id: str, name: str) -> Query:
    """Returns (name, id) of the keys that are limited to the group and not revoked."""
    return Query(
        f"SELECT k.name, k.key_id FROM {API_KEY.name} AS k JOIN {KEY_GRANT.name} AS g"
        " ON g.key_id = k.key_id WHERE k.organization_id = ? AND k.revoked_ms IS NULL"
        " AND g.kind IN ('group', 'ingest group') AND g.value = ? ORDER BY k.name, k.key_id",
        (organization_id, name),
    )


def names(organization_id: str) -> Query:
    return Query(
        f"SELECT DISTINCT g.name FROM {DEVICE_GROUP.name} AS g"
        f" JOIN {DEVICE.name} AS d ON d.key = g.device_key WHERE d.organization_id = ?",
        (organization_id,),
    )
