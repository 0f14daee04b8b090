"""Organizations, devices and groups, each read through a scope."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from api.catalog import DEVICE_ORDER_FIELDS
from api.store.base import DeviceQuery, Grant, Organization, Scope
from api.store.devices import COLUMNS
from api.store.query import Dialect, Query, both, marks
from api.store.tables import (
    DEVICE,
    DEVICE_ANCESTOR,
    DEVICE_GROUP,
    HOUR_COUNTER,
    ORGANIZATION,
    ORGANIZATION_SETTING,
)

_DEVICE = ", ".join(f"d.{column}" for column in COLUMNS)
_NULLABLE = frozenset(each.name for each in DEVICE.columns if not each.required)
_SPECIAL, _ESCAPED = re.compile(r"([\\%_])"), r"\\\1"
_NOTHING = Query("1 = 0")


# --- Organizations -------------------------------------------------------------------------------


_ORGANIZATION = ", ".join(ORGANIZATION.names)


def organizations() -> Query:
    return Query(f"SELECT {_ORGANIZATION} FROM {ORGANIZATION.name} ORDER BY name, id")


def organization(organization_id: str) -> Query:
    return Query(
        f"SELECT {_ORGANIZATION} FROM {ORGANIZATION.name} WHERE id = ?", (organization_id,)
    )


def default_price(organization_id: str) -> Query:
    """Returns (per gallon), the price of an organization's devices without a price of their own."""
    return Query(
        f"SELECT default_cost_per_gallon FROM {ORGANIZATION.name} WHERE id = ?", (organization_id,)
    )


def create_organization(new: Organization) -> Query:
    return Query(
        f"INSERT INTO {ORGANIZATION.name}"
        " (id, name, active, created_ms, updated_ms, default_cost_per_gallon)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (new.id, new.name, int(new.active), new.created_ms, new.updated_ms,
         new.default_cost_per_gallon),
    )  # fmt: skip


def settings(organization_id: str) -> Query:
    return Query(
        f"SELECT name, value FROM {ORGANIZATION_SETTING.name} WHERE organization_id = ?",
        (organization_id,),
    )


def settings_named(name: str) -> Query:
    return Query(
        f"SELECT organization_id, value FROM {ORGANIZATION_SETTING.name} WHERE name = ?"
        " ORDER BY organization_id",
        (name,),
    )


def forget_setting(organization_id: str, name: str) -> Query:
    return Query(
        f"DELETE FROM {ORGANIZATION_SETTING.name} WHERE organization_id = ? AND name = ?",
        (organization_id, name),
    )


def change_organization(
    organization_id: str, name: str, cost_per_gallon: float | None, updated_ms: int
) -> Query:
    return Query(
        f"UPDATE {ORGANIZATION.name} SET name = ?, default_cost_per_gallon = ?, updated_ms = ?"
        " WHERE id = ?",
        (name, cost_per_gallon, updated_ms, organization_id),
    )


def follow_price(organization_id: str, before: str, after: str, updated_ms: int) -> Query:
    """Gives the price ``after`` to devices that have exactly ``before`` (both JSON)."""
    return Query(
        f"UPDATE {DEVICE.name} SET cost_per_gallon = ?, updated_ms = ?"
        " WHERE organization_id = ? AND cost_per_gallon = ?",
        (after, updated_ms, organization_id, before),
    )


# --- Visibility ----------------------------------------------------------------------------------


def visible(dialect: Dialect, scope: Scope) -> Query:
    """Returns the condition on ``device AS d`` that holds for the devices of a scope, and no
    others."""
    mine = Query("d.organization_id = ?", (scope.organization_id,))
    grant = scope.grant
    if grant.everything:
        return mine
    granted: list[Query] = []
    if grant.devices:
        ids = [device_id.lower() for device_id in sorted(grant.devices)]
        granted.append(Query(f"d.id IN {dialect.texts}", dialect.bind_texts(ids)))
    if grant.groups:
        granted.append(
            Query(
                f"d.key IN (SELECT g.device_key FROM {DEVICE_GROUP.name} AS g"
                f" WHERE g.name IN {dialect.texts})",
                dialect.bind_texts(sorted(grant.groups)),
            )
        )
    some = both(*granted, between=" OR ") if granted else _NOTHING
    return both(mine, Query(f"({some.sql})", some.params))


# --- Devices -------------------------------------------------------------------------------------


def _chosen(dialect: Dialect, scope: Scope, query: DeviceQuery) -> Query:
    parts = [visible(dialect, scope)]
    if query.active is not None:
        parts.append(Query("d.active = ?", (int(query.active),)))
    if query.serial_number is not None:
        parts.append(Query("d.serial_number = ?", (query.serial_number,)))
    if query.network_unique_identifier is not None:
        identifier = query.network_unique_identifier
        parts.append(Query("d.network_unique_identifier = ?", (identifier,)))
    if query.text:
        parts.append(_containing(dialect, query.text))
    if query.group is not None:
        parts.append(
            Query(
                f"d.key IN (SELECT g.device_key FROM {DEVICE_GROUP.name} AS g WHERE g.name = ?)",
                (query.group,),
            )
        )
    return both(*parts)


