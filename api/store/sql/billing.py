"""Statements of billing: budgets, tariffs, scheduled reports and month ends."""

from __future__ import annotations

from collections.abc import Sequence

from api.store.alert_tables import ALERT_MESSAGE
from api.store.base import Scope
from api.store.base.insight import StatusQuery
from api.store.billing_tables import AMOUNTS, BILLING, MONTH_END
from api.store.query import Dialect, Query, marks
from api.store.sql.insight import matching_devices
from api.store.tables import DEVICE, DEVICE_ANCESTOR, DEVICE_STATUS


def billing_rows(kind: str | None, organization_id: str | None) -> Query:
    given = {"kind": kind, "organization_id": organization_id}
    wanted = {name: value for name, value in given.items() if value is not None}
    where = " AND ".join(f"{name} = ?" for name in wanted) or "1 = 1"
    return Query(
        f"SELECT {', '.join(BILLING.names)} FROM {BILLING.name} WHERE {where} ORDER BY name, id",
        tuple(wanted.values()),
    )


def set_due(id: str, updated_ms: int, was_ms: int | None, due_ms: int | None) -> Query:
    """Returns (id) if the row hasn't changed since it was read."""
    return Query(
        f"UPDATE {BILLING.name} SET due_ms = ? WHERE id = ? AND updated_ms = ?"
        " AND COALESCE(due_ms, -1) = ? RETURNING id",
        (due_ms, id, updated_ms, -1 if was_ms is None else was_ms),
    )


def queue_once(message: Sequence[object]) -> Query:
    names = ALERT_MESSAGE.names
    return Query(
        f"INSERT INTO {ALERT_MESSAGE.name} ({', '.join(names)}) VALUES ({marks(len(names))})"
        " ON CONFLICT (id) DO NOTHING",
        tuple(message),
    )


_OF_ORGANIZATION = f"(SELECT key FROM {DEVICE.name} WHERE organization_id = ?)"


def make_anew(organization_id: str) -> list[Query]:
    """Makes the status and month end of each device of the organization due."""
    return [
        Query(
            f"UPDATE {table.name} SET due_ms = 0 WHERE device_id IN {_OF_ORGANIZATION}",
            (organization_id,),
        )
        for table in (DEVICE_STATUS, MONTH_END)
    ]


def month_ends(keys: Sequence[int]) -> Query:
    return Query(
        f"SELECT {', '.join(MONTH_END.names)} FROM {MONTH_END.name}"
        f" WHERE device_id IN ({marks(len(keys))})",
        tuple(keys),
    )


def _sums(prefix: str) -> str:
    """Returns the columns of `api.store.base.Sums`. Where the month end is unknown, the
    volume so far counts."""
    so_far, expected = f"m.{prefix}so_far", f"m.{prefix}expected"
    end = f"COALESCE({expected}, {so_far})"
    bounds = [f"COALESCE(m.{prefix}{name}, {end}) - {end}" for name in AMOUNTS[2:]]
    offs = [f"SUM({off})" for off in bounds]
    squares = [f"SUM(({off}) * ({off}))" for off in bounds]
    counts = [f"COUNT({so_far})", f"COUNT(m.{prefix}low80)"]
    return ", ".join((*counts, f"SUM({so_far})", f"SUM({end})", *offs, *squares))


def month_end_sums(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    """Returns (currency, month, latest instant, first device, sums of gallons, sums of costs) of
    the devices whose water no ancestor among them has measured."""
    source, matching = matching_devices(dialect, scope, query)
    return Query(
        f"SELECT m.currency, MAX(m.month), MAX(m.as_of_ms), MIN(m.device_id), {_sums('')},"
        f" {_sums('cost_')} FROM {source} JOIN {MONTH_END.name} AS m ON m.device_id = d.key"
        f" LEFT JOIN (SELECT DISTINCT a.device_key AS key FROM {DEVICE_ANCESTOR.name} AS a"
        f" WHERE a.ancestor_key IN (SELECT d.key FROM {source} WHERE {matching.sql})) AS u"
        f" ON u.key = d.key WHERE u.key IS NULL AND {matching.sql} GROUP BY m.currency ORDER BY 1",
        (*matching.params, *matching.params),
    )


def due_month_ends(now_ms: int, limit: int) -> Query:
    return Query(
        f"SELECT d.key FROM {DEVICE.name} AS d"
        f" LEFT JOIN {MONTH_END.name} AS m ON m.device_id = d.key"
        " WHERE d.active = 1 AND (m.device_id IS NULL OR m.due_ms <= ?) LIMIT ?",
        (now_ms, limit),
    )


def with_budgets(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns (device) for those whose organization has a budget."""
    return Query(
        f"SELECT d.key FROM {dialect.relation(('device_key',))} AS r"
        f" JOIN {DEVICE.name} AS d ON d.key = r.device_key WHERE d.organization_id IN"
        f" (SELECT organization_id FROM {BILLING.name} WHERE kind = 'budget')",
        dialect.bind([(key,) for key in keys]),
    )
