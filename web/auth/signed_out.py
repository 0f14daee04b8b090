"""Sessions that were signed out. Their cookies would still open, wherever a copy of one is kept."""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from web.auth.session_cookie import ABSOLUTE_S, Session
from web.auth.shared_state import Shared

SINCE: Final = "since"  # a file in the folder: who signed out before its time isn't known

_log = logging.getLogger(__name__)


class Ended:
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
            _log.warning("a signed-out session can't be noted: %s", error)

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
                _log.warning("signed-out sessions can't be noted: %s", error)
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
