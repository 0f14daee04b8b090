"""Billing as typed values: costs by tariffs, tariffs, budgets and scheduled reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.catalog import INSIGHT_PREFIX
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    needed_instant,
    needed_number,
    number,
    path_of,
    rows_of,
    text,
    whole,
)
from api.client.request_protocol import Requests
from api.errors import NotFound, NotOffered
from api.timez import stamp

_TARIFFS: Final = f"{INSIGHT_PREFIX}/tariffs"
_BUDGETS: Final = f"{INSIGHT_PREFIX}/budgets"
_REPORTS: Final = f"{INSIGHT_PREFIX}/reports"


@dataclass(frozen=True, slots=True)
class DeviceCosts:
    """``days``: start in ms → cost; days without a cost have no entry."""

    device_id: str
    tariff: str
    currency: str
    total: float | None
    days: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """``device_id`` None: a group's. ``measure``: volume (gallons) or cost. ``chance`` of exceeding
    it, 0 to 1; None: unknown. ``state``: within, possible, likely, exceeded or unknown."""

    id: str
    device_id: str | None
    group: str | None
    label: str
    devices: int
    measure: str
    amount: float
    currency: str
    so_far: float | None
    expected: float | None
    chance: float | None
    state: str


@dataclass(frozen=True, slots=True)
class TariffRecord:
    """``versions``: as `api.metering.tariff.tariff_object` has them."""

    id: str
    name: str
    currency: str
    versions: tuple[Mapping[str, Any], ...]
    everyone: bool
    groups: tuple[str, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentReport:
    """``state``: queued, sent, dead or dropped."""

    receiver: str
    state: str
    created_ms: int
    response: str


@dataclass(frozen=True, slots=True)
class ReportSchedule:
    """``every``: week or month. ``next_ms`` None: paused."""

    id: str
    name: str
    every: str
    timezone: str
    receivers: tuple[str, ...]
    devices: tuple[str, ...]
    group: str
    next_ms: int | None
    sent: tuple[SentReport, ...]


class BillingMethods(Requests, Protocol):
    """The part of `Client` for costs, tariffs and budgets. NotOffered if the server is no Weir."""

    def costs(
        self, ids: Sequence[str], *, from_ms: int, to_ms: int, timezone: str | None = None
    ) -> dict[str, DeviceCosts]:
        """Returns costs by device id, for the devices that have a tariff."""
        params = {
            "ids": ",".join(ids),
            "from": stamp(from_ms, fraction=True),
            "to": stamp(to_ms, fraction=True),
            **({} if timezone is None else {"timezone": timezone}),
        }
        rows = map(_costs, rows_of(self._response(f"{INSIGHT_PREFIX}/costs", params)))
        return {each.device_id: each for each in rows}

    def budgets(self) -> tuple[BudgetStatus, ...]:
        return tuple(map(budget_status, rows_of(self._response(_BUDGETS))))

    def set_budget(
        self, amount: str | float, *, device: str | None = None, group: str | None = None,
        measure: str = "volume",
    ) -> BudgetStatus:  # fmt: skip
        """Sets a budget; replaces an existing one."""
        target = {"device": device} if group is None else {"group": group}
        body = {**target, "measure": measure, "amount": amount}
        return budget_status(self._send("POST", _BUDGETS, body))

    def delete_budget(self, budget_id: str) -> None:
        self._send("DELETE", path_of(_BUDGETS, budget_id), {})

    def tariffs(self) -> tuple[TariffRecord, ...]:
        return tuple(map(_tariff, rows_of(self._response(_TARIFFS))))

    def create_tariff(self, definition: Mapping[str, Any]) -> TariffRecord:
        return _tariff(self._send("POST", _TARIFFS, definition))

    def change_tariff(self, tariff_id: str, definition: Mapping[str, Any]) -> TariffRecord:
        """Fields that aren't given stay."""
        path = path_of(_TARIFFS, tariff_id)
        return _tariff(self._send("PATCH", path, definition))

    def delete_tariff(self, tariff_id: str) -> None:
        self._send("DELETE", path_of(_TARIFFS, tariff_id), {})

    def report_schedules(self) -> tuple[ReportSchedule, ...]:
        return tuple(map(_schedule, rows_of(self._response(_REPORTS))))

    def create_report_schedule(self, definition: Mapping[str, Any]) -> ReportSchedule:
        return _schedule(self._send("POST", _REPORTS, definition))

    def change_report_schedule(
        self, schedule_id: str, definition: Mapping[str, Any]
    ) -> ReportSchedule:
        """Fields that aren't given stay; ``paused`` stops and starts it."""
        path = path_of(_REPORTS, schedule_id)
        return _schedule(self._send("PATCH", path, definition))

    def send_report_schedule(self, schedule_id: str) -> ReportSchedule:
        """Sends the report of the latest finished period again."""
        path = f"{path_of(_REPORTS, schedule_id)}/send"
        return _schedule(self._send("POST", path, {}))

    def delete_report_schedule(self, schedule_id: str) -> None:
        self._send("DELETE", path_of(_REPORTS, schedule_id), {})

    def _response(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        try:
            return self._fetch(path, dict(params or {}))
        except NotFound as error:
            if "Device" in str(error):
                raise
            raise NotOffered("This server has no tariffs and budgets.") from error


def _costs(body: Any) -> DeviceCosts:
    fields = an_object(body, "costs")
    days = [an_object(each, "day") for each in a_list(fields.get("days"), "days")]
    costs = {needed_instant(day, "start"): number(day, "cost") for day in days}
    return DeviceCosts(
        text(fields, "deviceId"),
        text(fields, "tariff"),
        text(fields, "currency"),
        number(fields, "total"),
        {start: cost for start, cost in costs.items() if cost is not None},
    )


def budget_status(body: Any) -> BudgetStatus:
    fields = an_object(body, "budget")
    return BudgetStatus(
        id=text(fields, "id"),
        device_id=maybe_text(fields, "deviceId"),
        group=maybe_text(fields, "group"),
        label=text(fields, "label"),
        devices=whole(fields, "devices"),
        measure=text(fields, "measure"),
        amount=needed_number(fields, "amount"),
        currency=maybe_text(fields, "currency") or "",
        so_far=number(fields, "soFar"),
        expected=number(fields, "expected"),
        chance=number(fields, "chance"),
        state=text(fields, "state"),
    )


def _tariff(body: Any) -> TariffRecord:
    fields = an_object(body, "tariff")
    versions = a_list(fields.get("versions"), "versions")
    return TariffRecord(
        text(fields, "id"),
        text(fields, "name"),
        text(fields, "currency"),
        tuple(an_object(each, "version") for each in versions),
        fields.get("organization") is True,
        tuple(map(str, a_list(fields.get("groups"), "groups"))),
        tuple(map(str, a_list(fields.get("devices"), "devices"))),
    )


@dataclass(frozen=True, slots=True)
class MonthEndSum:
    """The month end of several devices. ``costs``: expected, by currency. ``likely``: the number of
    budgets that are exceeded or likely to be."""

    so_far: float
    expected: float
    low80: float | None
    high80: float | None
    costs: Mapping[str, float]
    likely: int


def month_end_sum(body: Json) -> MonthEndSum | None:
    """Reads the month end of a summary; None where it is unknown."""
    fields, budgets = maybe_object(body, "monthEnd"), maybe_object(body, "budgets")
    if not fields:
        return None
    costs = [an_object(each, "cost") for each in a_list(fields.get("cost"), "cost")]
    return MonthEndSum(
        needed_number(fields, "soFar"),
        needed_number(fields, "expected"),
        number(fields, "low80"),
        number(fields, "high80"),
        {text(cost, "currency"): needed_number(cost, "expected") for cost in costs},
        int((number(budgets, "likely") or 0) + (number(budgets, "exceeded") or 0)),
    )


def _schedule(body: Any) -> ReportSchedule:
    fields = an_object(body, "scheduled report")
    return ReportSchedule(
        text(fields, "id"),
        text(fields, "name"),
        text(fields, "every"),
        text(fields, "timezone"),
        tuple(map(str, a_list(fields.get("receivers"), "receivers"))),
        tuple(map(str, a_list(fields.get("devices"), "devices"))),
        maybe_text(fields, "group") or "",
        instant(fields, "next"),
        tuple(map(_sent, a_list(fields.get("messages"), "messages"))),
    )


def _sent(body: Any) -> SentReport:
    fields = an_object(body, "message")
    return SentReport(
        maybe_text(an_object(fields.get("receiver"), "receiver"), "name") or "a deleted receiver",
        text(fields, "state"),
        needed_instant(fields, "created"),
        text(fields, "response"),
    )
