"""A session and the cookie that holds it: sealed, so that a browser can keep it but neither read
nor change it.

Fernet of the `cryptography` package, under a key derived from the server's secret for this purpose
alone; another secret, another purpose, a cut or changed text: all of them open to nothing.
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


# --- Sessions that were signed out ---------------------------------------------------------------

SINCE: Final = "since"  # a file in the folder: who signed out before its time isn't known

_log = logging.getLogger(__name__)


class SignedOutSessions:
    """An empty file a session, in a folder that all of a machine's worker processes share; with
    ``shared`` other machines know of it too.

    Where the folder was lost, nobody can tell which of the sessions from before were signed out:
    all of them are over.
    """

    def __init__(self, folder: Path, now_s: int, shared: Shared | None = None) -> None:
        self._folder, self._shared, self._warned = folder, shared, False
        self._since_s(now_s)

    def add(self, session: Session, now_s: int) -> None:
        """A folder that can't be written leaves the reader signed out all the same: the cookie is
        dropped. Only its copies live on, and the log says so."""
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
        """From when on signed-out sessions are known; 0 where nothing can be kept, and under a
        clock that was put back: new sessions would be over at once."""
        try:
            with suppress(FileNotFoundError):
                return self._told_s(now_s)
            self._begin(now_s)
            return self._told_s(now_s)
        except OSError as error:
            if not self._warned:
                _log.warning("signed-out sessions can't be recorded: %s", error)
            self._warned = True
            return 0

    def _told_s(self, now_s: int) -> float:
        since_s = (self._folder / SINCE).stat().st_mtime
        return since_s if since_s <= now_s else 0

    def _begin(self, now_s: int) -> None:
        """The folder appears with its file in it, whoever else makes it at the same moment. One
        that was there without was never lost."""
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
        """Other processes may be at it as well."""
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if file.name != SINCE and file.stat().st_mtime < now_s - ABSOLUTE_S:
                    file.unlink()


def _name(session: Session) -> str:
    return f"ended:{session.id}"


# --- State that several hosts share --------------------------------------------------------------


class Shared(Protocol):
    """Answers None where it can't be asked now: then each process goes by what it knows."""

    def wait_s(self, bucket: str, per_s: float, burst: float, *, take: bool) -> float | None:
        """The seconds until the bucket has a token, 0.0 where it has one, which ``take`` takes."""
        ...

    def note(self, name: str, lifetime_s: int) -> None: ...

    def is_noted(self, name: str) -> bool | None: ...
