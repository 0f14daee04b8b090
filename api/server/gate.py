"""Credential first: before the parameters are looked at, before anything is asked of the store."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from api.auth import Authenticator, EmbedAuthenticator, Principal
from api.catalog import KEY_HEADER
from api.errors import Forbidden, Unauthorized
from api.server.rate_limits import Limits
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord

# A header that was sent twice arrives here joined by a comma, and is no key any more.
_KEY_VARIABLE: Final = "HTTP_" + KEY_HEADER.upper().replace("-", "_")


class Gate:
    """Lets a request in as its principal, within the limits where there are any."""

    def __init__(
        self, authenticator: Authenticator | EmbedAuthenticator, limits: Limits | None
    ) -> None:
        self._authenticator, self._limits = authenticator, limits

    def enter(self, environ: dict[str, Any]) -> Principal:
        """Unauthorized, Forbidden or TooManyRequests where it stays outside."""
        visit: RequestRecord | None = environ.get(REQUEST_RECORD)
        if visit is None:
            return self._enter(environ)
        began_s = perf_counter()
        try:
            principal = self._enter(environ)
            visit.kind, visit.principal = principal.kind, principal.id
            return principal
        finally:
            visit.auth_s = perf_counter() - began_s

    def _enter(self, environ: dict[str, Any]) -> Principal:
        credential = (environ.get(_KEY_VARIABLE), environ.get("HTTP_AUTHORIZATION"))
        if self._limits is None:
            return self._authenticator.principal(*credential)
        principal = self._limited(self._limits, credential, environ.get("REMOTE_ADDR", ""))
        self._limits.admit_key(principal.id)
        return principal

    def _limited(
        self, limits: Limits, credential: tuple[str | None, str | None], address: str
    ) -> Principal:
        """An address that failed too often is refused before the store is asked; credentials
        that were good before pass, so that nobody behind the same address is locked out."""
        if not self._authenticator.knew(*credential):
            limits.admit_address(address)
        try:
            return self._authenticator.principal(*credential)
        except (Unauthorized, Forbidden):
            if any(part is not None for part in credential):
                limits.failed(address)
            raise
