"""Changes of billing (tariffs, budgets, scheduled reports), each with its entry in the audit
log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeVar, cast
from uuid import uuid4

import orjson

from api.domain.identify import identify, storable
from api.domain.organization import currency_of
from api.errors import Forbidden, NotFound, invalid_fields
from api.insight.alerts.management import Author, audited, require_whole
from api.insight.budgets import MEASURES, Budget, BudgetState, budgets_of, states_of
from api.insight.report_schedules import (
    EVERY,
    RECEIVER_KINDS,
    Schedule,
    due_after,
    messages_of,
)
from api.insight.tariffs import StoredTariff, definition
from api.metering.tariff import BUDGET_DIGITS, NAME_LENGTH, TariffProblems, amount, parse_tariff
from api.store.base import BillingKind, BillingRow, Scope, Store
from api.store.base.alerts import MessageRow
from api.timez import zone, zone_names

NO_TARIFF: Final = "Tariff not found, or you don't have access."
NO_BUDGET: Final = "Budget not found, or you don't have access."
MOST_OF_REPORT: Final = 50  # devices of a report
MOST_BUDGET: Final = Decimal(10**12)
NO_REPORT: Final = "Scheduled report not found, or you don't have access."
NO_GROUP: Final = "Group not found, or you don't have access."

S = TypeVar("S", Budget, StoredTariff, Schedule)


def _with_id(stored: Sequence[S], id: str, missing: str) -> S:
    for each in stored:
        if each.row.id == id:
            return each
    raise NotFound(missing)


def _new_row(
    author: Author, kind: BillingKind, name: str, definition: str, due_ms: int | None = None
) -> BillingRow:
    return BillingRow(
        str(uuid4()), author.scope.organization_id, kind, name, definition, due_ms,
        author.name, author.now_ms, author.now_ms,
    )  # fmt: skip


def _keep(
    store: Store,
    author: Author,
    row: BillingRow,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
) -> None:
    action = "create" if before is None else "change"
    store.keep_billing_row(row, audited(author, row.kind, action, row.id, before, after))


def _drop(
    store: Store, author: Author, stored: Budget | StoredTariff | Schedule, missing: str
) -> None:
    row = stored.row
    audit = audited(author, row.kind, "delete", row.id, stored.as_json(), None)
    if not store.drop_billing_row(row, audit):
        raise NotFound(missing)


# --- Budgets -------------------------------------------------------------------------------------


def budgets(store: Store, scope: Scope) -> list[BudgetState]:
    """Returns the budgets of the devices and groups that the scope sees."""
    seen = [each for each in budgets_of(store, scope.organization_id) if _sees(store, scope, each)]
    return states_of(store, scope.organization_id, seen)


def _sees(store: Store, scope: Scope, budget: Budget) -> bool:
    if budget.level == "group":
        return scope.grant.everything or budget.target in scope.grant.groups
    return scope.grant.everything or store.resolve(scope, [budget.target])[0] is not None


def find_budget(store: Store, scope: Scope, budget_id: str) -> Budget:
    for each in budgets_of(store, scope.organization_id):
        if each.row.id == budget_id and _sees(store, scope, each):
            return each
    raise NotFound(NO_BUDGET)


def state_of(store: Store, budget: Budget) -> BudgetState:
    return states_of(store, budget.row.organization_id, [budget])[0]


def set_budget(store: Store, author: Author, body: Mapping[str, Any]) -> Budget:
    """Sets the budget of a device or group, by volume or by cost; replaces an existing one."""
    scope = author.scope
    device, group = body.get("device"), body.get("group")
    if (device is None) == (group is None):
        raise invalid_fields(device="or group is needed, one of them")
    if device is not None:
        target = f"device:{identify(store, scope, device).id}"
    else:
        names = [each.name for each in store.groups(scope)]
        if not isinstance(group, str) or group not in names:
            raise NotFound(NO_GROUP)
        if not scope.grant.everything and group not in scope.grant.groups:
            raise Forbidden(NO_GROUP)
        target = f"group:{group}"
    measure = body.get("measure", "volume")
    if measure not in MEASURES:
        raise invalid_fields(measure=f"must be one of {', '.join(MEASURES)}")
    for each in budgets_of(store, scope.organization_id):
        if (each.row.name, each.measure) == (target, measure):
            return change_budget(store, author, each.row.id, body)
    made = Budget.of(_new_row(author, "budget", target, _amount(measure, body)))
    _keep(store, author, made.row, None, made.as_json())
    return made


def change_budget(store: Store, author: Author, budget_id: str, body: Mapping[str, Any]) -> Budget:
    """Changes only the amount."""
    before = find_budget(store, author.scope, budget_id)
    row = before.row._replace(definition=_amount(before.measure, body), updated_ms=author.now_ms)
    after = Budget.of(row)
    _keep(store, author, row, before.as_json(), after.as_json())
    return after


def drop_budget(store: Store, author: Author, budget_id: str) -> None:
    _drop(store, author, find_budget(store, author.scope, budget_id), NO_BUDGET)


def _amount(measure: str, body: Mapping[str, Any]) -> str:
    try:
        value = amount(body.get("amount"), "amount", BUDGET_DIGITS, MOST_BUDGET)
    except ValueError:
        value = Decimal(0)
    if not value:
        raise invalid_fields(
            amount=f"must be a number above 0, to {MOST_BUDGET:,}, with up to"
            f" {BUDGET_DIGITS} decimals"
        )
    return orjson.dumps({"measure": measure, "amount": str(value)}).decode()


# --- Tariffs -------------------------------------------------------------------------------------


def tariffs(store: Store, scope: Scope) -> list[StoredTariff]:
    """Returns none for a scope of some devices: their rates would reveal who else has them."""
    if not scope.grant.everything:
        return []
    return [StoredTariff.of(row) for row in store.billing_rows("tariff", scope.organization_id)]


def find_tariff(store: Store, scope: Scope, tariff_id: str) -> StoredTariff:
    return _with_id(tariffs(store, scope), tariff_id, NO_TARIFF)


def create_tariff(store: Store, author: Author, body: Mapping[str, Any]) -> StoredTariff:
    """Without a currency it has the organization's."""
    require_whole(author.scope)
    usual = {"currency": currency_of(store, author.scope.organization_id)}
    made = _checked_tariff(store, author.scope, usual | dict(body), None)
    row = _new_row(author, "tariff", made["name"], orjson.dumps(made).decode())
    _keep(store, author, row, None, made)
    return StoredTariff.of(row)


