"""Signed addresses: anyone who has one can see one image, with the rights of a key.

An address contains the signer's Key ID, its expiry, and an HMAC over all of it under a key that is
derived from the secret for this purpose only. It doesn't contain the API key, which can't be
derived from it. What the address may show is looked up each time from the key's current grant: if
the key is revoked, expires or loses a device, so do its addresses.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from threading import Lock
from typing import Final
from urllib.parse import parse_qsl, urlencode

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api import timez
from api.auth.authenticator import key_digest
from api.auth.tokens import issue_token
from api.catalog import KEY_HEADER
from api.settings import Settings
from api.store.base import Directory, Grant, Key, Scope

KEY: Final = "key"
EXPIRES: Final = "exp"
SIGNATURE: Final = "sig"
OWN_NAMES: Final = (KEY, EXPIRES, SIGNATURE)
TTL_S: Final = 6 * 3_600  # of the bearer token that this process uses internally
_PURPOSE: Final = b"weir signed image v1"
_RENEWED_S: Final = 600
_MAX_TOKENS: Final = 1_000
_LONGEST: Final = 4_000  # length of a query

Pairs = Iterable[tuple[str, str]]


class SignedAddresses:
    def __init__(
        self,
        directory: Directory,
        settings: Settings,
        *,
        now_ms: Callable[[], int] = timez.now_ms,
    ) -> None:
        self._directory, self._settings, self._now_ms = directory, settings, now_ms
        self._secret = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(
            settings.secret.encode()
        )
        self._tokens: dict[tuple[str, Grant], tuple[str, int]] = {}
        self._lock = Lock()

    def signer(self, headers: Mapping[str, str]) -> str | None:
        """Returns the Key ID of a request's credential; None if it isn't a key that reads, such as
        a bearer token, whose grant can't be looked up later."""
        sent = headers.get(KEY_HEADER)
        key = self._directory.key(key_digest(sent)) if sent else None
        return key.key_id if key is not None and self.may_sign(key) else None

    def sign(self, path: str, pairs: Pairs, key_id: str, lasts_s: int) -> str:
        """Returns the query of an address valid for ``lasts_s`` seconds: the given query and the
        signature."""
        signed = [(name, text) for name, text in pairs if name not in OWN_NAMES]
        signed += [(KEY, key_id), (EXPIRES, str(self._now_ms() // 1000 + lasts_s))]
        return urlencode([*signed, (SIGNATURE, self._signature(path, signed))])

    def opened(self, path: str, query: str, device_id: str | None) -> str | None:
        """Returns a bearer token for what the address may show now, limited to ``device_id`` if
        given; None if the address is invalid for any reason."""
        params = _read(query)
        if params is None or not self._genuine(path, params):
            return None
        if int(params[EXPIRES]) * 1000 <= self._now_ms():
            return None
        key = self._directory.named_key(params[KEY])
        if key is None or not self.may_sign(key):
            return None
        grant = key.grant if device_id is None else self._of_device(key, device_id)
        return self._token(key, grant) if grant is not None else None

    # --- Keys ------------------------------------------------------------------------------------

    def may_sign(self, key: Key) -> bool:
        """Whether the key reads, is neither revoked nor expired, and its organization is active."""
        if key.ingest or key.revoked_ms is not None:
            return False
        if key.expires_ms is not None and key.expires_ms <= self._now_ms():
            return False
        organization = self._directory.organization(key.organization_id)
        return organization is not None and organization.active

    def _of_device(self, key: Key, device_id: str) -> Grant | None:
        """Returns a grant of the one device, if the key may see it."""
        scope = Scope(key.organization_id, key.grant)
        (device,) = self._directory.resolve(scope, [device_id])
        return None if device is None else Grant(devices=frozenset({device.id}))

    def _token(self, key: Key, grant: Grant) -> str:
        """Returns the same token for the same grant, so that cached results are reused."""
        now_s = self._now_ms() // 1000
        with self._lock:
            token, ends_s = self._tokens.get((key.key_id, grant), ("", 0))
            if ends_s - now_s > _RENEWED_S:
                return token
            if len(self._tokens) >= _MAX_TOKENS:
                self._tokens.clear()
            token = issue_token(
                self._settings,
                key.organization_id,
                None if grant.everything else sorted(grant.devices),
                TTL_S,
                groups=None if grant.everything else sorted(grant.groups),
                subject=f"image of {key.key_id}",
            )
            self._tokens[key.key_id, grant] = token, now_s + TTL_S
            return token

    # --- Signatures ------------------------------------------------------------------------------

    def _genuine(self, path: str, params: Mapping[str, str]) -> bool:
        rest = [(name, text) for name, text in params.items() if name != SIGNATURE]
        given = params[SIGNATURE].encode("utf-8", "replace")
        return hmac.compare_digest(given, self._signature(path, rest).encode())

    def _signature(self, path: str, pairs: Pairs) -> str:
        """Returns the HMAC over the path and the query in its canonical form: sorted, each part
        quoted."""
        canonical = f"{path}?{urlencode(sorted(pairs))}"
        digest = hmac.new(self._secret, canonical.encode("utf-8", "surrogateescape"), sha256)
        return urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


def _read(query: str) -> dict[str, str] | None:
    """Parses a query that has each name once, and all names of a signed address; None for any
    other."""
    if len(query) > _LONGEST:
        return None
    pairs = parse_qsl(query, keep_blank_values=True)
    params = dict(pairs)
    if len(params) != len(pairs) or not all(params.get(name) for name in OWN_NAMES):
        return None
    expires = params[EXPIRES]
    return params if expires.isascii() and expires.isdigit() and len(expires) <= 12 else None
