"""Readings from the broker into the store: a message is acknowledged once it is committed.

Three threads: paho's receives messages, one decodes them and submits them to the writer, one waits
for the commits, in order, and acknowledges. Unacknowledged messages are delivered again after a
restart; readings already stored are then repeats and change nothing.

Messages of other shards are acknowledged as well, since the protocol requires acknowledgements in
the order of the messages.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as Pending
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, NamedTuple

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from api.errors import Busy, Unavailable
from api.ingest.mqtt import lorawan_mapping
from api.ingest.mqtt.broker import SESSION_S, ConnectionState, connect, new_client
from api.ingest.mqtt.intake import Intake, Message
from api.ingest.mqtt.messages import Reader
from api.ingest.mqtt.receive_queue import Inbox
from api.ingest.mqtt.redelivery_journal import Journal
from api.ingest.mqtt.sharding import is_ours, session_name, subscriptions
from api.ingest.submission import Receipt, Submission
from api.ingest.writer import Writer
from api.settings import Settings
from api.telemetry import metrics
from api.timez import now_ms

RECEIVE_MAXIMUM: Final = 4_000  # unacknowledged messages of this shard
MOST_RECEIVE_MAXIMUM: Final = 65_535  # the protocol's maximum
STOP_S: Final = 5.0
_AGAIN_S: Final = 1.0
_DO_NOT_SEND_RETAINED: Final = 2

_log = logging.getLogger(__name__)


class Batch(NamedTuple):
    """Messages in the order of arrival, those of this shard, and the futures of their commits."""

    messages: Sequence[Message]
    ours: Sequence[Message]
    futures: Sequence[Future[Receipt]]


def source(settings: Settings, writer: Writer) -> Consumer:
    """The consumer for these settings. ConfigurationError if a file they name is unusable."""
    return Consumer(settings, writer)


class Consumer:
    """`start` returns at once and connects by itself, again and again; `stop` leaves the session
    with the broker. ``problem``: why no messages arrive, '' if they do."""

    def __init__(self, settings: Settings, writer: Writer) -> None:
        self._settings, self._writer = settings, writer
        self._reader = Reader(lorawan_mapping.load(settings.mqtt_mapping))
        name = session_name(settings)
        journal = Journal(Path(settings.instance) / f"mqtt_{name}.received")
        self.intake = Intake(self._reader, journal, writer.device_cache, name, writer.position)
        self._client = new_client(settings, name)
        self._filters = subscriptions(settings, self._reader.filters)
        self._shard = settings.mqtt_shard
        self._shards = self._shard.of if self._shard else 1
        self._inbox = Inbox(self._shards)
        self._state = ConnectionState("readings from the broker", settings, _log)
        self.last_message_ms: int | None = None  # when it came
        self._connection = 0  # a packet identifier belongs to the connection it came by
        self._acknowledging = Lock()
        self._under_way: SimpleQueue[Batch | None] = SimpleQueue()
        self._stopping, self._given_up = Event(), Event()
        self._threads = [
            Thread(target=self._take_in, name="mqtt-decoder", daemon=True),
            Thread(target=self._acknowledge_all, name="mqtt-acknowledger", daemon=True),
        ]

    @property
    def problem(self) -> str:
        return self._state.problem

    def start(self) -> None:
        client = self._client
        client.manual_ack_set(True)
        client.on_pre_connect = self._connecting
        client.on_connect = self._connected
        client.on_connect_fail = self._unreached
        client.on_disconnect = self._disconnected
        client.on_subscribe = self._subscribed
        client.on_message = self._received
        for thread in self._threads:
            thread.start()
        receive_maximum = min(RECEIVE_MAXIMUM * self._shards, MOST_RECEIVE_MAXIMUM)
        connect(client, self._settings, session_s=SESSION_S, receive_maximum=receive_maximum)

    def stop(self, timeout_s: float = STOP_S) -> None:
        """Receive no more messages; acknowledge those committed within the time."""
        self._stopping.set()
        self._inbox.close()
        self._threads[0].join()
        self._under_way.put(None)
        self._threads[1].join(timeout_s)
        self._given_up.set()
        self._threads[1].join()
        self._client.disconnect()
        self._client.loop_stop()
        self.intake.close()

    # --- paho's thread ---

    def _new_connection(self) -> None:
        with self._acknowledging:
            self._connection += 1

    def _connecting(self, _: Client, __: Any) -> None:
        self._new_connection()

    def _unreached(self, _: Client, __: Any) -> None:
        self._state.down("can't be reached")

    def _connected(
        self, client: Client, _: Any, flags: ConnectFlags, reason: ReasonCode, __: Properties | None
    ) -> None:
        if reason.is_failure:
            self._state.down(f"refused ({reason})")
            return
        if flags.session_present:
            self.intake.resumed_session()
        else:
            self.intake.new_session()
        options = SubscribeOptions(qos=1, retainHandling=_DO_NOT_SEND_RETAINED)
        client.subscribe([(topic, options) for topic in self._filters])

    def _subscribed(
        self, _: Client, __: Any, ___: int, reasons: list[ReasonCode], ____: Properties | None
    ) -> None:
        refused = [
            topic
            for topic, reason in zip(self._filters, reasons, strict=False)
            if reason.is_failure
        ]
        if refused:
            self._state.down(f"may not be subscribed to: {', '.join(refused)}")
        else:
            self._state.up()

    def _disconnected(
        self, _: Client, __: Any, ___: DisconnectFlags, reason: ReasonCode, ____: Properties | None
    ) -> None:
        self._new_connection()
        if not self._stopping.is_set():
            self._state.lost(reason)

    def _received(self, _: Client, __: Any, message: MQTTMessage) -> None:
        arrived = Message.of(message, self._connection)
        self.last_message_ms = now_ms()
        self._inbox.put(arrived)

    # --- The decoder's thread ---

    def _take_in(self) -> None:
        while messages := self._inbox.take():
            ours = [message for message in messages if is_ours(self._shard, message.topic)]
            submissions = self._with_retries(ours)
            if submissions is None:
                return
            futures = [f for s in submissions if (f := self._submitted(s)) is not None]
            if len(futures) < len(submissions):
                return
            self._under_way.put(Batch(messages, ours, futures))

    def _with_retries(self, messages: Sequence[Message]) -> list[Submission] | None:
        """Retries while the store is down or the journal's disk full. None when stopping."""
        logged = ""
        while True:
            try:
                return self.intake.submissions(messages)
            except (Unavailable, OSError) as error:
                if str(error) != logged:
                    logged = str(error)
                    _log.warning("messages can't be received at the moment, retrying: %s", logged)
            except Exception as error:  # noqa: BLE001 - without this thread nothing comes in
                if repr(error) != logged:
                    logged = repr(error)
                    _log.exception("messages can't be received, retrying")
            if self._stopping.wait(_AGAIN_S):
                return None

    def _submitted(self, submission: Submission) -> Future[Receipt] | None:
        """Submit, waiting for capacity as long as needed; None when stopping."""
        while not self._stopping.is_set():
            try:
                return self._writer.submit(submission, wait_s=_AGAIN_S)
            except Busy:
                continue
            except Unavailable:  # the writer stops before us
                return None
        return None

    # --- The acknowledger's thread ---

    def _acknowledge_all(self) -> None:
        while (batch := self._under_way.get()) is not None:
            try:
                self._settle(batch)
            except (CancelledError, Unavailable):
                return  # unacknowledged, like all that follow: the broker redelivers them
            self._acknowledge(batch.messages)
            self._inbox.settled(batch.messages)
            metrics.acknowledged(len(batch.ours), len(batch.messages) - len(batch.ours))

    def _settle(self, batch: Batch) -> None:
        """Returns once all is stored. Messages that the store refuses for good are found one by one
        and recorded as refusals, so that the broker doesn't deliver them forever."""
        try:
            for future in batch.futures:
                self._wait(future)
        except (CancelledError, Unavailable):
            raise
        except Exception:  # noqa: BLE001 - the writer has logged it
            for message in batch.ours:
                self._settle_alone(message)

    def _settle_alone(self, message: Message) -> None:
        """Store one message by itself. If it was stored before, its readings count as repeated."""
        try:
            self._store(self.intake.submissions([message._replace(again=True)], anew=True))
        except (CancelledError, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - kept with the refusal
            reason = f"can't be stored: {type(error).__name__}"
            self._store(self.intake.as_refused(message, reason))

    def _store(self, submissions: Sequence[Submission]) -> None:
        for submission in submissions:
            future = self._submitted(submission)
            if future is None:
                raise Unavailable("The writer is stopping.")
            self._wait(future)

    def _wait(self, future: Future[Receipt]) -> None:
        while not self._given_up.is_set():
            try:
                future.result(_AGAIN_S)
                return
            except Pending:
                if future.done():  # the writer's own, not ours
                    raise
        raise CancelledError

    def _acknowledge(self, messages: Sequence[Message]) -> None:
        for message in messages:
            with self._acknowledging:  # a connection later, the number is another message's
                if message.connection == self._connection and message.qos:
                    self._client.ack(message.identifier, message.qos)
