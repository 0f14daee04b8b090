"""How often a rule would have fired in the last 90 days, and on which devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Final, NamedTuple

from api.catalog import COARSEST_STORED, DAY_MS, HOUR_MS
from api.insight.alerts.conditions import of_finding, of_values, resolution_for
from api.insight.alerts.model import Condition
from api.insight.alerts.rules import METRIC_BY_NAME, Rule
from api.metering.status import State
from api.store.base import Device, DeviceQuery, FindingQuery, Scope, Store

DAYS: Final = 90
MOST_FINDINGS: Final = 20_000
WITHIN_S: Final = 4.0  # devices counted for rules on values, which are read device by device
STANDS_FOR: Final = {
    State.SILENT.value: ("silent",),
    State.DEGRADED.value: ("missing-data", "low-quality"),
    State.NO_DATA.value: (),
}
BUDGETS_NOTE: Final = "Month ends have no history, so that this can't be counted."
STATES_NOTE: Final = (
    "States have no history: findings of silence, missing data and low quality stand for them."
)


class Fired(NamedTuple):
    """``end_ms`` None: still open."""

    device: Device
    subject: str
    fired_ms: int
    end_ms: int | None


class Preview(NamedTuple):
    """``covered``: devices that the rule applies to. ``note``: what the count leaves out."""

    from_ms: int
    to_ms: int
    covered: int
    fired: Sequence[Fired]
    note: str = ""


def preview(store: Store, scope: Scope, rule: Rule, now_ms: int) -> Preview:
    """Counts within the scope. Devices that one message would combine count one by one."""
    from_ms = now_ms - DAYS * DAY_MS
    devices = store.devices(scope, DeviceQuery())
    groups = store.groups_by_device([each.key for each in devices]) if rule.groups else {}
    covered = [each for each in devices if rule.covers(each.id, groups.get(each.key, ()))]
    if rule.source == "budget":
        return Preview(from_ms, now_ms, len(covered), (), BUDGETS_NOTE)
    if rule.source == "value":
        fired, note = _of_values(store, rule, covered, from_ms, now_ms)
    else:
        fired = _of_findings(store, scope, rule, covered, from_ms, now_ms)
        note = STATES_NOTE if rule.source == "state" else ""
    ordered = sorted(fired, key=lambda each: (each.fired_ms, each.device.id))
    return Preview(from_ms, now_ms, len(covered), ordered, note)


def _held(
    device: Device, conditions: Iterable[Condition], rule: Rule, from_ms: int, now_ms: int
) -> list[Fired]:
    fired: list[Fired] = []
    for each in conditions:
        fired_ms = each.opened_ms + rule.hold_ms
        last_ms = now_ms if each.end_ms is None else each.end_ms
        if from_ms <= fired_ms <= last_ms:
            fired.append(Fired(device, each.subject, fired_ms, each.end_ms))
    return fired


def _of_findings(
    store: Store, scope: Scope, rule: Rule, covered: Sequence[Device], from_ms: int, now_ms: int
) -> list[Fired]:
    by_key = {each.key: each for each in covered}
    kinds = rule.kinds
    if rule.source == "state":
        kinds = tuple(kind for state in rule.states for kind in STANDS_FOR[state])
        if not kinds:
            return []
    query = FindingQuery(
        kinds=kinds, states=("open", "closed"), from_ms=from_ms, to_ms=now_ms, limit=MOST_FINDINGS
    )
    fired: list[Fired] = []
    for entry in store.findings(scope, query):
        row, device = entry.finding, by_key.get(entry.finding.key)
        wanted = rule.source == "state" or rule.wants(row.kind, row.rank, row.cost_per_day)
        if device is not None and wanted:
            fired += _held(device, [of_finding(row)], rule, from_ms, now_ms)
    return fired


def _of_values(
    store: Store, rule: Rule, covered: Sequence[Device], from_ms: int, now_ms: int
) -> tuple[list[Fired], str]:
    ends, fired = monotonic() + WITHIN_S, list[Fired]()
    for number, device in enumerate(covered):
        if monotonic() > ends:
            return (
                fired,
                f"Counted on {number:,} of {len(covered):,} devices: the others take long.",
            )
        values = _values(store, rule, device, from_ms, now_ms)
        conditions = of_values(rule, values, resolution_for(rule.duration_ms).fixed_ms).conditions
        fired += _held(device, conditions, rule, from_ms, now_ms)
    return fired, ""


def _values(
    store: Store, rule: Rule, device: Device, from_ms: int, now_ms: int
) -> list[tuple[int, float | None]]:
    """Reads fine values only for hours in which some value is beyond the limit; the hourly value
    elsewhere."""
    metric, resolution = METRIC_BY_NAME[rule.metric], resolution_for(rule.duration_ms)
    if resolution is COARSEST_STORED:
        return store.metric_values(device.key, metric, resolution, from_ms, now_ms)
    above = rule.comparison == "above"
    hours = store.metric_values(
        device.key, metric, COARSEST_STORED, from_ms, now_ms, "max" if above else "min"
    )
    values: list[tuple[int, float | None]] = []
    for start_ms, worst in hours:
        if worst is None:
            continue
        if worst > rule.limit if above else worst < rule.limit:
            values += store.metric_values(
                device.key, metric, resolution, start_ms, start_ms + HOUR_MS
            )
        else:
            values.append((start_ms, worst))
    return values
