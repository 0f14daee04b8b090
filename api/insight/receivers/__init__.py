"""Receivers of alerts: one row per kind, with its sender.

A sender takes a message and returns the receiver's answer. It raises nothing for a receiver that
fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.insight.receivers import alertmanager, apprise, email, mqtt, webhook
from api.insight.receivers.kind import Kind

KINDS: Final[tuple[Kind, ...]] = (
    webhook.KIND,
    email.KIND,
    mqtt.KIND,
    alertmanager.KIND,
    apprise.KIND,
)
KIND_BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
