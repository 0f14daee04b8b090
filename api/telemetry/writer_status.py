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
ROOM: Final = 1_024  # bytes of the file, whatever it says: on a full disk it can't grow
RESTART_S: Final = 5.0  # in which one that died is there again


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """Epoch seconds; ``trouble`` is why no reading can be stored, ``feed`` why no message comes
    from the broker: '' where there is none of it, None where there is no broker;
    ``last_message_s`` is when the last one came. ``committing_s`` is how long the commit under way
    has taken, trying again included."""

    host: str
    pid: int
    at_s: float
    waiting_rows: int = 0
    last_commit_s: float | None = None
    trouble: str = ""
    feed: str | None = None
    last_message_s: float | None = None
    committing_s: float = 0.0

    @property
    def fresh(self) -> bool:
        """Whether that process is there and well enough to say so."""
        gone = self.host == gethostname() and not _exists(self.pid)
        return not gone and abs(time() - self.at_s) < STALE_S


def of_this_process(**said: Any) -> WriterStatus:
    return WriterStatus(gethostname(), os.getpid(), time(), **said)


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


def read(folder: Path) -> WriterStatus | None:
    """None where no writer has been, or the last one said goodbye."""
    return _read(folder / FILE)


def read_all(folder: Path) -> list[WriterStatus]:
    """The writer's, and those of ingesters beside it."""
    found = map(_read, sorted(folder.glob("writer*.pulse")))
    return [pulse for pulse in found if pulse is not None]


def _read(path: Path) -> WriterStatus | None:
    try:
        return WriterStatus(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def outage(folder: Path) -> str:
    """Why no reading comes in, in a sentence for people, as far as the processes of this host
    that write say; "" where some may. A restart isn't worth a word."""
    for said in read_all(folder):
        if not said.fresh and abs(time() - said.at_s) > RESTART_S:
            return "Readings aren't being stored: the writer has stopped."
        if said.trouble:
            return f"Readings aren't being stored. {said.trouble}"
        if said.feed:
            return "No readings from the broker: it can’t be reached, or refuses the connection."
    return ""


class Heart:
    """Writes what ``measure`` says into the folder, every second, until it is stopped."""

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
            self._write(orjson.dumps(asdict(self._measure())).ljust(ROOM), draft)
            if self._stop.wait(EVERY_S):
                return

    def _write(self, text: bytes, draft: Path) -> None:
        try:
            draft.write_bytes(text)
            draft.replace(self._path)
        except OSError:  # a full disk: over what is there, or it goes stale, and that says it
            with suppress(OSError), self._path.open("r+b") as file:
                file.write(text)
