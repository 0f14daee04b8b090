"""One client's connection: handles its packets in order, and pauses reading while too much isn't
stored yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from ssl import SSLObject
from time import monotonic
from typing import Any, Final, Protocol, cast

from api.auth.principal import Principal
from api.ingest.mqtt.intake import Message
from api.ingest.mqtt.listener import responses
from api.ingest.mqtt.listener.admission import Admitted, Credential
from api.ingest.mqtt.listener.fields import (
    ASSIGNED_CLIENT_ID,
    IDENTIFIERS_AVAILABLE,
    MAXIMUM_PACKET_SIZE,
    MAXIMUM_QOS,
    RECEIVE_MAXIMUM,
    SERVER_KEEP_ALIVE,
    SESSION_EXPIRY,
    SHARED_AVAILABLE,
    V5,
    WILDCARD_AVAILABLE,
    Malformed,
    Properties,
    Reason,
)
from api.ingest.mqtt.listener.packets import (
    MOST_TOPIC_BYTES,
    Connect,
    Decoder,
    Disconnect,
    Packet,
    Ping,
    Publish,
    Subscribe,
)
from api.ingest.mqtt.listener.sessions import LONGEST_S
from api.ingest.mqtt.messages import MAX_BYTES

_FLUSH_S: Final = 5.0  # time for sending the last bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """What one listener allows its clients. Bytes are of memory. "In flight" is what isn't
    committed yet; a client beyond that limit isn't read until some of it is committed."""

    clients: int = 5_000
    entering: int = 500  # connections without an accepted Connect; beyond, the oldest is closed
    connects_per_s: float = 500.0  # more wait in the kernel
    connect_s: float = 10.0  # time from the connection to an accepted Connect
    packet_bytes: int = MAX_BYTES + MOST_TOPIC_BYTES + 8_192  # the latter is for properties
    in_flight: int = 4_000
    in_flight_bytes: int = 4 << 20
    partial_bytes: int = 64 << 20  # memory of incomplete packets, of all clients together
    unread_bytes: int = 1 << 16  # bytes of acknowledgements that a client doesn't read
    keep_alive_s: int = 3_600  # the longest keep-alive with MQTT 5


class State(Enum):
    NEW = "no Connect yet"
    ENTERING = "its credential is being checked"
    OPEN = "it may publish"
    CLOSED = "nothing more is read"


