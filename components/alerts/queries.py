"""What the pages of alerts ask of the service."""

from __future__ import annotations

from typing import NamedTuple

from api.client import Client
from api.client.alerts import AlertPage, AlertReceiver, AlertRule, AlertSilence, Message
from api.errors import WeirError
from api.roles import Role
from components import session
from components.alerts.lists import PAGE

ROLE_S = 30


class Now(NamedTuple):
    firing: AlertPage
    history: AlertPage
    messages: tuple[Message, ...]
    silences: tuple[AlertSilence, ...]


def now(client: Client, page: int) -> Now:
    """Raises a WeirError where the service can't answer."""
    return Now(
        client.alerts(states=["firing"], limit=100),
        client.alerts(states=["resolved"], limit=PAGE, offset=(page - 1) * PAGE),
        client.alert_messages(),
        client.alert_silences(),
    )


class Settings(NamedTuple):
    rules: tuple[AlertRule, ...]
    receivers: tuple[AlertReceiver, ...]


def settings(client: Client) -> Settings:
    return Settings(client.alert_rules(), client.alert_receivers())


def role() -> Role:
    """Of who looks; a viewer's where the service can't say."""
    try:
        return Role(session.remembered("role", lambda client: client.me().role, ttl_s=ROLE_S))
    except (WeirError, ValueError):
        return Role.VIEWER
