"""`weir tariffs`, `weir budgets` and `weir reports`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import orjson

from api.commands.alert_arguments import author, by_field, scope_of
from api.commands.command import Group
from api.commands.store_access import opened
from api.errors import UserError
from api.store.base import Store
from api.timez import stamp

if TYPE_CHECKING:
    from api.insight.budgets import BudgetState
    from api.insight.report_schedules import Schedule
    from api.insight.tariffs import StoredTariff

tariffs = Group("tariffs", help="Tariffs: rates by tier, season and time of use.")
budgets = Group("budgets", help="What a device or group may use or cost in a month.")
reports = Group("reports", help="Scheduled reports: who gets which report when.")
_ORG = click.option("--org", "organization_id", required=True, help="The organization's id.")

# --- Tariffs -------------------------------------------------------------------------------------

_WHAT = (
    click.option("--rate", help="The price of a gallon: 0.012."),
    click.option(
        "--tier", "tiers", multiple=True, help="The rate above a volume of the month: 3000=0.02."
    ),
    click.option("--fixed", help="A fixed charge a month."),
    click.option("--since", help="The day from which it holds: 2026-01-01."),
    click.option("--currency", help="A code such as EUR. Default: USD."),
    click.option(
        "--file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="JSON with versions, for seasons and times of use, as the interface has it.",
    ),
    click.option("--device", "devices", multiple=True, help="For this device; repeatable."),
    click.option("--group", "groups", multiple=True, help="For this group; repeatable."),
    click.option(
        "--everyone/--not-everyone", "everyone", default=None, help="For all other devices too."
    ),
)  # fmt: skip


def _what(command: Any) -> Any:
    for option in reversed(_WHAT):
        command = option(command)
    return command


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """The options as a request has them; what wasn't given is left out."""
    body = {} if given["file"] is None else _of_file(given["file"])
    if given["rate"] is not None:
        body["versions"] = [_version(given)]
    elif given["tiers"] or given["fixed"] or given["since"]:
        raise UserError("--tier, --fixed and --since need --rate")
    named = {"devices": list(given["devices"]), "groups": list(given["groups"])}
    named |= {"organization": given["everyone"], "currency": given["currency"]}
    return body | {name: value for name, value in named.items() if value not in (None, [])}


def _of_file(path: Path) -> dict[str, Any]:
    try:
        loaded: Any = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UserError(f"--file {path}: {error}") from None
    if not isinstance(loaded, dict):
        raise UserError(f"--file {path}: must be a JSON object")
    return cast(dict[str, Any], loaded)


def _version(given: dict[str, Any]) -> dict[str, Any]:
    rates = [{"perGallon": given["rate"]}]
    for tier in given["tiers"]:
        above, equals, rate = tier.partition("=")
        if not equals:
            raise UserError(f"--tier {tier}: must be GALLONS=RATE")
        rates.append({"perGallon": rate, "above": above})
    since, fixed = given["since"] or "1970-01-01", given["fixed"] or "0"
    return {"from": since, "fixed": fixed, "rates": rates}


@tariffs.command("add")
@click.argument("name")
@_ORG
@_what
def add_tariff(name: str, organization_id: str, **given: Any) -> object:
    """Create a tariff. Costs, budgets and findings are told by it from then on."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        who = author(store, organization_id)
        body = {**_body(given), "name": name}
        return _tariff(plan_changes.create_tariff(store, who, body))


@tariffs.command("change")
@click.argument("tariff_id")
@_ORG
@click.option("--name", help="Another name.")
@_what
def change_tariff(tariff_id: str, organization_id: str, name: str | None, **given: Any) -> object:
    """Change a tariff. What isn't given stays."""
    from api.insight import plan_changes

    body = _body(given) | ({} if name is None else {"name": name})
    with opened() as store, by_field():
        who = author(store, organization_id)
        return _tariff(plan_changes.change_tariff(store, who, tariff_id, body))


