"""What a kind of receiver is, what it gets and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from api.setting_types import Network
from api.settings import Settings
from api.store.base.alerts import MessageRow

LONGEST_RESPONSE = 500


class Answer(NamedTuple):
    """``ok``: it was taken. ``text``: for people, without secrets. ``gone``: the receiver says that
    it wants nothing more. ``hopeless``: trying again won't help."""

    ok: bool
    text: str
    gone: bool = False
    hopeless: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """``body``: see `api.insight.alerts.messages`. ``secret``: opened. ``site``: where readers
    reach the dashboard. ``first``: of its thread."""

    row: MessageRow
    body: Mapping[str, Any]
    config: Mapping[str, Any]
    secret: Mapping[str, str]
    site: str
    first: bool

    @property
    def event(self) -> str:
        return self.row.event

    @property
    def alerts(self) -> list[dict[str, Any]]:
        return list(self.body["alerts"])

    @property
    def unlisted(self) -> int:
        """Alerts of its group that it doesn't name."""
        group: Mapping[str, Any] | None = self.body.get("group")
        return 0 if group is None else max(0, group["size"] - len(self.alerts))

    @property
    def report(self) -> Mapping[str, Any] | None:
        """What a scheduled report is: its name, period and days."""
        report: Mapping[str, Any] | None = self.body.get("report")
        return report

    def report_address(self, means: Means) -> str:
        """Of its PDF; "" of an alert."""
        if self.report is None:
            return ""
        return f"{self.site}{means.link(self.body) if means.link else '/report'}"

    @property
    def resolved(self) -> bool:
        return self.row.event == "resolve"


@dataclass(frozen=True, slots=True)
class Means:
    """What senders need beside a message. ``publish`` (topic, payload) → why it failed, or "";
    ``picture`` (an alert of a body) → a PNG of its readings, or None; ``paper`` (a body of a
    report) → the PDF, or raises WeirError; ``link`` (the same) → its address, signed if it can be,
    below the site."""

    settings: Settings
    publish: Callable[[str, bytes], str] | None = None
    picture: Callable[[Mapping[str, Any]], bytes | None] | None = None
    paper: Callable[[Mapping[str, Any]], bytes] | None = None
    link: Callable[[Mapping[str, Any]], str] | None = None

    @property
    def networks(self) -> tuple[Network, ...]:
        return self.settings.alert_networks


@dataclass(frozen=True, slots=True)
class Field:
    """Something to set. ``secret``: sealed, and never shown again. ``many``: a list of texts."""

    name: str
    label: str
    hint: str
    secret: bool = False
    required: bool = True
    many: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """``check`` raises ValueError, in words that follow the receiver's name, for values that can't
    be used, and returns (config, secret) as they are kept. ``missing``: why there is none here."""

    name: str
    label: str
    fields: tuple[Field, ...]
    check: Callable[[Mapping[str, Any]], tuple[dict[str, Any], dict[str, str]]]
    send: Callable[[Message, Means], Answer]
    missing: Callable[[Settings], str] = lambda settings: ""


def subject_of(message: Message) -> str:
    """One line, the same for a fire and its resolve: Leak · Tenant 2 main."""
    if message.event == "test":
        return "Test of this receiver"
    if message.report is not None:
        return f"{message.report['name']}: {message.report['period']}"
    group, alerts = message.body.get("group"), message.alerts
    first = alerts[0]
    if group and group["size"] > 1:
        where = group["name"] or "Several groups"
        return f"{where}: {group['size']} devices, {first['kind'].lower()}"
    return f"{first['kind']} · {first['label'] or first['serialNumber']}"


def headline_of(message: Message) -> str:
    """What happened, in a few words."""
    return {
        "fire": "Firing",
        "resolve": "Resolved",
        "reminder": "Still firing",
        "unstable": "Unstable: it goes on and off; the next message follows when it is calm",
        "report": "Scheduled report",
        "test": "This is a test. Nothing is wrong.",
    }[message.event]
