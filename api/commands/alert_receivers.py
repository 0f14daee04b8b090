"""`weir alerts receivers`: the receivers of alerts."""

from __future__ import annotations

import sys
from typing import Any

import click

from api.commands.alert_arguments import add_delete, author, by_field, changing, scope_of
from api.commands.arguments import ORG, options
from api.commands.command import Group, Outcome
from api.commands.store_access import opened, settings

receivers = Group("receivers", help="Receivers of alerts: webhooks, e-mail, MQTT, ….")
_fields = options(
    click.option(
        "--url", help="The address of a webhook and the like; - reads it from standard input."
    ),
    click.option("--secret", help="A webhook's signing secret; - reads it from standard input."),
    click.option("--to", multiple=True, help="An e-mail address; repeatable."),
    click.option("--topic", help="The MQTT topic above the devices'."),
)


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the given options; secrets may come from standard input, where other processes can't
    see them."""
    body = {name: value for name, value in given.items() if value not in (None, ())}
    for name in ("url", "secret"):
        if body.get(name) == "-":
            body[name] = sys.stdin.readline().strip()
    if "to" in body:
        body["to"] = list(body["to"])
    return body


@receivers.command("add")
@click.argument("name")
@ORG
@click.option(
    "--kind", required=True, help="Its kind, such as webhook or email; a wrong one lists all kinds."
)
@_fields
def add(name: str, organization_id: str, **given: Any) -> object:
    """Create a receiver. A signing secret that is generated for it is shown once."""
    from api.insight.alerts import management

    with changing(organization_id) as (store, author):
        body = {"name": name, **_body(given)}
        made, secrets = management.create_receiver(store, settings(), author, body)
    return {"id": made.id, "name": made.name, "kind": made.kind, **secrets}


@receivers.command("change")
@click.argument("receiver_id")
@ORG
@click.option("--name", help="Another name.")
@click.option("--on/--off", "enabled", default=None, help="Switch it on or off.")
@_fields
def change(receiver_id: str, organization_id: str, **given: Any) -> object:
    """Change a receiver. Options that aren't given stay."""
    from api.insight.alerts import management

    with changing(organization_id) as (store, author):
        after = management.change_receiver(store, settings(), author, receiver_id, _body(given))
    return {"id": after.id, "name": after.name, "on": bool(after.enabled)}


add_delete(
    receivers,
    "receiver",
    "Delete a receiver that no rule notifies.",
    "alerts.management:drop_receiver",
)


@receivers.command("list")
@ORG
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
@ORG
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
