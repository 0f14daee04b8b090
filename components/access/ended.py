"""Sessions that were signed out. Their cookies would still open, wherever a copy of one is kept."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from components.access.cookie import ABSOLUTE_S
from components.access.shared import Shared

_log = logging.getLogger(__name__)


class Ended:
    """An empty file a session, in a folder that all of a machine's worker processes share; with
    ``shared`` other machines know of it too."""

    def __init__(self, folder: Path, shared: Shared | None = None) -> None:
        self._folder, self._shared = folder, shared

    def add(self, session_id: str, now_s: int) -> None:
        """A folder that can't be written leaves the reader signed out all the same: the cookie is
        dropped. Only its copies live on, and the log says so."""
        if self._shared is not None:
            self._shared.note(_name(session_id), ABSOLUTE_S)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._sweep(now_s)
            (self._folder / session_id).touch()
        except OSError as error:
            _log.warning("a signed-out session can't be noted: %s", error)

    def __contains__(self, session_id: str) -> bool:
        if (self._folder / session_id).exists():
            return True
        return self._shared is not None and bool(self._shared.is_noted(_name(session_id)))

    def _sweep(self, now_s: int) -> None:
        """Other processes may be at it as well."""
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if file.stat().st_mtime < now_s - ABSOLUTE_S:
                    file.unlink()


def _name(session_id: str) -> str:
    return f"ended:{session_id}"
