"""Files that only their owner may read, written atomically."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Writes a file atomically. The last writer wins."""
    _draft(path, text).replace(path)


def shared_text(path: Path, make: Callable[[], str]) -> str:
    """Returns the text of the file. The first process to call this creates it with ``make``; all
    others read it, even at the same moment."""
    if not path.exists():
        draft = _draft(path, make())
        with suppress(FileExistsError):
            path.hardlink_to(draft)  # fails if another process was first; never overwrites
        draft.unlink()
    return path.read_text("utf-8")


def _draft(path: Path, text: str) -> Path:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    draft.touch(mode=0o600)
    draft.write_text(text, "utf-8")
    return draft