class Host(Protocol):
    """The part of the listener that a connection uses."""

    held: set[Connection]
    """The connections whose reading is paused."""

    @property
    def is_full(self) -> bool:
        """Whether too many messages of all clients are waiting."""
        ...

    def enter(self, connection: Connection, packet: Connect) -> None:
        """Checks the credential, then calls `Connection.accept` or `Connection.close`."""
        ...

    def receive(self, messages: Sequence[Message]) -> None: ...

    def count(self, event: str, detail: str = "") -> None: ...

    def left(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """``number`` is unique. ``lasts_s``: how long the session outlives it."""

    def __init__(self, host: Host, number: int, address: str, limits: Limits) -> None:
        self._host, self.number, self.address, self._limits = host, number, address, limits
        self._decoder = Decoder(limits.packet_bytes)
        self._transport: asyncio.Transport | None = None
        self.task: asyncio.Task[Any] | None = None  # the Connect packet
        self.state = State.NEW
        self.began_s = self._active_s = monotonic()
        self._closed_s = self._silent_s = float("inf")
        self._in_flight = self._in_flight_bytes = 0
        self._paused = False
        self.client_id, self.session, self.lasts_s = "", 0, 0
        self.principal: Principal | None = None
        self.credential: Credential | None = None

    # --- asyncio's calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._limits.unread_bytes)
        if self.state is State.CLOSED:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._active_s = monotonic()
        self._decoder.feed(data)
        self.advance()

    def pause_writing(self) -> None:
        self.abort("unread", "doesn't read its acknowledgements")

    def connection_lost(self, exc: Exception | None) -> None:
        self.state = State.CLOSED
        self._host.left(self)

    # --- The listener's calls ---

    @property
    def version(self) -> int:
        return self._decoder.version

    @property
    def client(self) -> tuple[str, str]:
        """Returns its Key ID and client id; empty before it is accepted."""
        return self.principal.id if self.principal else "", self.client_id

    @property
    def partial_bytes(self) -> int:
        return self._decoder.waiting_bytes

    @property
    def certificate(self) -> dict[str, Any] | None:
        """Returns the client's certificate, verified by TLS."""
        tls: SSLObject | None = self._transport and self._transport.get_extra_info("ssl_object")
        return cast("dict[str, Any]", tls.getpeercert()) if tls else None

    def accept(self, packet: Connect, admitted: Admitted, shown: Credential) -> None:
        """Accepts the client: it may publish from now on."""
        self.principal, self.client_id, self.session, resumed = admitted
        self.credential, self.lasts_s = shown, min(packet.session_s, LONGEST_S)
        keep_alive_s, properties = packet.keep_alive_s, self._properties(packet)
        if packet.version == V5:
            keep_alive_s = properties.get(SERVER_KEEP_ALIVE, keep_alive_s)
        self._silent_s = 1.5 * keep_alive_s or float("inf")
        self.state = State.OPEN
        answer = responses.connack(
            packet.version, Reason.SUCCESS, resumed=resumed, properties=properties
        )
        self._write(answer)
        self.advance()

    def settle(self, messages: int, size: int, acknowledgements: bytes) -> None:
        """Called when this many of its messages, with ``size`` bytes of memory, are stored."""
        self._in_flight -= messages
        self._in_flight_bytes -= size
        if acknowledgements and self.state is State.OPEN:
            self._write(acknowledgements)

    def advance(self) -> None:
        """Handles the packets received so far, and reads more unless too much is in flight."""
        messages: list[Message] = []
        try:
            while self._may_read and (packet := self._decoder.packet()) is not None:
                self._handle(packet, messages)
        except Malformed as error:
            self.close(error.reason, error.detail, error.version)
        if messages:
            self._host.receive(messages)
        self._hold(not self._may_read)

    def tick(self, now_s: float) -> None:
        """Closes the connection if it is too slow or silent."""
        if self.state is State.CLOSED:
            if now_s - self._closed_s > _FLUSH_S and self._transport:
                self._transport.abort()
        elif self.state is not State.OPEN:
            if now_s - self.began_s > self._limits.connect_s:
                self.abort("no_connect", "sent no valid Connect in time")
        elif self._paused:
            self.advance()
        elif now_s - self._active_s > self._silent_s:
            self.close(Reason.KEEP_ALIVE_TIMEOUT, "was silent for longer than its keep-alive")

    def close(self, reason: Reason, detail: str, version: int = 0) -> None:
        """Closes the connection with a reason, once pending data is sent. A ``detail`` is logged.
        ``version``: of a Connect that can't be accepted."""
        version = version or self.version
        if self.state is State.CLOSED:
            return
        if self.state is State.OPEN:
            self._write(responses.disconnect(version, reason))
        elif version or reason is Reason.UNSUPPORTED_VERSION:
            self._write(responses.connack(version, reason))
        self._end()
        self._host.count(reason.name.lower(), detail and f"{self.address}: {detail}")
        if self._transport:
            self._transport.close()

    def abort(self, event: str, detail: str) -> None:
        """Closes the connection at once, without a packet."""
        if self.state is not State.CLOSED:
            self._host.count(event, f"{self.address}: {detail}")
            self.drop()

    def drop(self) -> None:
        self._end()
        if self._transport:
            self._transport.abort()
        elif self.task:
            self.task.cancel()

    # --- Private ---

    @property
    def _may_read(self) -> bool:
        return (
            self.state in (State.OPEN, State.NEW)
            and self._in_flight < self._limits.in_flight
            and self._in_flight_bytes < self._limits.in_flight_bytes
            and not self._host.is_full
        )

    def _handle(self, packet: Packet, messages: list[Message]) -> None:
        if isinstance(packet, Publish):
            self._take(packet, messages)
        elif isinstance(packet, Ping):
            self._write(responses.PONG)
        elif isinstance(packet, Connect):
            self.state = State.ENTERING
            self._host.enter(self, packet)
        elif isinstance(packet, Subscribe):
            self._write(responses.suback(self.version, packet))
        else:
            self._leave(packet)

    def _take(self, packet: Publish, messages: list[Message]) -> None:
        assert self.principal is not None  # it is open
        message = Message(
            packet.topic,
            packet.payload,
            packet.identifier,
            packet.qos,
            packet.again,
            self.number,
            self._active_s,
            self.session,
            self.principal.scope,
            self.principal.id,
        )
        self._in_flight += 1
        self._in_flight_bytes += message.size
        messages.append(message)

    def _leave(self, packet: Disconnect) -> None:
        if packet.session_s is not None:
            if packet.session_s and not self.lasts_s:
                raise Malformed(Reason.PROTOCOL_ERROR, "a session that was none can't be kept")
            self.lasts_s = min(packet.session_s, LONGEST_S)
        self._end()
        if self._transport:
            self._transport.close()

    def _end(self) -> None:
        self.state, self._closed_s = State.CLOSED, monotonic()

    def _properties(self, packet: Connect) -> Properties:
        properties: Properties = {
            RECEIVE_MAXIMUM: self._limits.in_flight,
            MAXIMUM_QOS: 1,
            MAXIMUM_PACKET_SIZE: self._limits.packet_bytes,
            WILDCARD_AVAILABLE: 0,
            IDENTIFIERS_AVAILABLE: 0,
            SHARED_AVAILABLE: 0,
        }
        if packet.session_s > LONGEST_S:
            properties[SESSION_EXPIRY] = LONGEST_S
        if not 0 < packet.keep_alive_s <= self._limits.keep_alive_s:
            properties[SERVER_KEEP_ALIVE] = self._limits.keep_alive_s
        if not packet.client_id:
            properties[ASSIGNED_CLIENT_ID] = self.client_id
        return properties

    def _write(self, data: bytes) -> None:
        if data and self._transport and not self._transport.is_closing():
            self._transport.write(data)

    def _hold(self, hold: bool) -> None:
        """Pauses or resumes reading the socket."""
        transport = self._transport
        if transport is None or hold == self._paused or self.state is State.CLOSED:
            return
        self._paused = hold
        if hold:
            self._host.held.add(self)
            transport.pause_reading()
            return
        self._host.held.discard(self)
        if not transport.is_closing():
            transport.resume_reading()
            self._active_s = monotonic()
