"""Checks the credential, before parameters are parsed or the store is read."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from api.auth import Authenticator, EmbedAuthenticator, Principal
from api.catalog import KEY_HEADER
from api.errors import Forbidden, Unauthorized
from api.server.rate_limits import Limits
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord

# A header that was sent twice arrives joined by a comma, so it is no valid key.
_KEY_VARIABLE: Final = "HTTP_" + KEY_HEADER.upper().replace("-", "_")


class Gate:
    """Turns a request's credential into its principal and applies the rate limits, if any."""

    def __init__(
        self, authenticator: Authenticator | EmbedAuthenticator, limits: Limits | None
    ) -> None:
        self._authenticator, self._limits = authenticator, limits

    def enter(self, environ: dict[str, Any]) -> Principal:
        """Returns the principal. Raises Unauthorized, Forbidden or TooManyRequests."""
        record: RequestRecord | None = environ.get(REQUEST_RECORD)
        if record is None:
            return self._enter(environ)
        began_s = perf_counter()
        try:
            principal = self._enter(environ)
            record.kind, record.principal = principal.kind, principal.id
            return principal
        finally:
            record.auth_s = perf_counter() - began_s

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
        """Refuses an address with too many failures before the store is read. Credentials that were
        valid before still pass, so that others behind the same address aren't locked out."""
        if not self._authenticator.was_valid(*credential):
            limits.admit_address(address)
        try:
            return self._authenticator.principal(*credential)
        except (Unauthorized, Forbidden):
            if any(part is not None for part in credential):
                limits.failed(address)
            raise
