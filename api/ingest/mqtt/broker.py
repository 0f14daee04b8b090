"""Connects to the broker of the settings. The password is read from its file at each start and sent
only to the broker."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from api.errors import ConfigurationError, UserError
from api.settings import Settings

SESSION_S: Final = 30 * 86_400  # how long the broker keeps messages while Weir is offline
KEEPALIVE_S: Final = 30
ANSWER_S: Final = 5.0  # time for the broker's response to a command
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1, 30  # time between attempts to connect
_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}


def new_client(settings: Settings, client_id: str) -> Client:
    """Returns a client that isn't connected yet. Raises ConfigurationError if a file of the
    settings is unusable."""
    client = Client(
        CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTProtocolVersion.MQTTv5
    )
    url = urlsplit(settings.mqtt_url)
    if url.username:
        client.username_pw_set(unquote(url.username), _password(settings.mqtt_password_file))
    if url.scheme == "mqtts":
        client.tls_set_context(_context(settings.mqtt_ca_file))  # pyright: ignore[reportUnknownMemberType]
    client.reconnect_delay_set(FIRST_PAUSE_S, LONGEST_PAUSE_S)
    return client


def connect(client: Client, settings: Settings, *, session_s: int, receive_maximum: int) -> None:
    """Connects, and reconnects forever, in a thread of paho. With ``session_s`` the broker keeps
    the session; without, each connection starts a new one."""
    wanted = Properties(PacketTypes.CONNECT)
    wanted.SessionExpiryInterval = session_s
    wanted.ReceiveMaximum = receive_maximum
    url = urlsplit(settings.mqtt_url)
    client.connect_async(
        url.hostname or "",
        url.port or _PORTS[url.scheme],
        KEEPALIVE_S,
        clean_start=not session_s,
        properties=wanted,
    )
    client.loop_start()


def end_session(settings: Settings, client_id: str) -> None:
    """Deletes the broker session and its waiting messages. A client connected under that name is
    disconnected. Raises UserError if the broker doesn't confirm within a few seconds."""
    client, results = new_client(settings, client_id), Queue[str]()

    def connected(_: Client, __: Any, ___: Any, reason: ReasonCode, ____: Any) -> None:
        results.put(f"the broker responded: {reason}" if reason.is_failure else "")

    client.on_connect = connected
    connect(client, settings, session_s=0, receive_maximum=1)  # replaces the session
    try:
        refused = results.get(timeout=ANSWER_S)
    except Empty:
        refused = "the broker did not respond"
    client.disconnect()
    client.loop_stop()
    if refused:
        raise UserError(f"the session {client_id} can't be deleted: {refused}")


def _password(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        detail = error.strerror if isinstance(error, OSError) else "is not text"
        raise ConfigurationError(f"WEIR_MQTT_PASSWORD_FILE: {path}: {detail}") from None


def _context(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:  # ssl.SSLError is an OSError
        detail = error.strerror or "holds no certificate"
        raise ConfigurationError(f"WEIR_MQTT_CA_FILE: {ca_file}: {detail}") from None


class ConnectionState:
    """Logs the state of a connection: connected, or why not; each change once."""

    def __init__(self, what: str, settings: Settings, log: logging.Logger) -> None:
        url = urlsplit(settings.mqtt_url)
        self._where = f"{what} at {url.hostname}:{url.port or _PORTS[url.scheme]}"
        self._log = log
        self.problem = "not connected yet"

    @property
    def is_up(self) -> bool:
        return not self.problem

    def up(self) -> None:
        if self.problem:
            self._log.warning("%s: connected", self._where)
        self.problem = ""

    def lost(self, reason: ReasonCode) -> None:
        """Logs the loss of a connection that was up."""
        if self.is_up:
            self.down(f"connection lost ({reason})")

    def down(self, reason: ReasonCode | str) -> None:
        detail = str(reason)
        if detail != self.problem:
            self._log.warning("%s: %s; retrying", self._where, detail)
        self.problem = detail
