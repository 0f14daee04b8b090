"""Divides a worker's threads among groups of paths (lanes), with limits for their bodies.

Each lane has its own threads, so that slow work in one (rendering an image, sending a file to a
slow reader) can't delay another. While all threads of a lane are busy, a limited number of its
requests wait; further ones are refused at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.catalog import (
    ADMIN_BODY_BYTES,
    ADMIN_PREFIX,
    IMPORT_PIECE_BYTES,
    IMPORTS_PATH,
    INGEST_BODY_BYTES,
    INGEST_PATH,
)

SMALL_BODY_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Lane:
    """``prefixes``: its paths and all below them. ``waiting``: how many requests may wait while
    all ``threads`` are busy. A body has at most ``body_bytes`` and ``body_s`` seconds to arrive."""

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
    # One byte over the limit shows that a body without a declared length is too large. Three
    # threads may wait for the writer (`api.ingest`); the fourth responds that it is busy.
    Lane(
        "ingest",
        (INGEST_PATH,),
        threads=4,
        waiting=64,
        body_bytes=INGEST_BODY_BYTES + 1,
        body_s=60.0,
    ),
    # Pieces of files to import: sent one after another, so two threads take two files at once.
    Lane(
        "imports",
        (IMPORTS_PATH, "/import/files"),
        threads=2,
        waiting=32,
        body_bytes=IMPORT_PIECE_BYTES,
        body_s=60.0,
    ),
    # Files of devices, which are larger than other bodies.
    Lane(
        "administration",
        (ADMIN_PREFIX, "/admin/service"),
        threads=2,
        waiting=32,
        body_bytes=ADMIN_BODY_BYTES,
    ),
    # The renderer makes one image at a time: more threads would only wait.
    Lane("images", ("/export",), threads=8, waiting=0, retry_after_s=2.0),
    Lane("files", ("/download",), threads=6, waiting=0, retry_after_s=5.0),
    PAGES,
)


def lane_of(path: str, lanes: Sequence[Lane] = LANES) -> Lane:
    """Returns the lane of a path; by default the last one."""
    return next((lane for lane in lanes if lane.has(path)), lanes[-1])
