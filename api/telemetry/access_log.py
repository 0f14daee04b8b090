"""One JSON line a request, to standard error or a file. A line that can't be written is dropped:
no request waits for its log, or fails by it."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final

import orjson

STDERR: Final = "stderr"
LOOK_S: Final = 2.0  # so long after it was moved away the file is opened anew

_log = logging.getLogger(__name__)


class Lines:
    """For any number of threads and processes: each line is one write at the file's end."""

    def __init__(self, target: str) -> None:
        self._path = None if target == STDERR else Path(target)
        self._file = -1
        self._looked_s = 0.0
        self._lock = Lock()
        self.dropped = 0

    def write(self, line: dict[str, Any]) -> None:
        text = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        try:
            os.write(self._descriptor(), text)
        except OSError as error:
            self.dropped += 1
            if self.dropped == 1:
                _log.warning("requests can't be logged, and aren't: %s", error)

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def _descriptor(self) -> int:
        if self._path is None:
            return sys.stderr.fileno()
        if monotonic() - self._looked_s > LOOK_S:
            with self._lock:
                if not self._is_there(self._path):
                    self._let_go()
                    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                    self._file = os.open(self._path, flags, 0o640)
                self._looked_s = monotonic()
        return self._file

    def _is_there(self, path: Path) -> bool:
        """Whether the open file is still the one of that name: log rotation moves it away."""
        if self._file < 0:
            return False
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._file), path.stat())
        return False

    def _let_go(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
