"""Endpoints of alerts, rules, receivers, silences and sent messages."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify, storable
from api.insight.alerts import management, operator_actions
from api.insight.alerts.history import preview
from api.insight.alerts.management import Author
from api.openapi import Operation, ref
from api.params import NoBody, Query
from api.params.alerts import AcknowledgeBody, AlertListQuery, ReceiverBody, RuleBody, SilenceBody
from api.params.insight import PageQuery
from api.roles import Role
from api.routes.alert_objects import (
    alert_object,
    message_object,
    page,
    preview_object,
    receiver_object,
    rule_object,
    silence_object,
    whole_page,
)
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.settings import Settings
from api.store.base import Scope, Store
from api.store.base.alerts import AlertEntry, AlertQuery
from api.timez import now_ms

MOST_MESSAGES: Final = 1_000


def _author(call: ActionCall[Any]) -> Author:
    return Author(call.by, call.scope, call.now_ms)


def _rule_names(store: Store, scope: Scope) -> dict[str, str]:
    return {row.id: row.name for row in store.alert_rules(scope.organization_id)}


def _receiver_names(store: Store, scope: Scope) -> dict[str, str]:
    return {row.id: row.name for row in store.alert_receivers(scope.organization_id)}


def _undelivered(store: Store, scope: Scope) -> dict[str, str]:
    """Returns threads with a recent message that failed, and the message's state."""
    messages = store.alert_messages(scope.organization_id, limit=MOST_MESSAGES)
    failed = (
        row for row in messages if row.state == "dead" or (row.state == "queued" and row.attempts)
    )
    return {row.thread: row.state for row in failed}


# --- Alerts --------------------------------------------------------------------------------------


def list_alerts(call: Call[AlertListQuery]) -> Reply:
    params, store = call.query, call.store
    device = None if params.device is None else identify(store, call.scope, params.device)
    query = AlertQuery(
        device=device,
        group=params.group,
        rule_id=params.rule,
        states=params.states,
        from_ms=params.from_ms,
        to_ms=params.to_ms,
        limit=params.limit,
        offset=params.offset,
    )
    possible = all(storable(text) for text in (params.group, params.rule) if text is not None)
    count = store.count_alerts(call.scope, query) if possible else 0
    wanted = not params.count and count > params.offset
    entries = store.alerts(call.scope, query) if wanted else []
    names = _rule_names(store, call.scope) if entries else {}
    failed = _undelivered(store, call.scope) if entries else {}
    rows = [alert_object(each, names, failed) for each in entries]
    return Reply(page(rows, count, params.limit, params.offset))


def get_alert(call: Call[Query]) -> Reply:
    entry = operator_actions.alert(call.store, call.scope, call.identifier)
    thread = entry.alert.group_id or entry.alert.id
    rows = call.store.alert_messages(call.scope.organization_id, thread=thread)
    names = _receiver_names(call.store, call.scope)
    messages = [message_object(row, names) for row in rows]
    return Reply(_alert(call.store, call.scope, entry) | {"messages": messages})


def _alert(store: Store, scope: Scope, entry: AlertEntry) -> dict[str, Any]:
    return alert_object(entry, _rule_names(store, scope), _undelivered(store, scope))


def acknowledge(call: ActionCall[AcknowledgeBody]) -> Reply:
    entry = operator_actions.acknowledge(call.store, _author(call), call.identifier, call.body.text)
    return Reply(_alert(call.store, call.scope, entry))


def unacknowledge(call: ActionCall[NoBody]) -> Reply:
    entry = operator_actions.unacknowledge(call.store, _author(call), call.identifier)
    return Reply(_alert(call.store, call.scope, entry))


def list_messages(call: Call[PageQuery]) -> Reply:
    """Returns the messages of the whole organization, newest first."""
    params, mine = call.query, call.scope.grant.everything
    messages = call.store.alert_messages(call.scope.organization_id, limit=MOST_MESSAGES)
    rows = messages if mine else []
    names = _receiver_names(call.store, call.scope)
    shown = rows[params.offset : params.offset + params.limit]
    objects = [message_object(row, names) for row in shown]
    return Reply(page(objects, len(rows), params.limit, params.offset))


# --- Rules ---------------------------------------------------------------------------------------


def list_rules(call: Call[Query]) -> Reply:
    return Reply(
        whole_page([rule_object(r, call.store) for r in management.rules(call.store, call.scope)])
    )


