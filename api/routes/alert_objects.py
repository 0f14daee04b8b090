"""JSON objects of alerts, rules, receivers, silences and messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from api.catalog import HOUR_MS
from api.domain.organization import currency_of
from api.insight.alerts.history import DAYS, Preview
from api.insight.alerts.messages import subject_label
from api.insight.alerts.model import Episode
from api.insight.alerts.rules import StoredRule
from api.insight.receivers import KIND_BY_NAME
from api.routes.serialize import instant
from api.settings import Settings
from api.store.base import Store
from api.store.base.alerts import AlertEntry, MessageRow, ReceiverRow, SilenceRow


def maybe(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else instant(instant_ms)


def page(rows: Sequence[Any], count: int, limit: int, offset: int = 0) -> dict[str, Any]:
    return {"count": count, "limit": limit, "offset": offset, "data": list(rows)}


def whole_page(rows: Sequence[Any]) -> dict[str, Any]:
    """Returns all rows as one page: there are few."""
    return page(rows, len(rows), max(len(rows), 1))


def alert_object(
    entry: AlertEntry, rule_names: Mapping[str, str], undelivered: Mapping[str, str]
) -> dict[str, Any]:
    """``undelivered``: threads with a message that failed, and the message's state."""
    episode = Episode.of(entry.alert)
    condition = episode.condition
    ended_ms = episode.resolved_ms if episode.state == "resolved" else episode.ended_ms
    return {
        "id": episode.id,
        "rule": {"id": episode.rule_id, "name": rule_names.get(episode.rule_id)},
        "deviceId": entry.device_id,
        "serialNumber": entry.serial_number,
        "label": entry.label,
        "subject": episode.subject,
        "kind": subject_label(episode),
        "findingId": condition.ref if " " not in condition.ref and "-" in condition.ref else None,
        "state": episode.state,
        "severity": condition.severity,
        "words": condition.words,
        "value": condition.value,
        "unit": condition.unit,
        "costPerDay": condition.cost_per_day,
        "start": instant(condition.start_ms),
        "fired": instant(episode.fired_ms or condition.start_ms),
        "ended": maybe(ended_ms),
        "notified": maybe(episode.told_ms),
        "notSent": episode.not_sent or None,
        "outcome": outcome(episode, undelivered.get(episode.thread, "")),
        "unstable": episode.unstable,
        "group": _group(episode),
        "acknowledged": _acknowledged(episode),
    }


def _group(episode: Episode) -> dict[str, Any] | None:
    if episode.group_id is None:
        return None
    return {"id": episode.group_id, "name": episode.group_name, "size": episode.group_size}


def _acknowledged(episode: Episode) -> dict[str, Any] | None:
    if episode.acknowledged_ms is None:
        return None
    by, text = episode.acknowledged_by, episode.acknowledged_text
    return {"at": instant(episode.acknowledged_ms), "by": by, "text": text}


def outcome(episode: Episode, undelivered: str = "") -> str:
    """Describes what was sent for an alert, or why nothing was."""
    if undelivered:
        return "not delivered" if undelivered == "dead" else "not delivered yet: retrying"
    if episode.not_sent == "late":
        late_ms = episode.noticed_ms - (episode.fired_ms or episode.noticed_ms)
        return f"not sent: found {late_ms // HOUR_MS:,} h late"
    if episode.group_id is not None and episode.group_size > 1 and episode.told:
        return f"1 message for {episode.group_size:,} devices"
    if episode.not_sent:
        return {
            "silenced": "not sent: silenced",
            "maintenance": "not sent: maintenance",
            "unstable": "not sent: unstable",
            "grouped": "in the group's message",
            "no receiver": "not sent: no receiver",
        }[episode.not_sent]
    if episode.told_ms is None:
        return "not sent yet"
    return "sent and resolved" if episode.state == "resolved" else "sent"


def rule_object(stored: StoredRule, store: Store) -> dict[str, Any]:
    """``store``: has the organization's currency."""
    return {
        "id": stored.id,
        **stored.rule.as_json(),
        "words": stored.rule.words(currency_of(store, stored.organization_id)),
        "createdBy": stored.created_by,
        "created": instant(stored.created_ms),
        "updated": instant(stored.updated_ms),
    }


def preview_object(preview: Preview) -> dict[str, Any]:
    devices: dict[str, dict[str, Any]] = {}
    for each in preview.fired:
        row = devices.setdefault(
            each.device.id,
            {
                "deviceId": each.device.id,
                "serialNumber": each.device.serial_number,
                "label": each.device.label,
                "count": 0,
                "spans": [],
            },
        )
        row["count"] += 1
        row["spans"].append(
            {
                "subject": each.subject,
                "fired": instant(each.fired_ms),
                "ended": maybe(each.end_ms),
            }
        )
    ordered = sorted(devices.values(), key=lambda row: (-row["count"], row["label"]))
    return {
        "days": DAYS,
        "count": len(preview.fired),
        "open": sum(each.end_ms is None for each in preview.fired),
        "covered": preview.covered,
        "note": preview.note,
        "devices": ordered,
    }


def receiver_object(row: ReceiverRow, settings: Settings) -> dict[str, Any]:
    kind = KIND_BY_NAME.get(row.kind)
    missing = (
        f"There is no receiver of kind {row.kind}." if kind is None else kind.missing(settings)
    )
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "enabled": bool(row.enabled),
        "trouble": row.trouble or missing,
        "config": orjson.loads(row.config),
        "createdBy": row.created_by,
        "created": instant(row.created_ms),
        "updated": instant(row.updated_ms),
    }


def silence_object(row: SilenceRow, now_ms: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "rule": row.rule_id,
        "deviceId": row.device_id,
        "group": row.group_name,
        "kind": row.subject,
        "from": instant(row.from_ms),
        "until": instant(row.until_ms),
        "active": row.from_ms <= now_ms < row.until_ms,
        "reason": row.reason,
        "createdBy": row.created_by,
        "created": instant(row.created_ms),
    }


def message_object(row: MessageRow, names: Mapping[str, str]) -> dict[str, Any]:
    waits = row.state == "queued" and row.attempts > 0
    return {
        "id": row.id,
        "receiver": {"id": row.receiver_id, "name": names.get(row.receiver_id)},
        "event": row.event,
        "state": row.state,
        "created": instant(row.created_ms),
        "attempts": row.attempts,
        "next": instant(row.due_ms) if waits else None,
        "done": maybe(row.done_ms),
        "response": row.response,
    }
