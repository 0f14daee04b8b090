"""Alerts: rules, receivers, silences, alerts, and the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import Aggregate, Resolution
from api.store.alert_tables import (
    ALERT,
    ALERT_CLOCK,
    ALERT_MESSAGE,
    ALERT_RULE,
)
from api.store.base import Scope
from api.store.base.alerts import AlertQuery
from api.store.query import Dialect, Query, both, marks
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.directory import visible
from api.store.sql.series import value
from api.store.table_definition import Table
from api.store.tables import ALERT_DUE, DEVICE, DEVICE_GROUP

_OPEN: Final = "state IN ('pending', 'firing')"


# --- Any of these tables -------------------------------------------------------------------------


def rows_of(table: Table, organization_id: str | None, order: str) -> Query:
    where = "" if organization_id is None else " WHERE organization_id = ?"
    return Query(
        f"SELECT {', '.join(table.names)} FROM {table.name}{where} ORDER BY {order}",
        () if organization_id is None else (organization_id,),
    )


def keep(table: Table, row: Sequence[object]) -> Query:
    """Inserts a row, or replaces the one with its key."""
    rest = [name for name in table.names if name not in table.key]
    changed = ", ".join(f"{name} = excluded.{name}" for name in rest)
    return Query(
        f"INSERT INTO {table.name} ({', '.join(table.names)}) VALUES ({marks(len(table.names))})"
        f" ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {changed}",
        tuple(row),
    )


def drop(table: Table, organization_id: str, id: str) -> Query:
    """Returns (id) where there was a row."""
    return Query(
        f"DELETE FROM {table.name} WHERE organization_id = ? AND id = ? RETURNING id",
        (organization_id, id),
    )


# --- Read through a scope ------------------------------------------------------------------------

_ALERT: Final = ", ".join(f"a.{name}" for name in ALERT.names)
_FROM: Final = f"{ALERT.name} AS a JOIN {DEVICE.name} AS d ON d.key = a.device_key"
_ORDER: Final = (
    "CASE WHEN a.state = 'firing' THEN 0 ELSE 1 END,"
    " CASE WHEN a.state = 'firing' AND a.acknowledged_ms IS NOT NULL THEN 1 ELSE 0 END,"
    " CASE WHEN a.state = 'firing' THEN a.rank ELSE 0 END,"
    " CASE WHEN a.state = 'firing' THEN -COALESCE(a.cost_per_day, 0) ELSE 0 END,"
    " CASE WHEN a.state = 'firing' THEN a.start_ms ELSE -a.fired_ms END, a.id"
)


def _matching(dialect: Dialect, scope: Scope, query: AlertQuery) -> Query:
    parts = [
        Query("a.organization_id = ?", (scope.organization_id,)),
        visible(dialect, scope),
        Query("a.fired_ms IS NOT NULL"),
    ]
    parts.append(_not_of_groups(scope))
    if query.device is not None:
        parts.append(Query("a.device_key = ?", (query.device.key,)))
    if query.group is not None:
        grant = scope.grant
        if not grant.everything and query.group not in grant.groups:
            return Query("1 = 0")  # a viewer without access to a group must not learn its members
        members = f"SELECT g.device_key FROM {DEVICE_GROUP.name} AS g WHERE g.name = ?"
        parts.append(Query(f"d.key IN ({members})", (query.group,)))
    if query.rule_id is not None:
        parts.append(Query("a.rule_id = ?", (query.rule_id,)))
    if query.states:
        states = sorted(query.states)
        parts.append(Query(f"a.state IN ({marks(len(states))})", tuple(states)))
    if query.from_ms is not None:
        parts.append(Query("a.fired_ms >= ?", (query.from_ms,)))
    if query.to_ms is not None:
        parts.append(Query("a.fired_ms <= ?", (query.to_ms,)))
    return both(*parts)


def _not_of_groups(scope: Scope) -> Query:
    """Excludes budgets of groups for a scope of some devices: such a budget is stored with one of
    its devices, but is about the whole group."""
    if scope.grant.everything:
        return Query("1 = 1")
    return Query("a.subject NOT LIKE ?", ("% budget of %",))


def page(dialect: Dialect, scope: Scope, query: AlertQuery) -> Query:
    """Returns (alert columns, device's UUID, serial number, label)."""
    matching = _matching(dialect, scope, query)
    return Query(
        f"SELECT {_ALERT}, d.id, d.serial_number, d.label FROM {_FROM} WHERE {matching.sql}"
        f" ORDER BY {_ORDER} LIMIT ? OFFSET ?",
        (*matching.params, query.limit, query.offset),
    )


def count(dialect: Dialect, scope: Scope, query: AlertQuery) -> Query:
    matching = _matching(dialect, scope, query)
    return Query(f"SELECT COUNT(*) FROM {_FROM} WHERE {matching.sql}", matching.params)


def one(dialect: Dialect, scope: Scope, alert_id: str) -> Query:
    mine = both(visible(dialect, scope), _not_of_groups(scope))
    return Query(
        f"SELECT {_ALERT}, d.id, d.serial_number, d.label FROM {_FROM}"
        f" WHERE a.id = ? AND a.organization_id = ? AND a.fired_ms IS NOT NULL AND {mine.sql}",
        (alert_id, scope.organization_id, *mine.params),
    )


def by_id(alert_id: str) -> Query:
    return Query(f"SELECT {', '.join(ALERT.names)} FROM {ALERT.name} WHERE id = ?", (alert_id,))


# --- What is due ---------------------------------------------------------------------------------


def mark(dialect: Dialect, rows: Sequence[tuple[int, int]]) -> Query:
    """Inserts (device, mark)."""
    return Query(
        f"INSERT INTO {ALERT_DUE.name} (device_id, mark)"
        f" SELECT r.device_id, r.mark FROM {dialect.relation(('device_id', 'mark'))} AS r"
        " WHERE true ON CONFLICT (device_id) DO UPDATE SET mark = excluded.mark",
        dialect.bind(rows),
    )


def with_live_rules(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns (device) for those whose organization has a rule on states or values."""
    return Query(
        f"SELECT d.key FROM {dialect.relation(('device_key',))} AS r"
        f" JOIN {DEVICE.name} AS d ON d.key = r.device_key WHERE d.organization_id IN"
        f" (SELECT organization_id FROM {ALERT_RULE.name} WHERE live = 1 AND enabled = 1)",
        dialect.bind([(key,) for key in keys]),
    )


def any_live_rule() -> Query:
    return Query(f"SELECT 1 FROM {ALERT_RULE.name} WHERE live = 1 AND enabled = 1 LIMIT 1")


def devices_of(organization_id: str) -> Query:
    return Query(
        f"SELECT key FROM {DEVICE.name} WHERE organization_id = ? ORDER BY key", (organization_id,)
    )


def devices_with_open(organization_id: str, rule_id: str | None) -> Query:
    own = "" if rule_id is None else " AND rule_id = ?"
    return Query(
        f"SELECT DISTINCT device_key FROM {ALERT.name} WHERE organization_id = ? AND {_OPEN}{own}",
        (organization_id,) if rule_id is None else (organization_id, rule_id),
    )


def due_by_time(now_ms: int) -> Query:
    return Query(f"SELECT DISTINCT device_key FROM {ALERT.name} WHERE due_ms <= ?", (now_ms,))


def due(limit: int) -> Query:
    return Query(
        f"SELECT device_id, mark FROM {ALERT_DUE.name} ORDER BY mark, device_id LIMIT ?", (limit,)
    )


def take(key: int, mark_: int) -> Query:
    """Deletes a mark that hasn't changed; returns its (device)."""
    return Query(
        f"DELETE FROM {ALERT_DUE.name} WHERE device_id = ? AND mark = ? RETURNING device_id",
        (key, mark_),
    )


def alerts_of(keys: Sequence[int], since_ms: int) -> Query:
    """Returns open alerts, and those resolved since."""
    return Query(
        f"SELECT {', '.join(ALERT.names)} FROM {ALERT.name}"
        f" WHERE device_key IN ({marks(len(keys))}) AND ({_OPEN} OR resolved_ms >= ?)",
        (*keys, since_ms),
    )


def all_open(organization_id: str) -> Query:
    return Query(
        f"SELECT {', '.join(ALERT.names)} FROM {ALERT.name} WHERE organization_id = ? AND {_OPEN}",
        (organization_id,),
    )


def delete(ids: Sequence[str]) -> Query:
    return Query(f"DELETE FROM {ALERT.name} WHERE id IN ({marks(len(ids))})", tuple(ids))


def clock() -> Query:
    return Query(f"SELECT name, at_ms FROM {ALERT_CLOCK.name}")


def metric_values(
    key: int,
    aggregate: Aggregate,
    resolution: Resolution,
    from_ms: int,
    to_ms: int,
    arithmetic: Arithmetic,
) -> Query:
    mean = value(resolution, aggregate, arithmetic)
    return Query(
        f"SELECT ts, {mean} FROM {resolution.table}"
        " WHERE device_id = ? AND ts >= ? AND ts < ? ORDER BY ts",
        (key, from_ms, to_ms),
    )


# --- The outbox ----------------------------------------------------------------------------------

_MESSAGE: Final = ", ".join(f"m.{name}" for name in ALERT_MESSAGE.names)


def sendable(now_ms: int, limit: int) -> Query:
    """Returns messages that are due, without those that follow another queued one of their thread
    and receiver."""
    return Query(
        f"SELECT {_MESSAGE} FROM {ALERT_MESSAGE.name} AS m"
        " WHERE m.state = 'queued' AND m.due_ms <= ? AND NOT EXISTS"
        f" (SELECT 1 FROM {ALERT_MESSAGE.name} AS e WHERE e.thread = m.thread"
        " AND e.receiver_id = m.receiver_id AND e.state = 'queued' AND e.place < m.place)"
        " ORDER BY m.due_ms, m.id LIMIT ?",
        (now_ms, limit),
    )


def claim(id: str, due_ms: int, until_ms: int) -> Query:
    """Returns (id) unless another process has claimed the message since it was read."""
    return Query(
        f"UPDATE {ALERT_MESSAGE.name} SET due_ms = ? WHERE id = ? AND due_ms = ?"
        " AND state = 'queued' RETURNING id",
        (until_ms, id, due_ms),
    )


def first_state(thread: str, receiver_id: str) -> Query:
    return Query(
        f"SELECT state FROM {ALERT_MESSAGE.name} WHERE thread = ? AND receiver_id = ?"
        " ORDER BY place LIMIT 1",
        (thread, receiver_id),
    )


def messages(organization_id: str, thread: str | None, limit: int) -> Query:
    own = "" if thread is None else " AND m.thread = ?"
    return Query(
        f"SELECT {_MESSAGE} FROM {ALERT_MESSAGE.name} AS m WHERE m.organization_id = ?{own}"
        " ORDER BY m.created_ms DESC, m.place DESC, m.id LIMIT ?",
        (organization_id, limit) if thread is None else (organization_id, thread, limit),
    )


def message(organization_id: str, id: str) -> Query:
    return Query(
        f"SELECT {_MESSAGE} FROM {ALERT_MESSAGE.name} AS m"
        " WHERE m.organization_id = ? AND m.id = ?",
        (organization_id, id),
    )


def drop_messages_to(receiver_id: str) -> Query:
    return Query(
        f"UPDATE {ALERT_MESSAGE.name} SET state = 'dropped', response = 'The receiver was deleted.'"
        " WHERE receiver_id = ? AND state = 'queued'",
        (receiver_id,),
    )


def settle(row: Sequence[object]) -> Query:
    return keep(ALERT_MESSAGE, row)
