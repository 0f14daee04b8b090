"""Actions of operators: silence alerts for a while, and acknowledge them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from api.catalog import DAY_MS
from api.domain.identify import identify, storable
from api.errors import Conflict, Forbidden, NotFound, invalid_fields
from api.insight.alerts.management import Author, audited, rule
from api.insight.alerts.model import Episode
from api.insight.findings import KIND_BY_NAME as FINDING_KINDS
from api.store.base import AuditEntry, Scope, Store
from api.store.base.alerts import AlertEntry, AlertRow, SilenceRow
from api.timez import stamp

NO_ALERT: Final = "Alert not found, or you don't have access."
NO_SILENCE: Final = "Silence not found, or you don't have access."
LONGEST_TEXT: Final = 500
LONGEST_SILENCE_MS: Final = 366 * DAY_MS


# --- Silences ------------------------------------------------------------------------------------


def silences(store: Store, scope: Scope) -> list[SilenceRow]:
    """Returns the silences of what the scope sees."""
    rows = store.alert_silences(scope.organization_id)
    return [each for each in rows if _sees(store, scope, each)]


def _sees(store: Store, scope: Scope, silence: SilenceRow) -> bool:
    if scope.grant.everything:
        return True
    if silence.device_id is not None:
        return store.resolve(scope, [silence.device_id])[0] is not None
    return silence.group_name is not None and silence.group_name in scope.grant.groups


def create_silence(store: Store, author: Author, body: Mapping[str, Any]) -> SilenceRow:
    """Creates a silence of ``device`` (any identifier), ``group``, ``rule`` and ``kind`` (None:
    any), from ``from_ms`` until ``until_ms``, with a ``reason``."""
    scope, device_id = author.scope, None
    if body.get("device") is not None:
        device_id = identify(store, scope, body["device"]).id
    group, rule_id, kind = body.get("group"), body.get("rule"), body.get("kind")
    if group is not None and not (scope.grant.everything or group in scope.grant.groups):
        raise NotFound("Group not found, or you don't have access.")
    if device_id is None and group is None and not scope.grant.everything:
        raise Forbidden("Choose a device or a group that you have access to.")
    if rule_id is not None and scope.grant.everything:
        rule(store, scope, rule_id)
    if kind is not None and kind not in FINDING_KINDS and kind != "state":
        raise invalid_fields(kind=f"is not a kind of finding; there are {', '.join(FINDING_KINDS)}")
    from_ms = body.get("from_ms") or author.now_ms
    until_ms = body.get("until_ms") or 0
    if not from_ms < until_ms <= from_ms + LONGEST_SILENCE_MS:
        raise invalid_fields(until="must be after its start, by a year at most")
    if until_ms <= author.now_ms:
        raise invalid_fields(until="must be in the future")
    made = SilenceRow(
        str(uuid4()), scope.organization_id, rule_id, device_id, group, kind, from_ms, until_ms,
        body.get("reason") or "", author.name, author.now_ms,
    )  # fmt: skip
    audit = audited(
        author, "silence", "create", made.id, None, _shown(store, scope, made), made.reason
    )
    store.keep_silence(made, audit)
    return made


def drop_silence(store: Store, author: Author, silence_id: str) -> SilenceRow:
    silence = next((s for s in silences(store, author.scope) if s.id == silence_id), None)
    if silence is None:
        raise NotFound(NO_SILENCE)
    audit = audited(
        author,
        "silence",
        "delete",
        silence_id,
        _shown(store, author.scope, silence),
        None,
        silence.reason,
    )
    if not store.drop_silence(silence.organization_id, silence_id, audit):
        raise NotFound(NO_SILENCE)
    return silence


def _shown(store: Store, scope: Scope, row: SilenceRow) -> dict[str, Any]:
    device = None if row.device_id is None else store.resolve(scope, [row.device_id])[0]
    return {
        "device": row.device_id if device is None else device.serial_number,
        "group": row.group_name,
        "rule": row.rule_id,
        "kind": row.subject,
        "from": stamp(row.from_ms),
        "until": stamp(row.until_ms),
    }


# --- Alerts --------------------------------------------------------------------------------------


def alert(store: Store, scope: Scope, alert_id: str) -> AlertEntry:
    entry = store.alert(scope, alert_id.lower()) if storable(alert_id) else None
    if entry is None:
        raise NotFound(NO_ALERT)
    return entry


def acknowledge(store: Store, author: Author, alert_id: str, text: str) -> AlertEntry:
    """Raises Conflict where the alert is already acknowledged or resolved."""
    if len(text) > LONGEST_TEXT:
        raise invalid_fields(text=f"must have at most {LONGEST_TEXT} characters")

    def change(episode: Episode) -> Episode:
        if episode.state != "firing":
            raise Conflict("This alert is resolved.")
        if episode.acknowledged_ms is not None:
            raise Conflict("This alert is acknowledged already.")
        return episode.acknowledged(author.now_ms, author.name, text)

    return _changed(store, author, alert_id, change, "acknowledge", text)


def unacknowledge(store: Store, author: Author, alert_id: str) -> AlertEntry:
    """Raises Conflict where the alert isn't acknowledged."""

    def change(episode: Episode) -> Episode:
        if episode.acknowledged_ms is None:
            raise Conflict("This alert is not acknowledged.")
        return episode.acknowledged(None)

    return _changed(store, author, alert_id, change, "unacknowledge")


def _changed(
    store: Store,
    author: Author,
    alert_id: str,
    change: Callable[[Episode], Episode],
    action: str,
    text: str = "",
) -> AlertEntry:
    entry = alert(store, author.scope, alert_id)

    def changed_row(row: AlertRow) -> tuple[AlertRow, list[AuditEntry]]:
        before = Episode.of(row)
        after = change(before)
        was, now = _acknowledgement(entry, before), _acknowledgement(entry, after)
        return after.row(), audited(author, "alert", action, row.id, was, now, text)

    row = store.change_alert(entry.alert.id, changed_row)
    if row is None:
        raise NotFound(NO_ALERT)
    return entry._replace(alert=row)


def _acknowledgement(entry: AlertEntry, episode: Episode) -> dict[str, Any]:
    at_ms = episode.acknowledged_ms
    return {
        "device": entry.serial_number,
        "alert": entry.alert.subject,
        "acknowledged": None if at_ms is None else stamp(at_ms),
        "acknowledgedBy": episode.acknowledged_by or None,
        "text": episode.acknowledged_text or None,
    }
