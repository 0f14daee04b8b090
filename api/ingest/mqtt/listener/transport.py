"""Sockets and TLS of the listener."""

from __future__ import annotations

import logging
import socket
import ssl
from pathlib import Path
from typing import Final

from api.errors import ConfigurationError
from api.settings import Settings

BACKLOG: Final = 1_024
_RECEIVE_BYTES: Final = 1 << 18
_SEND_BYTES: Final = 1 << 16  # bytes: acknowledgements are small

_log = logging.getLogger(__name__)


class Certificates:
    """The TLS context of the settings; None without a certificate. `refresh` loads renewed files.
    Raises ConfigurationError if a file is unusable."""

    def __init__(self, settings: Settings) -> None:
        self._files = (settings.mqtt_listen_certificate, settings.mqtt_listen_certificate_key)
        self.context: ssl.SSLContext | None = None
        if not self._files[0]:
            return
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            self._load(self.context)
        except OSError as error:  # ssl.SSLError is an OSError
            raise _unusable("WEIR_MQTT_LISTEN_CERTIFICATE", self._files[0], error) from None
        if settings.mqtt_listen_client_ca:
            try:
                self.context.load_verify_locations(settings.mqtt_listen_client_ca)
            except OSError as error:
                where = settings.mqtt_listen_client_ca
                raise _unusable("WEIR_MQTT_LISTEN_CLIENT_CA", where, error) from None
            self.context.verify_mode = ssl.CERT_OPTIONAL

    def refresh(self) -> None:
        """Loads the certificate again if its files have changed; new connections get it."""
        if self.context is None:
            return
        try:
            if self._changed_ns() != self._loaded_ns:
                self._load(self.context)
                _log.warning("MQTT clients get the renewed certificate")
        except OSError as error:
            _log.warning("the renewed MQTT certificate can't be loaded: %s", error)

    def _load(self, context: ssl.SSLContext) -> None:
        certificate, key = self._files
        self._loaded_ns = self._changed_ns()
        context.load_cert_chain(certificate, key or None)

    def _changed_ns(self) -> tuple[int, ...]:
        return tuple(Path(file).stat().st_mtime_ns for file in self._files if file)


def _unusable(name: str, path: str, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"{name}: {path}: {error.strerror or 'is not usable'}")


def bound(host: str, port: int) -> socket.socket:
    """Returns a socket that listens there. Raises OSError."""
    family, kind, _, _, where = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def prepare(accepted: socket.socket) -> None:
    """Limits the kernel's buffers for a client. TCP keep-alive detects clients that vanished,
    including those without MQTT's keep-alive."""
    accepted.setblocking(False)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, option):
            accepted.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
