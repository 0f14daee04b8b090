"""Changes of tariffs, budgets and scheduled reports, with their line in the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, cast
from uuid import uuid4

import orjson

from api.domain.identify import identify, storable
from api.errors import Forbidden, NotFound
from api.insight.alerts.management import Author, audited, bad, require_whole
from api.insight.budgets import MEASURES, Budget, BudgetState, budgets_of, states_of
from api.insight.report_schedules import (
    EVERY,
    RECEIVER_KINDS,
    Schedule,
    due_after,
    messages_of,
)
from api.insight.tariffs import StoredTariff, definition
from api.metering.tariff import NAME_LENGTH, TariffProblems, amount, parse_tariff
from api.store.base import PlanRow, Scope, Store
from api.store.base.alerts import MessageRow
from api.timez import zone, zone_names

NO_TARIFF: Final = "Tariff not found, or you don't have access."
NO_BUDGET: Final = "Budget not found, or you don't have access."
MOST_OF_REPORT: Final = 50  # devices
MOST_BUDGET: Final = Decimal(10**12)
NO_REPORT: Final = "Scheduled report not found, or you don't have access."
NO_GROUP: Final = "Group not found, or you don't have access."


# --- Budgets -------------------------------------------------------------------------------------


def budgets(store: Store, scope: Scope) -> list[BudgetState]:
    """Of the devices and groups that the scope sees."""
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
    """Of a device or group, by volume or by cost; in the place of the one that there is."""
    scope = author.scope
    device, group = body.get("device"), body.get("group")
    if (device is None) == (group is None):
        raise bad(device="or group is needed, one of them")
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
        raise bad(measure=f"must be one of {', '.join(MEASURES)}")
    for each in budgets_of(store, scope.organization_id):
        if (each.row.name, each.measure) == (target, measure):
            return change_budget(store, author, each.row.id, body)
    row = PlanRow(
        str(uuid4()), scope.organization_id, "budget", target, _amount(measure, body), None,
        author.name, author.now_ms, author.now_ms,
    )  # fmt: skip
    made = Budget.of(row)
    store.keep_plan(row, audited(author, "budget", "create", row.id, None, made.as_json()))
    return made


def change_budget(store: Store, author: Author, budget_id: str, body: Mapping[str, Any]) -> Budget:
    """Its amount alone."""
    before = find_budget(store, author.scope, budget_id)
    row = before.row._replace(definition=_amount(before.measure, body), updated_ms=author.now_ms)
    after = Budget.of(row)
    states = before.as_json(), after.as_json()
    store.keep_plan(row, audited(author, "budget", "change", row.id, *states))
    return after


def drop_budget(store: Store, author: Author, budget_id: str) -> None:
    before = find_budget(store, author.scope, budget_id)
    audit = audited(author, "budget", "delete", budget_id, before.as_json(), None)
    if not store.drop_plan(before.row, audit):
        raise NotFound(NO_BUDGET)


def _amount(measure: str, body: Mapping[str, Any]) -> str:
    try:
        value = amount(body.get("amount"), "amount", 4, MOST_BUDGET)
    except ValueError:
        value = Decimal(0)
    if not value:
        raise bad(amount=f"must be a number above 0, to {MOST_BUDGET:,}, with up to 4 decimals")
    return orjson.dumps({"measure": measure, "amount": str(value)}).decode()


# --- Tariffs -------------------------------------------------------------------------------------


def tariffs(store: Store, scope: Scope) -> list[StoredTariff]:
    """None for who sees only some devices: their rates say who else has them."""
    if not scope.grant.everything:
        return []
    return [StoredTariff.of(row) for row in store.plans("tariff", scope.organization_id)]


def find_tariff(store: Store, scope: Scope, tariff_id: str) -> StoredTariff:
    stored = next((each for each in tariffs(store, scope) if each.row.id == tariff_id), None)
    if stored is None:
        raise NotFound(NO_TARIFF)
    return stored


def create_tariff(store: Store, author: Author, body: Mapping[str, Any]) -> StoredTariff:
    require_whole(author.scope)
    made = _checked_tariff(store, author.scope, body, None)
    row = PlanRow(
        str(uuid4()), author.scope.organization_id, "tariff", made["name"],
        orjson.dumps(made).decode(), None, author.name, author.now_ms, author.now_ms,
    )  # fmt: skip
    store.keep_plan(row, audited(author, "tariff", "create", row.id, None, made))
    return StoredTariff.of(row)


def change_tariff(
    store: Store, author: Author, tariff_id: str, body: Mapping[str, Any]
) -> StoredTariff:
    """What isn't sent stays."""
    require_whole(author.scope)
    before = find_tariff(store, author.scope, tariff_id)
    made = _checked_tariff(store, author.scope, before.as_json() | dict(body), tariff_id)
    row = before.row._replace(
        name=made["name"], definition=orjson.dumps(made).decode(), updated_ms=author.now_ms
    )
    store.keep_plan(row, audited(author, "tariff", "change", row.id, before.as_json(), made))
    return StoredTariff.of(row)


