"""Secrets of receivers, encrypted at rest with the server's own secret."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Final, cast

import orjson
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_PURPOSE: Final = b"weir alert receivers v1"


class ReceiverSeal:
    def __init__(self, secret: str) -> None:
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
        self._fernet = Fernet(urlsafe_b64encode(key))

    def close(self, secret: Mapping[str, str]) -> str:
        return self._fernet.encrypt(orjson.dumps(dict(secret))).decode() if secret else ""

    def open(self, text: str) -> dict[str, str] | None:
        """Returns None for a secret sealed with another key."""
        if not text:
            return {}
        try:
            return cast(dict[str, str], orjson.loads(self._fernet.decrypt(text)))
        except InvalidToken:
            return None
