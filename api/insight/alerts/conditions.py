"""Where a rule's condition holds: in findings, in a status, or in the values of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from api.catalog import COARSEST_STORED, HOUR_MS, ONE_MINUTE, STORED, Resolution
from api.insight.alerts.model import Condition
from api.insight.alerts.rules import METRIC_BY_NAME, Rule, length
from api.insight.budgets import LIKELY, BudgetState
from api.insight.findings import SEVERITIES
from api.metering.month_end import MonthEnd
from api.metering.status import State
from api.metering.units import plain
from api.store.base import FindingRow, Status

STATE: Final = "state"
STATE_WORDS: Final = "The device is {}."
BY_CLOCK: Final = frozenset(("silent", STATE))  # continue, or begin, although nothing is received
WARNING: Final = "warning"
_UNKNOWN: Final = (State.SILENT.value, State.NO_DATA.value, State.INACTIVE.value)

Values = Sequence[tuple[int, float | None]]
"""(start of a bucket, mean), ascending."""


class ConditionResult(NamedTuple):
    """``unclear``: there is too little data to begin or end a condition, so everything stays as it
    is. ``unknown``: the same for these subjects only."""

    conditions: Sequence[Condition]
    unclear: bool = False
    unknown: frozenset[str] = frozenset()


def of_findings(rule: Rule, findings: Iterable[FindingRow]) -> ConditionResult:
    wanted = (
        row
        for row in findings
        if row.dismissed_ms is None and rule.wants(row.kind, row.rank, row.cost_per_day)
    )
    return ConditionResult([of_finding(row) for row in wanted])


def of_finding(row: FindingRow) -> Condition:
    return Condition(
        subject=row.kind,
        ref=row.id,
        start_ms=row.start_ms,
        opened_ms=row.opened_ms,
        end_ms=row.end_ms,
        severity=row.severity,
        rank=row.rank,
        words=row.words,
        value=row.value,
        unit=row.unit,
        cost_per_day=row.cost_per_day,
        by_clock=row.kind in BY_CLOCK,
    )


def of_status(rule: Rule, status: Status | None) -> ConditionResult:
    """A device without data keeps its state, unless the rule asks for that very state."""
    if status is None:
        return ConditionResult((), unclear=True)
    if status.state not in rule.states:
        return ConditionResult((), unclear=status.state in _UNKNOWN)
    silent = status.state == State.SILENT and status.seen_ms is not None
    start_ms = status.seen_ms if silent and status.seen_ms is not None else status.as_of_ms
    condition = Condition(
        subject=STATE,
        ref=STATE,
        start_ms=start_ms,
        opened_ms=status.as_of_ms,
        end_ms=None,
        severity=WARNING,
        rank=SEVERITIES.index(WARNING),
        words=STATE_WORDS.format(status.state),
        by_clock=True,
    )
    return ConditionResult([condition])


# --- Budgets -------------------------------------------------------------------------------------


def of_budgets(states: Iterable[BudgetState]) -> ConditionResult:
    """Returns the budgets that their month will likely exceed. Where a month end is unknown,
    everything stays."""
    conditions: list[Condition] = []
    unknown: set[str] = set()
    for each in states:
        chance, budget = each.chance, each.budget
        group = f" of {budget.target}" if budget.level == "group" else ""
        subject = f"{budget.measure} budget{group}"
        if each.end is None:
            unknown.add(subject)
            continue
        if chance is None or chance < LIKELY:
            continue
        conditions.append(
            Condition(
                subject=subject,
                ref=f"{budget.row.id} {each.month}",
                start_ms=each.as_of_ms,
                opened_ms=each.as_of_ms,
                end_ms=None,
                severity=WARNING,
                rank=SEVERITIES.index(WARNING),
                words=_budget_words(each, each.end, chance),
                value=each.end.expected,
                unit=each.currency if budget.measure == "cost" else "gal",
                by_clock=True,
            )
        )
    return ConditionResult(conditions, unknown=frozenset(unknown))


def _budget_words(state: BudgetState, end: MonthEnd, chance: float) -> str:
    amount = state.amount_words(float(state.budget.amount))
    whose = f"{state.label}: " if state.budget.level == "group" else ""
    if state.state == "exceeded":
        return f"{whose}{state.amount_words(end.so_far)} exceed the month's budget of {amount}."
    expected = state.amount_words(end.expected)
    return (
        f"{whose}the month will likely end at {expected}, above its budget of {amount}"
        f" (chance {chance:.0%})."
    )


# --- Values --------------------------------------------------------------------------------------


def resolution_for(duration_ms: int) -> Resolution:
    """Returns the resolution of the values that a limit is compared with: a duration spans several
    of them."""
    if duration_ms >= 12 * HOUR_MS:
        return COARSEST_STORED
    return STORED[1] if duration_ms >= HOUR_MS else ONE_MINUTE


def of_values(rule: Rule, values: Values, bucket_ms: int) -> ConditionResult:
    """Finds runs of values beyond the limit that last at least the duration. A gap neither begins
    nor ends a run: the state before it continues."""
    runs: list[_Run] = []
    run: _Run | None = None
    for start_ms, value in values:
        if value is None:
            continue
        if not _beyond(rule, value):
            run = None if run is None else _ended(runs, run, start_ms)
        elif run is None:
            run = _Run(start_ms, start_ms + bucket_ms, value)
        else:
            run = _Run(run.start_ms, start_ms + bucket_ms, _worse(rule, run.peak, value))
    if run is not None:
        runs.append(run)
    held = (each for each in runs if each.last_ms - each.start_ms >= rule.duration_ms)
    return ConditionResult([_of_run(rule, each, bucket_ms) for each in held])


class _Run(NamedTuple):
    start_ms: int
    last_ms: int
    peak: float
    end_ms: int | None = None


def _ended(runs: list[_Run], run: _Run, end_ms: int) -> None:
    runs.append(run._replace(end_ms=end_ms))


def _beyond(rule: Rule, value: float) -> bool:
    return value > rule.limit if rule.comparison == "above" else value < rule.limit


def _worse(rule: Rule, one: float, other: float) -> float:
    return max(one, other) if rule.comparison == "above" else min(one, other)


def _of_run(rule: Rule, run: _Run, bucket_ms: int) -> Condition:
    metric = METRIC_BY_NAME[rule.metric]
    words = f"{metric.label} {rule.comparison} {plain(rule.limit)} {metric.unit}"
    lasted = f" for {length(rule.duration_ms)}" if rule.duration_ms else ""
    return Condition(
        subject=metric.name,
        ref=f"{metric.name} {run.start_ms}",
        start_ms=run.start_ms,
        opened_ms=run.start_ms + max(bucket_ms, rule.duration_ms),
        end_ms=run.end_ms,
        severity=WARNING,
        rank=SEVERITIES.index(WARNING),
        words=f"{words}{lasted}: {run.peak:,.3g} {metric.unit}.",
        value=run.peak,
        unit=metric.unit,
    )
