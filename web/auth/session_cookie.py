"""A session and the cookie that holds it: sealed, so that a browser can keep it but neither read
nor change it.

Fernet of the `cryptography` package, under a key derived from the server's secret for this purpose
alone; another secret, another purpose, a cut or changed text: all of them open to nothing.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, replace
from typing import Final, Self, cast

import orjson
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api.client import Credential

IDLE_S: Final = 12 * 3_600
ABSOLUTE_S: Final = 7 * 86_400
RENEWED_S: Final = 300  # how old "last used" may grow before the cookie is written anew

_PURPOSE: Final = b"weir dashboard session v2"
_LONGEST: Final = 4_096  # what browsers keep of a cookie
_NAME: Final = "weir-session"
_AWAY_NAME: Final = "weir-signed-out"


@dataclass(frozen=True, slots=True)
class Session:
    """``credential`` is what the reader asks the service with; both times are epoch seconds."""

    id: str
    credential: Credential
    issued_s: int
    used_s: int

    @classmethod
    def begin(cls, credential: Credential, now_s: int) -> Self:
        return cls(secrets.token_hex(16), credential, now_s, now_s)

    def alive(self, now_s: int) -> bool:
        return self.left_s(now_s) > 0

    def left_s(self, now_s: int) -> int:
        """How long it lives if it isn't used again; 0 or less once it is over."""
        if self.used_s > now_s + RENEWED_S:  # written under a clock that has been put back since
            return 0
        return min(self.used_s + IDLE_S, self.issued_s + ABSOLUTE_S) - now_s

    def renewed(self, now_s: int) -> Self | None:
        """As used now; None where the cookie is young enough to stay as it is."""
        if now_s - self.used_s < RENEWED_S:
            return None
        return replace(self, used_s=now_s)


class Seal:
    """Seals sessions into text and opens them again, by one secret."""

    def __init__(self, secret: str) -> None:
        key = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
        self._fernet = Fernet(urlsafe_b64encode(key))

    def close(self, session: Session) -> str:
        credential = session.credential
        fields = [session.id, credential.header, credential.value, session.issued_s, session.used_s]
        return self._fernet.encrypt(orjson.dumps(fields)).decode().rstrip("=")

    def open(self, text: str) -> Session | None:
        """None for whatever this seal didn't close. Says nothing about the session's age."""
        if not text.isascii() or len(text) > _LONGEST:
            return None
        try:
            fields = orjson.loads(self._fernet.decrypt(text + "=" * (-len(text) % 4)))
        except InvalidToken:
            return None
        id_, header, value, issued_s, used_s = cast(tuple[str, str, str, int, int], fields)
        return Session(id_, Credential(header, value), issued_s, used_s)


@dataclass(frozen=True, slots=True)
class CookieJar:
    """The names and attributes of the two cookies. Over https they carry the prefix that browsers
    honour by refusing to let any other host, path or plain connection set them."""

    secure: bool
    root: str = ""  # the path below which the site stands: then the cookies are its alone

    @property
    def session(self) -> str:
        return self._named(_NAME)

    @property
    def away(self) -> str:
        """Says that the reader signed out on purpose, so that nothing signs in by itself."""
        return self._named(_AWAY_NAME)

    def kept(self, name: str, value: str, max_age_s: int) -> str:
        """A Set-Cookie header's value."""
        return f"{self.until_closed(name, value)}; Max-Age={max_age_s}"

    def until_closed(self, name: str, value: str) -> str:
        """The same for a cookie that goes when the browser is closed."""
        secure = "; Secure" if self.secure else ""
        return f"{name}={value}; Path={self.root}/; HttpOnly; SameSite=Lax{secure}"

    def dropped(self, name: str) -> str:
        return self.kept(name, "", 0)

    def _named(self, name: str) -> str:
        prefix = "__Secure-" if self.root else "__Host-"  # the latter is for whole hosts alone
        return f"{prefix}{name}" if self.secure else name
