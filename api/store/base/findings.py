"""What was found of each device, and by which settings, as every store promises it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from api.store.base.audit import AuditEntry
from api.store.base.directory import Device, Scope
from api.store.base.insight import Due

FindingLevel = Literal["organization", "group", "device"]
LEVELS: Final[tuple[FindingLevel, ...]] = ("organization", "group", "device")  # the last one wins

FindingState = Literal["open", "closed", "dismissed"]
FINDING_STATES: Final[tuple[FindingState, ...]] = ("open", "closed", "dismissed")

UNTOUCHED: Final = 2**53
"""In place of the instant from which readings came: none did, but settings or facts changed."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as it is kept; its name is (key, kind, opened_ms). ``usual_per_day``: gallons of
    the device. ``rank`` is the severity's, worst first. ``dismissed_by``: a Key ID, "command".
    ``judgement``: a name of `api.insight.dismissal.JUDGEMENTS`."""

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
    """Empty collections ask for all. ``from_ms`` and ``to_ms`` (inclusive): findings that were open
    at some instant between them. Without ``device`` only those of active devices."""

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
    """``target``: the group's name or the device's UUID, "" for the organization."""

    level: FindingLevel
    target: str
    kind: str
    name: str
    value: float


class KeptState(NamedTuple):
    """What an evaluation left: see `api.store.tables.FINDING_STATE`. ``data`` is empty where there
    were no readings."""

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
    """What one evaluation changes: ``state`` as it becomes (its version is the one it was read
    with), findings to keep and names (kind, opened_ms) to take back; ``done`` is what was due,
    ``open`` what its status shows of the open ones."""

    state: KeptState
    kept: Sequence[FindingRow]
    gone: Sequence[tuple[str, int]]
    done: Due | None
    open: OpenFindings


class HourOfReadings(NamedTuple):
    """A 1hour bucket: gallons, least and greatest rate, mean quality and signal, least
    temperature, then how many raw, 1min, 5min and 10min rows it holds."""

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
    """Reads of the service pass a scope; those of the evaluator don't."""

    def findings(
        self, scope: Scope, query: FindingQuery, *, matches: int = 0
    ) -> list[FindingEntry]:
        """Worst first: severity, cost a day, usual volume of the device, age. ``matches``: how
        many there are, where that is known; of many a page is found faster."""
        ...

    def count_findings(self, scope: Scope, query: FindingQuery) -> int: ...

    def finding(self, scope: Scope, finding_id: str) -> FindingEntry | None: ...

    def worst_open(self, devices: Sequence[Device]) -> dict[int, FindingEntry]:
        """By device key, the worst open finding of each device that has one."""
        ...

    def judge(
        self,
        scope: Scope,
        entry: FindingEntry,
        settings: Mapping[str, float | None],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Keep who dismissed it, when, why and as what, or that nobody did, with settings of the
        device for that kind (None: as inherited); the device is due."""
        ...

    def finding_settings(self, organization_id: str) -> list[FindingSetting]: ...

    def keep_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Those devices that they are for are due."""
        ...

    def drop_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """By level, target, kind and name; whatever their value."""
        ...

    def holidays(self, organization_id: str) -> list[str]:
        """Local dates, 2026-12-25, ascending."""
        ...

    def set_holidays(
        self, organization_id: str, days: Sequence[str], audit: Sequence[AuditEntry] = ()
    ) -> None:
        """These and no others."""
        ...

    # --- For the evaluator ---

    def due_findings(
        self,
        limit: int,
        *,
        made_before_ms: int | None = None,
        organization_id: str | None = None,
        key: int | None = None,
    ) -> list[Due]:
        """Longest unseen first. With ``made_before_ms`` a device that was evaluated since isn't
        due by readings of the hour under way alone."""
        ...

    def due_by_clock(self, now_ms: int, limit: int) -> list[int]:
        """Keys of devices that may be silent by now, or were evaluated by a clock ahead."""
        ...

    def changed_since_evaluated(self, limit: int) -> list[int]:
        """Keys of devices whose facts were changed."""
        ...

    def states_of(self, keys: Sequence[int]) -> dict[int, KeptState]: ...

    def findings_of(self, key: int, since_ms: int) -> list[FindingRow]:
        """Those of one device that were open at that instant or opened since, and all that were
        dismissed."""
        ...

    def groups_by_device(self, keys: Sequence[int]) -> dict[int, list[str]]: ...

    def hours_of_readings(
        self, key: int, from_ms: int, to_ms: int | None = None
    ) -> list[HourOfReadings]:
        """from_ms ≤ start < to_ms, ascending."""
        ...

    def minute_rates(self, key: int, from_ms: int, to_ms: int) -> list[tuple[int, float | None]]:
        """(start of a 1min bucket, mean rate), ascending, from_ms ≤ start < to_ms."""
        ...

    def claimed(self, keys: Sequence[int]) -> AbstractContextManager[list[int]]:
        """Those of these devices that no other evaluator is at, to oneself inside the block."""
        ...

    def keep_evaluated(self, each: Sequence[Evaluated]) -> list[int]:
        """In one transaction. The keys of the devices that nobody else evaluated since their state
        was read; of the others nothing is kept, and what was due stays so."""
        ...
