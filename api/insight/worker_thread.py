"""A thread that repeats a step of work on the store until it is stopped."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from threading import Event, Thread
from typing import Final

from api.errors import Unavailable

PAUSE_S: Final = 5.0  # seconds after a failed step

_log = logging.getLogger(__name__)


class WorkerThread(ABC):
    """Runs `step` again and again. A failure is logged and the step is retried, since no other
    process would do this work; an outage of the store is logged once."""

    name: str  # name of the thread
    result: str  # what a step updates, for the log

    def __init__(self) -> None:
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    @abstractmethod
    def step(self) -> float:
        """Does some work. Returns the seconds to wait before the next step."""

    def _run(self) -> None:
        available = True
        while not self._stopping.is_set():
            pause_s = PAUSE_S
            try:
                pause_s = self.step()
            except Unavailable as error:
                if available:
                    _log.warning("%s can't be updated: %s", self.result, error)
                available = False
            except Exception:  # noqa: BLE001 - without this thread nothing is updated
                _log.exception("%s can't be updated; retrying", self.result)
            else:
                if not available:
                    _log.warning("%s can be updated again", self.result)
                available = True
            self._stopping.wait(pause_s)
