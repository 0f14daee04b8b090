"""Scheduled reports: which report goes to whom for each finished week or month, and when it is
due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal
from uuid import NAMESPACE_URL, uuid4, uuid5
from zoneinfo import ZoneInfo

import orjson

from api.catalog import DAY_MS, HOUR_MS
from api.metering.month_end import month_of
from api.store.base import BillingRow, Store
from api.store.base.alerts import MessageRow
from api.timez import EPOCH_DAY, day_start, local_ordinal, offset_ms, stamp, zone
from api.timez import now_ms as clock_ms

Every = Literal["week", "month"]
EVERY: Final[tuple[Every, ...]] = ("week", "month")
HOUR: Final = 6  # local hour after the period: late readings of the night have arrived
RECEIVER_KINDS: Final = ("email", "webhook", "apprise")
EVENT: Final = "report"


@dataclass(frozen=True, slots=True)
class Schedule:
    """``every`` finished week (from Monday) or month, in ``zone``. ``devices`` (UUIDs) or a
    ``group``; neither: all devices. ``receivers`` by id. ``paused``: nothing is sent."""

    row: BillingRow
    every: Every
    zone: str
    receivers: tuple[str, ...]
    devices: tuple[str, ...]
    group: str
    paused: bool

    @classmethod
    def of(cls, row: BillingRow) -> Schedule:
        body: dict[str, Any] = orjson.loads(row.definition)
        return cls(
            row,
            "week" if body["every"] == "week" else "month",
            body["timezone"],
            tuple(body["receivers"]),
            tuple(body["devices"]),
            body["group"] or "",
            bool(body["paused"]),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.row.name,
            "every": self.every,
            "timezone": self.zone,
            "receivers": list(self.receivers),
            "devices": list(self.devices),
            "group": self.group or None,
            "paused": self.paused,
        }

    def params(self, first: int, last: int) -> dict[str, str]:
        """Returns the query of the report's address."""
        days = (date.fromordinal(day).isoformat() for day in (first, last))
        params = {"range": "..".join(days), "zone": self.zone, "group": self.group}
        return {name: text for name, text in params.items() if text} | (
            {"devices": ",".join(self.devices)} if self.devices else {}
        )


def period_before(every: Every, tz: ZoneInfo, at_ms: int) -> tuple[int, int]:
    """Returns the ordinals of the first and the last day of the latest finished period."""
    today = local_ordinal(tz, at_ms)
    if every == "week":
        monday = today - (today - 1) % 7  # ordinal 1 is a Monday
        return monday - 7, monday - 1
    start, _ = month_of(today)
    return month_of(start - 1)[0], start - 1


def due_after(every: Every, tz: ZoneInfo, at_ms: int) -> int:
    """Returns the next instant at which a report is due: 06:00 on the day after a period."""
    _, last = period_before(every, tz, at_ms)
    due_ms = _due(tz, last + 1)
    while due_ms <= at_ms:
        last = last + 7 if every == "week" else month_of(last + 1)[1] - 1
        due_ms = _due(tz, last + 1)
    return due_ms


def _due(tz: ZoneInfo, ordinal: int) -> int:
    """Returns the instant of that local hour: a day may have 23 or 25 hours."""
    about = day_start(tz, ordinal) + HOUR * HOUR_MS
    local = (ordinal - EPOCH_DAY) * DAY_MS + HOUR * HOUR_MS
    return local - offset_ms(tz, about)


def period_words(first: int, last: int) -> str:
    """Formats a period: ``16 – 22 Nov 2026``, ``October 2026``."""
    one, other = date.fromordinal(first), date.fromordinal(last)
    if month_of(first) == (first, last + 1):
        return f"{one:%B %Y}"
    return f"{one.day} {one:%b %Y} – {other.day} {other:%b %Y}"


class ReportSchedules:
    """Queues the reports that are due, each once: a message's id is derived from its schedule,
    period and receiver. After a downtime only the latest period is sent."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, now_ms: int | None = None) -> int:
        """Returns how many messages were queued."""
        now = clock_ms() if now_ms is None else now_ms
        queued = 0
        for row in self._store.billing_rows("report"):
            if row.due_ms is None or row.due_ms > now:
                continue
            schedule = Schedule.of(row)
            messages = messages_of(schedule, self._receivers(schedule), now)
            due_ms = due_after(schedule.every, zone(schedule.zone), now)
            if self._store.queue_reports(row, due_ms, messages):
                queued += len(messages)
        return queued

    def _receivers(self, schedule: Schedule) -> list[str]:
        rows = self._store.alert_receivers(schedule.row.organization_id)
        there = {each.id for each in rows}
        return [id for id in schedule.receivers if id in there]


def messages_of(
    schedule: Schedule, receivers: list[str], now_ms: int, *, again: bool = False
) -> list[MessageRow]:
    """Returns one message per receiver for the latest finished period. ``again``: with new ids."""
    first, last = period_before(schedule.every, zone(schedule.zone), now_ms)
    row = schedule.row
    body = orjson.dumps(_body(schedule, first, last, now_ms)).decode()
    messages: list[MessageRow] = []
    for receiver in receivers:
        name = f"weir report {row.id} {schedule.every} {first} {receiver}"
        id = str(uuid4() if again else uuid5(NAMESPACE_URL, name))
        messages.append(
            MessageRow(
                id, row.organization_id, receiver, row.id, 0, EVENT, "queued", now_ms, now_ms, 0,
                None, "", body,
            )
        )  # fmt: skip
    return messages


def _body(schedule: Schedule, first: int, last: int, now_ms: int) -> Mapping[str, Any]:
    row = schedule.row
    dates = [date.fromordinal(day).isoformat() for day in (first, last)]
    return {
        "event": EVENT,
        "thread": row.id,
        "organizationId": row.organization_id,
        "rule": {"id": "", "name": ""},
        "group": None,
        "note": "",
        "at": stamp(now_ms),
        "alerts": [],
        "report": {
            "id": row.id,
            "name": row.name,
            "period": period_words(first, last),
            "from": dates[0],
            "to": dates[1],
            "createdBy": row.created_by,
            "params": schedule.params(first, last),
        },
    }
