"""Statements for findings, their settings and the evaluator's state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import (
    COARSEST_STORED,
    FLOW_AMOUNT,
    FLOW_RATE,
    ONBOARD_TEMPERATURE,
    ONE_MINUTE,
    QUALITY,
    SIGNAL_STRENGTH,
    Aggregate,
    Resolution,
)
from api.store.base import Scope
from api.store.base.findings import (
    BEHIND_MS,
    EvaluationState,
    FindingQuery,
    FindingSetting,
    OpenFindings,
)
from api.store.query import Dialect, Query, both, marks
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.directory import visible
from api.store.sql.series import value
from api.store.tables import (
    COUNTED,
    DEVICE,
    DEVICE_GROUP,
    DEVICE_STATUS,
    FINDING,
    FINDING_STATE,
    HOLIDAY,
    INSIGHT_DUE,
    INSIGHT_SETTING,
    counter,
)

COLUMNS: Final = (
    "device_id", "kind", "opened_ms", "id", "severity", "rank", "start_ms", "end_ms", "value",
    "unit", "usual", "gallons", "cost_per_day", "words", "offers_new_normal", "usual_per_day",
    "dismissed_ms", "dismissed_by", "reason", "judgement",
)  # fmt: skip
_JUDGED: Final = COLUMNS[-4:]
_STATE: Final = ", ".join(f"s.{name}" for name in EvaluationState._fields).replace(
    "s.key", "s.device_id"
)
_IN_ORDER: Final = f"{FINDING.name} AS f CROSS JOIN {DEVICE.name} AS d"
_BY_DEVICE: Final = f"{DEVICE.name} AS d CROSS JOIN {FINDING.name} AS f"
_MANY: Final = 2_000  # number of matches from which reading in order is faster than sorting
_ORDER: Final = "f.rank, COALESCE(f.cost_per_day, 0) DESC, f.usual_per_day DESC, f.start_ms, f.id"


def _columns(prefix: str = "f.") -> str:
    return ", ".join(prefix + name for name in COLUMNS)


# --- Read through a scope ------------------------------------------------------------------------

_STATES: Final = {
    "open": "f.end_ms IS NULL AND f.dismissed_ms IS NULL",
    "closed": "f.end_ms IS NOT NULL AND f.dismissed_ms IS NULL",
    "dismissed": "f.dismissed_ms IS NOT NULL",
}


def _one_of(column: str, values: Sequence[str]) -> Query:
    return Query(f"{column} IN ({marks(len(values))})", tuple(values))


def _matching(dialect: Dialect, scope: Scope, query: FindingQuery) -> Query:
    parts = [Query("d.key = f.device_id"), visible(dialect, scope)]
    if query.device is None:
        parts.append(Query("d.active = 1"))
    else:
        parts.append(Query("f.device_id = ?", (query.device.key,)))
    if query.group is not None:
        grant = scope.grant
        if not grant.everything and query.group not in grant.groups:
            return Query("1 = 0")  # a group outside the grant must not reveal its members
        members = f"SELECT g.device_key FROM {DEVICE_GROUP.name} AS g WHERE g.name = ?"
        parts.append(Query(f"d.key IN ({members})", (query.group,)))
    if query.kinds:
        parts.append(_one_of("f.kind", sorted(query.kinds)))
    if query.severities:
        parts.append(_one_of("f.severity", sorted(query.severities)))
    if query.states:
        some = " OR ".join(f"({_STATES[state]})" for state in sorted(query.states))
        parts.append(Query(f"({some})"))
    if query.from_ms is not None:
        parts.append(Query("(f.end_ms IS NULL OR f.end_ms >= ?)", (query.from_ms,)))
    if query.to_ms is not None:
        parts.append(Query("f.start_ms <= ?", (query.to_ms,)))
    return both(*parts)


def page(dialect: Dialect, scope: Scope, query: FindingQuery, matches: int) -> Query:
    """Returns (finding columns, device's UUID, serial number), worst first."""
    matching = _matching(dialect, scope, query)
    tables = _IN_ORDER if matches > _MANY else _BY_DEVICE
    return Query(
        f"SELECT {_columns()}, d.id, d.serial_number FROM {tables} WHERE {matching.sql}"
        f" ORDER BY {_ORDER} LIMIT ? OFFSET ?",
        (*matching.params, query.limit, query.offset),
    )


def count(dialect: Dialect, scope: Scope, query: FindingQuery) -> Query:
    matching = _matching(dialect, scope, query)
    return Query(f"SELECT COUNT(*) FROM {_BY_DEVICE} WHERE {matching.sql}", matching.params)


def find(dialect: Dialect, scope: Scope, finding_id: str) -> Query:
    mine = visible(dialect, scope)
    return Query(
        f"SELECT {_columns()}, d.id, d.serial_number FROM {_IN_ORDER}"
        f" WHERE f.id = ? AND d.key = f.device_id AND {mine.sql}",
        (finding_id, *mine.params),
    )


def judge(key: int, kind: str, opened_ms: int, judged: Sequence[object]) -> Query:
    """``judged``: when, by whom, why, and the kind of judgement; or four nulls."""
    named = ", ".join(f"{name} = ?" for name in _JUDGED)
    return Query(
        f"UPDATE {FINDING.name} SET {named} WHERE device_id = ? AND kind = ? AND opened_ms = ?",
        (*judged, key, kind, opened_ms),
    )


# --- Settings and holidays -----------------------------------------------------------------------


def settings(organization_id: str) -> Query:
    return Query(
        f"SELECT level, target, kind, name, value FROM {INSIGHT_SETTING.name}"
        " WHERE organization_id = ? ORDER BY level, target, kind, name",
        (organization_id,),
    )


def save_setting(organization_id: str, setting: FindingSetting) -> Query:
    return Query(
        f"INSERT INTO {INSIGHT_SETTING.name} (organization_id, level, target, kind, name, value)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (organization_id, level, target, kind, name)"
        " DO UPDATE SET value = excluded.value",
        (organization_id, *setting),
    )


def drop_setting(organization_id: str, setting: FindingSetting) -> Query:
    return Query(
        f"DELETE FROM {INSIGHT_SETTING.name} WHERE organization_id = ? AND level = ?"
        " AND target = ? AND kind = ? AND name = ?",
        (organization_id, *setting[:-1]),
    )


def holidays(organization_id: str) -> Query:
    return Query(
        f"SELECT day FROM {HOLIDAY.name} WHERE organization_id = ? ORDER BY day", (organization_id,)
    )


def forget_holidays(organization_id: str) -> Query:
    return Query(f"DELETE FROM {HOLIDAY.name} WHERE organization_id = ?", (organization_id,))


def devices_of(organization_id: str, level: str, target: str) -> Query:
    """Returns (key) of the devices that a setting applies to."""
    narrowed = {
        "organization": "",
        "group": f" AND d.key IN (SELECT g.device_key FROM {DEVICE_GROUP.name} AS g"
        " WHERE g.name = ?)",
        "device": " AND d.id = ?",
    }[level]
    params = (organization_id,) if level == "organization" else (organization_id, target)
    return Query(
        f"SELECT d.key FROM {DEVICE.name} AS d WHERE d.organization_id = ?{narrowed} ORDER BY 1",
        params,
    )


# --- What is due ---------------------------------------------------------------------------------


def mark(dialect: Dialect, marks_: Sequence[tuple[int, int]]) -> Query:
    """Marks (device, instant) as due for the evaluator only; an earlier instant stays."""
    stored = f"{INSIGHT_DUE.name}.findings_ms"
    return Query(
        f"INSERT INTO {INSIGHT_DUE.name} (device_id, findings_ms, seq)"
        f" SELECT r.device_id, r.ts, 0 FROM {dialect.relation(('device_id', 'ts'))} AS r"
        " WHERE true ON CONFLICT (device_id) DO UPDATE SET findings_ms = CASE"
        f" WHEN {stored} < excluded.findings_ms THEN {stored} ELSE excluded.findings_ms END,"
        f" seq = {INSIGHT_DUE.name}.seq + 1",
        dialect.bind(marks_),
    )


def due(
    limit: int,
    made_before_ms: int | None,
    behind_before_ms: int,
    organization_id: str | None,
    key: int | None,
) -> Query:
    parts = [Query("u.findings_ms IS NOT NULL")]
    joined = ""
    if made_before_ms is not None:
        recent = (
            "s.device_id IS NULL OR s.made_ms <= ? OR u.findings_ms < s.next_ms"
            f" OR EXISTS (SELECT 1 FROM {FINDING.name} AS f WHERE f.device_id = u.device_id"
            " AND f.kind = 'silent' AND f.end_ms IS NULL)"  # it reports again: due at once
            f" OR (s.made_ms <= ? AND EXISTS (SELECT 1 FROM {DEVICE_STATUS.name} AS t"
            f" WHERE t.device_id = u.device_id AND t.seen_ms >= s.next_ms + {BEHIND_MS}))"
        )
        parts.append(Query(f"({recent})", (made_before_ms, behind_before_ms)))
    if key is not None:
        parts.append(Query("u.device_id = ?", (key,)))
    if organization_id is not None:
        joined = f" JOIN {DEVICE.name} AS d ON d.key = u.device_id"
        parts.append(Query("d.organization_id = ?", (organization_id,)))
    some = both(*parts)
    return Query(
        f"SELECT u.device_id, u.findings_ms, u.seq FROM {INSIGHT_DUE.name} AS u"
        f" LEFT JOIN {FINDING_STATE.name} AS s ON s.device_id = u.device_id{joined}"
        f" WHERE {some.sql} ORDER BY COALESCE(s.made_ms, 0), u.device_id LIMIT ?",
        (*some.params, limit),
    )


def done(key: int, seq: int) -> Query:
    return Query(
        f"UPDATE {INSIGHT_DUE.name} SET findings_ms = NULL WHERE device_id = ? AND seq = ?",
        (key, seq),
    )


def due_by_clock(now_ms: int, limit: int) -> Query:
    return Query(
        f"SELECT device_id FROM {FINDING_STATE.name} WHERE due_ms <= ? ORDER BY due_ms LIMIT ?",
        (now_ms, limit),
    )


def evaluated_in_future(now_ms: int, limit: int) -> Query:
    return Query(
        f"SELECT device_id FROM {FINDING_STATE.name} WHERE as_of_ms > ? LIMIT ?", (now_ms, limit)
    )


def changed(limit: int) -> Query:
    return Query(
        f"SELECT s.device_id FROM {FINDING_STATE.name} AS s JOIN {DEVICE.name} AS d"
        " ON d.key = s.device_id WHERE s.updated_ms <> d.updated_ms LIMIT ?",
        (limit,),
    )


# --- What an evaluation reads --------------------------------------------------------------------


def states(dialect: Dialect, keys: Sequence[int]) -> Query:
    return Query(
        f"SELECT {_STATE} FROM {dialect.relation(('device_id',))} AS r"
        f" JOIN {FINDING_STATE.name} AS s ON s.device_id = r.device_id",
        dialect.bind([(key,) for key in keys]),
    )


def of_device(key: int, since_ms: int) -> Query:
    return Query(
        f"SELECT {_columns()} FROM {FINDING.name} AS f WHERE f.device_id = ? AND"
        " (f.opened_ms >= ? OR f.end_ms IS NULL OR f.end_ms >= ? OR f.dismissed_ms IS NOT NULL)",
        (key, since_ms, since_ms),
    )


def groups(dialect: Dialect, keys: Sequence[int]) -> Query:
    return Query(
        f"SELECT g.device_key, g.name FROM {dialect.relation(('device_key',))} AS r"
        f" JOIN {DEVICE_GROUP.name} AS g ON g.device_key = r.device_key ORDER BY g.name",
        dialect.bind([(key,) for key in keys]),
    )


_OF_HOUR: Final = (
    Aggregate("total", FLOW_AMOUNT),
    Aggregate("min", FLOW_RATE),
    Aggregate("max", FLOW_RATE),
    Aggregate("avg", QUALITY),
    Aggregate("avg", SIGNAL_STRENGTH),
    Aggregate("min", ONBOARD_TEMPERATURE),
)


def hours(key: int, from_ms: int, to_ms: int, arithmetic: Arithmetic) -> Query:
    """Returns rows in the order of `api.store.base.findings.HourOfReadings`."""
    values = [value(COARSEST_STORED, each, arithmetic) for each in _OF_HOUR]
    counts = [counter(each) for each in COUNTED]
    return Query(
        f"SELECT ts, {', '.join([*values, *counts])} FROM {COARSEST_STORED.table}"
        " WHERE device_id = ? AND ts >= ? AND ts < ? ORDER BY ts",
        (key, from_ms, to_ms),
    )


def hour_volumes(
    key: int, counted: Resolution, from_ms: int, to_ms: int, arithmetic: Arithmetic
) -> Query:
    """Returns (start, gallons, rows of ``counted``)."""
    gallons = value(COARSEST_STORED, _OF_HOUR[0], arithmetic)
    return Query(
        f"SELECT ts, {gallons}, {counter(counted)} FROM {COARSEST_STORED.table}"
        " WHERE device_id = ? AND ts >= ? AND ts < ? ORDER BY ts",
        (key, from_ms, to_ms),
    )


def minute_rates(key: int, from_ms: int, to_ms: int, arithmetic: Arithmetic) -> Query:
    rate = value(ONE_MINUTE, Aggregate("avg", FLOW_RATE), arithmetic)
    return Query(
        f"SELECT ts, {rate} FROM {ONE_MINUTE.table}"
        " WHERE device_id = ? AND ts >= ? AND ts < ? ORDER BY ts",
        (key, from_ms, to_ms),
    )


# --- What an evaluation saves --------------------------------------------------------------------


def save_state(state: EvaluationState) -> Query:
    """Returns (device) if its state still has that version; otherwise no row, and nothing
    changes."""
    names = ["device_id", *EvaluationState._fields[1:]]
    values = (state.key, state.version + 1, *state[2:])
    rest = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    return Query(
        f"INSERT INTO {FINDING_STATE.name} ({', '.join(names)}) VALUES ({marks(len(names))})"
        f" ON CONFLICT (device_id) DO UPDATE SET {rest}"
        f" WHERE {FINDING_STATE.name}.version = ? RETURNING device_id",
        (*values, state.version),
    )


def keep(values: Sequence[object]) -> Query:
    """Saves a finding, in the order of COLUMNS. Its dismissal stays."""
    rest = [name for name in COLUMNS if name not in (*FINDING.key, *_JUDGED)]
    changed_ = ", ".join(f"{name} = excluded.{name}" for name in rest)
    return Query(
        f"INSERT INTO {FINDING.name} ({', '.join(COLUMNS)}) VALUES ({marks(len(COLUMNS))})"
        f" ON CONFLICT (device_id, kind, opened_ms) DO UPDATE SET {changed_}",
        tuple(values),
    )


def take_back(key: int, kind: str, opened_ms: int) -> Query:
    return Query(
        f"DELETE FROM {FINDING.name} WHERE device_id = ? AND kind = ? AND opened_ms = ?"
        " AND dismissed_ms IS NULL",
        (key, kind, opened_ms),
    )


def show_open(key: int, open_findings: OpenFindings) -> Query:
    kinds = ",".join(open_findings.kinds)
    return Query(
        f"UPDATE {DEVICE_STATUS.name} SET findings = ?, finding_rank = ?, finding_cost = ?"
        " WHERE device_id = ? AND (findings <> ? OR COALESCE(finding_rank, -1) <> ?"
        " OR COALESCE(finding_cost, -1) <> ?)",
        (
            *(kinds, open_findings.rank, open_findings.cost_per_day, key, kinds),
            -1 if open_findings.rank is None else open_findings.rank,
            -1.0 if open_findings.cost_per_day is None else open_findings.cost_per_day,
        ),
    )


def open_of(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns (finding columns, device's UUID, serial number) of the open findings of these
    devices, worst first."""
    return Query(
        f"SELECT {_columns()}, d.id, d.serial_number FROM {_BY_DEVICE}"
        f" WHERE d.key = f.device_id AND {_STATES['open']} AND f.device_id IN"
        f" (SELECT r.device_key FROM {dialect.relation(('device_key',))} AS r) ORDER BY {_ORDER}",
        dialect.bind([(key,) for key in keys]),
    )
