"""Turns events into messages: receivers, threads and content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from api.catalog import UNIT_SYSTEMS
from api.insight.alerts.conditions import STATE, STATE_WORDS
from api.insight.alerts.grouping import Outage, outages
from api.insight.alerts.model import Episode, Event
from api.insight.alerts.rules import StoredRule
from api.insight.findings import KIND_BY_NAME
from api.metering.units import words_in
from api.store.base import Device
from api.store.base.alerts import MessageRow
from api.timez import HOUR_MS, stamp

MOST_LISTED: Final = 50  # most alerts of one message
LATE_NOTE_MS: Final = HOUR_MS


@dataclass(frozen=True, slots=True)
class MessageContext:
    """``receivers``: ids of those that are enabled. ``groups``: name → device keys, in an
    organization of ``devices`` devices. ``device_of``: by key. ``units``: of the numbers in
    texts."""

    organization_id: str
    now_ms: int
    rules: Mapping[str, StoredRule]
    receivers: frozenset[str]
    groups: Mapping[str, frozenset[int]]
    devices: int
    device_of: Callable[[int], Device | None]
    new_id: Callable[[], str]
    units: str = UNIT_SYSTEMS[0]


def announce(
    setting: MessageContext,
    events: Sequence[Event],
    episodes: Mapping[str, Episode],
    opened: Iterable[Episode],
) -> tuple[dict[str, Episode], list[MessageRow]]:
    """Returns the episodes after notification, and the messages. ``episodes``: by id, as the events
    left them; ``opened``: all other open ones of the organization."""
    return _Announcer(setting, episodes, opened).all(events)


class _Announcer:
    def __init__(
        self, setting: MessageContext, episodes: Mapping[str, Episode], opened: Iterable[Episode]
    ) -> None:
        self._s = setting
        self._now = dict(episodes)
        self._others = {each.id: each for each in opened} | self._now
        self._messages: list[MessageRow] = []
        # (group, how many of its members are open)
        self._lasting = Counter(e.group_id for e in self._others.values() if e.open)

    def all(self, events: Sequence[Event]) -> tuple[dict[str, Episode], list[MessageRow]]:
        fires = [each.episode for each in events if each.kind == "fire"]
        others = [each for each in self._others.values() if each.open]
        grouped = outages(fires, others, self._s.groups, self._s.devices)
        of_outage = {id for outage in grouped for id in outage.members}
        for outage in grouped:
            self._announce_outage(outage, {each.id: each for each in fires})
        for event in events:
            if event.kind == "resolve":
                self._announce_resolve(event)
            elif event.episode.id not in of_outage:
                self._announce(event)
        return self._now, self._messages

    # --- Receivers ---

    def _receivers(self, rule_id: str) -> tuple[str, ...]:
        stored = self._s.rules.get(rule_id)
        wanted = () if stored is None else stored.rule.receivers
        return tuple(id for id in wanted if id in self._s.receivers)

    def _reminder_ms(self, rule_id: str) -> int:
        stored = self._s.rules.get(rule_id)
        return 0 if stored is None else stored.rule.reminder_ms

    def _announce(self, event: Event) -> None:
        episode = self._now.get(event.episode.id, event.episode)
        receiver_ids = episode.told or self._receivers(episode.rule_id)
        if not receiver_ids:
            self._now[episode.id] = replace(episode, not_sent="no receiver")
            return
        if event.kind != "reminder" and episode.told_ms is None:
            episode = self._as_notified(episode, receiver_ids)
        self._now[episode.id] = self._queue(event, episode, [event.episode], receiver_ids)

    def _as_notified(self, episode: Episode, notified: tuple[str, ...]) -> Episode:
        reminder_ms, due_ms = self._reminder_ms(episode.rule_id), episode.due_ms
        if reminder_ms and episode.state == "firing" and due_ms is None:
            due_ms = self._s.now_ms + reminder_ms
        return replace(episode, told=notified, told_ms=self._s.now_ms, due_ms=due_ms, not_sent="")

    def _announce_outage(self, outage: Outage, fires: Mapping[str, Episode]) -> None:
        """Announces an outage of all of them. Episodes that join later send no message of their
        own."""
        members = [self._now[id] for id in sorted(outage.members)]
        joined = self._founder(outage)
        receiver_ids = joined.told if joined is not None else self._receivers(members[0].rule_id)
        group_id = outage.id or self._s.new_id()
        size = self._size(outage, members)
        for each in members:
            notified = self._as_notified(each, receiver_ids)
            self._now[each.id] = replace(
                notified,
                group_id=group_id,
                group_name=outage.name,
                group_size=size,
                not_sent="grouped" if receiver_ids else "no receiver",
            )
        if joined is None and receiver_ids:
            first = self._now[members[0].id]
            listed = [fires[each.id] for each in members]
            sent = self._queue(Event("fire", first), first, listed, receiver_ids, size=size)
            self._now[first.id] = replace(sent, not_sent="")

    def _founder(self, outage: Outage) -> Episode | None:
        if outage.id is None:
            return None
        return next(each for each in self._others.values() if each.group_id == outage.id)

    def _size(self, outage: Outage, members: Sequence[Episode]) -> int:
        """Returns the number of members, including those that wait to fire."""
        first = members[0]
        keys = self._s.groups.get(outage.name)
        return sum(
            each.rule_id == first.rule_id
            and each.subject == first.subject
            and each.ended_ms is None
            and each.open
            and (keys is None or each.device_key in keys)
            for each in (self._others | self._now).values()
        )

    def _announce_resolve(self, event: Event) -> None:
        episode = self._now[event.episode.id]
        if not episode.told:
            return
        if episode.group_id is not None:
            if self._lasting[episode.group_id]:
                return
            self._lasting[episode.group_id] = 1  # ids that were notified
        self._now[episode.id] = self._queue(
            event, episode, [episode], episode.told, size=episode.group_size
        )

    # --- Content ---

    def _queue(
        self,
        event: Event,
        episode: Episode,
        listed: Sequence[Episode],
        notified: Sequence[str],
        *,
        size: int = 0,
    ) -> Episode:
        now_ms = self._s.now_ms
        body = orjson.dumps(self._body(event, episode, listed, size)).decode()
        for receiver_id in notified:
            if receiver_id in self._s.receivers:
                self._messages.append(
                    MessageRow(
                        self._s.new_id(), self._s.organization_id, receiver_id, episode.thread,
                        _place(event, episode), event.kind, "queued", now_ms, now_ms, 0, None, "",
                        body,
                    )
                )  # fmt: skip
        return replace(episode, events=episode.events + 1)

    def _body(
        self, event: Event, episode: Episode, listed: Sequence[Episode], size: int
    ) -> dict[str, Any]:
        stored = self._s.rules.get(episode.rule_id)
        group = {"name": episode.group_name, "size": size} if episode.group_id else None
        return {
            "event": event.kind,
            "thread": episode.thread,
            "organizationId": episode.organization_id,
            "rule": {"id": episode.rule_id, "name": "" if stored is None else stored.rule.name},
            "group": group,
            "note": event.note or _late_note(event),
            "at": stamp(self._s.now_ms),
            "units": self._s.units,
            "alerts": [self._alert(each, event.kind == "resolve") for each in listed[:MOST_LISTED]],
        }

    def _alert(self, episode: Episode, resolved: bool) -> dict[str, Any]:
        device, condition = self._s.device_of(episode.device_key), episode.condition
        ended = episode.resolved_ms if resolved else None
        return {
            "id": episode.id,
            "deviceId": "" if device is None else device.id,
            "serialNumber": "" if device is None else device.serial_number,
            "label": "" if device is None else device.label,
            "zone": "UTC" if device is None else device.time_zone,
            "subject": episode.subject,
            "kind": subject_label(episode),
            "severity": condition.severity,
            "words": words_in(condition.words, self._s.units),
            "value": condition.value,
            "unit": condition.unit,
            "costPerDay": condition.cost_per_day,
            "startsAt": stamp(condition.start_ms),
            "endsAt": None if ended is None else stamp(ended),
        }


def _late_note(event: Event) -> str:
    """Returns a note for readings that arrived late, so that the alert doesn't look as if it began
    now."""
    episode = event.episode
    late_ms = episode.noticed_ms - (episode.fired_ms or episode.noticed_ms)
    if event.kind != "fire" or late_ms < LATE_NOTE_MS:
        return ""
    return f"Found {late_ms // HOUR_MS} h late: its readings arrived late."


def subject_label(episode: Episode) -> str:
    """Returns the label of a kind of finding, of a metric, or of the state that the device is
    in."""
    kind = KIND_BY_NAME.get(episode.subject)
    if kind is not None:
        return kind.label
    text = episode.subject
    if text == STATE:
        before, _, after = STATE_WORDS.partition("{}")
        text = episode.condition.words.removeprefix(before).removesuffix(after).replace("-", " ")
    text = text.replace("_", " ")
    return text[:1].upper() + text[1:]


def _place(event: Event, episode: Episode) -> int:
    """Returns the order of a message in its thread: the firing one first, the resolved one last."""
    return 1_000_000 if event.kind == "resolve" else episode.events
