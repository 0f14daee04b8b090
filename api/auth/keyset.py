"""The public keys of an external issuer of tokens: a JWK set behind a URL or in a file.

Cached for a while, and fetched again when a token names an unknown key, at a limited rate; the last
valid set is used during a short outage of the issuer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from pydantic import BaseModel

from api.errors import Unavailable

LIFETIME_S: Final = 300.0  # seconds until a set is fetched again
RETRY_S: Final = 30.0  # seconds between two fetches, whatever the tokens contain
OUTAGE_S: Final = 3600.0  # seconds after which a set is no longer trusted
TIMEOUT_S: Final = 3.0
MAX_BYTES: Final = 256 * 1024
MIN_RSA_BITS: Final = 2048

_KEY_TYPES: Final = {"RS256": ("RSA", None), "ES256": ("EC", "P-256")}
_log = logging.getLogger(__name__)


class KeySet:
    """``key(kid)`` returns the key for verifying signatures of one algorithm."""

    def __init__(self, source: str, algorithm: str, clock: Callable[[], float] = monotonic) -> None:
        self._source, self._algorithm, self._clock = source, algorithm, clock
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._loaded_s = self._tried_s = float("-inf")
        self._lock = Lock()

    def key(self, kid: str | None) -> jwt.PyJWK | None:
        """Returns the key of that id; a token without an id gets the only key of a set of one.

        Raises Unavailable if no set could be fetched.
        """
        if self._clock() - self._loaded_s > LIFETIME_S or not self._has(kid):
            self._refresh()
        if self._clock() - self._loaded_s > OUTAGE_S:
            raise Unavailable(
                "The issuer's keys can't be read at the moment.", retry_after_s=RETRY_S
            )
        return self._keys.get(kid) if kid is not None else self._only()

    def _has(self, kid: str | None) -> bool:
        return kid in self._keys if kid is not None else bool(self._keys)

    def _only(self) -> jwt.PyJWK | None:
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    def _refresh(self) -> None:
        """Fetches the set: at most one fetch at a time. Threads that have a set don't wait for
        it."""
        if not self._lock.acquire(blocking=not self._keys):
            return
        try:
            if self._clock() - self._tried_s < RETRY_S:
                return
            self._tried_s = self._clock()
            self._keys = usable_keys(_load(self._source), self._algorithm)
            self._loaded_s = self._tried_s
        except (OSError, httpx.HTTPError, ValueError) as error:
            _log.warning("the key set %s can't be read: %s", self._source, error)
        finally:
            self._lock.release()


def _load(source: str) -> bytes:
    if not source.startswith(("http://", "https://")):
        return Path(source).read_bytes()
    with httpx.stream("GET", source, timeout=TIMEOUT_S, follow_redirects=False) as answer:
        answer.raise_for_status()
        body, deadline_s = b"", monotonic() + TIMEOUT_S
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise ValueError(f"it is larger than {MAX_BYTES} bytes")
            if monotonic() > deadline_s:  # httpx's own timeout applies to each read
                raise ValueError(f"no complete response within {TIMEOUT_S:g} s")
        return body


class _Document(BaseModel):
    """A JWK set; each key is checked on its own."""

    keys: list[dict[str, Any]]


def usable_keys(document: bytes, algorithm: str) -> dict[str | None, jwt.PyJWK]:
    """Returns the set's signing keys of the algorithm by kid; ignores others.

    Raises ValueError where the document isn't a JWK set.
    """
    keys = (_usable(entry, algorithm) for entry in _Document.model_validate_json(document).keys)
    return {key.key_id: key for key in keys if key is not None}


def _usable(entry: dict[str, Any], algorithm: str) -> jwt.PyJWK | None:
    kty, curve = _KEY_TYPES[algorithm]
    required = {"kty": kty, "crv": curve, "use": "sig", "alg": algorithm}
    given = {"crv": None, "use": "sig", "alg": algorithm} | entry
    if any(given.get(name) != value for name, value in required.items()):
        return None
    try:
        key = jwt.PyJWK.from_dict(entry, algorithm)
    except jwt.PyJWTError:
        return None
    too_short = isinstance(key.key, RSAPublicKey) and key.key.key_size < MIN_RSA_BITS
    return None if too_short else key
