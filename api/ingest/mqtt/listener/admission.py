"""Decides who may connect: an ingest key as the password, or a client certificate that names its
Key ID."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Mapping
from ssl import cert_time_to_seconds
from time import monotonic
from typing import Any, NamedTuple

from api.auth import Authenticator
from api.auth.key_uses import EVERY_S
from api.auth.principal import Principal, unauthorized
from api.errors import Forbidden, ServiceError, Unauthorized
from api.ingest.mqtt.listener.packets import Connect
from api.ingest.mqtt.listener.sessions import Sessions
from api.settings import Settings
from api.store.base import Store
from api.timez import now_ms

_log = logging.getLogger(__name__)


class Credential(NamedTuple):
    """What a client presents: a key, or the Key ID in a certificate that TLS has verified, which is
    valid until ``until_s`` (seconds of the epoch)."""

    key: str | None
    key_id: str | None
    until_s: int | None = None

    def principal(self, authenticator: Authenticator) -> Principal:
        """Raises Unauthorized, Forbidden, or what the store raises."""
        if self.until_s is not None and now_ms() > 1000 * self.until_s:
            raise unauthorized("The certificate has expired.")
        if self.key is not None:
            return authenticator.principal(self.key, None)
        if self.key_id is not None:
            return authenticator.by_key_id(self.key_id)
        raise unauthorized("There is no password and no certificate.")


def credential(password: bytes | None, certificate: Mapping[str, Any] | None) -> Credential:
    """Returns the password's credential if there is one, else the certificate's."""
    if password is not None:
        return Credential(password.decode("utf-8", "replace"), None)
    if not certificate:
        return Credential(None, None)
    ends = certificate.get("notAfter")
    until_s = cert_time_to_seconds(ends) if isinstance(ends, str) else None
    return Credential(None, common_name(certificate), until_s)


def common_name(certificate: Mapping[str, Any]) -> str | None:
    """Returns the subject's CN of a certificate as `ssl` gives it; None unless there is exactly
    one."""
    parts = [part for name in certificate.get("subject", ()) for part in name]
    names = [value for kind, value in parts if kind == "commonName"]
    return names[0] if len(names) == 1 else None


class Admitted(NamedTuple):
    """``resumed``: the session existed before."""

    principal: Principal
    client_id: str
    session: int
    resumed: bool


class Admission:
    """Admits clients. For one thread."""

    def __init__(self, store: Store, settings: Settings, sessions: Sessions) -> None:
        self._store, self.sessions = store, sessions
        self._authenticator = Authenticator(store, settings, ingest=True)
        self._used: set[str] = set()  # Key IDs with unsaved uses
        self._saved_s: dict[str, float] = {}

    def admit(self, shown: Credential, packet: Connect, address: str) -> Admitted:
        """Raises Unauthorized, Forbidden, or what the store raises."""
        principal = shown.principal(self._authenticator)
        self._used.add(principal.id)
        client_id = packet.client_id or f"weir-{secrets.token_hex(8)}"
        session, resumed = self.sessions.begin(
            principal.id, client_id, packet.session_s, address, clean=packet.clean_start
        )
        return Admitted(principal, client_id, session, resumed)

    def recheck(self, shown: Iterable[Credential]) -> dict[Credential, Principal | None]:
        """Checks credentials again. None marks one that is no longer valid; those that can't be
        checked now are left out. Saves which keys were used since."""
        principals: dict[Credential, Principal | None] = {}
        for one in shown:
            try:
                principals[one] = one.principal(self._authenticator)
            except (Unauthorized, Forbidden):
                principals[one] = None
            except ServiceError:
                continue
        self._used |= {principal.id for principal in principals.values() if principal}
        self._save_uses()
        return principals

    def _save_uses(self) -> None:
        """Saves the use of a key at most once in a few minutes, and all of them in one
        transaction."""
        now_s = monotonic()
        due = {key for key in self._used if now_s - self._saved_s.get(key, -EVERY_S) >= EVERY_S}
        self._used.clear()
        if not due:
            return
        try:
            self._store.save_key_uses(dict.fromkeys(due, now_ms()))
        except ServiceError as error:
            _log.warning("the last use of %d keys can't be saved: %s", len(due), error)
            self._used |= due
        else:
            self._saved_s |= dict.fromkeys(due, now_s)
