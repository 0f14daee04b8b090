"""What people do with rules, receivers, silences and alerts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import orjson

from api.catalog import DAY_MS
from api.domain.identify import identify, storable
from api.errors import BadRequest, Conflict, Forbidden, NotFound, ParameterProblem
from api.insight.alerts.model import Episode
from api.insight.alerts.rules import NAME_LENGTH, Rule, RuleProblems, StoredRule, parse_rule
from api.insight.findings import KIND_BY_NAME as FINDING_KINDS
from api.insight.receivers import KIND_BY_NAME
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.settings import Settings
from api.store.base import AuditEntry, Scope, Store
from api.store.base.alerts import AlertEntry, MessageRow, ReceiverRow, SilenceRow

NO_ALERT: Final = "Alert not found, or you don't have access."
NO_RULE: Final = "Rule not found, or you don't have access."
NO_RECEIVER: Final = "Receiver not found, or you don't have access."
NO_SILENCE: Final = "Silence not found, or you don't have access."
WHOLE: Final = "Rules and receivers need a credential for all of the organization's devices."
LONGEST_TEXT: Final = 500
LONGEST_SILENCE_MS: Final = 366 * DAY_MS
TEST_S: Final = 12.0
_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something: a name that is no secret, when, and what they see."""

    name: str
    scope: Scope
    now_ms: int


def bad(**problems: str) -> BadRequest:
    """Of some fields, each with what is wrong."""
    listed = tuple(ParameterProblem(name, words) for name, words in problems.items())
    return BadRequest("Some fields are invalid; errors lists them.", errors=listed)


def require_whole(scope: Scope) -> None:
    """Rules say what all of an organization is told."""
    if not scope.grant.everything:
        raise Forbidden(WHOLE)


