"""Publishes stored readings: the interface's realtime channel.

It is a hook of the writer, called after the commit in another thread than the writer's, and only
queues the readings. If the broker is down for long, the oldest are dropped, counted and logged; the
store still has them all.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from threading import Condition, Thread
from typing import Any, Final

import orjson
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from api.ingest.announcer import Stored
from api.ingest.mqtt.broker import ConnectionState, connect, new_client
from api.ingest.mqtt.sharding import session_name
from api.ingest.mqtt.topics import datapoint
from api.routes.serialize import datapoint_object
from api.settings import Settings
from api.telemetry import metrics

MOST_WAITING: Final = 50_000  # readings, about 10 MB; beyond, the oldest are dropped
IN_FLIGHT: Final = 1_000  # readings passed to the broker that it hasn't acknowledged
STOP_S: Final = 2.0

_log = logging.getLogger(__name__)


def publisher(settings: Settings) -> Publisher | None:
    """Returns None if the settings turn it off."""
    if not settings.mqtt_url or not settings.mqtt_publish:
        return None
    return Publisher(settings)


def message_of(stored: Stored) -> tuple[str, bytes]:
    """Returns topic and payload; the payload is that of GET …/flow/latest."""
    _, *datapoint_row = stored.row
    topic = datapoint(stored.organization_id, stored.device_id)
    return topic, orjson.dumps(datapoint_object(tuple(datapoint_row)))


class Publisher:
    """Call `start`, pass it to the writer as a hook, and call `stop` after the writer has stopped.
    Thread-safe."""

    def __init__(self, settings: Settings, *, most_waiting: int = MOST_WAITING) -> None:
        self._settings = settings
        self._client = new_client(settings, f"{session_name(settings)}-out")
        self._state = ConnectionState("readings to the broker", settings, _log)
        self._waiting: deque[Stored] = deque(maxlen=most_waiting)
        self._changed = Condition()
        self._in_flight, self._most_in_flight = 0, IN_FLIGHT
        self._stopping = False
        self.published = self.dropped = self.refused = 0
        self._thread = Thread(target=self._run, name="mqtt-publisher", daemon=True)

    @property
    def problem(self) -> str:
        return self._state.problem

    def __call__(self, stored: Sequence[Stored]) -> None:
        """Queues readings. Returns at once."""
        with self._changed:
            capacity = (self._waiting.maxlen or 0) - len(self._waiting)
            if len(stored) > capacity:
                self._drop(len(stored) - capacity)
            self._waiting.extend(stored)
            self._changed.notify()

    def start(self) -> None:
        client = self._client
        client.max_inflight_messages_set(IN_FLIGHT)
        client.on_connect = self._connected
        client.on_connect_fail = self._unreached
        client.on_disconnect = self._disconnected
        client.on_publish = self._acknowledged
        self._thread.start()
        connect(client, self._settings, session_s=0, receive_maximum=IN_FLIGHT)

    def stop(self, timeout_s: float = STOP_S) -> None:
        """Publishes the waiting readings, for at most this long."""
        with self._changed:
            self._changed.wait_for(self._is_idle, timeout_s if self._state.is_up else 0)
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()
        self._client.disconnect()
        self._client.drop_out_messages()  # paho would wait for their acknowledgements
        self._client.loop_stop()

    # --- The publisher's thread ---

    def _run(self) -> None:
        while (stored := self._next()) is not None:
            self._client.publish(*message_of(stored), qos=1)

    def _next(self) -> Stored | None:
        with self._changed:
            self._changed.wait_for(self._may_go_on)
            if self._stopping:
                return None
            self._in_flight += 1
            return self._waiting.popleft()

    def _may_go_on(self) -> bool:
        ready = self._waiting and self._state.is_up and self._in_flight < self._most_in_flight
        return bool(ready) or self._stopping

    def _is_idle(self) -> bool:
        return not self._waiting and not self._in_flight

    def _drop(self, several: int) -> None:
        if not self.dropped:
            _log.warning("the broker is slow or unreachable: the oldest readings are not published")
        self.dropped += several
        metrics.published("dropped", several)

    def _refuse(self, reason: ReasonCode) -> None:
        if not self.refused:
            _log.warning("the broker refuses readings (%s): its ACL must let us publish", reason)
        self.refused += 1
        metrics.published("refused")

    # --- paho's thread ---

    def _unreached(self, _: Client, __: Any) -> None:
        self._state.down("can't be reached")

    def _connected(
        self,
        _: Client,
        __: Any,
        ___: ConnectFlags,
        reason: ReasonCode,
        properties: Properties | None,
    ) -> None:
        with self._changed:
            if reason.is_failure:
                self._state.down(f"refused ({reason})")
                return
            self._most_in_flight = min(IN_FLIGHT, getattr(properties, "ReceiveMaximum", IN_FLIGHT))
            self._state.up()
            if self.dropped:
                _log.warning("%d stored readings were never published", self.dropped)
            self._changed.notify()

    def _disconnected(
        self, _: Client, __: Any, ___: DisconnectFlags, reason: ReasonCode, ____: Properties | None
    ) -> None:
        with self._changed:
            if not self._stopping:
                self._state.lost(reason)

    def _acknowledged(
        self, _: Client, __: Any, ___: int, reason: ReasonCode, ____: Properties | None
    ) -> None:
        with self._changed:
            self._in_flight -= 1
            if reason.is_failure:
                self._refuse(reason)
            else:
                self.published += 1
                metrics.published("published")
            self._changed.notify_all()
