"""Weir's own topics, in both directions."""

from __future__ import annotations

from typing import Final

from api.catalog import TOPIC_PREFIX

PREFIX: Final = TOPIC_PREFIX
UP_FILTER: Final = f"{PREFIX}/+/+/up"

_SPECIAL: Final = frozenset("+#\x00")


def up(organization_id: str, network_unique_identifier: str) -> str:
    """Returns the topic on which a device publishes its readings."""
    return f"{PREFIX}/{organization_id}/{network_unique_identifier}/up"


def datapoint(organization_id: str, device_id: str) -> str:
    """Returns the topic on which Weir publishes stored readings; ``device_id`` is the device's
    UUID."""
    return f"{PREFIX}/{organization_id}/{device_id}/datapoint"


def device_state(organization_id: str, device_id: str) -> str:
    """Returns the topic of a device's state for Home Assistant, retained."""
    return f"{PREFIX}/{organization_id}/{device_id}/state"


def availability(installation: str) -> str:
    """Returns the topic that shows whether Weir is running."""
    return f"{PREFIX}/{installation}/availability"


def matches(topic_filter: str, topic: str) -> bool:
    """Matches by MQTT's rule for ``+`` and ``#``; topics that begin with ``$`` match no leading
    wildcard."""
    if topic.startswith("$") and topic_filter[:1] in ("+", "#"):
        return False
    wanted, levels = topic_filter.split("/"), topic.split("/")
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place >= len(levels) or level not in ("+", levels[place]):
            return False
    return len(wanted) == len(levels)


def is_filter(text: str) -> bool:
    """Whether a broker would accept the filter: ``+`` alone in its level, ``#`` alone in the
    last."""
    levels = text.split("/")
    whole = all(level in ("+", "#") or not _SPECIAL & set(level) for level in levels)
    return bool(text) and whole and "#" not in levels[:-1]
