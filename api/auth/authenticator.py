"""Finds the principal of a request's credential.

The key header takes precedence over a bearer token. Valid credentials are cached for a few seconds;
their expiry is checked at every request. Unknown credentials are looked up each time, so that a new
key works at once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple

from api import timez
from api.auth.key_uses import KeyUses
from api.auth.principal import Principal, Recent, no_credential, unauthorized
from api.auth.tokens import MAX_LENGTH, Token, TokenVerifier
from api.catalog import CREDENTIAL_CACHE_S, KEY_HEADER, UUID_FORM
from api.errors import Forbidden
from api.settings import Settings
from api.store.base import Directory, Key, Scope
from api.telemetry import metrics

_KEY_ID: Final = re.compile(
    rf"key_[^.,\s]*|[^.,\s]+\.{UUID_FORM.pattern}", re.IGNORECASE | re.ASCII
)
_CACHED: Final = 4096
CACHE: Final = "credentials"  # its name in the metrics
_NOT_INGEST: Final = "Sending readings needs an ingest key: weir keys create --ingest."
_INGEST_ONLY: Final = "This key can only send readings. Use another key to read."


class _GoodKey(NamedTuple):
    principal: Principal
    expires_ms: int | None
    ingest: bool


class Authenticator:
    """``principal(api_key, authorization)`` takes the two headers, None where one is missing.

    Reading and sending readings need different credentials: with ``ingest`` only ingest keys are
    accepted, otherwise they are refused. ``uses`` records each use of a key.
    """

    def __init__(
        self,
        directory: Directory,
        settings: Settings,
        *,
        ingest: bool = False,
        uses: KeyUses | None = None,
        clock_s: Callable[[], float] = monotonic,
        now_ms: Callable[[], int] = timez.now_ms,
    ) -> None:
        self._ingest, self._uses = ingest, uses
        self._directory, self._clock_s, self._now_ms = directory, clock_s, now_ms
        self._tokens = TokenVerifier(settings)
        self._good_keys = Recent[bytes, _GoodKey](CREDENTIAL_CACHE_S, _CACHED, clock_s)
        self._good_tokens = Recent[bytes, Token](CREDENTIAL_CACHE_S, _CACHED, clock_s)

    def principal(self, api_key: str | None, authorization: str | None) -> Principal:
        """Raises Unauthorized or Forbidden where the credential isn't valid."""
        if api_key is not None:
            return self._by_key(api_key)
        token = bearer(authorization)
        if token is None:
            raise no_credential()
        principal = self._by_token(token)
        if self._ingest:
            raise Forbidden(_NOT_INGEST)
        return principal

    def was_valid(self, api_key: str | None, authorization: str | None) -> bool:
        """Whether this credential was valid before, possibly too long ago to trust now."""
        if api_key is not None:
            return self._good_keys.had(key_digest(api_key))
        token = bearer(authorization)
        return token is not None and self._good_tokens.had(_digest(token))

    def _by_key(self, api_key: str) -> Principal:
        if UUID_FORM.fullmatch(api_key) is None:
            if _KEY_ID.fullmatch(api_key) is not None:
                raise Forbidden(
                    "This is a Key ID, or a Key ID and the key; send only the part after the dot."
                )
            raise _unknown_key()
        digest = key_digest(api_key)
        return self._principal(digest, lambda: self._directory.key(digest))

    def by_key_id(self, key_id: str) -> Principal:
        """Returns the principal of a key whose holder has been authenticated in another way, by a
        client certificate."""
        return self._principal(f"id {key_id}".encode(), lambda: self._directory.named_key(key_id))

    def _principal(self, entry: bytes, find: Callable[[], Key | None]) -> Principal:
        good = self._good_keys.get(entry)
        metrics.looked_up(CACHE, good is not None)
        good = good or self._find_key(entry, find)
        if good is None or (good.expires_ms is not None and good.expires_ms <= self._now_ms()):
            self._good_keys.forget(entry)
            raise _unknown_key()
        if good.ingest != self._ingest:
            raise Forbidden(_NOT_INGEST if self._ingest else _INGEST_ONLY)
        if self._uses is not None:
            self._uses.note(good.principal.id)
        return good.principal

    def _find_key(self, entry: bytes, find: Callable[[], Key | None]) -> _GoodKey | None:
        read_at_s = self._clock_s()
        key = find()
        if key is None or key.revoked_ms is not None or not self._active(key.organization_id):
            return None
        scope = Scope(key.organization_id, key.grant)
        may_embed = key.role.may_operate
        principal = Principal(key.key_id, "key", scope, may_embed=may_embed, role=key.role)
        good = _GoodKey(principal, key.expires_ms, key.ingest)
        return self._good_keys.put(entry, good, at_s=read_at_s)

    def _by_token(self, text: str) -> Principal:
        digest = _digest(text)
        token = self._good_tokens.get(digest)
        if token is None or token.expires_ms <= self._now_ms():
            read_at_s = self._clock_s()
            token = self._tokens.verify(text)
            if not self._active(token.principal.scope.organization_id):
                raise unauthorized("The bearer token is not valid.", bearer_error=True)
            self._good_tokens.put(digest, token, at_s=read_at_s)
        return token.principal

    def _active(self, organization_id: str) -> bool:
        organization = self._directory.organization(organization_id)
        return organization is not None and organization.active


def key_digest(key: str) -> bytes:
    """Returns what is stored of a key: the SHA-256 of its lower-case text."""
    return _digest(key.lower())


def bearer(authorization: str | None) -> str | None:
    """Returns the token of an Authorization header, None for another scheme or no header."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text[: MAX_LENGTH + 1].encode("utf-8", "surrogateescape")).digest()


def _unknown_key() -> Exception:
    """Returns the same error for unknown, expired and revoked keys, so that it doesn't reveal
    which."""
    return unauthorized(f"The key in the {KEY_HEADER} header is not valid.")
