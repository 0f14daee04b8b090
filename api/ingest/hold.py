"""One process at a time: a lock of the operating system's on a file, which ends with its holder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from api.errors import UserError
from api.settings import Settings


class Held(UserError):
    """Another process has the lock."""


@contextmanager
def held(path: Path, what: str) -> Generator[None]:
    """Hold the lock ``path`` inside the block. Held, which says who, where another process does;
    UserError where the file can't be made. The file stays: who removes one that somebody waits
    for gives the lock twice."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UserError(f"{what} can't be locked: {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = os.pread(file, 100, 0).decode("utf-8", "replace").strip()
            raise Held(f"{what} is written by another process: {who or 'unknown'}") from None
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


@contextmanager
def only_writer(settings: Settings) -> Generator[None]:
    """Be the one process of live sources of an embedded store, which can have but one. A server's
    database takes any number."""
    if not settings.database.startswith("sqlite:"):
        yield
        return
    path = Path(settings.database.removeprefix("sqlite:///")).resolve()
    with held(path.with_name(f"{path.name}-writer"), f"the store {path.name}"):
        yield
