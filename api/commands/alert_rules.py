"""`weir alerts rules`: the conditions that make alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from api.commands.alert_arguments import add_delete, by_field, changing, length_ms, scope_of
from api.commands.arguments import ORG, UNITS, options, units_of
from api.commands.command import Group
from api.commands.store_access import opened
from api.errors import UserError

if TYPE_CHECKING:
    from api.insight.alerts.rules import StoredRule
    from api.store.base import Store

rules = Group(
    "rules", help="Rules: which findings, states and values make alerts, and who is notified."
)
_what = options(
    click.option("--kind", "kinds", multiple=True, help="A kind of finding; repeatable."),
    click.option("--severity", help="Findings of at least this severity."),
    click.option("--cost", type=float, help="Findings that cost at least this much a day."),
    click.option("--state", "states", multiple=True, help="A state: silent, degraded, no-data."),
    click.option("--budgets", is_flag=True, help="Budgets that the month is likely to exceed."),
    click.option("--metric", help="A value, such as flow_rate."),
    click.option("--above", type=float, help="The value is above this."),
    click.option("--below", type=float, help="The value is below this."),
    click.option("--for", "duration", help="How long the value stays there: 10m."),
    click.option("--device", "devices", multiple=True, help="Only this device; repeatable."),
    click.option("--group", "groups", multiple=True, help="Only this group; repeatable."),
    click.option("--hold", help="How long to wait before it fires: 1h."),
    click.option("--remind", "reminder", help="Time between reminders: 24h; 0s: none."),
    click.option("--receiver", "receivers", multiple=True, help="A receiver's id; repeatable."),
    UNITS,
)


def _body(given: dict[str, Any], units: str, metric: str = "") -> dict[str, Any]:
    """Returns the options as a request has them; options that weren't given are left out.
    ``units``: of the limit. ``metric``: the rule's, if the options name none."""
    from api.insight.alerts.rules import METRIC_BY_NAME
    from api.metering.units import shown_unit

    above, below = given.pop("above"), given.pop("below")
    if above is not None and below is not None:
        raise UserError("--above or --below, not both")
    body = {name: value for name, value in given.items() if value not in (None, ())}
    if "cost" in body:
        body["costPerDay"] = body.pop("cost")
    for name, option in (("duration", "--for"), ("hold", "--hold"), ("reminder", "--remind")):
        if name in body:
            body[name] = length_ms(body[name], option) // 1000
    if above is not None or below is not None:
        measured = METRIC_BY_NAME.get(body.get("metric", metric))
        unit = shown_unit(measured.unit if measured else "", units)
        body["limit"] = unit.stored(next(each for each in (above, below) if each is not None))
        body["comparison"] = "below" if above is None else "above"
    for name in ("kinds", "states", "devices", "groups", "receivers"):
        if name in body:
            body[name] = list(body[name])
    sources = {"budgets": "budget", "metric": "value", "states": "state"}
    named = [source for name, source in sources.items() if body.get(name)]
    body.pop("budgets", None)
    return body | ({"source": named[0]} if named else {})


@rules.command("add")
@click.argument("name")
@ORG
@_what
def add(name: str, organization_id: str, units: str | None, **given: Any) -> object:
    """Create a rule. Findings and states that are already open are sent once."""
    from api.insight.alerts import management

    with changing(organization_id) as (store, author):
        shown = units_of(store, organization_id, units)
        body = {"name": name, **_body(given, shown)}
        return _row(store, management.create_rule(store, author, body), shown)


@rules.command("change")
@click.argument("rule_id")
@ORG
@click.option("--name", help="Another name.")
@click.option("--on/--off", "enabled", default=None, help="Switch it on or off.")
@_what
def change(rule_id: str, organization_id: str, units: str | None, **given: Any) -> object:
    """Change a rule. Options that aren't given stay."""
    from api.insight.alerts import management

    with changing(organization_id) as (store, author):
        shown = units_of(store, organization_id, units)
        metric = management.rule(store, author.scope, rule_id).rule.metric
        _, after = management.change_rule(store, author, rule_id, _body(given, shown, metric))
        return _row(store, after, shown)


add_delete(
    rules,
    "rule",
    "Delete a rule. Its alerts are resolved.",
    "alerts.management:drop_rule",
)


@rules.command("list")
@ORG
@UNITS
def list_all(organization_id: str, units: str | None) -> object:
    """List an organization's rules."""
    from api.insight.alerts import management

    with opened(read_only=True) as store:
        stored = management.rules(store, scope_of(store, organization_id))
        shown = units_of(store, organization_id, units)
        return [_row(store, each, shown) for each in stored]


@rules.command("preview")
@ORG
@_what
def preview_rule(organization_id: str, units: str | None, **given: Any) -> object:
    """Show how often a rule would have fired in the last 90 days, and on which devices."""
    from api.insight.alerts import management
    from api.insight.alerts.history import preview
    from api.routes.alert_objects import preview_object
    from api.timez import now_ms

    with opened(read_only=True) as store, by_field():
        scope = scope_of(store, organization_id)
        shown = units_of(store, organization_id, units)
        body = {"name": "Preview", **_body(given, shown)}
        rule = management.checked_rule(store, scope, body)
        result = preview_object(preview(store, scope, rule, now_ms()))
    devices = [
        {"serialNumber": each["serialNumber"], "label": each["label"], "count": each["count"]}
        for each in result["devices"]
    ]
    return {**{name: result[name] for name in ("count", "open", "covered", "days", "note")},
            "devices": devices}  # fmt: skip


def _row(store: Store, stored: StoredRule, units: str) -> dict[str, Any]:
    from api.domain.organization import currency_of
    from api.metering.units import words_in

    rule = stored.rule
    return {
        "id": stored.id,
        "name": rule.name,
        "on": rule.enabled,
        "what": words_in(rule.words(currency_of(store, stored.organization_id)), units),
        "devices": list(rule.devices),
        "groups": list(rule.groups),
        "hold": rule.hold_ms // 1000,
        "reminder": rule.reminder_ms // 1000,
        "receivers": list(rule.receivers),
    }
