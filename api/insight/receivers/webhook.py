"""Sends a webhook: Alertmanager's body with the signature of Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

import orjson

from api.insight.receivers.kind import (
    LONGEST_RESPONSE,
    Answer,
    Field,
    Kind,
    Means,
    Message,
    subject_of,
)

PREFIX: Final = "whsec_"
GONE: Final = 410
_LEAST_SECRET, _MOST_SECRET = 24, 64  # bytes


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """Returns the `webhook-signature` of a body."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def body_of(message: Message, means: Means) -> dict[str, Any]:
    """Returns the body of Alertmanager's webhook, with the event and Weir's own ids added; for a
    report its name and period, with a link to the PDF."""
    if message.report is not None:
        names = ("id", "name", "period", "from", "to")
        report = {name: message.report[name] for name in names}
        return {"event": message.event, "report": report | {"link": message.report_address(means)}}
    status = "resolved" if message.resolved else "firing"
    rule = message.body["rule"]["name"]
    alerts = [alert_object(message, each) for each in message.alerts]
    return {
        "version": "4",
        "groupKey": message.body["thread"],
        "status": status,
        "receiver": str(message.config.get("name", "")),
        "groupLabels": {"alertname": rule},
        "commonLabels": common(each["labels"] for each in alerts),
        "commonAnnotations": {"summary": subject_of(message)},
        "externalURL": f"{message.site}/alerts",
        "truncatedAlerts": message.unlisted,
        "alerts": alerts,
        "event": message.event,
        "note": message.body["note"],
    }


def common(labels: Any) -> dict[str, str]:
    listed: list[dict[str, str]] = list(labels)
    if not listed:
        return {}
    return {
        name: value
        for name, value in listed[0].items()
        if all(each.get(name) == value for each in listed)
    }


def alert_object(message: Message, alert: Mapping[str, Any]) -> dict[str, Any]:
    device = alert["deviceId"]
    return {
        "status": "resolved" if message.resolved else "firing",
        "labels": {
            "alertname": message.body["rule"]["name"] or alert["kind"],
            "severity": alert["severity"],
            "kind": alert["subject"],
            "device": device,
            "serialNumber": alert["serialNumber"],
            "label": alert["label"],
        },
        "annotations": {
            "summary": f"{alert['kind']} · {alert['label']}",
            "description": alert["words"],
        },
        "startsAt": alert["startsAt"],
        "endsAt": alert["endsAt"] or "0001-01-01T00:00:00Z",
        "generatorURL": f"{message.site}/devices/{quote(device, safe='')}"
        if device
        else message.site,
        "fingerprint": hashlib.sha256(alert["id"].encode()).hexdigest()[:16],
    }


def send(message: Message, means: Means) -> Answer:
    from api.insight.receivers.guarded_http import FAILURES, failure, post

    body, at = orjson.dumps(body_of(message, means)), int(time.time())
    id = message.row.id
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": sign(message.secret["secret"], id, at, body),
    }
    try:
        status, text = post(message.secret["url"], body, headers, means.networks)
    except FAILURES as error:
        return Answer(False, failure(error))
    return answer_of(status, text)


def answer_of(status: int, text: str) -> Answer:
    response = " ".join(f"{status} {text}".split())[:LONGEST_RESPONSE]
    response = "".join(each if each.isprintable() else " " for each in response)
    return Answer(200 <= status < 300, response, gone=status == GONE)


def check_url(body: Mapping[str, Any]) -> tuple[str, str]:
    """Returns (the address, the part of it that may be shown: a path or a query is often a
    secret)."""
    url = body.get("url")
    if not isinstance(url, str) or not url:
        raise ValueError("url is required")
    parts = urlsplit(url)
    good = url.isascii() and url.isprintable() and " " not in url and len(url) <= 2_000
    if not good or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must be an http:// or https:// address")
    if parts.username or parts.password or parts.fragment:
        raise ValueError("url may have no user, password or fragment")
    _ = parts.port  # raises ValueError for an invalid port
    shown = f"{parts.scheme}://{parts.netloc}"
    return url, f"{shown}/…" if parts.path.strip("/") or parts.query else shown


def check(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    url, shown = check_url(body)
    secret = body.get("secret") or new_secret()
    try:
        size = len(base64.b64decode(str(secret).removeprefix(PREFIX), validate=True))
    except ValueError:
        size = 0
    if not str(secret).startswith(PREFIX) or not _LEAST_SECRET <= size <= _MOST_SECRET:
        raise ValueError(f"secret must be {PREFIX} and 24 to 64 bytes in base64")
    return {"shown": shown}, {"url": url, "secret": str(secret)}


KIND: Final = Kind(
    name="webhook",
    label="Webhook",
    fields=(
        Field("url", "Address", "https://example.com/hook", secret=True),
        Field("secret", "Signing secret", "whsec_…; empty: a new one", secret=True, required=False),
    ),
    check=check,
    send=send,
)
