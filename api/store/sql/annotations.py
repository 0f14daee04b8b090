"""Notes, maintenance and corrections: read through a scope, saved and deleted."""

from __future__ import annotations

from collections.abc import Sequence

from api.store.base import Scope
from api.store.base.annotations import Annotation, AnnotationKind, AnnotationQuery
from api.store.query import Dialect, Query, both, marks
from api.store.sql.audit import containing
from api.store.sql.directory import visible
from api.store.tables import ANNOTATION, DEVICE, DEVICE_GROUP

_COLUMNS = ", ".join(f"a.{name}" for name in ANNOTATION.names)
_FROM = f"{ANNOTATION.name} AS a LEFT JOIN {DEVICE.name} AS d ON d.key = a.device_key"


def _seen(dialect: Dialect, scope: Scope) -> Query:
    """Matches annotations of a visible device, or of a group that the grant covers."""
    mine = Query("a.organization_id = ?", (scope.organization_id,))
    if scope.grant.everything:
        return mine
    device = visible(dialect, scope)
    groups = sorted(scope.grant.groups)
    group = Query(f"a.group_name IN {dialect.texts}", dialect.bind_texts(groups))
    some = both(Query(f"({device.sql})", device.params), group, between=" OR ")
    return both(mine, Query(f"({some.sql})", some.params))


def _matching(dialect: Dialect, scope: Scope, query: AnnotationQuery) -> Query:
    parts = [_seen(dialect, scope)]
    if query.kinds:
        kinds = sorted(kind.value for kind in query.kinds)
        parts.append(Query(f"a.kind IN {dialect.texts}", dialect.bind_texts(kinds)))
    if query.device is not None:
        parts.append(
            Query(
                "(a.device_key = ? OR a.group_name IN"
                f" (SELECT g.name FROM {DEVICE_GROUP.name} AS g WHERE g.device_key = ?))",
                (query.device.key, query.device.key),
            )
        )
    if query.group is not None:
        parts.append(Query("a.group_name = ?", (query.group,)))
    if query.text:
        parts.append(containing(("a.body",), query.text))
    if query.from_ms is not None:
        parts.append(
            Query("COALESCE(a.until_ms + a.to_ms - a.from_ms, a.to_ms - 1, a.from_ms) >= ?",
                  (query.from_ms,))
        )  # fmt: skip
    if query.to_ms is not None:
        parts.append(Query("a.from_ms <= ?", (query.to_ms,)))
    if not query.ended:
        parts.append(Query("a.ended_ms IS NULL"))
    return both(*parts)


def page(dialect: Dialect, scope: Scope, query: AnnotationQuery) -> Query:
    """Returns the columns, then the device's id and serial number."""
    rows = _matching(dialect, scope, query)
    return Query(
        f"SELECT {_COLUMNS}, d.id, d.serial_number FROM {_FROM} WHERE {rows.sql}"
        " ORDER BY a.from_ms DESC, a.id LIMIT ? OFFSET ?",
        (*rows.params, query.limit, query.offset),
    )


def count(dialect: Dialect, scope: Scope, query: AnnotationQuery) -> Query:
    rows = _matching(dialect, scope, query)
    return Query(f"SELECT COUNT(*) FROM {_FROM} WHERE {rows.sql}", rows.params)


def one(dialect: Dialect, scope: Scope, kind: AnnotationKind, annotation_id: str) -> Query:
    seen = _seen(dialect, scope)
    return Query(
        f"SELECT {_COLUMNS}, d.id, d.serial_number FROM {_FROM}"
        f" WHERE {seen.sql} AND a.kind = ? AND a.id = ?",
        (*seen.params, kind.value, annotation_id),
    )


def maintenance(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns (device key, the columns) of each device's own maintenance and its groups'."""
    return _of_devices(dialect, keys, Query("a.kind = ?", (AnnotationKind.MAINTENANCE.value,)))


def notes(dialect: Dialect, keys: Sequence[int], from_ms: int, to_ms: int) -> Query:
    """Returns (device key, the columns) of each device's own notes and its groups' in [from_ms,
    to_ms)."""
    within = "a.kind = ? AND a.from_ms < ? AND COALESCE(a.to_ms, a.from_ms + 1) > ?"
    return _of_devices(dialect, keys, Query(within, (AnnotationKind.NOTE.value, to_ms, from_ms)))


def _of_devices(dialect: Dialect, keys: Sequence[int], which: Query) -> Query:
    devices = f"(SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)"
    bound = (*which.params, *dialect.bind([(key,) for key in keys]))
    return Query(
        f"SELECT a.device_key, {_COLUMNS} FROM {ANNOTATION.name} AS a"
        f" WHERE {which.sql} AND a.device_key IN {devices}"
        # From the few devices to their groups: SQLite keeps a CROSS JOIN's order.
        f" UNION ALL SELECT g.device_key, {_COLUMNS} FROM {DEVICE_GROUP.name} AS g"
        f" CROSS JOIN {DEVICE.name} AS d CROSS JOIN {ANNOTATION.name} AS a"
        f" WHERE d.key = g.device_key AND a.organization_id = d.organization_id"
        f" AND a.group_name = g.name AND {which.sql} AND g.device_key IN {devices}",
        (*bound, *bound),
    )


def corrections(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns the corrections in force, in the order in which they are applied."""
    devices = f"(SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)"
    return Query(
        f"SELECT {_COLUMNS} FROM {ANNOTATION.name} AS a WHERE a.kind = ? AND a.ended_ms IS NULL"
        f" AND a.device_key IN {devices} ORDER BY a.device_key, a.created_ms, a.id",
        (AnnotationKind.CORRECTION.value, *dialect.bind([(key,) for key in keys])),
    )


def corrected_devices() -> Query:
    """Returns (key) of the devices with a correction in force: few, if any."""
    return Query(
        f"SELECT DISTINCT device_key FROM {ANNOTATION.name}"
        " WHERE kind = 'correction' AND ended_ms IS NULL"
    )


def keep(values: Sequence[object]) -> Query:
    names = ANNOTATION.names
    changed = ", ".join(f"{name} = excluded.{name}" for name in names if name != "id")
    return Query(
        f"INSERT INTO {ANNOTATION.name} ({', '.join(names)}) VALUES ({marks(len(names))})"
        f" ON CONFLICT (id) DO UPDATE SET {changed}",
        tuple(values),
    )


def drop(annotation: Annotation) -> Query:
    return Query(f"DELETE FROM {ANNOTATION.name} WHERE id = ?", (annotation.id,))


def devices_of_group(organization_id: str, name: str) -> Query:
    """Returns (key) of the group's devices."""
    return Query(
        f"SELECT d.key FROM {DEVICE.name} AS d JOIN {DEVICE_GROUP.name} AS g"
        " ON g.device_key = d.key WHERE d.organization_id = ? AND g.name = ? ORDER BY d.key",
        (organization_id, name),
    )
