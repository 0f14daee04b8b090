"""The data of alert rules: conditions, episodes and events.

Instants are epoch milliseconds of data time, unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self

import orjson

from api.store.base.alerts import AlertRow

EventKind = Literal["fire", "resolve", "reminder", "unstable", "test"]
EVENTS: Final = ("fire", "resolve", "reminder", "unstable", "test", "report")

# Why a message wasn't sent. "": it was sent, or none was due yet.
NotSent = Literal["", "late", "silenced", "maintenance", "grouped", "unstable", "no receiver"]


class Condition(NamedTuple):
    """A span in which a rule's condition holds. ``ref`` identifies it; ``opened_ms`` is when it
    could first be detected. ``by_clock``: it continues although nothing is received."""

    subject: str
    ref: str
    start_ms: int
    opened_ms: int
    end_ms: int | None
    severity: str
    rank: int
    words: str
    value: float | None = None
    unit: str = ""
    cost_per_day: float | None = None
    by_clock: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """An alert: one rule, device and subject, from the first condition to its resolution.

    ``refs``: its conditions, the latest last. ``ended_ms``: since when its condition doesn't hold,
    before it is resolved. ``told``: the receivers notified when it fired; ``told_ms``: when that
    message was queued. ``delay_ms``: how long its resolution is delayed. ``flips``: when conditions
    of this series began and ended within a day. ``noticed_ms``: when it was first detected.
    """

    id: str
    organization_id: str
    rule_id: str
    device_key: int
    subject: str
    state: str
    condition: Condition
    noticed_ms: int
    refs: tuple[str, ...] = ()
    fired_ms: int | None = None
    ended_ms: int | None = None
    resolved_ms: int | None = None
    due_ms: int | None = None
    told: tuple[str, ...] = ()
    told_ms: int | None = None
    not_sent: NotSent = ""
    reminded_ms: int | None = None
    delay_ms: int = 0
    flips: tuple[int, ...] = ()
    unstable: bool = False
    acknowledged_ms: int | None = None
    acknowledged_by: str = ""
    acknowledged_text: str = ""
    group_id: str | None = None
    group_name: str = ""
    group_size: int = 0
    events: int = field(default=0)

    @property
    def open(self) -> bool:
        return self.state != "resolved"

    @property
    def thread(self) -> str:
        """Returns the thread that its firing and resolved messages share."""
        return self.group_id or self.id

    def row(self) -> AlertRow:
        data = {
            "condition": list(self.condition),
            **{name: getattr(self, name) for name in _IN_DATA},
        }
        return AlertRow(
            id=self.id,
            organization_id=self.organization_id,
            rule_id=self.rule_id,
            device_key=self.device_key,
            subject=self.subject,
            state=self.state,
            rank=self.condition.rank,
            cost_per_day=self.condition.cost_per_day,
            start_ms=self.condition.start_ms,
            fired_ms=self.fired_ms,
            resolved_ms=self.resolved_ms,
            due_ms=self.due_ms,
            acknowledged_ms=self.acknowledged_ms,
            group_id=self.group_id,
            data=orjson.dumps(data).decode(),
        )

    @classmethod
    def of(cls, row: AlertRow) -> Self:
        data: dict[str, Any] = orjson.loads(row.data)
        lists = {name: tuple(data.pop(name, ())) for name in ("refs", "told", "flips")}
        return cls(
            id=row.id,
            organization_id=row.organization_id,
            rule_id=row.rule_id,
            device_key=row.device_key,
            subject=row.subject,
            state=row.state,
            condition=Condition(*data.pop("condition")),
            fired_ms=row.fired_ms,
            resolved_ms=row.resolved_ms,
            due_ms=row.due_ms,
            acknowledged_ms=row.acknowledged_ms,
            group_id=row.group_id,
            **lists,
            **data,
        )

    def acknowledged(self, at_ms: int | None, by: str = "", text: str = "") -> Self:
        return replace(self, acknowledged_ms=at_ms, acknowledged_by=by, acknowledged_text=text)


_IN_DATA: Final = (
    "noticed_ms", "refs", "ended_ms", "told", "told_ms", "not_sent", "reminded_ms", "delay_ms",
    "flips", "unstable", "acknowledged_by", "acknowledged_text", "group_name", "group_size",
    "events",
)  # fmt: skip


class Event(NamedTuple):
    """A change of an episode to notify of; ``episode`` is its state after that change."""

    kind: EventKind
    episode: Episode
    note: str = ""