def _record(
    store: Store,
    author: Author,
    kind: str,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> None:
    """For the audit log, without secrets."""
    organization_id = author.scope.organization_id
    entry = AuditEntry(
        author.now_ms, organization_id, author.name, kind, action, subject, before, after
    )
    store.record([entry])


# --- Rules ---------------------------------------------------------------------------------------


def rules(store: Store, scope: Scope) -> list[StoredRule]:
    """None for who sees only some devices."""
    if not scope.grant.everything:
        return []
    return [StoredRule.of(row) for row in store.alert_rules(scope.organization_id)]


def rule(store: Store, scope: Scope, rule_id: str) -> StoredRule:
    found = next((each for each in rules(store, scope) if each.id == rule_id), None)
    if found is None:
        raise NotFound(NO_RULE)
    return found


def checked_rule(store: Store, scope: Scope, said: Mapping[str, Any]) -> Rule:
    """BadRequest names each bad field; devices may be given by any identifier."""
    try:
        parsed = parse_rule(said)
    except RuleProblems as error:
        raise bad(**error.by_field) from None
    known = {each.id for each in store.alert_receivers(scope.organization_id)}
    if any(id not in known for id in parsed.receivers):
        raise bad(receivers="names a receiver that isn't there")
    if not all(storable(each) for each in (*parsed.devices, *parsed.groups)):
        raise bad(devices="names a device that isn't there")
    found = store.resolve(scope, list(parsed.devices)) if parsed.devices else []
    if any(device is None for device in found):
        raise bad(devices="names a device that isn't there, or that you can't see")
    ids = tuple(dict.fromkeys(device.id for device in found if device is not None))
    return Rule(**{name: getattr(parsed, name) for name in _PLAIN}, devices=ids)


_PLAIN: Final = tuple(name for name in Rule.__dataclass_fields__ if name != "devices")


def create_rule(store: Store, author: Author, said: Mapping[str, Any]) -> StoredRule:
    require_whole(author.scope)
    made = StoredRule(
        str(uuid4()),
        author.scope.organization_id,
        checked_rule(store, author.scope, said),
        author.name,
        author.now_ms,
        author.now_ms,
    )
    store.keep_rule(made.row())
    _record(store, author, "rule", "create", made.id, None, made.rule.as_json())
    return made


def change_rule(
    store: Store, author: Author, rule_id: str, said: Mapping[str, Any]
) -> tuple[StoredRule, StoredRule]:
    """(before, after). What isn't said stays."""
    require_whole(author.scope)
    before = rule(store, author.scope, rule_id)
    after = StoredRule(
        before.id,
        before.organization_id,
        checked_rule(store, author.scope, before.rule.as_json() | dict(said)),
        before.created_by,
        before.created_ms,
        author.now_ms,
    )
    store.keep_rule(after.row())
    states = before.rule.as_json(), after.rule.as_json()
    _record(store, author, "rule", "change", rule_id, *states)
    return before, after


def drop_rule(store: Store, author: Author, rule_id: str) -> StoredRule:
    require_whole(author.scope)
    before = rule(store, author.scope, rule_id)
    if not store.drop_rule(before.organization_id, rule_id):
        raise NotFound(NO_RULE)
    _record(store, author, "rule", "delete", rule_id, before.rule.as_json(), None)
    return before


# --- Receivers -----------------------------------------------------------------------------------


def receivers(store: Store, scope: Scope) -> list[ReceiverRow]:
    return store.alert_receivers(scope.organization_id) if scope.grant.everything else []


def receiver(store: Store, scope: Scope, receiver_id: str) -> ReceiverRow:
    found = next((each for each in receivers(store, scope) if each.id == receiver_id), None)
    if found is None:
        raise NotFound(NO_RECEIVER)
    return found


def create_receiver(
    store: Store, settings: Settings, author: Author, said: Mapping[str, Any]
) -> tuple[ReceiverRow, dict[str, str]]:
    """The receiver, and the secrets that were made for it: shown once."""
    require_whole(author.scope)
    kind = said.get("kind")
    if kind not in KIND_BY_NAME:
        raise bad(kind=f"must be one of {', '.join(KIND_BY_NAME)}")
    config, secret = _parsed(str(kind), said)
    made = ReceiverRow(
        id=str(uuid4()),
        organization_id=author.scope.organization_id,
        name=_name(said),
        kind=str(kind),
        config=orjson.dumps(config).decode(),
        secret=ReceiverSeal(settings.secret).close(secret),
        enabled=int(_flag(said, "enabled", default=True)),
        trouble="",
        created_by=author.name,
        created_ms=author.now_ms,
        updated_ms=author.now_ms,
    )
    store.keep_receiver(made)
    _record(store, author, "receiver", "create", made.id, None, _shown(made))
    fresh = {
        name: value for name, value in secret.items() if name == "secret" and not said.get(name)
    }
    return made, fresh


def change_receiver(
    store: Store, settings: Settings, author: Author, receiver_id: str, said: Mapping[str, Any]
) -> ReceiverRow:
    """What isn't said stays, a secret too. Switching it on forgets its trouble."""
    require_whole(author.scope)
    before = receiver(store, author.scope, receiver_id)
    if said.get("kind", before.kind) != before.kind:
        raise bad(kind="can't be changed: create another receiver")
    seal = ReceiverSeal(settings.secret)
    given = {field.name for field in KIND_BY_NAME[before.kind].fields} & set(said)
    config, secret = before.config, before.secret
    if given:
        kept = seal.open(before.secret) or {}
        parsed, opened = _parsed(before.kind, orjson.loads(before.config) | kept | dict(said))
        config, secret = orjson.dumps(parsed).decode(), seal.close(opened)
    enabled = _flag(said, "enabled", default=bool(before.enabled))
    after = before._replace(
        name=_name(said) if "name" in said else before.name,
        config=config,
        secret=secret,
        enabled=int(enabled),
        trouble="" if enabled else before.trouble,
        updated_ms=author.now_ms,
    )
    store.keep_receiver(after)
    _record(store, author, "receiver", "change", after.id, _shown(before), _shown(after))
    return after


def drop_receiver(store: Store, author: Author, receiver_id: str) -> ReceiverRow:
    """Conflict while a rule notifies it."""
    require_whole(author.scope)
    before = receiver(store, author.scope, receiver_id)
    using = [
        each.rule.name for each in rules(store, author.scope) if receiver_id in each.rule.receivers
    ]
    if using:
        raise Conflict(f"The rule {using[0]} notifies this receiver. Change the rule first.")
    store.drop_receiver(before.organization_id, receiver_id)
    _record(store, author, "receiver", "delete", receiver_id, _shown(before), None)
    return before


def _shown(row: ReceiverRow) -> dict[str, Any]:
    """What may be told of it."""
    config = orjson.loads(row.config)
    return {"name": row.name, "kind": row.kind, "enabled": bool(row.enabled), "config": config}


def _parsed(kind: str, said: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    row = KIND_BY_NAME[kind]
    names = [field.name for field in row.fields]
    try:
        return row.check({name: said[name] for name in names if name in said})
    except ValueError as error:
        name, _, words = str(error).partition(" ")
        field = name.rstrip(":")
        raise bad(**{field if field in names else names[0]: words or str(error)}) from None


def _name(said: Mapping[str, Any]) -> str:
    value = said.get("name")
    name = " ".join(value.split()) if isinstance(value, str) else ""
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise bad(name=f"must be text of at most {NAME_LENGTH} characters")
    return name


def _flag(said: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = said.get(name, default)
    if not isinstance(value, bool):
        raise bad(**{name: "must be true or false"})
    return value


def queue_test(store: Store, author: Author, receiver_id: str) -> MessageRow:
    """A message that says it is a test; the writer sends it."""
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
    """The message once it was sent or failed; still queued where nobody sends it in time."""
    ends = time.monotonic() + TEST_S
    while message.state == "queued" and time.monotonic() < ends:
        time.sleep(_POLL_S)
        message = store.alert_message(message.organization_id, message.id) or message
    return message


# --- Silences ------------------------------------------------------------------------------------


def silences(store: Store, scope: Scope) -> list[SilenceRow]:
    """Those of what the scope sees."""
    found = store.alert_silences(scope.organization_id)
    return [each for each in found if _sees(store, scope, each)]


def _sees(store: Store, scope: Scope, silence: SilenceRow) -> bool:
    if scope.grant.everything:
        return True
    if silence.device_id is not None:
        return store.resolve(scope, [silence.device_id])[0] is not None
    return silence.group_name is not None and silence.group_name in scope.grant.groups


def create_silence(store: Store, author: Author, said: Mapping[str, Any]) -> SilenceRow:
    """``device`` by any identifier, ``group``, ``rule``, ``kind``, ``from_ms``, ``until_ms``,
    ``reason``; None for any."""
    scope, device_id = author.scope, None
    if said.get("device") is not None:
        device_id = identify(store, scope, said["device"]).id
    group, rule_id, kind = said.get("group"), said.get("rule"), said.get("kind")
    if group is not None and not (scope.grant.everything or group in scope.grant.groups):
        raise NotFound("Group not found, or you don't have access.")
    if device_id is None and group is None and not scope.grant.everything:
        raise Forbidden("Choose a device or a group that you have access to.")
    if rule_id is not None and scope.grant.everything:
        rule(store, scope, rule_id)
    if kind is not None and kind not in FINDING_KINDS and kind != "state":
        raise bad(kind=f"is not a kind of finding; there are {', '.join(FINDING_KINDS)}")
    from_ms = said.get("from_ms") or author.now_ms
    until_ms = said.get("until_ms") or 0
    if not from_ms < until_ms <= from_ms + LONGEST_SILENCE_MS:
        raise bad(until="must be after its start, by a year at most")
    if until_ms <= author.now_ms:
        raise bad(until="must be in the future")
    made = SilenceRow(
        str(uuid4()), scope.organization_id, rule_id, device_id, group, kind, from_ms, until_ms,
        said.get("reason") or "", author.name, author.now_ms,
    )  # fmt: skip
    store.keep_silence(made)
    return made


def drop_silence(store: Store, author: Author, silence_id: str) -> SilenceRow:
    found = next((s for s in silences(store, author.scope) if s.id == silence_id), None)
    if found is None or not store.drop_silence(found.organization_id, silence_id):
        raise NotFound(NO_SILENCE)
    return found


# --- Alerts --------------------------------------------------------------------------------------


def alert(store: Store, scope: Scope, alert_id: str) -> AlertEntry:
    found = store.alert(scope, alert_id.lower()) if storable(alert_id) else None
    if found is None:
        raise NotFound(NO_ALERT)
    return found


def acknowledge(store: Store, author: Author, alert_id: str, text: str) -> AlertEntry:
    """Conflict where it is acknowledged already, or over."""
    found = alert(store, author.scope, alert_id)

    def change(episode: Episode) -> Episode:
        if episode.state != "firing":
            raise Conflict("This alert is resolved.")
        if episode.acknowledged_ms is not None:
            raise Conflict("This alert is acknowledged already.")
        return episode.acknowledged(author.now_ms, author.name, text)

    return _changed(store, found, change)


def unacknowledge(store: Store, author: Author, alert_id: str) -> AlertEntry:
    """Conflict where it isn't acknowledged."""
    found = alert(store, author.scope, alert_id)

    def change(episode: Episode) -> Episode:
        if episode.acknowledged_ms is None:
            raise Conflict("This alert is not acknowledged.")
        return episode.acknowledged(None)

    return _changed(store, found, change)


def _changed(store: Store, found: AlertEntry, change: Callable[[Episode], Episode]) -> AlertEntry:
    row = store.change_alert(found.alert.id, lambda row: change(Episode.of(row)).row())
    if row is None:
        raise NotFound(NO_ALERT)
    return found._replace(alert=row)
