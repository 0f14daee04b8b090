"""Which requests share which threads of a worker process, and how large their bodies may be.

A lane has threads of its own, so that what is slow in one (a browser that draws an image, a file
that a slow reader fetches) never takes the thread that another one needs. A lane whose threads are
all busy lets some requests wait; whoever comes after that is refused at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.catalog import INGEST_BODY_BYTES, INGEST_PATH

SMALL_BODY_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Lane:
    """``prefixes``: its paths, and whatever is below them. ``waiting``: how many requests may wait
    while its ``threads`` are busy. A body has at most ``body_bytes``, and arrives in ``body_s``."""

    name: str
    prefixes: tuple[str, ...]
    threads: int
    waiting: int
    body_bytes: int = SMALL_BODY_BYTES
    body_s: float = 15.0
    retry_after_s: float = 1.0

    def has(self, path: str) -> bool:
        return any(path == own or path.startswith(f"{own}/") for own in self.prefixes)


PAGES: Final = Lane("pages", (), threads=8, waiting=128)
LANES: Final = (
    Lane("health", ("/healthz", "/readyz", "/metrics"), threads=2, waiting=64),
    # One byte more than is taken in: a body without a length then shows that it is too large. Three
    # threads may wait for the writer (`api.ingest`); the fourth says that it is busy.
    Lane(
        "ingest",
        (INGEST_PATH,),
        threads=4,
        waiting=64,
        body_bytes=INGEST_BODY_BYTES + 1,
        body_s=60.0,
    ),
    # The machine's one browser draws one image at a time: more threads would only wait.
    Lane("images", ("/export",), threads=8, waiting=0, retry_after_s=2.0),
    Lane("files", ("/download",), threads=6, waiting=0, retry_after_s=5.0),
    PAGES,
)


def lane_of(path: str, lanes: Sequence[Lane] = LANES) -> Lane:
    """The lane of a path; the last one where no other has it."""
    return next((lane for lane in lanes if lane.has(path)), lanes[-1])
