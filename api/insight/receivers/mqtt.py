"""Publishes to MQTT: a retained topic for each device and kind, on the broker of WEIR_MQTT_URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from api.insight.receivers.kind import Answer, Field, Kind, Means, Message, headline_of
from api.settings import Settings

LONGEST: Final = 200


def send(message: Message, means: Means) -> Answer:
    if means.publish is None:
        return Answer(False, "WEIR_MQTT_URL is not set.", hopeless=True)
    for alert in message.alerts or [None]:
        topic = message.config["topic"]
        payload: dict[str, Any] = {"event": message.event, "id": message.row.id}
        if alert is None:
            payload["text"] = headline_of(message)
            topic = f"{topic}/test"
        else:
            topic = f"{topic}/{alert['deviceId']}/{alert['subject']}"
            payload |= {"status": "resolved" if message.resolved else "firing", **alert}
            payload["rule"] = message.body["rule"]
        failed = means.publish(topic, orjson.dumps(payload))
        if failed:
            return Answer(False, failed)
    return Answer(True, "The broker confirmed it.")


def check(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    topic = body.get("topic")
    text = topic if isinstance(topic, str) else ""
    if not re.fullmatch(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*", text) or len(text) > LONGEST:
        raise ValueError("topic must be letters, digits, dots and dashes, in levels divided by /")
    return {"topic": topic}, {}


def missing(settings: Settings) -> str:
    return "" if settings.mqtt_url else "WEIR_MQTT_URL is not set."


KIND: Final = Kind(
    name="mqtt",
    label="MQTT",
    fields=(Field("topic", "Topic", "weir/alerts"),),
    check=check,
    send=send,
    missing=missing,
)