def drop_tariff(store: Store, author: Author, tariff_id: str) -> None:
    require_whole(author.scope)
    before = find_tariff(store, author.scope, tariff_id)
    audit = audited(author, "tariff", "delete", tariff_id, before.as_json(), None)
    if not store.drop_plan(before.row, audit):
        raise NotFound(NO_TARIFF)


def _checked_tariff(
    store: Store, scope: Scope, body: Mapping[str, Any], own_id: str | None
) -> dict[str, Any]:
    """Each device, group and the organization has one tariff of its own at most."""
    try:
        tariff = parse_tariff(body)
    except TariffProblems as error:
        raise bad(**error.by_field) from None
    everyone = body.get("organization", False)
    if not isinstance(everyone, bool):
        raise bad(organization="must be true or false")
    groups, names = _texts(body, "groups"), {each.name for each in store.groups(scope)}
    if any(name not in names for name in groups):
        raise bad(groups="names a group that isn't there")
    resolved = store.resolve(scope, _texts(body, "devices"))
    if any(device is None for device in resolved):
        raise bad(devices="names a device that isn't there")
    devices = list(dict.fromkeys(device.id for device in resolved if device is not None))
    others = [each for each in tariffs(store, scope) if each.row.id != own_id]
    made = definition(tariff, everyone, groups, devices)
    _refuse_shared(others, made)
    return made


def _refuse_shared(others: Sequence[StoredTariff], made: Mapping[str, Any]) -> None:
    for other in others:
        name = other.tariff.name
        if made["organization"] and other.everyone:
            raise bad(organization=f"has the tariff {name} already")
        if set(made["groups"]) & set(other.groups):
            raise bad(groups=f"names a group that has the tariff {name} already")
        if set(made["devices"]) & set(other.devices):
            raise bad(devices=f"names a device that has the tariff {name} already")


def _texts(body: Mapping[str, Any], name: str) -> list[str]:
    value = body.get(name)
    if value is None:
        return []
    listed = cast(list[Any], value) if isinstance(value, list) else [None]
    texts = [each for each in listed if isinstance(each, str) and each and storable(each)]
    if len(texts) < len(listed):
        raise bad(**{name: "must be a list of texts"})
    return list(dict.fromkeys(texts))


# --- Scheduled reports ---------------------------------------------------------------------------


def schedules(store: Store, scope: Scope) -> list[Schedule]:
    """None for who sees only some devices."""
    if not scope.grant.everything:
        return []
    return [Schedule.of(row) for row in store.plans("report", scope.organization_id)]


def find_schedule(store: Store, scope: Scope, schedule_id: str) -> Schedule:
    schedule = next((e for e in schedules(store, scope) if e.row.id == schedule_id), None)
    if schedule is None:
        raise NotFound(NO_REPORT)
    return schedule


def create_schedule(store: Store, author: Author, body: Mapping[str, Any]) -> Schedule:
    require_whole(author.scope)
    made = _checked_schedule(store, author.scope, {"every": "week", "timezone": "UTC"} | dict(body))
    row = PlanRow(
        str(uuid4()), author.scope.organization_id, "report", made["name"],
        orjson.dumps(made).decode(), _due_ms(made, author.now_ms), author.name, author.now_ms,
        author.now_ms,
    )  # fmt: skip
    store.keep_plan(row, audited(author, "report", "create", row.id, None, made))
    return Schedule.of(row)


def change_schedule(
    store: Store, author: Author, schedule_id: str, body: Mapping[str, Any]
) -> Schedule:
    """What isn't sent stays. A paused one that goes on sends the next period first."""
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
    store.keep_plan(row, audited(author, "report", "change", row.id, before.as_json(), made))
    return Schedule.of(row)


def drop_schedule(store: Store, author: Author, schedule_id: str) -> None:
    """What was sent stays in the list of messages."""
    require_whole(author.scope)
    before = find_schedule(store, author.scope, schedule_id)
    audit = audited(author, "report", "delete", schedule_id, before.as_json(), None)
    if not store.drop_plan(before.row, audit):
        raise NotFound(NO_REPORT)


def send_schedule(store: Store, author: Author, schedule_id: str) -> list[MessageRow]:
    """The latest finished period once more, to all receivers; the writer sends it."""
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
        raise bad(name=f"must be text of at most {NAME_LENGTH} characters")
    if body.get("every") not in EVERY:
        raise bad(every=f"must be one of {', '.join(EVERY)}")
    if body.get("timezone") not in zone_names():
        raise bad(timezone="must be an IANA time zone name")
    if not isinstance(paused, bool):
        raise bad(paused="must be true or false")
    kinds = {each.id: each.kind for each in store.alert_receivers(scope.organization_id)}
    receivers = _texts(body, "receivers")
    if not receivers or any(kinds.get(id) not in RECEIVER_KINDS for id in receivers):
        words = f"must name receivers that are there, of the kinds {', '.join(RECEIVER_KINDS)}"
        raise bad(receivers=words)
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
        raise bad(devices=f"must be at most {MOST_OF_REPORT} devices that are there")
    if group is not None and group not in {each.name for each in store.groups(scope)}:
        raise bad(group="isn't there")
    if group is not None and resolved:
        raise bad(group="can't be given together with devices")
    devices = list(dict.fromkeys(device.id for device in resolved if device is not None))
    return {"devices": devices, "group": group}