def get_rule(call: Call[Query]) -> Reply:
    return Reply(rule_object(management.rule(call.store, call.scope, call.identifier), call.store))


def create_rule(call: ActionCall[RuleBody]) -> Reply:
    return Reply(
        rule_object(
            management.create_rule(call.store, _author(call), call.body.sent_fields), call.store
        )
    )


def change_rule(call: ActionCall[RuleBody]) -> Reply:
    _, after = management.change_rule(
        call.store, _author(call), call.identifier, call.body.sent_fields
    )
    return Reply(rule_object(after, call.store))


def drop_rule(call: ActionCall[NoBody]) -> Reply:
    return Reply({"deleted": management.drop_rule(call.store, _author(call), call.identifier).id})


def preview_rule(call: ActionCall[RuleBody]) -> Reply:
    body: dict[str, Any] = {"name": "Preview"} | call.body.sent_fields | {"receivers": None}
    rule = management.checked_rule(call.store, call.scope, body)
    return Reply(preview_object(preview(call.store, call.scope, rule, call.now_ms)))


# --- Receivers -----------------------------------------------------------------------------------


def _settings(call: ActionCall[Any]) -> Settings:
    assert call.settings is not None  # supplied by the service
    return call.settings


def list_receivers(call: Call[Query]) -> Reply:
    settings = call.settings or Settings.from_env({})
    rows = management.receivers(call.store, call.scope)
    return Reply(whole_page([receiver_object(row, settings) for row in rows]))


def create_receiver(call: ActionCall[ReceiverBody]) -> Reply:
    settings = _settings(call)
    made, secrets = management.create_receiver(
        call.store, settings, _author(call), call.body.sent_fields
    )
    return Reply(receiver_object(made, settings) | {"secrets": secrets})


def change_receiver(call: ActionCall[ReceiverBody]) -> Reply:
    settings = _settings(call)
    after = management.change_receiver(
        call.store, settings, _author(call), call.identifier, call.body.sent_fields
    )
    return Reply(receiver_object(after, settings))


def drop_receiver(call: ActionCall[NoBody]) -> Reply:
    gone = management.drop_receiver(call.store, _author(call), call.identifier)
    return Reply({"deleted": gone.id})


def test_receiver(call: ActionCall[NoBody]) -> Reply:
    """Waits for the writer to send it, and returns the receiver's response."""
    queued = management.queue_test(call.store, _author(call), call.identifier)
    message = management.once_sent(call.store, queued)
    return Reply(message_object(message, _receiver_names(call.store, call.scope)))


# --- Silences ------------------------------------------------------------------------------------


def list_silences(call: Call[Query]) -> Reply:
    rows = operator_actions.silences(call.store, call.scope)
    return Reply(whole_page([silence_object(row, now_ms()) for row in rows]))


def create_silence(call: ActionCall[SilenceBody]) -> Reply:
    made = operator_actions.create_silence(call.store, _author(call), call.body.sent_fields)
    return Reply(silence_object(made, call.now_ms))


def drop_silence(call: ActionCall[NoBody]) -> Reply:
    gone = operator_actions.drop_silence(call.store, _author(call), call.identifier)
    return Reply({"deleted": gone.id})


# --- The routes ----------------------------------------------------------------------------------

_ALERTS: Final = f"{INSIGHT_PREFIX}/alerts"
_RULES: Final = f"{INSIGHT_PREFIX}/rules"
_RECEIVERS: Final = f"{INSIGHT_PREFIX}/receivers"
_SILENCES: Final = f"{INSIGHT_PREFIX}/silences"
_NAMED: Final = {
    _ALERTS: "An alert's id.",
    _RULES: "A rule's id.",
    _RECEIVERS: "A receiver's id.",
    _SILENCES: "A silence's id.",
}


def _get(
    id: str, path: str, summary: str, answer: str, query: type[Query] = Query, **more: Any
) -> Operation:
    named = _NAMED[path.removesuffix("/{id}")] if path.endswith("{id}") else ""
    return Operation(
        id=id, path=path, tag="alerts", summary=summary, answer=ref(answer), query=query,
        named=named, **more,
    )  # fmt: skip


def _do(id: str, path: str, summary: str, answer: str, body: str, **more: Any) -> Operation:
    base = path.partition("/{id}")[0]
    named = _NAMED[base] if "{id}" in path else ""
    return Operation(
        id=id, path=path, tag="alerts", summary=summary, answer=ref(answer), query=Query,
        named=named, body=ref(body), **more,
    )  # fmt: skip


