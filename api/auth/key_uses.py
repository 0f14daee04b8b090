"""Records when each key was last used: at most once in a few minutes per key, outside the
request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic
from typing import Final

from api.errors import WeirError
from api.store.base import Directory
from api.timez import now_ms

EVERY_S: Final = 300.0
_log = logging.getLogger(__name__)


class KeyUses:
    """``store`` must be writable. Thread-safe. A use that can't be saved is logged, and the next
    one tries again."""

    def __init__(self, store: Directory, clock_s: Callable[[], float] = monotonic) -> None:
        self._store, self._clock_s = store, clock_s
        self._saved_s: dict[str, float] = {}
        self._lock = Lock()

    def note(self, key_id: str) -> None:
        """Records a use. Returns at once: a busy store must not delay the request."""
        now_s = self._clock_s()
        with self._lock:
            saved_s = self._saved_s.get(key_id)
            if saved_s is not None and now_s - saved_s < EVERY_S:
                return
            self._saved_s[key_id] = now_s
        Thread(target=self._save, args=(key_id, now_ms()), daemon=True, name="key-use").start()

    def _save(self, key_id: str, used_ms: int) -> None:
        try:
            self._store.save_key_uses({key_id: used_ms})
        except WeirError as error:
            _log.warning("the last use of %s can't be saved: %s", key_id, error)
            with self._lock:
                self._saved_s.pop(key_id, None)
