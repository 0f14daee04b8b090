"""Routes of billing: costs by tariffs, tariffs, budgets and scheduled reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify_each
from api.insight import billing_changes
from api.insight.alerts.management import Author
from api.insight.budgets import BudgetState, costs_together, volume_together
from api.insight.report_schedules import Schedule
from api.insight.tariffs import Prices, StoredTariff, daily_costs
from api.metering.forecast import Interval
from api.metering.month_end import MonthEnd
from api.openapi import Operation, ref
from api.params import NoBody, Query
from api.params.billing import BudgetBody, CostsQuery, ScheduleBody, TariffBody
from api.roles import Role
from api.routes.alert_objects import message_object, whole_page
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import BillingRow, MonthEndSums, Store
from api.timez import zone_or_utc


def get_costs(call: Call[CostsQuery]) -> Reply:
    """Runs one query for each device with a tariff; none for the others."""
    query, store = call.query, call.store
    devices = identify_each(store, call.scope, query.ids)
    prices = Prices.read(store, call.scope.organization_id)
    groups = prices.groups(store, devices)
    data: list[dict[str, Any]] = []
    for device in devices:
        tariff = prices.tariff(device, groups.get(device.key, ()))
        if tariff is None:
            continue
        tz = query.timezone or zone_or_utc(device.time_zone)
        days = daily_costs(store, device, tariff, tz, query.from_ms, query.to_ms + 1)
        costs = [cost for _, cost in days if cost is not None]
        data.append(
            {
                "deviceId": device.id,
                "tariff": tariff.name,
                "currency": tariff.currency,
                "timezone": tz.key,
                "total": float(sum(costs)) if costs else None,
                "days": [
                    {"start": instant(start), "cost": None if cost is None else float(cost)}
                    for start, cost in days
                ],
            }
        )
    return Reply({"count": len(data), "data": data})


def _author(call: ActionCall[Any]) -> Author:
    return Author(call.by, call.scope, call.now_ms)


def _by(row: BillingRow) -> dict[str, Any]:
    return {
        "createdBy": row.created_by,
        "created": instant(row.created_ms),
        "updated": instant(row.updated_ms),
    }


# --- Tariffs -------------------------------------------------------------------------------------


def tariff_object(stored: StoredTariff) -> dict[str, Any]:
    return {"id": stored.row.id, **stored.as_json(), **_by(stored.row)}


def list_tariffs(call: Call[Query]) -> Reply:
    stored = billing_changes.tariffs(call.store, call.scope)
    return Reply(whole_page([tariff_object(each) for each in stored]))


def get_tariff(call: Call[Query]) -> Reply:
    return Reply(
        tariff_object(billing_changes.find_tariff(call.store, call.scope, call.identifier))
    )


def create_tariff(call: ActionCall[TariffBody]) -> Reply:
    body = call.body.sent_fields
    return Reply(tariff_object(billing_changes.create_tariff(call.store, _author(call), body)))


def change_tariff(call: ActionCall[TariffBody]) -> Reply:
    made = billing_changes.change_tariff(
        call.store, _author(call), call.identifier, call.body.sent_fields
    )
    return Reply(tariff_object(made))


def drop_tariff(call: ActionCall[NoBody]) -> Reply:
    billing_changes.drop_tariff(call.store, _author(call), call.identifier)
    return Reply({"deleted": call.identifier})


# --- Budgets -------------------------------------------------------------------------------------


def budget_object(state: BudgetState) -> dict[str, Any]:
    budget, end = state.budget, state.end
    interval = None if end is None else end.interval
    return {
        "id": budget.row.id,
        "deviceId": budget.target if budget.level == "device" else None,
        "group": budget.target if budget.level == "group" else None,
        "label": state.label,
        "devices": state.devices,
        "measure": budget.measure,
        "amount": float(budget.amount),
        "currency": (state.currency or None) if budget.measure == "cost" else None,
        "month": state.month or None,
        "soFar": None if end is None else end.so_far,
        "expected": None if end is None else end.expected,
        "low80": None if interval is None else interval.low80,
        "high80": None if interval is None else interval.high80,
        "chance": state.chance,
        "state": state.state,
        **_by(budget.row),
    }


def month_end_object(
    sums: Sequence[MonthEndSums], budgets: Sequence[BudgetState]
) -> dict[str, Any]:
    """Returns the month end of several devices, and how many of the ``budgets`` it exceeds."""
    volume, costs = volume_together(sums), costs_together(sums)
    states = [each.state for each in budgets]
    end = None
    if volume is not None:
        costed = [{"currency": name, **_amounts(each)} for name, each in costs.items()]
        end = {"month": max(each.month for each in sums), **_amounts(volume), "cost": costed}
    counts = {name: states.count(name) for name in ("likely", "exceeded")}
    return {"monthEnd": end, "budgets": {"count": len(states), **counts}}


def _amounts(end: MonthEnd) -> dict[str, float | None]:
    names = Interval._fields
    bounds = (None,) * len(names) if end.interval is None else end.interval
    return {"soFar": end.so_far, "expected": end.expected, **dict(zip(names, bounds, strict=True))}


def list_budgets(call: Call[Query]) -> Reply:
    states = billing_changes.budgets(call.store, call.scope)
    return Reply(whole_page([budget_object(each) for each in states]))


def get_budget(call: Call[Query]) -> Reply:
    budget = billing_changes.find_budget(call.store, call.scope, call.identifier)
    return Reply(budget_object(billing_changes.state_of(call.store, budget)))


def set_budget(call: ActionCall[BudgetBody]) -> Reply:
    budget = billing_changes.set_budget(call.store, _author(call), call.body.sent_fields)
    return Reply(budget_object(billing_changes.state_of(call.store, budget)))


def change_budget(call: ActionCall[BudgetBody]) -> Reply:
    budget = billing_changes.change_budget(
        call.store, _author(call), call.identifier, call.body.sent_fields
    )
    return Reply(budget_object(billing_changes.state_of(call.store, budget)))


def drop_budget(call: ActionCall[NoBody]) -> Reply:
    billing_changes.drop_budget(call.store, _author(call), call.identifier)
    return Reply({"deleted": call.identifier})


# --- Scheduled reports ---------------------------------------------------------------------------

MOST_MESSAGES: Final = 10  # of a schedule


def schedule_object(store: Store, schedule: Schedule) -> dict[str, Any]:
    row = schedule.row
    names = {each.id: each.name for each in store.alert_receivers(row.organization_id)}
    messages = store.alert_messages(row.organization_id, thread=row.id, limit=MOST_MESSAGES)
    return {
        "id": row.id,
        **schedule.as_json(),
        "next": None if row.due_ms is None else instant(row.due_ms),
        "messages": [message_object(each, names) for each in messages],
        **_by(row),
    }


def list_schedules(call: Call[Query]) -> Reply:
    rows = billing_changes.schedules(call.store, call.scope)
    return Reply(whole_page([schedule_object(call.store, each) for each in rows]))


def get_schedule(call: Call[Query]) -> Reply:
    schedule = billing_changes.find_schedule(call.store, call.scope, call.identifier)
    return Reply(schedule_object(call.store, schedule))


def create_schedule(call: ActionCall[ScheduleBody]) -> Reply:
    body = call.body.sent_fields
    made = billing_changes.create_schedule(call.store, _author(call), body)
    return Reply(schedule_object(call.store, made))


def change_schedule(call: ActionCall[ScheduleBody]) -> Reply:
    made = billing_changes.change_schedule(
        call.store, _author(call), call.identifier, call.body.sent_fields
    )
    return Reply(schedule_object(call.store, made))


def drop_schedule(call: ActionCall[NoBody]) -> Reply:
    billing_changes.drop_schedule(call.store, _author(call), call.identifier)
    return Reply({"deleted": call.identifier})


def send_schedule(call: ActionCall[NoBody]) -> Reply:
    billing_changes.send_schedule(call.store, _author(call), call.identifier)
    schedule = billing_changes.find_schedule(call.store, call.scope, call.identifier)
    return Reply(schedule_object(call.store, schedule))


# --- The document --------------------------------------------------------------------------------

_TARIFFS: Final = f"{INSIGHT_PREFIX}/tariffs"
_BUDGETS: Final = f"{INSIGHT_PREFIX}/budgets"
_REPORTS: Final = f"{INSIGHT_PREFIX}/reports"
_NAMED: Final = {_TARIFFS: "Tariff", _BUDGETS: "Budget", _REPORTS: "Scheduled report"}


def _operation(id: str, path: str, summary: str, answer: str, **more: Any) -> Operation:
    named = _NAMED[path.partition("/{id}")[0]] if "{id}" in path else ""
    settings: dict[str, Any] = {"query": Query, "named": named, **more}
    return Operation(
        id=id, path=path, tag="billing", summary=summary, answer=ref(answer), **settings
    )


BILLING_ROUTES: Final = (
    Route(
        _operation(
            "getCosts", f"{INSIGHT_PREFIX}/costs", "What devices' water cost by their tariffs,"
            " day by day", "Costs", query=CostsQuery,
        ),
        get_costs,
    ),
    Route(_operation("listTariffs", _TARIFFS, "The tariffs", "TariffPage"), list_tariffs),
    Route(_operation("getTariff", f"{_TARIFFS}/{{id}}", "One tariff", "Tariff"), get_tariff),
    Route(
        _operation("listBudgets", _BUDGETS, "Budgets and the state of their month", "BudgetPage"),
        list_budgets,
    ),
    Route(
        _operation("listReportSchedules", _REPORTS, "Scheduled reports, with the messages sent",
                   "ReportSchedulePage"),
        list_schedules,
    ),
    Route(
        _operation("getReportSchedule", f"{_REPORTS}/{{id}}", "One scheduled report",
                   "ReportSchedule"),
        get_schedule,
    ),
    Route(_operation("getBudget", f"{_BUDGETS}/{{id}}", "One budget", "Budget"), get_budget),
)  # fmt: skip
BILLING_ACTIONS: Final = (
    Action(
        _operation("createTariff", _TARIFFS, "Creates a tariff", "Tariff", body=ref("TariffBody")),
        create_tariff,
        TariffBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("changeTariff", f"{_TARIFFS}/{{id}}", "Changes a tariff; fields that"
                   " aren't sent stay", "Tariff", body=ref("TariffBody"), verb="patch"),
        change_tariff,
        TariffBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("deleteTariff", f"{_TARIFFS}/{{id}}", "Deletes a tariff: plain prices apply"
                   " again", "Deleted", body=ref("NoBody"), verb="delete"),
        drop_tariff,
        NoBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("setBudget", _BUDGETS, "Sets the budget of a device or a group", "Budget",
                   body=ref("BudgetBody"), named_in_query=True),
        set_budget,
        BudgetBody,
    ),
    Action(
        _operation("changeBudget", f"{_BUDGETS}/{{id}}", "Changes the amount of a budget",
                   "Budget", body=ref("BudgetBody"), verb="patch"),
        change_budget,
        BudgetBody,
    ),
    Action(
        _operation("deleteBudget", f"{_BUDGETS}/{{id}}", "Deletes a budget", "Deleted",
                   body=ref("NoBody"), verb="delete"),
        drop_budget,
        NoBody,
    ),
    Action(
        _operation("createReportSchedule", _REPORTS, "Schedules a report", "ReportSchedule",
                   body=ref("ReportScheduleBody")),
        create_schedule,
        ScheduleBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("changeReportSchedule", f"{_REPORTS}/{{id}}", "Changes or pauses a scheduled"
                   " report; fields that aren't sent stay", "ReportSchedule",
                   body=ref("ReportScheduleBody"), verb="patch"),
        change_schedule,
        ScheduleBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("sendReportSchedule", f"{_REPORTS}/{{id}}/send", "Sends the latest finished"
                   " period again", "ReportSchedule", body=ref("NoBody")),
        send_schedule,
        NoBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        _operation("deleteReportSchedule", f"{_REPORTS}/{{id}}", "Deletes a scheduled report",
                   "Deleted", body=ref("NoBody"), verb="delete"),
        drop_schedule,
        NoBody,
        Role.ADMINISTRATOR,
    ),
)  # fmt: skip