def change_tariff(
    store: Store, author: Author, tariff_id: str, body: Mapping[str, Any]
) -> StoredTariff:
    """Changes a tariff. Fields that aren't sent stay."""
    require_whole(author.scope)
    before = find_tariff(store, author.scope, tariff_id)
    made = _checked_tariff(store, author.scope, before.as_json() | dict(body), tariff_id)
    row = before.row._replace(
        name=made["name"], definition=orjson.dumps(made).decode(), updated_ms=author.now_ms
    )
    _keep(store, author, row, before.as_json(), made)
    return StoredTariff.of(row)


def drop_tariff(store: Store, author: Author, tariff_id: str) -> None:
    require_whole(author.scope)
    _drop(store, author, find_tariff(store, author.scope, tariff_id), NO_TARIFF)


def _checked_tariff(
    store: Store, scope: Scope, body: Mapping[str, Any], own_id: str | None
) -> dict[str, Any]:
    """Checks a tariff: each device, each group and the organization has at most one of its own."""
    try:
        tariff = parse_tariff(body)
    except TariffProblems as error:
        raise invalid_fields(**error.by_field) from None
    everyone = body.get("organization", False)
    if not isinstance(everyone, bool):
        raise invalid_fields(organization="must be true or false")
    groups, names = _texts(body, "groups"), {each.name for each in store.groups(scope)}
    if any(name not in names for name in groups):
        raise invalid_fields(groups="names a group that isn't there")
    resolved = store.resolve(scope, _texts(body, "devices"))
    if any(device is None for device in resolved):
        raise invalid_fields(devices="names a device that isn't there")
    devices = list(dict.fromkeys(device.id for device in resolved if device is not None))
    others = [each for each in tariffs(store, scope) if each.row.id != own_id]
    made = definition(tariff, everyone, groups, devices)
    _refuse_shared(others, made)
    return made


def _refuse_shared(others: Sequence[StoredTariff], made: Mapping[str, Any]) -> None:
    for other in others:
        name = other.tariff.name
        if made["organization"] and other.everyone:
            raise invalid_fields(organization=f"has the tariff {name} already")
        if set(made["groups"]) & set(other.groups):
            raise invalid_fields(groups=f"names a group that has the tariff {name} already")
        if set(made["devices"]) & set(other.devices):
            raise invalid_fields(devices=f"names a device that has the tariff {name} already")


def _texts(body: Mapping[str, Any], name: str) -> list[str]:
    value = body.get(name)
    if value is None:
        return []
    listed = cast(list[Any], value) if isinstance(value, list) else [None]
    texts = [each for each in listed if isinstance(each, str) and each and storable(each)]
    if len(texts) < len(listed):
        raise invalid_fields(**{name: "must be a list of texts"})
    return list(dict.fromkeys(texts))


