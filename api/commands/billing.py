"""Commands of billing: `weir tariffs`, `weir budgets` and `weir reports`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import orjson

from api.commands.alert_arguments import add_delete, changing, scope_of
from api.commands.arguments import ORG, UNITS, options, units_of
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
reports = Group("reports", help="Scheduled reports: which report goes to whom, and when.")

# --- Tariffs -------------------------------------------------------------------------------------

_what = options(
    click.option("--rate", help="The price of a gallon or m³: 0.012."),
    click.option(
        "--tier", "tiers", multiple=True, help="The rate above a volume of the month: 3000=0.02."
    ),
    click.option("--fixed", help="A fixed charge a month."),
    click.option("--since", help="The day from which it holds: 2026-01-01."),
    click.option("--currency", help="A code such as EUR. Default: the organization's."),
    click.option(
        "--file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="JSON with versions, for seasons and times of use. Rates are as in the interface, in"
        " gallons, or lines as in the list, in the units of --units.",
    ),
    click.option("--device", "devices", multiple=True, help="For this device; repeatable."),
    click.option("--group", "groups", multiple=True, help="For this group; repeatable."),
    click.option(
        "--everyone/--not-everyone", "everyone", default=None, help="For all other devices too."
    ),
    UNITS,
)  # fmt: skip


def _body(given: dict[str, Any], units: str) -> dict[str, Any]:
    """The options as a request has them; what wasn't given is left out."""
    body = {} if given["file"] is None else _of_file(given["file"], units)
    if given["rate"] is not None:
        body["versions"] = [_version(given, units)]
    elif given["tiers"] or given["fixed"] or given["since"]:
        raise UserError("--tier, --fixed and --since need --rate")
    named = {"devices": list(given["devices"]), "groups": list(given["groups"])}
    named |= {"organization": given["everyone"], "currency": given["currency"]}
    return body | {name: value for name, value in named.items() if value not in (None, [])}


def _of_file(path: Path, units: str) -> dict[str, Any]:
    try:
        loaded: Any = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UserError(f"--file {path}: {error}") from None
    if not isinstance(loaded, dict):
        raise UserError(f"--file {path}: must be a JSON object")
    body = cast(dict[str, Any], loaded)
    for version in _objects(body.get("versions")):
        rates: Any = version.get("rates")
        if isinstance(rates, list):
            version["rates"] = [_rate(each, units) for each in cast(list[Any], rates)]
    return body


def _objects(given: Any) -> list[dict[str, Any]]:
    listed = cast(list[Any], given) if isinstance(given, list) else []
    return [cast(dict[str, Any], each) for each in listed if isinstance(each, dict)]


def _rate(given: Any, units: str) -> Any:
    """A rate of a file as a request has it: a line is in the reader's units. The service checks the
    rest."""
    from api.metering.rate_lines import read_rate_line

    try:
        return read_rate_line(given, units) if isinstance(given, str) else given
    except ValueError as error:
        raise UserError(f"--file: {error}") from None


def _version(given: dict[str, Any], units: str) -> dict[str, Any]:
    from api.metering.rate_lines import rate_body

    rates = [rate_body(given["rate"], "0", units)]
    for tier in given["tiers"]:
        above, equals, rate = tier.partition("=")
        if not equals:
            raise UserError(f"--tier {tier}: must be VOLUME=RATE")
        rates.append(rate_body(rate, above, units))
    since, fixed = given["since"] or "1970-01-01", given["fixed"] or "0"
    return {"from": since, "fixed": fixed, "rates": rates}


@tariffs.command("add")
@click.argument("name")
@ORG
@_what
def add_tariff(name: str, organization_id: str, units: str | None, **given: Any) -> object:
    """Create a tariff. From then on costs, budgets and findings use it."""
    from api.insight import billing_changes

    with changing(organization_id) as (store, author):
        shown = units_of(store, organization_id, units)
        body = {**_body(given, shown), "name": name}
        return _tariff(billing_changes.create_tariff(store, author, body), shown)


@tariffs.command("change")
@click.argument("tariff_id")
@ORG
@click.option("--name", help="Another name.")
@_what
def change_tariff(
    tariff_id: str, organization_id: str, name: str | None, units: str | None, **given: Any
) -> object:
    """Change a tariff. Options that aren't given stay."""
    from api.insight import billing_changes

    with changing(organization_id) as (store, author):
        shown = units_of(store, organization_id, units)
        body = _body(given, shown) | ({} if name is None else {"name": name})
        return _tariff(billing_changes.change_tariff(store, author, tariff_id, body), shown)


add_delete(
    tariffs,
    "tariff",
    "Delete a tariff: devices have their plain prices again.",
    "billing_changes:drop_tariff",
)


@tariffs.command("list")
@ORG
@UNITS
def list_tariffs(organization_id: str, units: str | None) -> object:
    """List the tariffs, with their rates and devices."""
    from api.insight import billing_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        shown = units_of(store, organization_id, units)
        return [_tariff(each, shown) for each in billing_changes.tariffs(store, scope)]


