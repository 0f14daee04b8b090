"""Logs a failure that affects many requests once a minute, not once per request."""

from __future__ import annotations

import logging
from threading import Lock
from time import monotonic
from typing import Final

from api.errors import Unavailable

EVERY_S: Final = 60.0  # seconds between two lines with the same text

_log = logging.getLogger(__name__)
_lock = Lock()
_logged_at: dict[str, float] = {}  # text → monotonic seconds


def note(error: Unavailable) -> None:
    """Logs why requests fail: the first time, then once a minute."""
    now_s = monotonic()
    text = str(error)
    with _lock:
        for old in [message for message, at_s in _logged_at.items() if now_s - at_s >= EVERY_S]:
            del _logged_at[old]
        if text in _logged_at:
            return
        _logged_at[text] = now_s
    _log.warning("requests fail: %s", text)
