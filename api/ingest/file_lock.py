"""A lock file of the operating system, released when its process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from api.errors import UserError

if TYPE_CHECKING:
    from api.settings import Settings


class Held(UserError):
    """Another process has the lock."""


@contextmanager
def held(path: Path, what: str) -> Generator[None]:
    """Holds the lock ``path`` inside the block. Raises Held with the owner if another process has
    it; UserError if the file can't be created. The file stays: removing it while a process waits
    would give the lock twice."""
    try:
        file = _made(path)
    except OSError as error:
        raise UserError(f"{what} can't be locked: {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(file, 100, 0).decode("utf-8", "replace").strip()
            raise Held(f"{what} is already being written by {owner or 'another process'}") from None
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def _made(path: Path) -> int:
    """Returns the open file, owned by the folder's owner even if root created it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(file, owner.st_uid, owner.st_gid)
    return file


@contextmanager
def only_writer(settings: Settings) -> Generator[None]:
    """Holds the writer lock of an embedded store, which can have one writer. A Postgres database
    takes any number."""
    path = _file(settings.database)
    if path is None:
        yield
        return
    with held(path.with_name(f"{path.name}-writer"), f"the store {path.name}"):
        yield


@contextmanager
def writing(database: str) -> Generator[None]:
    """Held while a process may write to an embedded store: by any number of processes at once, but
    not while the store is `replaced`. Raises UserError where it is."""
    with _in_use(database, fcntl.LOCK_SH, "is being restored: try again afterwards"):
        yield


@contextmanager
def replaced(database: str) -> Generator[None]:
    """Held while another file replaces an embedded store. Raises UserError if a process is
    `writing`: it would continue in the new file from its position in the old one."""
    with _in_use(
        database, fcntl.LOCK_EX, "is being written by another command: try again afterwards"
    ):
        yield


@contextmanager
def _in_use(database: str, how: int, otherwise: str) -> Generator[None]:
    path = _file(database)
    if path is None:
        yield
        return
    try:
        file = _made(path.with_name(f"{path.name}-use"))
    except OSError:  # a read-only folder: nothing is restored or written there
        yield
        return
    try:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"the store {path.name} {otherwise}") from None
        yield
    finally:
        os.close(file)


def _file(database: str) -> Path | None:
    """Returns the path of an embedded store, else None."""
    if not database.startswith("sqlite:"):
        return None
    return Path(database.removeprefix("sqlite:///")).resolve()
