"""The access log: one JSON line a request, to standard error or a file. A line that can't be
written is dropped, so that logging never fails a request. Log rotation may move the file."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging import Handler, LogRecord, StreamHandler
from logging.handlers import WatchedFileHandler
from typing import Any, Final, cast

import orjson

STDERR: Final = "stderr"
MODE: Final = 0o600  # lines contain key ids and addresses
_log = logging.getLogger(__name__)


class AccessLog:
    """Safe for several threads and processes: each line is one appending write."""

    def __init__(self, target: str) -> None:
        self._handler: Handler = StreamHandler() if target == STDERR else _File(target, delay=True)
        self._handler.handleError = self._drop
        self.dropped = 0

    def write(self, line: dict[str, Any]) -> None:
        text = orjson.dumps(line).decode()
        self._handler.handle(LogRecord("access", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        self._handler.close()

    def __del__(self) -> None:
        self.close()

    def _drop(self, record: LogRecord) -> None:
        self.dropped += 1
        if self.dropped == 1:
            _log.warning("requests can't be logged", exc_info=True)


class _File(WatchedFileHandler):
    def emit(self, record: LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # it can't be opened
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        file = open(  # noqa: SIM115 - the handler closes it
            self.baseFilename, self.mode, encoding="utf-8", opener=_owner_only
        )
        return cast("TextIOWrapper", file)


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, MODE)
