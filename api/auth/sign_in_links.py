"""One-time sign-in links: `weir serve` prints one, and the first person to open it is signed in.

Each link is an empty file in a folder that all worker processes of a machine share. Its name is a
digest of the link's token, so listing the folder isn't enough to sign in. A token is used up by
removing its file, which succeeds for one process only.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Final

LASTS_S: Final = 900
PATH: Final = "/sign-in?token="


class SignInLinks:
    def __init__(self, folder: Path, *, clock_s: Callable[[], float] = time) -> None:
        self._folder, self._clock_s = folder, clock_s

    def make(self, site: str) -> str:
        """Returns the address of a new link, valid once and for LASTS_S seconds. ``site`` is the
        dashboard's public origin."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in self._folder.iterdir():
            if not self._young(file):
                file.unlink(missing_ok=True)
        token, now_s = secrets.token_urlsafe(32), self._clock_s()
        file = self._file(token)
        file.touch(mode=0o600)
        os.utime(file, (now_s, now_s))
        return f"{site.rstrip('/')}{PATH}{token}"

    def end_all(self) -> None:
        """Invalidates all links printed before."""
        with suppress(FileNotFoundError):
            for file in self._folder.iterdir():
                file.unlink(missing_ok=True)

    def spend(self, token: str) -> bool:
        """Uses up the token. Returns whether it was valid: true once, for one process only."""
        file = self._file(token)
        young = self._young(file)
        try:
            file.unlink()
        except OSError:  # unknown, or another process was first
            return False
        return young

    def _file(self, token: str) -> Path:
        return self._folder / sha256(token.encode("utf-8", "replace")).hexdigest()

    def _young(self, file: Path) -> bool:
        try:
            made_s = file.stat().st_mtime
        except OSError:
            return False
        return abs(self._clock_s() - made_s) < LASTS_S
