"""Statements for device statuses: saving and reading them, and their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import COARSEST_STORED, FLOW_AMOUNT, QUALITY, Aggregate, Resolution
from api.metering.status import State
from api.metering.windows import SPANS
from api.store.base import Scope, StatusQuery
from api.store.base.findings import BEHIND_MS
from api.store.base.insight import NOTICE_RANK
from api.store.devices import COLUMNS
from api.store.query import Dialect, Query, both, marks
from api.store.sql.directory import visible
from api.store.sql.series import value
from api.store.tables import (
    DEVICE,
    DEVICE_ANCESTOR,
    DEVICE_GROUP,
    DEVICE_STATUS,
    FINDING,
    FINDING_STATE,
    HOUR_COUNTER,
    INSIGHT_DUE,
    READING,
    counter,
)

_DEVICE: Final = ", ".join(f"d.{column}" for column in COLUMNS)
_OF_FINDINGS: Final = ("findings", "finding_rank", "finding_cost")
WRITTEN: Final = tuple(name for name in DEVICE_STATUS.names if name not in _OF_FINDINGS)
_STATUS: Final = ", ".join(f"s.{name}" for name in DEVICE_STATUS.names)
_FROM: Final = f"{DEVICE.name} AS d LEFT JOIN {DEVICE_STATUS.name} AS s ON s.device_id = d.key"

# --- Orders --------------------------------------------------------------------------------------

_RANK: Final = (
    "CASE s.state " + " ".join(f"WHEN '{s.value}' THEN {n}" for n, s in enumerate(State)) + " END"
)


def _uptime(span: str) -> str:
    return f"CASE WHEN s.expected_{span} > 0 THEN s.actual_{span} * 1.0 / s.expected_{span} END"


def _findings() -> str:
    count = "LENGTH(s.findings) - LENGTH(REPLACE(s.findings, ',', '')) + 1"
    return f"CASE WHEN s.findings <> '' THEN {count} WHEN s.findings = '' THEN 0 END"


# Lost water ranks above a device that doesn't report: a critical finding, a warning, a bad state, a
# notice, a device that never reported, all others; more expensive findings first.
_TROUBLE: Final = (
    f"CASE WHEN s.finding_rank = 0 THEN 0"
    f" WHEN s.finding_rank < {NOTICE_RANK} THEN 1"
    f" WHEN s.state IN ('{State.SILENT}', '{State.DEGRADED}') THEN 2"
    f" WHEN s.finding_rank = {NOTICE_RANK} THEN 3 WHEN s.state = '{State.NO_DATA}' THEN 4"
    " ELSE 5 END"
)
_DEAREST: Final = (
    f"CASE WHEN s.finding_rank < {NOTICE_RANK} THEN -COALESCE(s.finding_cost, 0) ELSE 0 END"
)
_PARENT: Final = (
    f"(SELECT p.serial_number FROM {DEVICE_ANCESTOR.name} AS a JOIN {DEVICE.name} AS p"
    " ON p.key = a.ancestor_key WHERE a.device_key = d.key AND a.depth = 1)"
)

ORDERS: Final[dict[str, tuple[str, ...]]] = {
    "worst": (_TROUBLE, _DEAREST, _RANK, _uptime("24h"), "s.quality_min_24h"),
    "label": ("d.label",),
    "serialNumber": ("d.serial_number",),
    "networkUniqueIdentifier": ("d.network_unique_identifier",),
    "category": ("d.category",),
    "model": ("d.model",),
    "deviceTimeZone": ("d.time_zone",),
    "installedOn": ("d.installed_on_ms",),
    "parent": (_PARENT,),
    "state": (_RANK,),
    "lastSeen": ("s.seen_ms",),
    "cadence": ("s.cadence_ms",),
    "flow": ("s.flow",),
    "uptime": (_uptime("24h"),),
    **{f"uptime{span.name}": (_uptime(span.name),) for span in SPANS},
    "quality": ("s.quality_min_24h",),
    **{f"quality{span.name}": (f"s.quality_min_{span.name}",) for span in SPANS},
    "volumeToday": ("s.volume_today",),
    "volumeMonth": ("s.volume_month",),
    "signalStrength": ("s.signal_strength",),
    "networkRssi": ("s.network_rssi",),
    "findings": (_findings(),),
    "finding": ("s.finding_rank", "-COALESCE(s.finding_cost, 0)"),
    "asOf": ("s.as_of_ms",),
}


# --- Read through a scope ------------------------------------------------------------------------


def _matching(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    parts = [visible(dialect, scope), _of_states(dialect, query)]
    if query.text:
        text = query.text.casefold()
        for special in "\\%_":
            text = text.replace(special, f"\\{special}")
        # Looks up all rows first, in the table's order: one by one, in the list's own order,
        # 100,000 devices take six times as long.
        parts.append(
            Query(
                f"d.key IN (SELECT t.device_id FROM {DEVICE_STATUS.name} AS t"
                " WHERE t.searched LIKE ? ESCAPE '\\')",
                (f"%{text}%",),
            )
        )
    if query.group is not None:
        grant = scope.grant
        if not grant.everything and query.group not in grant.groups:
            return Query("1 = 0")  # a group outside the grant must not reveal its members
        parts.append(
            Query(
                f"d.key IN (SELECT g.device_key FROM {DEVICE_GROUP.name} AS g WHERE g.name = ?)",
                (query.group,),
            )
        )
    if query.kind is not None:
        parts.append(Query("(',' || s.findings || ',') LIKE ?", (f"%,{query.kind},%",)))
    return both(*parts)


def matching_devices(dialect: Dialect, scope: Scope, query: StatusQuery) -> tuple[str, Query]:
    """Returns (the devices d with their status s, the condition for those that match the query)."""
    return _FROM, _matching(dialect, scope, query)


def _of_states(dialect: Dialect, query: StatusQuery) -> Query:
    """The directory decides which devices are inactive, whatever the stored status."""
    if not query.states:
        return Query("d.active = 1")
    wanted = sorted(state for state in query.states if state != State.INACTIVE)
    parts: list[Query] = []
    if wanted:
        stated = Query(f"s.state IN {dialect.texts}", dialect.bind_texts(wanted))
        new = " OR s.state IS NULL" if State.NO_DATA in wanted else ""
        parts.append(Query(f"d.active = 1 AND ({stated.sql}{new})", stated.params))
    if State.INACTIVE in query.states:
        parts.append(Query("d.active = 0"))
    some = both(*parts, between=" OR ")
    return Query(f"({some.sql})", some.params)


def page(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    """Returns (key) of the devices of a page, in order."""
    matching = _matching(dialect, scope, query)
    direction = " DESC" if query.descending else ""
    orders = [f"{e}{direction} NULLS LAST" for e in ORDERS[query.order_by]]
    ties = [column for column in ("d.label", "d.id") if column not in ORDERS[query.order_by]]
    return Query(
        f"SELECT d.key FROM {_FROM} WHERE {matching.sql}"
        f" ORDER BY {', '.join((*orders, *ties))} LIMIT ? OFFSET ?",
        (*matching.params, query.limit, query.offset),
    )


def entries(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns device columns, then status columns."""
    return Query(
        f"SELECT {_DEVICE}, {_STATUS} FROM {_FROM}"
        f" WHERE d.key IN (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r)",
        dialect.bind([(key,) for key in keys]),
    )