def _containing(dialect: Dialect, text: str) -> Query:
    """Part of a label, serial number or network id. SQLite folds the case of ASCII letters only, so
    others are searched as typed, small and capital."""
    written = {text} if text.isascii() else {text, text.lower(), text.upper()}
    patterns = [f"%{_SPECIAL.sub(_ESCAPED, each)}%" for each in sorted(written)]
    columns = ("d.label", "d.serial_number", "d.network_unique_identifier")
    some = " OR ".join(f"{each} {dialect.like} ? ESCAPE '\\'" for each in columns for _ in patterns)
    return Query(f"({some})", tuple(patterns) * len(columns))


def _order(query: DeviceQuery) -> str:
    if query.order_by not in DEVICE_ORDER_FIELDS:
        raise ValueError(f"{query.order_by!r} is not a scalar field of a device")
    name = DEVICE_ORDER_FIELDS[query.order_by].attribute
    direction = " DESC" if query.descending else ""
    nulls = f"d.{name} IS NULL, " if name in _NULLABLE else ""  # else an index has the order
    return f"ORDER BY {nulls}d.{name}{direction}, d.id"


def device_keys(dialect: Dialect, scope: Scope, query: DeviceQuery) -> Query:
    """Returns the keys of the devices in order."""
    chosen = _chosen(dialect, scope, query)
    limit = 2**62 if query.limit is None else query.limit
    return Query(
        f"SELECT d.key FROM {DEVICE.name} AS d WHERE {chosen.sql} {_order(query)} LIMIT ? OFFSET ?",
        (*chosen.params, limit, query.offset),
    )


def devices(dialect: Dialect, scope: Scope, query: DeviceQuery) -> Query:
    """Returns the devices in order. Raises ValueError for an ``order_by`` that no field has."""
    order = _order(query)
    if query.limit is None and not query.offset:
        chosen = _chosen(dialect, scope, query)
        return Query(
            f"SELECT {_DEVICE} FROM {DEVICE.name} AS d WHERE {chosen.sql} {order}", chosen.params
        )
    keys = device_keys(dialect, scope, query)
    return Query(  # the keys of the page first, from an index, so that skipped rows aren't read
        f"SELECT {_DEVICE} FROM {DEVICE.name} AS d"
        f" WHERE d.key IN (SELECT key FROM ({keys.sql}) AS page) {order}",
        keys.params,
    )


def groups_of(dialect: Dialect, grant: Grant, keys: Sequence[int]) -> Query:
    """Returns (device key, group name) of these devices' groups within the grant: a viewer of a
    device must not learn of the organization's other groups."""
    named = _granted_groups(dialect, grant)
    return Query(
        f"SELECT g.device_key, g.name FROM {DEVICE_GROUP.name} AS g WHERE {named.sql}"
        f" AND g.device_key IN (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)"
        " ORDER BY g.name",
        (*named.params, *dialect.bind([(key,) for key in keys])),
    )


def _granted_groups(dialect: Dialect, grant: Grant) -> Query:
    """Returns the condition on ``device_group AS g`` for the groups of the grant."""
    if grant.everything:
        return Query("1 = 1")
    names = dialect.bind_texts(sorted(grant.groups))
    return Query(f"g.name IN {dialect.texts}", names) if grant.groups else _NOTHING


def groups(dialect: Dialect, scope: Scope) -> Query:
    """Returns (name, active devices) of the groups, by name."""
    seen, named = visible(dialect, scope), _granted_groups(dialect, scope.grant)
    return Query(
        f"SELECT g.name, COUNT(*) FROM {DEVICE_GROUP.name} AS g"
        f" JOIN {DEVICE.name} AS d ON d.key = g.device_key"
        f" WHERE d.active = 1 AND {seen.sql} AND {named.sql} GROUP BY g.name ORDER BY g.name",
        (*seen.params, *named.params),
    )


def parents_of(dialect: Dialect, scope: Scope, keys: Sequence[int]) -> Query:
    """Returns (device key, serial number) of the visible meters upstream of these devices, the
    nearest first: a viewer of a sub-meter must not learn of a main that wasn't granted."""
    seen = visible(dialect, scope)
    return Query(
        f"SELECT a.device_key, d.serial_number FROM {DEVICE_ANCESTOR.name} AS a"
        f" JOIN {DEVICE.name} AS d ON d.key = a.ancestor_key WHERE {seen.sql} AND a.device_key IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)"
        " ORDER BY a.depth",
        (*seen.params, *dialect.bind([(key,) for key in keys])),
    )