ALERT_ROUTES: Final = (
    Route(
        _get("listAlerts", _ALERTS, "Alerts: firing ones, worst first, then resolved ones, latest"
             " first", "AlertPage", AlertListQuery, named_in_query=True),
        list_alerts,
    ),
    Route(
        _get("getAlert", f"{_ALERTS}/{{id}}", "One alert with its messages", "AlertDetail"),
        get_alert,
    ),
    Route(_get("listRules", _RULES, "The rules of the organization", "AlertRulePage"), list_rules),
    Route(_get("getRule", f"{_RULES}/{{id}}", "One rule", "AlertRule"), get_rule),
    Route(
        _get("listReceivers", _RECEIVERS, "Receivers, without their secrets",
             "AlertReceiverPage"),
        list_receivers,
    ),
    Route(
        _get("listSilences", _SILENCES, "Silences of the devices that the credential sees",
             "AlertSilencePage"),
        list_silences,
    ),
    Route(
        _get("listMessages", f"{INSIGHT_PREFIX}/messages", "Sent and queued messages, newest first",
             "AlertMessagePage", PageQuery),
        list_messages,
    ),
)  # fmt: skip
_ADMIN: Final = Role.ADMINISTRATOR
ALERT_ACTIONS: Final = (
    Action(
        _do("acknowledgeAlert", f"{_ALERTS}/{{id}}/acknowledge",
            "Acknowledges an alert: no more reminders", "Alert", "AcknowledgeBody"),
        acknowledge,
        AcknowledgeBody,
    ),
    Action(
        _do("unacknowledgeAlert", f"{_ALERTS}/{{id}}/unacknowledge",
            "Undoes an acknowledgement", "Alert", "NoBody"),
        unacknowledge,
        NoBody,
    ),
    Action(
        _do("createRule", _RULES, "Creates a rule; open conditions are sent once", "AlertRule",
            "RuleBody"),
        create_rule,
        RuleBody,
        _ADMIN,
    ),
    Action(
        _do("changeRule", f"{_RULES}/{{id}}", "Changes a rule; fields that aren't sent stay",
            "AlertRule", "RuleBody", verb="patch"),
        change_rule,
        RuleBody,
        _ADMIN,
    ),
    Action(
        _do("deleteRule", f"{_RULES}/{{id}}", "Deletes a rule; its alerts are resolved", "Deleted",
            "NoBody", verb="delete"),
        drop_rule,
        NoBody,
        _ADMIN,
    ),
    Action(
        _do("previewRule", f"{_RULES}/preview",
            "How often a rule would have fired in the last 90 days", "RulePreview", "RuleBody"),
        preview_rule,
        RuleBody,
        Role.VIEWER,
    ),
    Action(
        _do("createReceiver", _RECEIVERS, "Creates a receiver", "AlertReceiverMade",
            "ReceiverBody"),
        create_receiver,
        ReceiverBody,
        _ADMIN,
    ),
    Action(
        _do("changeReceiver", f"{_RECEIVERS}/{{id}}",
            "Changes a receiver; fields that aren't sent stay, secrets included", "AlertReceiver",
            "ReceiverBody", verb="patch"),
        change_receiver,
        ReceiverBody,
        _ADMIN,
    ),
    Action(
        _do("deleteReceiver", f"{_RECEIVERS}/{{id}}", "Deletes a receiver that no rule notifies",
            "Deleted", "NoBody", verb="delete"),
        drop_receiver,
        NoBody,
        _ADMIN,
    ),
    Action(
        _do("testReceiver", f"{_RECEIVERS}/{{id}}/test",
            "Sends a test, and shows what the receiver responded", "AlertMessage", "NoBody"),
        test_receiver,
        NoBody,
        _ADMIN,
    ),
    Action(
        _do("createSilence", _SILENCES, "Sends no alerts of a device, group, rule or kind for a"
            " while", "AlertSilence", "SilenceBody"),
        create_silence,
        SilenceBody,
    ),
    Action(
        _do("deleteSilence", f"{_SILENCES}/{{id}}", "Ends a silence", "Deleted", "NoBody",
            verb="delete"),
        drop_silence,
        NoBody,
    ),
)  # fmt: skip
