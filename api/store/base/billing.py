"""The interface of every store for billing: budgets, tariffs, scheduled reports and month ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from api.store.base.alerts import MessageRow
from api.store.base.audit import AuditEntry
from api.store.base.directory import Scope
from api.store.base.insight import StatusQuery

BillingKind = Literal["budget", "tariff", "report"]


class BillingRow(NamedTuple):
    """``definition`` is JSON. ``due_ms`` is when a report is sent next; None: never."""

    id: str
    organization_id: str
    kind: BillingKind
    name: str
    definition: str
    due_ms: int | None
    created_by: str
    created_ms: int
    updated_ms: int


class MonthEndRow(NamedTuple):
    """The forecast of a device's local ``month`` (2026-11) as of ``as_of_ms``: gallons, and costs
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


class Sums(NamedTuple):
    """Sums over ``devices`` month ends, ``with_interval`` of which have an interval: gallons or
    money so far and expected, and for each bound the sum and the sum of squares of its distance
    from the expected value."""

    devices: int
    with_interval: int
    so_far: float
    expected: float
    offs: tuple[float, ...]
    squares: tuple[float, ...]


class MonthEndSums(NamedTuple):
    """Sums over the devices whose costs are in ``currency``, or without a price for "".
    ``first_key`` is the lowest of their keys."""

    currency: str
    month: str
    as_of_ms: int
    first_key: int
    gallons: Sums
    cost: Sums


class Billing(Protocol):
    def billing_rows(
        self, kind: BillingKind | None = None, organization_id: str | None = None
    ) -> list[BillingRow]:
        """Returns rows by name; of every organization if none is given."""
        ...

    def keep_billing_row(self, row: BillingRow, audit: Sequence[AuditEntry]) -> None:
        """Adds a row, or replaces the one with its id. Saving a tariff recomputes status, findings
        and month ends of the organization's devices; saving a budget recomputes its alerts."""
        ...

    def drop_billing_row(self, row: BillingRow, audit: Sequence[AuditEntry]) -> bool:
        """Deletes a row; False where there is none. Dependent values are recomputed, as when it is
        saved."""
        ...

    def queue_reports(
        self, row: BillingRow, due_ms: int | None, messages: Sequence[MessageRow]
    ) -> bool:
        """Sets when the report is due next and queues messages, in one transaction. A message whose
        id exists already is left unchanged. Returns False, and does nothing, where the row was
        changed since it was read."""
        ...

    def month_ends(self, keys: Sequence[int]) -> dict[int, MonthEndRow]:
        """Returns month ends by device key."""
        ...

    def month_end_sums(self, scope: Scope, query: StatusQuery) -> list[MonthEndSums]:
        """Returns sums by currency of the matching active devices, without those whose water one of
        their ancestors among them has measured."""
        ...

    def due_month_ends(self, now_ms: int, limit: int) -> list[int]:
        """Returns the keys of the active devices whose month end is due."""
        ...

    def save_month_ends(self, rows: Sequence[MonthEndRow]) -> None:
        """Saves month ends. Where the organization has a budget, the device's alerts become due."""
        ...
