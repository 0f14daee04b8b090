"""`flask alerts receivers`: who is notified."""

from __future__ import annotations

import sys
from typing import Any

import click

from api.commands.alert_arguments import author, by_field, scope_of
from api.commands.command import Group, Outcome
from api.commands.store_access import opened, settings

receivers = Group("receivers", help="Receivers: who is notified, and how.")
_ORG = click.option("--org", "organization_id", required=True, help="The organization's id.")
_FIELDS = (
    click.option("--url", help="Of a webhook and the like; -: read from the input."),
    click.option("--secret", help="A webhook's signing secret; -: read from the input."),
    click.option("--to", multiple=True, help="An e-mail address; repeatable."),
    click.option("--topic", help="The MQTT topic above the devices'."),
)


def _fields(command: Any) -> Any:
    for option in reversed(_FIELDS):
        command = option(command)
    return command


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """What was given; secrets may come by the input, where no other process sees them."""
    body = {name: value for name, value in given.items() if value not in (None, ())}
    for name in ("url", "secret"):
        if body.get(name) == "-":
            body[name] = sys.stdin.readline().strip()
    if "to" in body:
        body["to"] = list(body["to"])
    return body


@receivers.command("add")
@click.argument("name")
@_ORG
@click.option("--kind", required=True, help="webhook, email, mqtt, alertmanager or apprise.")
@_fields
def add(name: str, organization_id: str, **given: Any) -> object:
    """Create a receiver. A signing secret that is made for it is shown once."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        who = author(store, organization_id)
        body = {"name": name, **_body(given)}
        made, secrets = management.create_receiver(store, settings(), who, body)
    return {"id": made.id, "name": made.name, "kind": made.kind, **secrets}


@receivers.command("change")
@click.argument("receiver_id")
@_ORG
@click.option("--name", help="Another name.")
@click.option("--on/--off", "enabled", default=None, help="Switch it on or off.")
@_fields
def change(receiver_id: str, organization_id: str, **given: Any) -> object:
    """Change a receiver. What isn't given stays."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        who = author(store, organization_id)
        after = management.change_receiver(store, settings(), who, receiver_id, _body(given))
    return {"id": after.id, "name": after.name, "on": bool(after.enabled)}


@receivers.command("delete")
@click.argument("receiver_id")
@_ORG
def delete(receiver_id: str, organization_id: str) -> object:
    """Delete a receiver that no rule notifies."""
    from api.insight.alerts import management

    with opened() as store, by_field():
        gone = management.drop_receiver(store, author(store, organization_id), receiver_id)
    return {"deleted": gone.id}


@receivers.command("list")
@_ORG
def list_all(organization_id: str) -> object:
    """List an organization's receivers, without their secrets."""
    from api.insight.alerts import management
    from api.routes.alert_objects import receiver_object

    with opened(read_only=True) as store:
        rows = management.receivers(store, scope_of(store, organization_id))
    shown = [receiver_object(row, settings()) for row in rows]
    names = ("id", "name", "kind", "enabled", "trouble", "config")
    return [{name: each[name] for name in names} for each in shown]


@receivers.command("test")
@click.argument("receiver_id")
@_ORG
def test(receiver_id: str, organization_id: str) -> object:
    """Send a test from this process, and show what the receiver responded."""
    from api.commands.alert_transports import means
    from api.insight.alerts import management
    from api.insight.outbox import Outbox

    with opened() as store, by_field():
        message = management.queue_test(store, author(store, organization_id), receiver_id)
        outbox = Outbox(store, means(settings(), store))
        try:
            outbox.send_all()
            message = management.once_sent(store, message)
        finally:
            outbox.close()
    result = {"state": message.state, "response": message.response}
    return Outcome(result, 0 if message.state == "sent" else 1)
