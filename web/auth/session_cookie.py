"""Sessions, sealed into cookies that a browser can neither read nor change.

Sealed by Fernet of the `cryptography` package, with a key derived from the server's secret for this
purpose alone. Text that another key sealed, or that was changed or cut, doesn't open.
"""

from __future__ import annotations

import logging
import os
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol, Self, cast

import orjson
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api.client import Credential

IDLE_S: Final = 12 * 3_600
ABSOLUTE_S: Final = 7 * 86_400
RENEWED_S: Final = 300  # of use, until the cookie is renewed

_PURPOSE: Final = b"weir dashboard session v2"
_LONGEST: Final = 4_096  # of a cookie in browsers
_NAME: Final = "weir-session"
_AWAY_NAME: Final = "weir-signed-out"


@dataclass(frozen=True, slots=True)
class Session:
    """``credential``: the reader's, for the service. Times are epoch seconds."""

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
        """Seconds until it ends if it isn't used; 0 or less once it has ended."""
        if self.used_s > now_s + RENEWED_S:  # from a clock that was set back since
            return 0
        return min(self.used_s + IDLE_S, self.issued_s + ABSOLUTE_S) - now_s

    def renewed(self, now_s: int) -> Self | None:
        """The session as used now; None if its cookie is recent enough."""
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
        """The session, of any age; None if this seal didn't close it."""
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
    """The names and attributes of the two cookies. Over https their names have a prefix, so that
    browsers let no other host, path or plain connection set them."""

    secure: bool
    root: str = ""  # the site's path, to which its cookies are limited

    @property
    def session(self) -> str:
        return self._named(_NAME)

    @property
    def away(self) -> str:
        """The cookie of a reader who signed out, which keeps the demo fleet from opening."""
        return self._named(_AWAY_NAME)

    def set_cookie(self, name: str, value: str, max_age_s: int) -> str:
        """A Set-Cookie header's value."""
        return f"{self.until_closed(name, value)}; Max-Age={max_age_s}"

    def until_closed(self, name: str, value: str) -> str:
        """The same for a cookie that ends with the browser session."""
        secure = "; Secure" if self.secure else ""
        return f"{name}={value}; Path={self.root}/; HttpOnly; SameSite=Lax{secure}"

    def dropped(self, name: str) -> str:
        return self.set_cookie(name, "", 0)

    def _named(self, name: str) -> str:
        prefix = "__Secure-" if self.root else "__Host-"  # __Host- requires the path /
        return f"{prefix}{name}" if self.secure else name


# --- Sessions that were signed out ---------------------------------------------------------------

SINCE: Final = "since"  # a file in the folder: earlier sign-outs are unknown

_log = logging.getLogger(__name__)


class SignedOutSessions:
    """Signed-out sessions: an empty file each, in a folder that all worker processes of a machine
    share, and in ``shared`` for other machines.

    If the folder was lost, all earlier sessions end, since any of them may have been signed out.
    """

    def __init__(self, folder: Path, now_s: int, shared: Shared | None = None) -> None:
        self._folder, self._shared, self._warned = folder, shared, False
        self._since_s(now_s)

    def add(self, session: Session, now_s: int) -> None:
        """Record a sign-out. If the folder can't be written, the reader is still signed out, since
        the cookie is dropped; only copies of it stay valid, and the log says so."""
        if self._shared is not None:
            self._shared.note(_name(session), ABSOLUTE_S)
        self._since_s(now_s)
        try:
            self._sweep(now_s)
            (self._folder / session.id).touch()
        except OSError as error:
            _log.warning("a signed-out session can't be recorded: %s", error)

    def has(self, session: Session, now_s: int) -> bool:
        if (self._folder / session.id).exists():
            return True
        noted = None if self._shared is None else self._shared.is_noted(_name(session))
        return session.issued_s < self._since_s(now_s) if noted is None else noted

    def _since_s(self, now_s: int) -> float:
        """From when on sign-outs are recorded. 0 if the folder can't be written, or after the clock
        was set back, since new sessions would end at once."""
        try:
            with suppress(FileNotFoundError):
                return self._recorded_s(now_s)
            self._begin(now_s)
            return self._recorded_s(now_s)
        except OSError as error:
            if not self._warned:
                _log.warning("signed-out sessions can't be recorded: %s", error)
            self._warned = True
            return 0

    def _recorded_s(self, now_s: int) -> float:
        since_s = (self._folder / SINCE).stat().st_mtime
        return since_s if since_s <= now_s else 0

    def _begin(self, now_s: int) -> None:
        """Create the folder with its file atomically, even if another process does so too. A folder
        without the file was never lost."""
        draft = self._folder.with_name(f"{self._folder.name}.{secrets.token_hex(4)}")
        draft.mkdir(parents=True, mode=0o700)
        (draft / SINCE).touch()
        os.utime(draft / SINCE, (now_s, now_s))
        try:
            draft.rename(self._folder)
        except OSError:
            os.utime(draft / SINCE, (0, 0))
            with suppress(FileExistsError):
                os.link(draft / SINCE, self._folder / SINCE)
            (draft / SINCE).unlink()
            draft.rmdir()

    def _sweep(self, now_s: int) -> None:
        """Delete old files. Other processes may do so at the same time."""
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if file.name != SINCE and file.stat().st_mtime < now_s - ABSOLUTE_S:
                    file.unlink()


def _name(session: Session) -> str:
    return f"ended:{session.id}"


# --- State that several hosts share --------------------------------------------------------------


class Shared(Protocol):
    """Methods return None during an outage: then each process uses its own state."""

    def wait_s(self, bucket: str, per_s: float, burst: float, *, take: bool) -> float | None:
        """Seconds until the bucket has a token, 0.0 if it has one; ``take`` takes it."""
        ...

    def note(self, name: str, lifetime_s: int) -> None: ...

    def is_noted(self, name: str) -> bool | None: ...
