"""`flask alerts rules`: what somebody is notified of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from api.commands.alert_arguments import author, by_field, length_ms, scope_of
from api.commands.command import Group
from api.commands.store_access import opened
from api.errors import UserError

if TYPE_CHECKING:
    from api.insight.alerts.rules import StoredRule

rules = Group("rules", help="Rules: what somebody is notified of, and who.")
_ORG = click.option("--org", "organization_id", required=True, help="The organization's id.")
_WHAT = (
    click.option("--kind", "kinds", multiple=True, help="A kind of finding; repeatable."),
    click.option("--severity", help="Findings of at least this severity."),
    click.option("--cost", type=float, help="Findings that cost at least this much a day."),
    click.option("--state", "states", multiple=True, help="A state: silent, degraded, no-data."),
    click.option("--budgets", is_flag=True, help="Budgets that a month will likely exceed."),
    click.option("--metric", help="A value, such as flow_rate."),
    click.option("--above", type=float, help="The value is above this."),
    click.option("--below", type=float, help="The value is below this."),
    click.option("--for", "duration", help="For how long the value is: 10m."),
    click.option("--device", "devices", multiple=True, help="Only this device; repeatable."),
    click.option("--group", "groups", multiple=True, help="Only this group; repeatable."),
    click.option("--hold", help="How long to wait before it fires: 1h."),
    click.option("--remind", "reminder", help="Time between reminders: 24h; 0s: none."),
    click.option("--receiver", "receivers", multiple=True, help="A receiver's id; repeatable."),
)


def _what(command: Callable[..., object]) -> Callable[..., object]:
    for option in reversed(_WHAT):
        command = option(command)
    return command


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """The options as a request says them; what wasn't given is left out."""
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
        body["limit"] = below if above is None else above
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
@_ORG
@_what
def add(name: str, organization_id: str, **given: Any) -> object:
    """Create a rule. What is open already is sent once."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        who = author(store, organization_id)
        return _row(management.create_rule(store, who, {"name": name, **_body(given)}))


@rules.command("change")
@click.argument("rule_id")
@_ORG
@click.option("--name", help="Another name.")
@click.option("--on/--off", "enabled", default=None, help="Switch it on or off.")
@_what
def change(rule_id: str, organization_id: str, **given: Any) -> object:
    """Change a rule. What isn't given stays."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        who = author(store, organization_id)
        _, after = management.change_rule(store, who, rule_id, _body(given))
        return _row(after)


@rules.command("delete")
@click.argument("rule_id")
@_ORG
def delete(rule_id: str, organization_id: str) -> object:
    """Delete a rule. Its alerts are resolved."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        gone = management.drop_rule(store, author(store, organization_id), rule_id)
    return {"deleted": gone.id}


@rules.command("list")
@_ORG
def list_all(organization_id: str) -> object:
    """List an organization's rules."""
    from api.insight.alerts import management

    with opened(read_only=True) as store:
        stored = management.rules(store, scope_of(store, organization_id))
    return [_row(each) for each in stored]


@rules.command("preview")
@_ORG
@_what
def preview_rule(organization_id: str, **given: Any) -> object:
    """Say how often a rule would have fired in the last 90 days, and on which devices."""
    from api.insight.alerts import management
    from api.insight.alerts.history import preview
    from api.routes.alert_objects import preview_object
    from api.timez import now_ms

    with opened(read_only=True) as store, by_field():
        scope = scope_of(store, organization_id)
        body = {"name": "Preview", **_body(given)}
        rule = management.checked_rule(store, scope, body)
        result = preview_object(preview(store, scope, rule, now_ms()))
    devices = [
        {"serialNumber": each["serialNumber"], "label": each["label"], "count": each["count"]}
        for each in result["devices"]
    ]
    return {**{name: result[name] for name in ("count", "open", "covered", "days", "note")},
            "devices": devices}  # fmt: skip


def _row(stored: StoredRule) -> dict[str, Any]:
    rule = stored.rule
    return {
        "id": stored.id,
        "name": rule.name,
        "on": rule.enabled,
        "what": rule.words(),
        "devices": list(rule.devices),
        "groups": list(rule.groups),
        "hold": rule.hold_ms // 1000,
        "reminder": rule.reminder_ms // 1000,
        "receivers": list(rule.receivers),
    }