@tariffs.command("delete")
@click.argument("tariff_id")
@_ORG
def delete_tariff(tariff_id: str, organization_id: str) -> object:
    """Delete a tariff: devices have their plain prices again."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        plan_changes.drop_tariff(store, author(store, organization_id), tariff_id)
    return {"deleted": tariff_id}


@tariffs.command("list")
@_ORG
def list_tariffs(organization_id: str) -> object:
    """List the tariffs, with their rates and whom they are for."""
    from api.insight import plan_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        return [_tariff(each) for each in plan_changes.tariffs(store, scope)]


def _tariff(stored: StoredTariff) -> dict[str, Any]:
    return {"id": stored.row.id, **stored.as_json()}


# --- Budgets -------------------------------------------------------------------------------------


@budgets.command("set")
@click.argument("amount")
@_ORG
@click.option("--device", help="Of this device (any identifier).")
@click.option("--group", help="Of this group, instead of a device.")
@click.option(
    "--by", "measure", type=click.Choice(("volume", "cost")), default="volume", show_default=True,
    help="Gallons, or money.",
)  # fmt: skip
def set_budget(amount: str, organization_id: str, **whom: str | None) -> object:
    """Set a month's budget, in the place of the one that there is."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        who = author(store, organization_id)
        body = {name: value for name, value in whom.items() if value is not None}
        budget = plan_changes.set_budget(store, who, {**body, "amount": amount})
        return _budget(plan_changes.state_of(store, budget))


@budgets.command("delete")
@click.argument("budget_id")
@_ORG
def delete_budget(budget_id: str, organization_id: str) -> object:
    """Delete a budget."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        plan_changes.drop_budget(store, author(store, organization_id), budget_id)
    return {"deleted": budget_id}


@budgets.command("list")
@_ORG
def list_budgets(organization_id: str) -> object:
    """List budgets, and how their month stands."""
    from api.insight import plan_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        return [_budget(each) for each in plan_changes.budgets(store, scope)]


def _budget(state: BudgetState) -> dict[str, Any]:
    budget, end = state.budget, state.end
    return {
        "id": budget.row.id,
        budget.level: state.label,
        "by": budget.measure,
        "amount": float(budget.amount),
        "month": state.month or None,
        "soFar": None if end is None else end.so_far,
        "expected": None if end is None else end.expected,
        "chance": state.chance,
        "state": state.state,
    }


# --- Scheduled reports ---------------------------------------------------------------------------

_REPORT = (
    click.option("--every", type=click.Choice(("week", "month")), help="Default: week."),
    click.option("--zone", "timezone", help="The IANA zone of its days. Default: UTC."),
    click.option("--receiver", "receivers", multiple=True, help="A receiver's id; repeatable."),
    click.option("--device", "devices", multiple=True, help="Of this device; repeatable."),
    click.option("--group", help="Of the devices of this group."),
)


def _schedule(command: Any) -> Any:
    for option in reversed(_REPORT):
        command = option(command)
    return command


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    many = {name: list(given.pop(name)) for name in ("receivers", "devices")}
    return {n: value for n, value in {**given, **many}.items() if value not in (None, [])}


@reports.command("add")
@click.argument("name")
@_ORG
@_schedule
def add_report(name: str, organization_id: str, **given: Any) -> object:
    """Schedule a report of each finished week or month, for the receivers of alerts."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        who = author(store, organization_id)
        made = plan_changes.create_schedule(store, who, {"name": name, **_fields(given)})
        return _report(store, made)


@reports.command("change")
@click.argument("report_id")
@_ORG
@click.option("--name", help="Another name.")
@click.option("--paused/--resumed", "paused", default=None, help="Pause it, or let it go on.")
@_schedule
def change_report(report_id: str, organization_id: str, **given: Any) -> object:
    """Change, pause or resume a scheduled report. What isn't given stays."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        who = author(store, organization_id)
        return _report(store, plan_changes.change_schedule(store, who, report_id, _fields(given)))


@reports.command("send")
@click.argument("report_id")
@_ORG
def send_report(report_id: str, organization_id: str) -> object:
    """Queue the latest finished period once more; the writer sends it."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        who = author(store, organization_id)
        return {"queued": len(plan_changes.send_schedule(store, who, report_id))}


@reports.command("delete")
@click.argument("report_id")
@_ORG
def delete_report(report_id: str, organization_id: str) -> object:
    """Delete a scheduled report."""
    from api.insight import plan_changes

    with opened() as store, by_field():
        plan_changes.drop_schedule(store, author(store, organization_id), report_id)
    return {"deleted": report_id}


@reports.command("list")
@_ORG
def list_reports(organization_id: str) -> object:
    """List scheduled reports, with the state of the latest one sent."""
    from api.insight import plan_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        return [_report(store, each) for each in plan_changes.schedules(store, scope)]


def _report(store: Store, schedule: Schedule) -> dict[str, Any]:
    row = schedule.row
    messages = store.alert_messages(row.organization_id, thread=row.id, limit=1)
    latest = messages[0] if messages else None
    return {
        "id": row.id,
        **schedule.as_json(),
        "next": None if row.due_ms is None else stamp(row.due_ms),
        "latest": None if latest is None else f"{latest.state} {latest.response}".strip(),
    }
