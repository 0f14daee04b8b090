"""Publishes single retained messages for alerts."""

from __future__ import annotations

from queue import Empty, Queue
from typing import Any, Final

from paho.mqtt.client import Client

from api.ingest.mqtt.broker import connect, new_client
from api.settings import Settings

CONFIRM_S: Final = 5.0


def publish_retained(settings: Settings, topic: str, payload: bytes) -> str:
    """Publishes a message. Returns why it failed, or "" once the broker confirmed it."""
    answers: Queue[str] = Queue()
    client = new_client(settings, "")

    def connected(_: Client, __: Any, ___: Any, reason: Any, ____: Any) -> None:
        if reason.is_failure:
            answers.put(f"The broker refused the connection ({reason}).")
        else:
            client.publish(topic, payload, qos=1, retain=True)

    def published(_: Client, __: Any, ___: int, reason: Any, ____: Any) -> None:
        answers.put(f"The broker refused it ({reason})." if reason.is_failure else "")

    client.on_connect, client.on_publish = connected, published
    connect(client, settings, session_s=0, receive_maximum=1)
    try:
        return answers.get(timeout=CONFIRM_S)
    except Empty:
        return "The broker doesn't respond."
    finally:
        client.disconnect()
        client.loop_stop()
