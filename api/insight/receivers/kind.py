"""The interface of a kind of receiver: its input and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from api.catalog import UNIT_SYSTEMS
from api.setting_types import Network
from api.settings import Settings
from api.store.base.alerts import MessageRow

LONGEST_RESPONSE = 500


class Answer(NamedTuple):
    """``ok``: the receiver accepted it. ``text``: for people, without secrets. ``gone``: the
    receiver wants no further messages. ``hopeless``: retrying won't help."""

    ok: bool
    text: str
    gone: bool = False
    hopeless: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """``body``: see `api.insight.alerts.messages`. ``secret``: opened. ``site``: the dashboard's
    address for readers. ``first``: the first message of its thread."""

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
    def units(self) -> str:
        """Returns the organization's units; for an older message, those of the readings."""
        return self.body.get("units", UNIT_SYSTEMS[0])

    @property
    def unlisted(self) -> int:
        """Returns the number of alerts of its group that it doesn't list."""
        group: Mapping[str, Any] | None = self.body.get("group")
        return 0 if group is None else max(0, group["size"] - len(self.alerts))

    @property
    def report(self) -> Mapping[str, Any] | None:
        """Returns the name, period and days of a scheduled report; None for an alert."""
        report: Mapping[str, Any] | None = self.body.get("report")
        return report

    def report_address(self, means: Means) -> str:
        """Returns the address of the report's PDF; "" for an alert."""
        if self.report is None:
            return ""
        return f"{self.site}{means.link(self.body) if means.link else '/report'}"

    @property
    def resolved(self) -> bool:
        return self.row.event == "resolve"


@dataclass(frozen=True, slots=True)
class Means:
    """What senders need besides a message. ``publish`` (topic, payload) returns why it failed, or
    "". ``picture`` (body of an alert) returns a PNG of its readings, or None. ``paper`` (body of a
    report) returns the PDF, or raises WeirError. ``link`` (body of a report) returns its address
    below the site, signed if possible."""

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
    """A field of a receiver. ``secret``: sealed, and never shown again. ``many``: a list of
    strings."""

    name: str
    label: str
    hint: str
    secret: bool = False
    required: bool = True
    many: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """``check`` returns (config, secret) as they are stored, or raises ValueError with words that
    follow the receiver's name. ``missing``: why the kind isn't available here."""

    name: str
    label: str
    fields: tuple[Field, ...]
    check: Callable[[Mapping[str, Any]], tuple[dict[str, Any], dict[str, str]]]
    send: Callable[[Message, Means], Answer]
    missing: Callable[[Settings], str] = lambda settings: ""


def subject_of(message: Message) -> str:
    """Returns one line, the same for firing and resolved messages: Leak · Tenant 2 main."""
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
    """Describes what happened in a few words."""
    return {
        "fire": "Firing",
        "resolve": "Resolved",
        "reminder": "Still firing",
        "unstable": "Unstable: it goes on and off; the next message follows when it is calm",
        "report": "Scheduled report",
        "test": "This is a test. Nothing is wrong.",
    }[message.event]
