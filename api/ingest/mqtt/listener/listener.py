"""The listener: receives MQTT messages from meters, and acknowledges them once their readings are
stored.

One thread runs the connections, one looks up credentials and sessions, and two more store the
messages (`Committer`). A client that is slow, silent or sends too much delays only itself.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any, Final

import uvloop

from api.errors import ConfigurationError, Forbidden, ServiceError, Unauthorized
from api.ingest.mqtt import lorawan_mapping
from api.ingest.mqtt.committer import STOP_S, Committer
from api.ingest.mqtt.intake import Intake, Message
from api.ingest.mqtt.listener.admission import Admission, Admitted, Credential, credential
from api.ingest.mqtt.listener.connection import Connection, Limits, State
from api.ingest.mqtt.listener.fields import V5, Reason
from api.ingest.mqtt.listener.packets import Connect
from api.ingest.mqtt.listener.responses import puback
from api.ingest.mqtt.listener.sessions import Sessions
from api.ingest.mqtt.listener.transport import Certificates, bound, prepare
from api.ingest.mqtt.messages import Reader
from api.ingest.mqtt.receive_queue import Inbox
from api.ingest.mqtt.redelivery_journal import Journal
from api.ingest.writer import Writer
from api.settings import Settings
from api.store.base import Store
from api.telemetry import metrics
from api.telemetry.client_address import is_loopback
from api.timez import now_ms

NAME: Final = "listener"
TICK_S: Final = 1.0
RECHECK_S: Final = 10.0  # a revoked key's clients are disconnected within this time
REFRESH_S: Final = 60.0
LONGEST_PAUSE_S: Final = 30.0  # time between attempts to listen
LOG_S: Final = 60.0  # time between two log lines about clients closed for the same reason
_FLUSH_S: Final = 1.0

_log = logging.getLogger(__name__)


class Listener:
    """`start` returns at once; `stop` closes every connection once its messages are stored.
    ``problem``: why nothing is received, '' if meters can connect."""

    def __init__(
        self, settings: Settings, store: Store, writer: Writer, limits: Limits | None = None
    ) -> None:
        if settings.mqtt_listen is None:
            raise ConfigurationError("WEIR_MQTT_LISTEN isn't set")
        self._address, self._limits = settings.mqtt_listen, limits or Limits()
        self._certificates = Certificates(settings)
        self._reader = Reader(lorawan_mapping.load(settings.mqtt_mapping))
        folder = Path(settings.instance)
        self._sessions = Sessions(folder)
        self._admission = Admission(store, settings, self._sessions)
        journal = Journal(folder / f"mqtt_{NAME}.received")
        if journal.begun:  # repeated deliveries couldn't be recognized
            self._sessions.clear()
        self.intake = Intake(self._reader, journal, writer.device_cache, NAME, writer.position)
        self._inbox = Inbox()
        self._committer = Committer(self.intake, writer, self._inbox, self._stored)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="mqtt-admission")
        self._numbers = count(1)
        self._connections: dict[int, Connection] = {}
        self._entering: dict[int, Connection] = {}  # oldest first
        self._clients: dict[tuple[str, str], Connection] = {}
        self.held: set[Connection] = set()
        self._rechecked_s = self._refreshed_s = monotonic()
        self._logged_s: dict[str, float] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.problem = "not listening yet"
        self.port = self._address.port
        self.last_message_ms: int | None = None
        self._loop = uvloop.new_event_loop()
        self._stop_reading, self._stop = asyncio.Event(), asyncio.Event()
        self._is_reading = True
        self._thread = Thread(target=self._run, name="mqtt-listener", daemon=True)

    @property
    def clients(self) -> int:
        """Returns the number of connected clients."""
        return len(self._clients)

    @property
    def _where(self) -> str:
        return f"{self._address.host}:{self.port}"

    def start(self) -> None:
        self._committer.start()
        self._thread.start()

    def stop(self, timeout_s: float = STOP_S) -> None:
        self._call(self._read_no_more)
        self._committer.stop(timeout_s)
        self._call(self._stop.set)
        self._thread.join()
        self._executor.shutdown()
        self._sessions.close()
        self.intake.close()

    # --- Host, for connections ---

    @property
    def is_full(self) -> bool:
        return self._inbox.is_full or not self._is_reading

    def receive(self, messages: Sequence[Message]) -> None:
        self.last_message_ms = now_ms()
        self._inbox.put_all(messages)

    def enter(self, connection: Connection, packet: Connect) -> None:
        self._task(self._enter(connection, packet))

    def left(self, connection: Connection) -> None:
        self._connections.pop(connection.number, None)
        self._entering.pop(connection.number, None)
        self.held.discard(connection)
        if self._clients.get(connection.client) is connection:
            del self._clients[connection.client]
            self._end_session(connection.session, connection.lasts_s)

    def count(self, event: str, detail: str = "") -> None:
        metrics.mqtt_connection(event)
        now_s = monotonic()
        if detail and now_s - self._logged_s.get(event, -LOG_S) >= LOG_S:
            self._logged_s[event] = now_s
            _log.warning("MQTT client %s", detail)

    # --- The thread of the connections ---

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve_until_stopped())
        finally:
            self._loop.close()

    async def _serve_until_stopped(self) -> None:
        while True:
            try:
                return await self._serve()
            except Exception as error:  # noqa: BLE001 - without it no meter is listened to
                _log.exception("the MQTT listener failed and is restarted")
                self.problem = f"failed: {type(error).__name__}"
            for task in list(self._tasks):
                task.cancel()
            await self._close_all()

    async def _serve(self) -> None:
        listening = await self._listening()
        if listening is None:
            return
        with listening:
            work = [self._accept(listening), self._tick(), self._stop_reading.wait()]
            tasks = [self._task(part) for part in work]
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # raises the error that ended it
            tasks[0].cancel()
        await self._stop.wait()
        tasks[1].cancel()
        await self._close_all()

    async def _listening(self) -> socket.socket | None:
        """Listens, retrying while the address is in use. Returns None when stopping."""
        pause_s = TICK_S
        while True:
            try:
                listening = bound(*self._address)
            except OSError as error:
                problem = f"can't listen on {self._where}: {error.strerror or error}"
                if problem != self.problem:
                    _log.warning("MQTT: %s; retrying", problem)
                self.problem = problem
            else:
                self.port = listening.getsockname()[1]
                self.problem = ""
                _log.warning("readings from meters by MQTT at %s: listening", self._where)
                if self._certificates.context is None and not is_loopback(self._address.host):
                    _log.warning("WEIR_MQTT_LISTEN has no certificate: passwords are readable")
                return listening
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause_s)
                return None
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _accept(self, listening: socket.socket) -> None:
        """Accepts connections at a limited rate; more of them wait in the kernel."""
        free_s = 0.0  # when the next one may be accepted; a second's worth at once
        while True:
            try:
                accepted, address = await self._loop.sock_accept(listening)
            except OSError as error:  # such as too many open files
                _log.warning("MQTT connections can't be accepted: %s", error)
                await asyncio.sleep(TICK_S)
                continue
            self._begin(accepted, str(address[0]))
            now_s = monotonic()
            free_s = max(free_s, now_s - 1.0) + 1 / self._limits.connects_per_s
            if free_s > now_s:
                await asyncio.sleep(free_s - now_s)

    def _begin(self, accepted: socket.socket, address: str) -> None:
        if len(self._clients) >= self._limits.clients:
            self.count("full", f"{address}: {self._limits.clients:,} clients are connected")
            accepted.close()
            return
        if len(self._entering) >= self._limits.entering:
            oldest = next(iter(self._entering.values()))
            oldest.abort("no_connect", "sent no valid Connect before others did")
            self._entering.pop(oldest.number, None)
        prepare(accepted)
        connection = Connection(self, next(self._numbers), address, self._limits)
        self._connections[connection.number] = connection
        self._entering[connection.number] = connection
        connection.task = self._task(self._connect(accepted, connection))

    async def _connect(self, accepted: socket.socket, connection: Connection) -> None:
        context = self._certificates.context
        try:
            await self._loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=context,
                ssl_handshake_timeout=self._limits.connect_s if context else None,
            )
        except (OSError, TimeoutError) as error:  # ssl.SSLError is an OSError
            self.count("tls", f"{connection.address}: TLS failed: {error or 'the client left'}")
            self.left(connection)
        except asyncio.CancelledError:
            self.left(connection)
            accepted.close()
            raise

    async def _enter(self, connection: Connection, packet: Connect) -> None:
        shown = credential(packet.password, connection.certificate)
        admit = partial(self._admission.admit, shown, packet, connection.address)
        try:
            admitted = await self._loop.run_in_executor(self._executor, admit)
        except (Unauthorized, Forbidden) as error:
            client = f"(client id {packet.client_id[:80]!r})"
            if isinstance(error, Forbidden):  # a key that reads, or a Key ID as the password
                connection.close(Reason.NOT_AUTHORIZED, f"its key is no ingest key {client}")
            else:
                connection.close(Reason.BAD_CREDENTIALS, f"its key is unknown or over {client}")
        except ServiceError as error:
            connection.close(Reason.UNAVAILABLE, str(error))
        except Exception:  # noqa: BLE001 - the client's alone
            _log.exception("an MQTT client can't be admitted")
            connection.close(Reason.UNAVAILABLE, "")
        else:
            self._let_in(connection, packet, admitted, shown)

    def _let_in(
        self,
        connection: Connection,
        packet: Connect,
        admitted: Admitted,
        shown: Credential,
    ) -> None:
        if connection.state is State.CLOSED:  # disconnected during the check
            self._end_session(admitted.session, packet.session_s)
            return
        client = admitted.principal.id, admitted.client_id
        earlier = self._clients.pop(client, None)
        if earlier is not None:
            earlier.close(Reason.TAKEN_OVER, f"client id {client[1][:80]!r} connected again")
        self._entering.pop(connection.number, None)
        self._clients[client] = connection
        self.count("accepted")
        connection.accept(packet, admitted, shown)

    # --- After the commit ---

    def _stored(self, messages: Sequence[Message]) -> None:
        """Runs in the committer's thread."""
        self._call(self._settle, messages)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        """Calls the function in the thread of the connections, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    def _settle(self, messages: Sequence[Message]) -> None:
        """Acknowledges, and resumes reading where it was paused."""
        by_connection: dict[int, list[Message]] = {}
        for message in messages:
            by_connection.setdefault(message.connection, []).append(message)
        for number, several in by_connection.items():
            connection = self._connections.get(number)
            if connection is not None:
                size = sum(message.size for message in several)
                acknowledged = (self._acknowledgement(connection, m) for m in several if m.qos)
                connection.settle(len(several), size, b"".join(acknowledged))
        for connection in list(self.held):
            connection.advance()

    def _acknowledgement(self, connection: Connection, message: Message) -> bytes:
        if connection.version != V5 or message.scope is None:
            return puback(connection.version, message.identifier)
        allowed = self._reader.organization_id(message.topic) == message.scope.organization_id
        reason = Reason.SUCCESS if allowed else Reason.NOT_AUTHORIZED
        return puback(V5, message.identifier, reason)

    # --- Every second ---

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            now_s = monotonic()
            for connection in list(self._connections.values()):
                connection.tick(now_s)
            self._drop_partial()
            if now_s - self._rechecked_s >= RECHECK_S:
                self._rechecked_s = float("inf")  # until it is done: the store may be slow
                self._task(self._recheck())
            if now_s - self._refreshed_s >= REFRESH_S:
                self._refreshed_s = now_s
                self._certificates.refresh()

    def _drop_partial(self) -> None:
        """Closes those that hold most memory with incomplete packets."""
        holding = sorted(self._connections.values(), key=lambda c: c.partial_bytes, reverse=True)
        total = sum(connection.partial_bytes for connection in holding)
        for connection in holding:
            if total <= self._limits.partial_bytes:
                break
            total -= connection.partial_bytes
            connection.abort("partial", "sent a large packet too slowly")

    async def _recheck(self) -> None:
        """Disconnects clients whose key was revoked, or whose key or certificate has expired;
        updates the scope of the others."""
        shown = {c.credential for c in self._clients.values() if c.credential is not None}
        look = partial(self._admission.recheck, shown)
        try:
            principals = await self._loop.run_in_executor(self._executor, look)
        finally:
            self._rechecked_s = monotonic()
        for connection in list(self._clients.values()):
            if connection.credential is None or connection.credential not in principals:
                continue
            principal = principals[connection.credential]
            if principal is None:
                connection.close(Reason.NOT_AUTHORIZED, "its key or certificate is no longer valid")
            else:
                connection.principal = principal

    # --- Stopping ---

    def _read_no_more(self) -> None:
        self._is_reading = False
        self._stop_reading.set()

    async def _close_all(self) -> None:
        for connection in list(self._connections.values()):
            connection.close(Reason.SHUTTING_DOWN, "")
        ended_s = monotonic() + _FLUSH_S
        while self._connections and monotonic() < ended_s:
            await asyncio.sleep(0.01)
        for connection in list(self._connections.values()):
            connection.drop()
        await asyncio.sleep(0)

    def _task(self, work: Any) -> asyncio.Task[Any]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _end_session(self, number: int, lasts_s: int) -> None:
        with suppress(RuntimeError):  # stopping: the next start does it
            self._executor.submit(self._sessions.end, number, lasts_s)
