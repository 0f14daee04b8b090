"""`weir alerts`: alerts, rules and receivers."""

from __future__ import annotations

from typing import Any

import click

from api.commands.alert_arguments import author, changing, length_ms, scope_of
from api.commands.alert_receivers import receivers
from api.commands.alert_rules import rules
from api.commands.arguments import ORG
from api.commands.command import Group, when
from api.commands.store_access import opened, settings
from api.errors import NotFound, UserError
from api.timez import now_ms

group = Group("alerts", help="Alerts, their rules and receivers.")
silences = Group("silences", help="Devices, groups or rules whose alerts aren't sent for a while.")
for _command in (rules, receivers, silences):
    group.add_command(_command)


@group.command("list")
@ORG
@click.option("--resolved", is_flag=True, help="Resolved alerts instead of firing ones.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True)
def list_all(organization_id: str, resolved: bool, limit: int) -> object:
    """List alerts: firing ones worst first, resolved ones latest first."""
    from api.insight.alerts.messages import subject_label
    from api.insight.alerts.model import Episode
    from api.routes.alert_objects import outcome
    from api.store.base.alerts import AlertQuery

    with opened(read_only=True) as store:
        query = AlertQuery(states=("resolved" if resolved else "firing",), limit=limit)
        entries = store.alerts(scope_of(store, organization_id), query)
    rows: list[dict[str, Any]] = []
    for entry in entries:
        episode = Episode.of(entry.alert)
        rows.append(
            {
                "id": episode.id,
                "what": subject_label(episode),
                "device": entry.label or entry.serial_number,
                "severity": episode.condition.severity,
                "since": when(episode.condition.start_ms),
                "until": when(episode.resolved_ms),
                "outcome": outcome(episode),
                "acknowledged": episode.acknowledged_text or when(episode.acknowledged_ms),
            }
        )
    return rows


@group.command()
@click.argument("alert_id")
@ORG
@click.option("--text", default="", help="A note: who is working on it, and how.")
@click.option("--undo", is_flag=True, help="Undo the acknowledgement.")
def acknowledge(alert_id: str, organization_id: str, text: str, undo: bool) -> object:
    """Acknowledge an alert: it sends no more reminders."""
    from api.insight.alerts import operator_actions

    with changing(organization_id) as (store, author):
        if undo:
            operator_actions.unacknowledge(store, author, alert_id)
        else:
            operator_actions.acknowledge(store, author, alert_id, text)
    return {"id": alert_id, "acknowledged": not undo}


@group.command()
@ORG
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, show_default=True)
def messages(organization_id: str, limit: int) -> object:
    """List messages, sent and queued, newest first."""
    with opened(read_only=True) as store:
        scope_of(store, organization_id)
        names = {row.id: row.name for row in store.alert_receivers(organization_id)}
        rows = store.alert_messages(organization_id, limit=limit)
    return [
        {
            "id": row.id,
            "receiver": names.get(row.receiver_id),
            "event": row.event,
            "state": row.state,
            "created": when(row.created_ms),
            "attempts": row.attempts,
            "response": row.response,
        }
        for row in rows
    ]


@group.command()
@click.option("--once", is_flag=True, help="Send what is due now, then end.")
def send(once: bool) -> object:
    """Evaluate the rules and send what is due. The writer does this itself: this command is for a
    machine without one, or to see what happens."""
    from threading import Event

    from api.commands.alert_transports import means
    from api.insight.alerts.evaluator import AlertEvaluator, AlertThreads
    from api.insight.outbox import Outbox

    with opened() as store:
        outbox = Outbox(store, means(settings(), store))
        try:
            if once:
                queued = AlertEvaluator(store).run()
                return {"queued": queued, **outbox.send_all()}
            thread = AlertThreads(store, outbox.send)
            thread.start()
            try:
                Event().wait()
            except KeyboardInterrupt:
                thread.stop()
            return None
        finally:
            outbox.close()


# --- Silences ------------------------------------------------------------------------------------


@silences.command("add")
@ORG
@click.option("--device", help="Only this device, by any identifier.")
@click.option("--group", "group_name", help="Only the devices of this group.")
@click.option("--rule", help="Only this rule, by its id.")
@click.option("--kind", help="Only this kind of finding.")
@click.option("--for", "lasts", required=True, help="How long: 90m, 8h, 2d.")
@click.option("--reason", default="", help="Why.")
def add_silence(organization_id: str, group_name: str | None, lasts: str, **fields: Any) -> object:
    """Send no alerts for a while. Alerts that still fire at its end are sent then."""
    from api.insight.alerts import operator_actions

    with changing(organization_id) as (store, author):
        until_ms = author.now_ms + length_ms(lasts, "--for")
        made = operator_actions.create_silence(
            store, author, {**fields, "group": group_name, "until_ms": until_ms}
        )
    return {"id": made.id, "until": when(made.until_ms)}


@silences.command("list")
@ORG
def list_silences(organization_id: str) -> object:
    """List silences, the latest end first."""
    with opened(read_only=True) as store:
        scope_of(store, organization_id)
        rows = store.alert_silences(organization_id)
    return [
        {
            "id": row.id,
            "active": row.from_ms <= now_ms() < row.until_ms,
            "from": when(row.from_ms),
            "until": when(row.until_ms),
            "device": row.device_id,
            "group": row.group_name,
            "rule": row.rule_id,
            "kind": row.subject,
            "reason": row.reason,
        }
        for row in rows
    ]


@silences.command("delete")
@click.argument("silence_id")
@ORG
def drop_silence(silence_id: str, organization_id: str) -> object:
    """End a silence."""
    from api.insight.alerts import operator_actions

    with opened() as store:
        try:
            operator_actions.drop_silence(store, author(store, organization_id), silence_id)
        except NotFound:
            raise UserError(f"no silence {silence_id}: see weir alerts silences list") from None
    return {"deleted": silence_id}
