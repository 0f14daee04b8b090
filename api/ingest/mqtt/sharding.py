"""How several ingesters divide messages: by a shared subscription, or by a hash of the device.
Pure.

The session's name depends on the method, so that no session keeps the subscriptions of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from api.setting_types import Shard
from api.settings import Settings


def session_name(settings: Settings) -> str:
    """Returns the client id of the ingester with these settings."""
    name = settings.mqtt_client_id
    if settings.mqtt_share:
        return f"{name}-of-{settings.mqtt_share}"
    shard = settings.mqtt_shard
    return f"{name}-{shard.number}-of-{shard.of}" if shard else name


def subscriptions(settings: Settings, filters: Sequence[str]) -> list[str]:
    """Returns the subscriptions for these topic filters."""
    if settings.mqtt_share:
        return [f"$share/{settings.mqtt_share}/{topic}" for topic in filters]
    return list(filters)


def is_ours(shard: Shard | None, topic: str) -> bool:
    """Whether this ingester stores messages of that topic. A topic belongs to one device, so a
    device always belongs to the same ingester."""
    if shard is None or shard.of == 1:
        return True
    number = int.from_bytes(blake2b(topic.encode(), digest_size=8).digest())
    return number % shard.of == shard.number - 1
