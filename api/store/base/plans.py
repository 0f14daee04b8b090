"""Budgets, tariffs, scheduled reports and month ends, as every store promises them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

from api.metering.month_end import Sums
from api.store.base.alerts import MessageRow
from api.store.base.audit import AuditEntry
from api.store.base.directory import Scope
from api.store.base.insight import StatusQuery

PlanKind = Literal["budget", "tariff", "report"]
PLAN_KINDS: Final[tuple[PlanKind, ...]] = ("budget", "tariff", "report")


class PlanRow(NamedTuple):
    """``definition`` is JSON. ``due_ms``: when a report is next to be sent; None: never."""

    id: str
    organization_id: str
    kind: PlanKind
    name: str
    definition: str
    due_ms: int | None
    created_by: str
    created_ms: int
    updated_ms: int


class MonthEndRow(NamedTuple):
    """Where a device's local ``month`` (2026-11) will end, as of ``as_of_ms``: gallons, and costs
    by ``tariff`` ("": a plain price) in ``currency``. None: unknown."""

    key: int
    as_of_ms: int
    due_ms: int
    month: str
    so_far: float | None
    expected: float | None
    low80: float | None
    high80: float | None
    low95: float | None
    high95: float | None
    cost_so_far: float | None
    cost_expected: float | None
    cost_low80: float | None
    cost_high80: float | None
    cost_low95: float | None
    cost_high95: float | None
    currency: str
    tariff: str


class MonthEndSums(NamedTuple):
    """Of the devices whose costs are in ``currency``, or "" for those without a price.
    ``first_key``: the least of their keys."""

    currency: str
    month: str
    as_of_ms: int
    first_key: int
    gallons: Sums
    cost: Sums


class Plans(Protocol):
    def plans(
        self, kind: PlanKind | None = None, organization_id: str | None = None
    ) -> list[PlanRow]:
        """By name; of every organization without one."""
        ...

    def keep_plan(self, plan: PlanRow, audit: Sequence[AuditEntry]) -> None:
        """Add it, or put it in the place of the one with its id. A tariff has the status, the
        findings and the month ends of the organization's devices made anew, a budget its alerts."""
        ...

    def drop_plan(self, plan: PlanRow, audit: Sequence[AuditEntry]) -> bool:
        """Whether it was there. What depends on it is made anew, as when it is kept."""
        ...

    def queue_reports(
        self, plan: PlanRow, due_ms: int | None, messages: Sequence[MessageRow]
    ) -> bool:
        """Set when the report is next due and queue messages, in one transaction; a message whose
        id is there already stays as it is. False, and nothing, where the plan was changed since
        it was read."""
        ...

    def month_ends(self, keys: Sequence[int]) -> dict[int, MonthEndRow]:
        """By device key."""
        ...

    def month_end_sums(self, scope: Scope, query: StatusQuery) -> list[MonthEndSums]:
        """By currency, of the active devices that the query leaves, without those whose water one
        of their ancestors among these has measured."""
        ...

    def due_month_ends(self, now_ms: int, limit: int) -> list[int]:
        """Keys of the active devices whose month end is due."""
        ...

    def save_month_ends(self, rows: Sequence[MonthEndRow]) -> None:
        """Where the organization has a budget the device's alerts are due."""
        ...