# --- Scheduled reports ---------------------------------------------------------------------------


def schedules(store: Store, scope: Scope) -> list[Schedule]:
    """Returns none for a scope of some devices."""
    if not scope.grant.everything:
        return []
    return [Schedule.of(row) for row in store.billing_rows("report", scope.organization_id)]


def find_schedule(store: Store, scope: Scope, schedule_id: str) -> Schedule:
    return _with_id(schedules(store, scope), schedule_id, NO_REPORT)


def create_schedule(store: Store, author: Author, body: Mapping[str, Any]) -> Schedule:
    require_whole(author.scope)
    made = _checked_schedule(store, author.scope, {"every": "week", "timezone": "UTC"} | dict(body))
    due_ms = _due_ms(made, author.now_ms)
    row = _new_row(author, "report", made["name"], orjson.dumps(made).decode(), due_ms)
    _keep(store, author, row, None, made)
    return Schedule.of(row)


def change_schedule(
    store: Store, author: Author, schedule_id: str, body: Mapping[str, Any]
) -> Schedule:
    """Changes a schedule. Fields that aren't sent stay. A paused one that is resumed sends the next
    period first."""
    require_whole(author.scope)
    before = find_schedule(store, author.scope, schedule_id)
    made = _checked_schedule(store, author.scope, before.as_json() | dict(body))
    timing = ("every", "timezone", "paused")
    same = all(made[name] == before.as_json()[name] for name in timing)
    row = before.row._replace(
        name=made["name"],
        definition=orjson.dumps(made).decode(),
        due_ms=before.row.due_ms if same else _due_ms(made, author.now_ms),
        updated_ms=author.now_ms,
    )
    _keep(store, author, row, before.as_json(), made)
    return Schedule.of(row)


def drop_schedule(store: Store, author: Author, schedule_id: str) -> None:
    """Deletes a schedule. Messages that were sent stay in the list."""
    require_whole(author.scope)
    _drop(store, author, find_schedule(store, author.scope, schedule_id), NO_REPORT)


def send_schedule(store: Store, author: Author, schedule_id: str) -> list[MessageRow]:
    """Queues the report of the latest finished period again, for all receivers; the writer sends
    it."""
    require_whole(author.scope)
    schedule = find_schedule(store, author.scope, schedule_id)
    there = {each.id for each in store.alert_receivers(schedule.row.organization_id)}
    receivers = [id for id in schedule.receivers if id in there]
    messages = messages_of(schedule, receivers, author.now_ms, again=True)
    for message in messages:
        store.queue_message(message)
    return messages


def _due_ms(made: Mapping[str, Any], now_ms: int) -> int | None:
    return None if made["paused"] else due_after(made["every"], zone(made["timezone"]), now_ms)


def _checked_schedule(store: Store, scope: Scope, body: Mapping[str, Any]) -> dict[str, Any]:
    name, paused = body.get("name"), body.get("paused", False)
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not text or len(text) > NAME_LENGTH or not text.isprintable():
        raise invalid_fields(name=f"must be text of at most {NAME_LENGTH} characters")
    if body.get("every") not in EVERY:
        raise invalid_fields(every=f"must be one of {', '.join(EVERY)}")
    if body.get("timezone") not in zone_names():
        raise invalid_fields(timezone="must be an IANA time zone name")
    if not isinstance(paused, bool):
        raise invalid_fields(paused="must be true or false")
    kinds = {each.id: each.kind for each in store.alert_receivers(scope.organization_id)}
    receivers = _texts(body, "receivers")
    if not receivers or any(kinds.get(id) not in RECEIVER_KINDS for id in receivers):
        words = f"must name receivers that are there, of the kinds {', '.join(RECEIVER_KINDS)}"
        raise invalid_fields(receivers=words)
    return {
        "name": text,
        "every": body["every"],
        "timezone": body["timezone"],
        "receivers": receivers,
        **_devices_or_group(store, scope, body),
        "paused": paused,
    }


def _devices_or_group(store: Store, scope: Scope, body: Mapping[str, Any]) -> dict[str, Any]:
    group, resolved = body.get("group"), store.resolve(scope, _texts(body, "devices"))
    if any(device is None for device in resolved) or len(resolved) > MOST_OF_REPORT:
        raise invalid_fields(devices=f"must be at most {MOST_OF_REPORT} devices that are there")
    if group is not None and group not in {each.name for each in store.groups(scope)}:
        raise invalid_fields(group="isn't there")
    if group is not None and resolved:
        raise invalid_fields(group="can't be given together with devices")
    devices = list(dict.fromkeys(device.id for device in resolved if device is not None))
    return {"devices": devices, "group": group}
