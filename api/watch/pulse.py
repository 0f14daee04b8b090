"""What the process that writes says of itself now and then, for the others on its host to read."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from socket import gethostname
from threading import Event, Thread
from time import time
from typing import Any, Final

import orjson

FILE: Final = "writer.pulse"
EVERY_S: Final = 1.0
STALE_S: Final = 10.0  # without a word for so long it is taken for dead


@dataclass(frozen=True, slots=True)
class Pulse:
    """Epoch seconds; ``trouble`` is why nothing can be stored now, ``feed`` why no message comes
    from the broker: '' where there is none of it, None where there is no broker;
    ``last_message_s`` is when the last one came."""

    host: str
    pid: int
    at_s: float
    waiting_rows: int = 0
    last_commit_s: float | None = None
    trouble: str = ""
    feed: str | None = None
    last_message_s: float | None = None

    @property
    def fresh(self) -> bool:
        """Whether that process is there and well enough to say so."""
        gone = self.host == gethostname() and not _exists(self.pid)
        return not gone and abs(time() - self.at_s) < STALE_S


def of_this_process(**said: Any) -> Pulse:
    return Pulse(gethostname(), os.getpid(), time(), **said)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        pass
    return True


def file_of(session: str) -> str:
    """Where an ingester tells of itself that stands beside a folder's writer. Its next process
    goes on with the same file, so that a dead one is missed until then."""
    return f"writer-{session}.pulse"


def read(folder: Path) -> Pulse | None:
    """None where no writer has been, or the last one said goodbye."""
    return _read(folder / FILE)


def read_all(folder: Path) -> list[Pulse]:
    """The writer's, and those of ingesters beside it."""
    found = map(_read, sorted(folder.glob("writer*.pulse")))
    return [pulse for pulse in found if pulse is not None]


def _read(path: Path) -> Pulse | None:
    try:
        return Pulse(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


class Heart:
    """Writes what ``measure`` says into the folder, every second, until it is stopped."""

    def __init__(self, folder: Path, measure: Callable[[], Pulse], file: str = FILE) -> None:
        self._path, self._measure = folder / file, measure
        self._stop = Event()
        self._thread = Thread(target=self._beat, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        draft = self._path.with_name(f".{FILE}.{os.getpid()}")
        while True:
            with suppress(OSError):  # a full disk: then it goes stale, and that says it
                draft.write_bytes(orjson.dumps(asdict(self._measure())))
                draft.replace(self._path)
            if self._stop.wait(EVERY_S):
                return
