"""The status file of the writer process, read by the other processes on its host."""

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
STALE_S: Final = 10.0  # a writer whose file is older counts as dead
FILE_BYTES: Final = 1_024  # fixed size: on a full disk the file can't grow
RESTART_S: Final = 5.0  # seconds in which a dead writer is restarted


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """Times are epoch seconds. ``problem``: why no reading can be stored, "" if none. ``feed``: why
    no message arrives from the broker, "" if none, None without a broker. ``last_message_s``: when
    the last message arrived. ``committing_s``: how long the current commit has taken, retries
    included. ``listener``: why no meter can connect, "" if they can, None without a listener;
    ``clients`` are connected to it, ``listener_message_s`` is when the last message arrived
    there."""

    host: str
    pid: int
    at_s: float
    waiting_rows: int = 0
    last_commit_s: float | None = None
    problem: str = ""
    feed: str | None = None
    last_message_s: float | None = None
    committing_s: float = 0.0
    listener: str | None = None
    clients: int = 0
    listener_message_s: float | None = None

    @property
    def fresh(self) -> bool:
        """Whether the process exists and its status is recent."""
        gone = self.host == gethostname() and not _exists(self.pid)
        return not gone and abs(time() - self.at_s) < STALE_S


def of_this_process(**fields: Any) -> WriterStatus:
    return WriterStatus(gethostname(), os.getpid(), time(), **fields)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a file of another program
        pass
    return True


def file_of(session: str) -> str:
    """Returns the name of the status file of an ingester that runs beside the writer. Its next
    process uses the same file, so that a dead ingester is reported until it is restarted."""
    return f"writer-{session}.pulse"


def read(folder: Path) -> WriterStatus | None:
    """The writer's status; None if no writer has run or the last one stopped cleanly."""
    return _read(folder / FILE)


def read_all(folder: Path) -> list[WriterStatus]:
    """The statuses of the writer and of the ingesters beside it."""
    statuses = map(_read, sorted(folder.glob("writer*.pulse")))
    return [pulse for pulse in statuses if pulse is not None]


def _read(path: Path) -> WriterStatus | None:
    try:
        return WriterStatus(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def outage(folder: Path) -> str:
    """Returns in a sentence for people why no readings are stored on this host; "" if they are. A
    writer that is restarting doesn't count."""
    for status in read_all(folder):
        if not status.fresh and abs(time() - status.at_s) > RESTART_S:
            return "Readings aren't being stored: the writer has stopped."
        if status.problem:
            return f"Readings aren't being stored. {status.problem}"
        if status.feed:
            return "No readings from the broker: it can’t be reached, or refuses the connection."
        if status.listener:
            return "No readings from meters by MQTT: Weir can’t listen to them."
    return ""


class Heart:
    """Writes the result of ``measure`` to the status file every second until it is stopped."""

    def __init__(self, folder: Path, measure: Callable[[], WriterStatus], file: str = FILE) -> None:
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
            self._write(orjson.dumps(asdict(self._measure())).ljust(FILE_BYTES), draft)
            if self._stop.wait(EVERY_S):
                return

    def _write(self, text: bytes, draft: Path) -> None:
        try:
            draft.write_bytes(text)
            draft.replace(self._path)
        except OSError:  # a full disk: overwrite in place; failing that, the file goes stale
            with suppress(OSError), self._path.open("r+b") as file:
                file.write(text)