def _tariff(stored: StoredTariff, units: str) -> dict[str, Any]:
    """``rates``: of the latest version, as lines in these units; ``versions``: as a request has
    them, in gallons."""
    from api.metering.rate_lines import rate_line
    from api.metering.units import LARGE, PER_GALLON, shown_unit

    tariff = stored.as_json()
    volume = f" {shown_unit(LARGE, units).name}"
    rates = [rate_line(rate, units, volume) for rate in tariff["versions"][-1]["rates"]]
    per = f"{tariff['currency']} {shown_unit(PER_GALLON, units).name}"
    return {"id": stored.row.id, "per": per, "rates": rates, **tariff}


# --- Budgets -------------------------------------------------------------------------------------


@budgets.command("set")
@click.argument("amount")
@ORG
@click.option("--device", help="Of this device (any identifier).")
@click.option("--group", help="Of this group, instead of a device.")
@click.option(
    "--by", "measure", type=click.Choice(("volume", "cost")), default="volume", show_default=True,
    help="Gallons or m³, or money.",
)  # fmt: skip
@UNITS
def set_budget(
    amount: str, organization_id: str, units: str | None, **target: str | None
) -> object:
    """Set a month's budget, replacing an existing one."""
    from api.insight import billing_changes
    from api.metering.tariff import BUDGET_DIGITS
    from api.metering.units import LARGE, shown_unit

    with changing(organization_id) as (store, author):
        body = {name: value for name, value in target.items() if value is not None}
        shown = units_of(store, organization_id, units)
        unit = shown_unit(LARGE if body["measure"] == "volume" else "", shown)
        stored = {**body, "amount": unit.stored_text(amount, BUDGET_DIGITS)}
        budget = billing_changes.set_budget(store, author, stored)
        return _budget(billing_changes.state_of(store, budget), shown)


add_delete(budgets, "budget", "Delete a budget.", "billing_changes:drop_budget")


@budgets.command("list")
@ORG
@UNITS
def list_budgets(organization_id: str, units: str | None) -> object:
    """List budgets, and the state of their month."""
    from api.insight import billing_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        shown = units_of(store, organization_id, units)
        return [_budget(each, shown) for each in billing_changes.budgets(store, scope)]


def _budget(state: BudgetState, units: str) -> dict[str, Any]:
    from api.metering.units import LARGE, shown_unit

    budget, end = state.budget, state.end
    unit = shown_unit(LARGE if budget.measure == "volume" else state.currency or "", units)
    return {
        "id": budget.row.id,
        budget.level: state.label,
        "by": budget.measure,
        "unit": unit.name or None,
        "amount": unit.shown(float(budget.amount)),
        "month": state.month or None,
        "soFar": None if end is None else unit.shown(end.so_far),
        "expected": None if end is None else unit.shown(end.expected),
        "chance": state.chance,
        "state": state.state,
    }


# --- Scheduled reports ---------------------------------------------------------------------------

_schedule = options(
    click.option("--every", type=click.Choice(("week", "month")), help="Default: week."),
    click.option("--zone", "timezone", help="The IANA zone of its days. Default: UTC."),
    click.option("--receiver", "receivers", multiple=True, help="A receiver's id; repeatable."),
    click.option("--device", "devices", multiple=True, help="Of this device; repeatable."),
    click.option("--group", help="Of the devices of this group."),
)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    many = {name: list(given.pop(name)) for name in ("receivers", "devices")}
    return {n: value for n, value in {**given, **many}.items() if value not in (None, [])}


@reports.command("add")
@click.argument("name")
@ORG
@_schedule
def add_report(name: str, organization_id: str, **given: Any) -> object:
    """Schedule a report of each finished week or month, for the receivers of alerts."""
    from api.insight import billing_changes

    with changing(organization_id) as (store, author):
        made = billing_changes.create_schedule(store, author, {"name": name, **_fields(given)})
        return _report(store, made)


@reports.command("change")
@click.argument("report_id")
@ORG
@click.option("--name", help="Another name.")
@click.option("--paused/--resumed", "paused", default=None, help="Pause it, or let it go on.")
@_schedule
def change_report(report_id: str, organization_id: str, **given: Any) -> object:
    """Change, pause or resume a scheduled report. Options that aren't given stay."""
    from api.insight import billing_changes

    with changing(organization_id) as (store, author):
        return _report(
            store, billing_changes.change_schedule(store, author, report_id, _fields(given))
        )


@reports.command("send")
@click.argument("report_id")
@ORG
def send_report(report_id: str, organization_id: str) -> object:
    """Queue the report of the latest finished period again; the writer sends it."""
    from api.insight import billing_changes

    with changing(organization_id) as (store, author):
        return {"queued": len(billing_changes.send_schedule(store, author, report_id))}


add_delete(reports, "report", "Delete a scheduled report.", "billing_changes:drop_schedule")


@reports.command("list")
@ORG
def list_reports(organization_id: str) -> object:
    """List scheduled reports, with the state of the latest one sent."""
    from api.insight import billing_changes

    with opened(read_only=True) as store:
        scope = scope_of(store, organization_id)
        return [_report(store, each) for each in billing_changes.schedules(store, scope)]


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
