"""Changes of rules and receivers by administrators. Those by operators: `operator_actions`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import orjson

from api.domain.identify import storable
from api.errors import Conflict, Forbidden, NotFound, invalid_fields
from api.insight.alerts.rules import NAME_LENGTH, Rule, RuleProblems, StoredRule, parse_rule
from api.insight.receivers import KIND_BY_NAME
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.settings import Settings
from api.store.base import AuditEntry, Scope, Store
from api.store.base.alerts import MessageRow, ReceiverRow

NO_RULE: Final = "Rule not found, or you don't have access."
NO_RECEIVER: Final = "Receiver not found, or you don't have access."
WHOLE: Final = "Rules and receivers need a credential for all of the organization's devices."
TEST_S: Final = 12.0
_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a change: a name that is no secret, the time, and the scope."""

    name: str
    scope: Scope
    now_ms: int


def require_whole(scope: Scope) -> None:
    """Rules notify about the whole organization."""
    if not scope.grant.everything:
        raise Forbidden(WHOLE)


def audited(
    author: Author,
    kind: str,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str = "",
) -> list[AuditEntry]:
    """Returns the audit log entries of a change, without secrets."""
    whose = author.scope.organization_id
    return [
        AuditEntry(author.now_ms, whose, author.name, kind, action, subject, before, after, reason)
    ]


# --- Rules ---------------------------------------------------------------------------------------


def rules(store: Store, scope: Scope) -> list[StoredRule]:
    """Returns no rules for a scope of some devices only."""
    if not scope.grant.everything:
        return []
    return [StoredRule.of(row) for row in store.alert_rules(scope.organization_id)]


def rule(store: Store, scope: Scope, rule_id: str) -> StoredRule:
    stored = next((each for each in rules(store, scope) if each.id == rule_id), None)
    if stored is None:
        raise NotFound(NO_RULE)
    return stored


def checked_rule(store: Store, scope: Scope, body: Mapping[str, Any]) -> Rule:
    """Checks a rule. Raises BadRequest naming each bad field. Devices may be given by any
    identifier."""
    try:
        parsed = parse_rule(body)
    except RuleProblems as error:
        raise invalid_fields(**error.by_field) from None
    receiver_ids = {each.id for each in store.alert_receivers(scope.organization_id)}
    if any(id not in receiver_ids for id in parsed.receivers):
        raise invalid_fields(receivers="names a receiver that isn't there")
    if not all(storable(each) for each in (*parsed.devices, *parsed.groups)):
        raise invalid_fields(devices="names a device that isn't there")
    devices = store.resolve(scope, list(parsed.devices)) if parsed.devices else []
    if any(device is None for device in devices):
        raise invalid_fields(devices="names a device that isn't there, or that you can't see")
    ids = tuple(dict.fromkeys(device.id for device in devices if device is not None))
    return Rule(**{name: getattr(parsed, name) for name in _PLAIN}, devices=ids)


_PLAIN: Final = tuple(name for name in Rule.__dataclass_fields__ if name != "devices")


def create_rule(store: Store, author: Author, body: Mapping[str, Any]) -> StoredRule:
    require_whole(author.scope)
    made = StoredRule(
        str(uuid4()),
        author.scope.organization_id,
        checked_rule(store, author.scope, body),
        author.name,
        author.now_ms,
        author.now_ms,
    )
    audit = audited(author, "rule", "create", made.id, None, made.rule.as_json())
    store.keep_rule(made.row(), audit)
    return made


def change_rule(
    store: Store, author: Author, rule_id: str, body: Mapping[str, Any]
) -> tuple[StoredRule, StoredRule]:
    """Returns (before, after). Fields that aren't sent stay."""
    require_whole(author.scope)
    before = rule(store, author.scope, rule_id)
    after = StoredRule(
        before.id,
        before.organization_id,
        checked_rule(store, author.scope, before.rule.as_json() | dict(body)),
        before.created_by,
        before.created_ms,
        author.now_ms,
    )
    states = before.rule.as_json(), after.rule.as_json()
    store.keep_rule(after.row(), audited(author, "rule", "change", rule_id, *states))
    return before, after


def drop_rule(store: Store, author: Author, rule_id: str) -> StoredRule:
    require_whole(author.scope)
    before = rule(store, author.scope, rule_id)
    audit = audited(author, "rule", "delete", rule_id, before.rule.as_json(), None)
    if not store.drop_rule(before.organization_id, rule_id, audit):
        raise NotFound(NO_RULE)
    return before


# --- Receivers -----------------------------------------------------------------------------------


def receivers(store: Store, scope: Scope) -> list[ReceiverRow]:
    return store.alert_receivers(scope.organization_id) if scope.grant.everything else []


def receiver(store: Store, scope: Scope, receiver_id: str) -> ReceiverRow:
    row = next((each for each in receivers(store, scope) if each.id == receiver_id), None)
    if row is None:
        raise NotFound(NO_RECEIVER)
    return row


