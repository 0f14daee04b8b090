"""Sessions that were signed out. Their cookies would still open, wherever a copy of one is kept."""

from __future__ import annotations

import logging
from pathlib import Path

from components.access.cookie import ABSOLUTE_S

_log = logging.getLogger(__name__)


class Ended:
    """An empty file a session, in a folder that all of a machine's worker processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, session_id: str, now_s: int) -> None:
        """A folder that can't be written leaves the reader signed out all the same: the cookie is
        dropped. Only its copies live on, and the log says so."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._sweep(now_s)
            (self._folder / session_id).touch()
        except OSError as error:
            _log.warning("a signed-out session can't be noted: %s", error)

    def __contains__(self, session_id: str) -> bool:
        return (self._folder / session_id).exists()

    def _sweep(self, now_s: int) -> None:
        for file in self._folder.iterdir():
            if file.stat().st_mtime < now_s - ABSOLUTE_S:
                file.unlink(missing_ok=True)
