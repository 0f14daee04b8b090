"""Receives readings from the broker: a message is acknowledged once it is committed.

paho's thread receives messages, `Committer` stores them. Unacknowledged messages are delivered
again after a restart; readings already stored are then repeats and change nothing.

Messages of other shards are acknowledged as well: the protocol requires acknowledgements in the
order of the messages.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from api.ingest.mqtt import lorawan_mapping
from api.ingest.mqtt.broker import SESSION_S, ConnectionState, connect, new_client
from api.ingest.mqtt.committer import STOP_S, Committer
from api.ingest.mqtt.intake import Intake, Message
from api.ingest.mqtt.messages import Reader
from api.ingest.mqtt.receive_queue import Inbox
from api.ingest.mqtt.redelivery_journal import Journal
from api.ingest.mqtt.sharding import is_ours, session_name, subscriptions
from api.ingest.writer import Writer
from api.settings import Settings
from api.timez import now_ms

RECEIVE_MAXIMUM: Final = 4_000  # unacknowledged messages of this shard
MOST_RECEIVE_MAXIMUM: Final = 65_535  # the protocol's maximum
_DO_NOT_SEND_RETAINED: Final = 2

_log = logging.getLogger(__name__)


def source(settings: Settings, writer: Writer) -> Consumer:
    """Returns the consumer for these settings. Raises ConfigurationError if a file they name is
    unusable."""
    return Consumer(settings, writer)


class Consumer:
    """`start` returns at once; the connection is made, and repeated, in the background. `stop`
    leaves the session with the broker. ``problem``: why no messages arrive, '' if they do."""

    def __init__(self, settings: Settings, writer: Writer) -> None:
        self._settings = settings
        self._reader = Reader(lorawan_mapping.load(settings.mqtt_mapping))
        name = session_name(settings)
        journal = Journal(Path(settings.instance) / f"mqtt_{name}.received")
        self.intake = Intake(self._reader, journal, writer.device_cache, name, writer.position)
        self._client = new_client(settings, name)
        self._filters = subscriptions(settings, self._reader.filters)
        shard = settings.mqtt_shard
        self._shards = shard.of if shard else 1
        self._inbox = Inbox(self._shards)
        self._state = ConnectionState("readings from the broker", settings, _log)
        self.last_message_ms: int | None = None  # time of arrival
        self._connection = 0  # a packet identifier belongs to one connection
        self._acknowledging = Lock()
        self._stopping = Event()
        self._committer = Committer(
            self.intake, writer, self._inbox, self._acknowledge, lambda m: is_ours(shard, m.topic)
        )

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
        self._committer.start()
        receive_maximum = min(RECEIVE_MAXIMUM * self._shards, MOST_RECEIVE_MAXIMUM)
        connect(client, self._settings, session_s=SESSION_S, receive_maximum=receive_maximum)

    def stop(self, timeout_s: float = STOP_S) -> None:
        """Receives no more messages; acknowledges those committed within the time."""
        self._stopping.set()
        self._committer.stop(timeout_s)
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

    # --- The committer's thread ---

    def _acknowledge(self, messages: Sequence[Message]) -> None:
        for message in messages:
            with self._acknowledging:  # after a reconnect, the number belongs to another message
                if message.connection == self._connection and message.qos:
                    self._client.ack(message.identifier, message.qos)