def count(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    matching = _matching(dialect, scope, query)
    by_status = query.states or query.kind
    source = _FROM if by_status else f"{DEVICE.name} AS d"  # an unneeded join would only cost time
    return Query(f"SELECT COUNT(*) FROM {source} WHERE {matching.sql}", matching.params)


_COMPARED: Final = (
    "CASE WHEN u.key IS NULL AND s.volume_today IS NOT NULL AND s.volume_usual IS NOT NULL THEN"
)
_WINDOW_SUMS: Final = tuple(
    f"SUM(s.{what}_{span.name} * s.bucket_ms)" for span in SPANS for what in ("actual", "expected")
)


def open_by_kind(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    """Returns (kind, severity rank, currency, devices, cost a day) of the open findings."""
    matching = _matching(dialect, scope, query)
    return Query(
        f"SELECT f.kind, f.rank, s.currency, COUNT(DISTINCT d.key), SUM(f.cost_per_day)"
        f" FROM {_FROM} JOIN {FINDING.name} AS f ON f.device_id = d.key"
        f" WHERE s.findings <> '' AND f.end_ms IS NULL AND f.dismissed_ms IS NULL"
        f" AND {matching.sql} GROUP BY 1, 2, 3",
        matching.params,
    )


def unchecked(dialect: Dialect, scope: Scope, query: StatusQuery, before_ms: int) -> Query:
    """Returns (devices, instant up to which all are evaluated) of those with unevaluated readings
    that weren't evaluated since ``before_ms``, or are behind (`BEHIND_MS`). Each table is joined by
    its own device_id: Citus refuses outer joins of several by the key of a small table."""
    matching = _matching(dialect, scope, query)
    behind = f"(u.findings_ms < t.next_ms - {BEHIND_MS} OR s.seen_ms >= t.next_ms + {BEHIND_MS})"
    reached = (
        "CASE WHEN t.made_ms IS NULL OR u.findings_ms < t.next_ms THEN u.findings_ms"
        f" WHEN {behind} THEN t.next_ms ELSE t.made_ms END"
    )
    return Query(
        f"SELECT COUNT(*), MIN({reached}) FROM {INSIGHT_DUE.name} AS u"
        f" JOIN {DEVICE.name} AS d ON d.key = u.device_id"
        f" LEFT JOIN {DEVICE_STATUS.name} AS s ON s.device_id = u.device_id"
        f" LEFT JOIN {FINDING_STATE.name} AS t ON t.device_id = u.device_id"
        " WHERE u.findings_ms IS NOT NULL AND (t.made_ms IS NULL OR t.made_ms < ?"
        f" OR {behind})"
        f" AND {matching.sql}",
        (before_ms, *matching.params),
    )


def sums(dialect: Dialect, scope: Scope, query: StatusQuery) -> Query:
    """Returns (state, currency, open kinds, devices, sub-meters, flow, volume today, cost by the
    devices' own prices, volume of those without one, oldest row, devices with a row, flowing,
    quiet, with a finding that needs attention; number of devices with a usual volume, their volume
    and the usual one; observed and expected ms of each window). Water counts where it is measured
    first, so a device whose ancestor matches too adds none."""
    matching = _matching(dialect, scope, query)
    counted = "CASE WHEN u.key IS NULL THEN {} END"
    flow, volume = counted.format("s.flow"), counted.format("s.volume_today")
    own = counted.format("s.volume_today * s.price")
    rest = "CASE WHEN u.key IS NULL AND s.price IS NULL THEN s.volume_today END"
    return Query(
        f"SELECT COALESCE(s.state, '{State.NO_DATA}'), s.currency, s.findings, COUNT(*),"
        f" COUNT(u.key), SUM({flow}), SUM({volume}), SUM({own}), SUM({rest}), MIN(s.as_of_ms),"
        " COUNT(s.device_id), SUM(CASE WHEN s.flow <> 0 THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN s.flow = 0 THEN 1 ELSE 0 END),"
        f" SUM(CASE WHEN s.finding_rank < {NOTICE_RANK} THEN 1 ELSE 0 END),"
        f" SUM({_COMPARED} 1 ELSE 0 END), SUM({_COMPARED} s.volume_today END),"
        f" SUM({_COMPARED} s.volume_usual END), {', '.join(_WINDOW_SUMS)}"
        f" FROM {_FROM} LEFT JOIN (SELECT DISTINCT a.device_key AS key"
        f" FROM {DEVICE_ANCESTOR.name} AS a JOIN {DEVICE.name} AS d ON d.key = a.ancestor_key"
        f" LEFT JOIN {DEVICE_STATUS.name} AS s ON s.device_id = d.key WHERE {matching.sql}) AS u"
        f" ON u.key = d.key WHERE {matching.sql} GROUP BY 1, 2, 3",
        (*matching.params, *matching.params),
    )


# --- What is due ---------------------------------------------------------------------------------


def mark_due(dialect: Dialect, marks_: Sequence[tuple[int, int]]) -> Query:
    """Marks (device, earliest new instant) as due; an earlier unprocessed instant stays."""

    def earliest(column: str) -> str:
        stored, new = f"{INSIGHT_DUE.name}.{column}", f"excluded.{column}"
        return f"{column} = CASE WHEN {stored} < {new} THEN {stored} ELSE {new} END"

    return Query(
        f"INSERT INTO {INSIGHT_DUE.name} (device_id, status_ms, findings_ms, seq)"
        f" SELECT r.device_id, r.ts, r.ts, 0 FROM {dialect.relation(('device_id', 'ts'))} AS r"
        " WHERE true ON CONFLICT (device_id) DO UPDATE SET"
        f" {earliest('status_ms')}, {earliest('findings_ms')}, seq = {INSIGHT_DUE.name}.seq + 1",
        dialect.bind(marks_),
    )


EVERYTHING_DUE: Final = (
    f"INSERT INTO {INSIGHT_DUE.name} (device_id, status_ms, findings_ms, seq)"
    f" SELECT key, 0, 0, 0 FROM {DEVICE.name}"
)


def due_by_reading(limit: int) -> Query:
    return Query(
        f"SELECT device_id, status_ms, seq FROM {INSIGHT_DUE.name} WHERE status_ms IS NOT NULL"
        " ORDER BY device_id LIMIT ?",
        (limit,),
    )


def due_of(keys: Sequence[int]) -> Query:
    return Query(
        f"SELECT device_id, status_ms, seq FROM {INSIGHT_DUE.name}"
        f" WHERE device_id IN ({marks(len(keys))}) AND status_ms IS NOT NULL",
        tuple(keys),
    )


def done(key: int, seq: int) -> Query:
    return Query(
        f"UPDATE {INSIGHT_DUE.name} SET status_ms = NULL WHERE device_id = ? AND seq = ?",
        (key, seq),
    )


def due_by_time(now_ms: int, limit: int) -> Query:
    return Query(
        f"SELECT device_id FROM {DEVICE_STATUS.name} WHERE due_ms <= ? ORDER BY due_ms LIMIT ?",
        (now_ms, limit),
    )


def due_by_change(limit: int) -> Query:
    """Returns devices that are new or were changed."""
    return Query(
        f"SELECT d.key FROM {_FROM} WHERE s.device_id IS NULL OR s.updated_ms <> d.updated_ms"
        " LIMIT ?",
        (limit,),
    )


def all_keys(organization_id: str | None) -> Query:
    where = "" if organization_id is None else " WHERE organization_id = ?"
    return Query(
        f"SELECT key FROM {DEVICE.name}{where} ORDER BY key",
        () if organization_id is None else (organization_id,),
    )


def save_status(values: Sequence[object]) -> Query:
    """Saves a status, in the order of `WRITTEN`."""
    rest = [name for name in WRITTEN if name != "device_id"]
    return Query(
        f"INSERT INTO {DEVICE_STATUS.name} ({', '.join(WRITTEN)}) VALUES ({marks(len(WRITTEN))})"
        " ON CONFLICT (device_id) DO UPDATE SET "
        + ", ".join(f"{name} = excluded.{name}" for name in rest),
        tuple(values),
    )


def made_by_others(keys: Sequence[int], maker: str) -> Query:
    return Query(
        f"SELECT device_id FROM {DEVICE_STATUS.name}"
        f" WHERE device_id IN ({marks(len(keys))}) AND maker <> ?",
        (*keys, maker),
    )


# --- Inputs of a status --------------------------------------------------------------------------

_LOW: Final = Aggregate("min", QUALITY)
_HIGH: Final = Aggregate("max", QUALITY)
_GALLONS: Final = f"{FLOW_AMOUNT.name}_sum"


def edges(
    keys: Sequence[int], resolution: Resolution, low: int, high: int, closed_ms: int
) -> Query:
    """Returns (device, buckets before ``closed_ms``, lowest, highest quality, gallons)."""
    return Query(
        "SELECT device_id, SUM(CASE WHEN ts < ? THEN 1 ELSE 0 END),"
        f" MIN({value(resolution, _LOW)}), MAX({value(resolution, _HIGH)}), SUM({_GALLONS})"
        f" FROM {resolution.table} WHERE device_id IN ({marks(len(keys))}) AND ts >= ? AND ts < ?"
        " GROUP BY device_id",
        (closed_ms, *keys, low, high),
    )


def whole_hours(keys: Sequence[int], counted: Resolution, lows: Sequence[int], high: int) -> Query:
    """Returns (device, then (count, lowest, highest quality, gallons) for each of the lows)."""
    hour = COARSEST_STORED
    each = "1" if counted is hour else counter(counted)
    least, most = value(hour, _LOW), value(hour, _HIGH)
    columns = (
        f"SUM(CASE WHEN ts >= ? THEN {each} ELSE 0 END), MIN(CASE WHEN ts >= ? THEN {least} END),"
        f" MAX(CASE WHEN ts >= ? THEN {most} END), SUM(CASE WHEN ts >= ? THEN {_GALLONS} END)"
    )
    return Query(
        f"SELECT device_id, {', '.join([columns] * len(lows))} FROM {hour.table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= ? AND ts < ? GROUP BY device_id",
        (*(low for low in lows for _ in range(4)), *keys, min(lows), high),
    )


def gallons(keys: Sequence[int], resolution: Resolution, low: int, high: int) -> Query:
    """Returns (device, bucket start, gallons), ascending."""
    return Query(
        f"SELECT device_id, ts, {_GALLONS} FROM {resolution.table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= ? AND ts < ? ORDER BY device_id, ts",
        (*keys, low, high),
    )


def first_hour(key: int) -> Query:
    return Query(f"SELECT MIN(ts) FROM {HOUR_COUNTER.name} WHERE device_id = ?", (key,))


def last_hour(key: int, before_ms: int) -> Query:
    return Query(
        f"SELECT MAX(ts) FROM {HOUR_COUNTER.name} WHERE device_id = ? AND ts < ?", (key, before_ms)
    )


def instants(key: int, low: int, high: int) -> Query:
    return Query(
        f"SELECT ts FROM {READING.name} WHERE device_id = ? AND ts >= ? AND ts < ? ORDER BY ts",
        (key, low, high),
    )
