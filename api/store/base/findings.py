"""The interface for findings, their settings and the evaluator's state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from api.catalog import HOUR_MS, Resolution
from api.store.base.audit import AuditEntry
from api.store.base.directory import Device, Scope
from api.store.base.insight import Due

FindingLevel = Literal["organization", "group", "device"]
LEVELS: Final[tuple[FindingLevel, ...]] = ("organization", "group", "device")  # last one wins

FindingState = Literal["open", "closed", "dismissed"]
FINDING_STATES: Final[tuple[FindingState, ...]] = ("open", "closed", "dismissed")

UNTOUCHED: Final = 2**53
"""The `Due.from_ms` of a device without new readings whose settings or facts changed."""
BEHIND_MS: Final = 2 * HOUR_MS
"""A device is behind while it has new readings this long before or after its evaluated hours: its
history is being imported, or it reports again."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A stored finding, identified by (key, kind, opened_ms). ``usual_per_day``: the device's usual
    gallons a day. ``rank``: of the severity, worst first. ``dismissed_by``: a Key ID, "command".
    ``judgement``: a name of `api.insight.finding_dismissal.JUDGEMENTS`."""

    key: int
    kind: str
    opened_ms: int
    id: str
    severity: str
    rank: int
    start_ms: int
    end_ms: int | None
    value: float
    unit: str
    usual: float | None
    gallons: float | None
    cost_per_day: float | None
    words: str
    offers_new_normal: bool
    usual_per_day: float
    dismissed_ms: int | None = None
    dismissed_by: str | None = None
    reason: str | None = None
    judgement: str | None = None

    @property
    def state(self) -> FindingState:
        if self.dismissed_ms is not None:
            return "dismissed"
        return "open" if self.end_ms is None else "closed"


class FindingEntry(NamedTuple):
    finding: FindingRow
    device_id: str
    serial_number: str


@dataclass(frozen=True, slots=True)
class FindingQuery:
    """Empty collections select all. ``from_ms`` and ``to_ms`` (inclusive): findings that were open
    at some time between them. Without ``device``, only findings of active devices."""

    device: Device | None = None
    group: str | None = None
    kinds: Collection[str] = ()
    severities: Collection[str] = ()
    states: Collection[str] = ()
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = 100
    offset: int = 0


class FindingSetting(NamedTuple):
    """One setting. ``target``: the group's name or the device's UUID, "" for the organization."""

    level: FindingLevel
    target: str
    kind: str
    name: str
    value: float


class EvaluationState(NamedTuple):
    """The evaluator's stored state of a device: see `api.store.tables.FINDING_STATE`. ``data`` is
    empty if there were no readings."""

    key: int
    version: int
    basis: str
    updated_ms: int
    next_ms: int
    as_of_ms: int | None
    made_ms: int
    due_ms: int | None
    data: bytes


class OpenFindings(NamedTuple):
    """The kinds that are open on a device; severity rank and cost a day of the worst one."""

    kinds: Sequence[str] = ()
    rank: int | None = None
    cost_per_day: float | None = None


class Evaluated(NamedTuple):
    """The result of one evaluation. ``state``: the new state, with the version that was read.
    ``findings``: to save. ``gone``: findings (kind, opened_ms) to delete. ``done``: what was
    due. ``open``: the open findings, for the device's status."""

    state: EvaluationState
    findings: Sequence[FindingRow]
    gone: Sequence[tuple[str, int]]
    done: Due | None
    open: OpenFindings


class HourOfReadings(NamedTuple):
    """A 1hour bucket: gallons, lowest and highest rate, mean quality and signal, lowest
    temperature, and the numbers of raw, 1min, 5min and 10min rows."""

    start_ms: int
    gallons: float | None
    min_rate: float | None
    max_rate: float | None
    quality: float | None
    signal: float | None
    temperature: float | None
    raw: int
    ones: int
    fives: int
    tens: int


class Findings(Protocol):
    """The service's reads take a scope; the evaluator's don't."""

    def findings(
        self, scope: Scope, query: FindingQuery, *, matches: int = 0
    ) -> list[FindingEntry]:
        """Returns findings, worst first: severity, cost a day, usual volume of the device, age.
        ``matches`` is the number of matches if known; it decides between two query plans."""
        ...

    def count_findings(self, scope: Scope, query: FindingQuery) -> int: ...

    def finding(self, scope: Scope, finding_id: str) -> FindingEntry | None: ...

    def worst_open(self, devices: Sequence[Device]) -> dict[int, FindingEntry]:
        """Returns, by device key, the worst open finding of each device that has one."""
        ...

    def judge(
        self,
        scope: Scope,
        entry: FindingEntry,
        settings: Mapping[str, float | None],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Stores the dismissal of a finding (or its removal), and the device's settings for that
        kind (None: inherited). The device becomes due."""
        ...

    def finding_settings(self, organization_id: str) -> list[FindingSetting]: ...

    def save_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Saves settings. The devices concerned become due."""
        ...

    def drop_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Deletes settings by level, target, kind and name, whatever their value."""
        ...

    def holidays(self, organization_id: str) -> list[str]:
        """Returns local dates such as 2026-12-25, ascending."""
        ...

    def set_holidays(
        self, organization_id: str, days: Sequence[str], audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Replaces all holidays."""
        ...

    # --- For the evaluator ---

    def due_findings(
        self,
        limit: int,
        *,
        made_before_ms: int | None = None,
        behind_before_ms: int = 0,
        organization_id: str | None = None,
        key: int | None = None,
    ) -> list[Due]:
        """Returns the devices to evaluate, longest waiting first. With ``made_before_ms``, new
        readings of the current hour alone don't make a device due that was evaluated after that
        time; nor do those of later hours one that was evaluated after ``behind_before_ms``."""
        ...

    def due_by_clock(self, now_ms: int, limit: int) -> list[int]:
        """Returns the keys of devices that may be silent by now, or whose last evaluation is later
        than ``now_ms``."""
        ...

    def changed_since_evaluated(self, limit: int) -> list[int]:
        """Returns the keys of devices whose facts changed since their evaluation."""
        ...

    def states_of(self, keys: Sequence[int]) -> dict[int, EvaluationState]: ...

    def findings_of(self, key: int, since_ms: int) -> list[FindingRow]:
        """Returns a device's findings that were open at ``since_ms`` or opened later, and all
        dismissed ones."""
        ...

    def groups_by_device(self, keys: Sequence[int]) -> dict[int, list[str]]: ...

    def hours_of_readings(
        self, key: int, from_ms: int, to_ms: int | None = None
    ) -> list[HourOfReadings]:
        """Returns the hours with from_ms ≤ start < to_ms, ascending."""
        ...

    def hour_volumes(
        self, key: int, counted: Resolution, from_ms: int, to_ms: int
    ) -> list[tuple[int, float | None, int]]:
        """Returns (start, gallons, rows of ``counted``) of the hours that start in [from_ms,
        to_ms), ascending. Profiles are computed from them."""
        ...

    def minute_rates(self, key: int, from_ms: int, to_ms: int) -> list[tuple[int, float | None]]:
        """Returns (start of a 1min bucket, mean rate), ascending, for from_ms ≤ start < to_ms."""
        ...

    def claimed(self, keys: Sequence[int]) -> AbstractContextManager[list[int]]:
        """Locks the devices that no other evaluator holds, inside the block, and returns them."""
        ...

    def save_evaluations(self, each: Sequence[Evaluated]) -> list[int]:
        """Saves evaluations in one transaction; returns the keys of those saved. An evaluation is
        discarded, and its device stays due, if another evaluator has saved the device's state
        since."""
        ...
