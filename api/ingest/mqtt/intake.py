"""Turns messages into submissions: organization, readings and time of arrival."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple

from paho.mqtt.client import MQTTMessage

from api.ingest import live_rows
from api.ingest.assigned_timestamps import AssignedTimestamps
from api.ingest.decode import DEVICE, UNKNOWN_DEVICE, Devices, Rejection
from api.ingest.device_cache import CACHE_S, DeviceCache
from api.ingest.mqtt.messages import (
    NO_ORGANIZATION,
    OTHER_TOPIC,
    Item,
    Reader,
    Reading,
    spelled,
)
from api.ingest.mqtt.redelivery_journal import Journal
from api.ingest.submission import Draft, Entry, Submission
from api.store.base import ROWS_A_COMMIT, Progress, Scope
from api.store.refusals import MAX_SAMPLE
from api.timez import now_ms

_MOST_NAMED: Final = 10_000  # devices without timestamps, each logged once
_MESSAGE_BYTES: Final = 500  # bytes of memory of a message without its payload

_log = logging.getLogger(__name__)


class Message(NamedTuple):
    """A delivered message. ``identifier``: of its packet, unique within its ``connection``.
    ``again``: a redelivery. ``session``: the sender's; 0 for a broker, which has only one client.
    ``scope``: what the sender may name, None for a broker. ``sender``: its Key ID."""

    topic: str
    payload: bytes
    identifier: int
    qos: int
    again: bool
    connection: int
    arrived_s: float  # on the monotonic clock
    session: int = 0
    scope: Scope | None = None
    sender: str = ""

    @property
    def size(self) -> int:
        """Returns the approximate memory in bytes."""
        return _MESSAGE_BYTES + len(self.topic) + len(self.payload)

    @property
    def key(self) -> str:
        """Returns the message's key in the journal."""
        return f"{self.session}.{self.identifier}" if self.session else str(self.identifier)

    @classmethod
    def of(cls, message: MQTTMessage, connection: int) -> Message:
        try:
            topic = message.topic
        except UnicodeDecodeError:  # no broker accepts such a topic
            topic = ""
        payload = bytes(message.payload)
        return cls(topic, payload, message.mid, message.qos, message.dup, connection, monotonic())


class _Kind(NamedTuple):
    organization_id: str
    source: str


@dataclass(slots=True)
class _Draft(Draft):
    """``refused``: messages with refused readings that haven't been counted yet and may be
    redelivered."""

    refused: list[Message] = field(default_factory=list[Message])


