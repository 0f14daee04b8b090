"""One line in the log for a trouble that many requests meet, not one for each of them."""

from __future__ import annotations

import logging
from threading import Lock
from time import monotonic
from typing import Final

from api.errors import Unavailable

EVERY_S: Final = 60.0  # while it lasts

_log = logging.getLogger(__name__)
_lock = Lock()
_said: dict[str, float] = {}  # when, monotonic


def note(error: Unavailable) -> None:
    """Say why requests can't be answered, the first time and then once a minute."""
    now_s = monotonic()
    text = str(error)
    with _lock:
        for old in [said for said, at_s in _said.items() if now_s - at_s >= EVERY_S]:
            del _said[old]
        if text in _said:
            return
        _said[text] = now_s
    _log.warning("requests fail: %s", text)