def downstream(dialect: Dialect, scope: Scope, key: int) -> Query:
    """Returns the visible active devices downstream of a meter, at any depth, by label."""
    mine = visible(dialect, scope)
    return Query(
        f"SELECT {_DEVICE} FROM {DEVICE.name} AS d JOIN {DEVICE_ANCESTOR.name} AS a"
        f" ON a.device_key = d.key WHERE a.ancestor_key = ? AND d.active = 1 AND {mine.sql}"
        " ORDER BY d.label, d.id",
        (key, *mine.params),
    )


def devices_by_key(dialect: Dialect, scope: Scope, keys: Sequence[int]) -> Query:
    mine = visible(dialect, scope)
    return Query(
        f"SELECT {_DEVICE} FROM {DEVICE.name} AS d WHERE {mine.sql} AND d.key IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)",
        (*mine.params, *dialect.bind([(key,) for key in keys])),
    )


def count_devices(dialect: Dialect, scope: Scope, query: DeviceQuery) -> Query:
    chosen = _chosen(dialect, scope, query)
    return Query(f"SELECT COUNT(*) FROM {DEVICE.name} AS d WHERE {chosen.sql}", chosen.params)


def identified(dialect: Dialect, scope: Scope, identifiers: Sequence[str]) -> Query:
    """Returns every visible device that one of the identifiers names, in any of the three ways."""
    mine = visible(dialect, scope)
    some = f"IN ({marks(len(identifiers))})"
    lowered = [identifier.lower() for identifier in identifiers]
    return Query(
        f"SELECT {_DEVICE} FROM {DEVICE.name} AS d WHERE {mine.sql} AND (d.id {some}"
        f" OR d.active = 1 AND (d.serial_number {some} OR d.network_unique_identifier {some}))",
        (*mine.params, *lowered, *identifiers, *identifiers),
    )


def identifiers(organization_id: str) -> Query:
    return Query(
        "SELECT d.key, d.id, d.serial_number, d.network_unique_identifier, d.active"
        f" FROM {DEVICE.name} AS d WHERE d.organization_id = ? ORDER BY d.key",
        (organization_id,),
    )


# --- Importing -----------------------------------------------------------------------------------


def all_of(organization_id: str) -> Query:
    return Query(
        f"SELECT {_DEVICE} FROM {DEVICE.name} AS d WHERE d.organization_id = ?",
        (organization_id,),
    )


def ancestors(organization_id: str) -> Query:
    """Returns (device key, ancestor key, depth), nearest first."""
    return Query(
        f"SELECT a.device_key, a.ancestor_key, a.depth FROM {DEVICE_ANCESTOR.name} AS a"
        f" JOIN {DEVICE.name} AS d ON d.key = a.device_key WHERE d.organization_id = ?"
        " ORDER BY a.depth",
        (organization_id,),
    )


def ids_of_others(dialect: Dialect, organization_id: str, ids: Sequence[str]) -> Query:
    """Returns (id, organization) of the ids that belong to other organizations."""
    return Query(
        f"SELECT d.id, d.organization_id FROM {DEVICE.name} AS d"
        f" WHERE d.organization_id <> ? AND d.id IN {dialect.texts}",
        (organization_id, *dialect.bind_texts(ids)),
    )


def next_key() -> Query:
    # Also above the keys of deleted devices that still have readings: these must never get a new
    # device.
    return Query(
        f"SELECT COALESCE(MAX(k.key), 0) + 1 FROM (SELECT MAX(key) AS key FROM {DEVICE.name}"
        f" UNION ALL SELECT MAX(device_id) FROM {HOUR_COUNTER.name}) AS k"
    )


def release(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Frees these devices' unique identifiers until they are updated."""
    return Query(
        f"UPDATE {DEVICE.name} SET active = 0 WHERE key IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)",
        dialect.bind([(key,) for key in keys]),
    )


def update_device(values: dict[str, Any]) -> Query:
    changed = [column for column in COLUMNS if column != "key"]
    return Query(
        f"UPDATE {DEVICE.name} SET {', '.join(f'{c} = ?' for c in changed)} WHERE key = ?",
        (*(values[column] for column in changed), values["key"]),
    )


def leave_groups(dialect: Dialect, keys: Sequence[int]) -> Query:
    return Query(
        f"DELETE FROM {DEVICE_GROUP.name} WHERE device_key IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)",
        dialect.bind([(key,) for key in keys]),
    )


def leave_ancestors(dialect: Dialect, keys: Sequence[int]) -> Query:
    return Query(
        f"DELETE FROM {DEVICE_ANCESTOR.name} WHERE device_key IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)",
        dialect.bind([(key,) for key in keys]),
    )


# --- What a grant may name -----------------------------------------------------------------------


def device_ids(dialect: Dialect, organization_id: str, ids: Sequence[str]) -> Query:
    return Query(
        f"SELECT d.id FROM {DEVICE.name} AS d"
        f" WHERE d.organization_id = ? AND d.id IN {dialect.texts}",
        (organization_id, *dialect.bind_texts(ids)),
    )