class Intake:
    """Thread-safe. ``counts``: messages, readings, refused, dateless and unmatched so far."""

    def __init__(
        self,
        reader: Reader,
        journal: Journal,
        device_cache: DeviceCache,
        session: str,
        position: Callable[[str], int],
    ) -> None:
        self._reader, self._journal, self._device_cache = reader, journal, device_cache
        self._source, self._position = f"mqtt {session}", position
        self._submitted: int | None = None  # the number of the last submission with refusals
        self._timestamps = AssignedTimestamps(
            journal.end_ms
        )  # the last millisecond given to a burst may be in the future
        self._clockless: set[str] = set()
        self._lock = Lock()
        self.counts: Counter[str] = Counter()

    def submissions(
        self, messages: Sequence[Message], *, resubmitted: bool = False
    ) -> list[Submission]:
        """Returns one submission for each organization and kind of source, in the order of the
        messages; split if too large for one commit. Raises what the store raises, and OSError if
        the journal can't be written. ``resubmitted``: they were submitted before, and none of
        it was stored."""
        with self._lock:
            return self._submissions(messages, resubmitted)

    def _submissions(self, messages: Sequence[Message], resubmitted: bool) -> list[Submission]:
        submitted = self._last_submitted()
        drafts = defaultdict[_Kind, _Draft](_Draft)
        full: list[tuple[_Kind, _Draft]] = []
        for message in messages:
            reading = self._reading(message)
            if reading is None:
                self._count_unmatched(message)
                continue
            organization_id = (
                reading.organization_id if self._has_organization(message, reading) else ""
            )
            source = f"{reading.source} {message.sender}" if message.sender else reading.source
            kind = _Kind(organization_id, source)
            if len(drafts[kind].entries) >= ROWS_A_COMMIT:
                full.append((kind, drafts.pop(kind)))
            draft = drafts[kind]
            counted = message.again and not resubmitted and self._is_counted(message)
            entries = self._entries(message, reading)
            for entry, item in zip(entries, reading.items, strict=True):
                sample = partial(_sample, message, item)
                draft.add(entry, sample, undated=live_rows.dateless(item), counted=counted)
            refused = any(isinstance(entry, Rejection) for entry in entries)
            if message.qos and refused and not counted:  # otherwise it keeps its earlier submission
                draft.refused.append(message)
        made: list[Submission] = []
        for kind, draft in (*full, *drafts.items()):
            submitted += draft.has_uncounted
            made.append(self._made(kind, draft, submitted))
        self._journal.flush()
        self._submitted = submitted
        self.counts["messages"] += len(messages)
        self.counts["refused"] += sum(len(submission.samples) for submission in made)
        self.counts["readings"] += sum(len(submission.entries) for submission in made)
        return made

    def _last_submitted(self) -> int:
        if self._submitted is None:
            self._submitted = self._position(self._source)
            self._journal.forget_submitted_after(self._submitted)
        return self._submitted

    def _is_counted(self, message: Message) -> bool:
        return self._journal.submitted(message.key, message.topic, message.payload) > 0

    def _made(self, kind: _Kind, draft: _Draft, number: int) -> Submission:
        """Returns a submission, numbered if it counts refused readings. The store saves the number
        in the same transaction, which shows later whether a message was counted."""
        if not draft.has_uncounted:
            return draft.of(*kind)
        for message in draft.refused:
            self._journal.submit(message.key, message.topic, message.payload, number)
        return draft.of(*kind, Progress(self._source, "", number))

    def as_refused(self, message: Message, reason: str) -> list[Submission]:
        """Returns a message that can't be stored as a refusal."""
        reading = self._reading(message)
        organization_id = (
            reading.organization_id if reading and self._has_organization(message, reading) else ""
        )
        source = reading.source if reading else "mqtt"
        sample = message.payload[:MAX_SAMPLE].decode("utf-8", "replace")
        return [Submission(organization_id, source, [Rejection(reason, "")], {0: sample})]

    def new_session(self) -> None:
        _log.warning("the broker has no session for us: it kept none of the earlier messages")
        with self._lock:
            self._journal.clear()

    def resumed_session(self) -> None:
        """Called when the broker resumes the session: the session's journal must exist."""
        if self._journal.begun:
            _log.warning(
                "the record of when messages of this session were received is lost: readings"
                " without recordedAt that the broker delivers again now count twice"
            )
            self._journal.begun = False

    def close(self) -> None:
        self._journal.close()

    def _reading(self, message: Message) -> Reading | None:
        """Returns the decoded message; None for a topic without a subscription. A topic beyond the
        sender's scope is a refusal in the sender's own organization."""
        scope = message.scope
        if scope and self._reader.organization_id(message.topic) != scope.organization_id:
            refusal = Rejection(OTHER_TOPIC, message.topic[:MAX_SAMPLE])
            return Reading(scope.organization_id, "mqtt", [refusal])
        return self._reader.read(message.topic, message.payload)

    def _entries(self, message: Message, reading: Reading) -> list[Entry]:
        at_ms = now_ms()
        if any(live_rows.dateless(item) for item in reading.items):
            at_ms = self._received(message, at_ms, len(reading.items))
            self._count_undated(reading)
        if not self._has_organization(message, reading):
            device = f"{reading.organization_id}/{_named(reading.items)}"
            return [Rejection(NO_ORGANIZATION, device)] * len(reading.items)
        return [
            self._entry(message, reading, item, at_ms + place)
            for place, item in enumerate(reading.items)
        ]

    def _received(self, message: Message, now_ms: int, several: int) -> int:
        """Returns the instant of the message's first item; each further one is a millisecond
        later."""
        at_ms = self._timestamps.take(message.topic, now_ms, several)
        return self._journal.received(
            message.key,
            message.topic,
            message.payload,
            at_ms,
            several,
            again=message.again,
        )

    def _has_organization(self, message: Message, reading: Reading) -> bool:
        """Whether that organization exists. Messages for an unknown one are recorded without an
        organization, so that invented ones can't fill the table of refusals."""
        organization_id = reading.organization_id
        return (
            message.scope is not None
            or any(self._device_lists(message, organization_id))
            or self._device_cache.has_organization(organization_id)
        )

    def _device_lists(self, message: Message, organization_id: str) -> Iterator[Devices]:
        """Yields the cached devices that the sender may name; for an unknown device, the devices as
        of the message's arrival or later."""
        yield self._device_cache.devices(organization_id, scope=message.scope)
        since_s = monotonic() - message.arrived_s
        if since_s < CACHE_S:
            yield self._device_cache.devices(organization_id, within_s=since_s, scope=message.scope)

    def _entry(self, message: Message, reading: Reading, item: Item, at_ms: int) -> Entry:
        if isinstance(item, Rejection):
            return item
        entry: Entry = Rejection(UNKNOWN_DEVICE, "")
        for devices in self._device_lists(message, reading.organization_id):
            entry = _decoded(item, devices, at_ms)
            if not isinstance(entry, Rejection) or entry.reason != UNKNOWN_DEVICE:
                break
        return entry

    def _count_undated(self, reading: Reading) -> None:
        """Counts readings without a time, and logs each device once."""
        for item in reading.items:
            if isinstance(item, Rejection) or not live_rows.dateless(item):
                continue
            self.counts["dateless"] += 1
            device = f"{reading.organization_id}/{item.get(DEVICE)}"[:200]
            if device not in self._clockless and len(self._clockless) < _MOST_NAMED:
                self._clockless.add(device)
                _log.warning(
                    "%s sends no recordedAt: its readings get the time they are received", device
                )

    def _count_unmatched(self, message: Message) -> None:
        if not self.counts["unmatched"]:
            _log.warning(
                "received messages that no subscription matches, such as on %r", message.topic[:200]
            )
        self.counts["unmatched"] += 1


def _decoded(item: dict[str, Any], devices: Devices, at_ms: int) -> Entry:
    device = item.get(DEVICE)
    if isinstance(device, str):
        item[DEVICE] = spelled(devices, device)
    return live_rows.decoded(item, devices, at_ms)


def _named(items: Sequence[Item]) -> str:
    return next((str(item.get(DEVICE)) for item in items if isinstance(item, dict)), "")


def _sample(message: Message, item: Item) -> str:
    if isinstance(item, Rejection):
        return message.payload[: 4 * MAX_SAMPLE].decode("utf-8", "replace")[:MAX_SAMPLE]
    return live_rows.sample(item)