def create_receiver(
    store: Store, settings: Settings, author: Author, body: Mapping[str, Any]
) -> tuple[ReceiverRow, dict[str, str]]:
    """Creates a receiver. Returns it with the secrets generated for it, which are shown only
    once."""
    require_whole(author.scope)
    kind = body.get("kind")
    if kind not in KIND_BY_NAME:
        raise invalid_fields(kind=f"must be one of {', '.join(KIND_BY_NAME)}")
    config, secret = _parsed(str(kind), body)
    made = ReceiverRow(
        id=str(uuid4()),
        organization_id=author.scope.organization_id,
        name=_name(body),
        kind=str(kind),
        config=orjson.dumps(config).decode(),
        secret=ReceiverSeal(settings.secret).close(secret),
        enabled=int(_flag(body, "enabled", default=True)),
        trouble="",
        created_by=author.name,
        created_ms=author.now_ms,
        updated_ms=author.now_ms,
    )
    store.keep_receiver(made, audited(author, "receiver", "create", made.id, None, shown(made)))
    fresh = {
        name: value for name, value in secret.items() if name == "secret" and not body.get(name)
    }
    return made, fresh


def change_receiver(
    store: Store, settings: Settings, author: Author, receiver_id: str, body: Mapping[str, Any]
) -> ReceiverRow:
    """Changes a receiver. Fields that aren't sent stay, a secret included. Switching it on clears
    its trouble."""
    require_whole(author.scope)
    before = receiver(store, author.scope, receiver_id)
    if body.get("kind", before.kind) != before.kind:
        raise invalid_fields(kind="can't be changed: create another receiver")
    seal = ReceiverSeal(settings.secret)
    given = {field.name for field in KIND_BY_NAME[before.kind].fields} & set(body)
    config, secret = before.config, before.secret
    if given:
        stored = seal.open(before.secret) or {}
        parsed, opened = _parsed(before.kind, orjson.loads(before.config) | stored | dict(body))
        config, secret = orjson.dumps(parsed).decode(), seal.close(opened)
    enabled = _flag(body, "enabled", default=bool(before.enabled))
    after = before._replace(
        name=_name(body) if "name" in body else before.name,
        config=config,
        secret=secret,
        enabled=int(enabled),
        trouble="" if enabled else before.trouble,
        updated_ms=author.now_ms,
    )
    states = shown(before), shown(after)
    store.keep_receiver(after, audited(author, "receiver", "change", after.id, *states))
    return after


def drop_receiver(store: Store, author: Author, receiver_id: str) -> ReceiverRow:
    """Deletes a receiver. Raises Conflict while a rule notifies it."""
    require_whole(author.scope)
    before = receiver(store, author.scope, receiver_id)
    using = [
        each.rule.name for each in rules(store, author.scope) if receiver_id in each.rule.receivers
    ]
    if using:
        raise Conflict(f"The rule {using[0]} notifies this receiver. Change the rule first.")
    audit = audited(author, "receiver", "delete", receiver_id, shown(before), None)
    if not store.drop_receiver(before.organization_id, receiver_id, audit):
        raise NotFound(NO_RECEIVER)
    return before


def shown(row: ReceiverRow) -> dict[str, Any]:
    """Returns what may be shown of a receiver: no secret."""
    config = orjson.loads(row.config)
    return {"name": row.name, "kind": row.kind, "enabled": bool(row.enabled), "config": config}


def _parsed(kind: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    row = KIND_BY_NAME[kind]
    names = [field.name for field in row.fields]
    try:
        return row.check({name: body[name] for name in names if name in body})
    except ValueError as error:
        name, _, words = str(error).partition(" ")
        field = name.rstrip(":")
        raise invalid_fields(
            **{field if field in names else names[0]: words or str(error)}
        ) from None


def _name(body: Mapping[str, Any]) -> str:
    value = body.get("name")
    name = " ".join(value.split()) if isinstance(value, str) else ""
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise invalid_fields(name=f"must be text of at most {NAME_LENGTH} characters")
    return name


def _flag(body: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise invalid_fields(**{name: "must be true or false"})
    return value


def queue_test(store: Store, author: Author, receiver_id: str) -> MessageRow:
    """Queues a test message; the writer sends it."""
    chosen = receiver(store, author.scope, receiver_id)
    id = str(uuid4())
    body: dict[str, Any] = {
        "event": "test",
        "thread": id,
        "organizationId": chosen.organization_id,
        "rule": {"id": "", "name": ""},
        "group": None,
        "note": f"Sent by {author.name}.",
        "at": "",
        "alerts": [],
    }
    message = MessageRow(
        id, chosen.organization_id, chosen.id, id, 0, "test", "queued", author.now_ms,
        author.now_ms, 0, None, "", orjson.dumps(body).decode(),
    )  # fmt: skip
    store.queue_message(message)
    return message


def once_sent(store: Store, message: MessageRow) -> MessageRow:
    """Waits for a message: returns it once it was sent or failed, or still queued where nobody
    sends it in time."""
    ends = time.monotonic() + TEST_S
    while message.state == "queued" and time.monotonic() < ends:
        time.sleep(_POLL_S)
        message = store.alert_message(message.organization_id, message.id) or message
    return message
