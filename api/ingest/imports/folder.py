"""The folder of one import: the file, the request and the progress."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from api.catalog import FORMULA
from api.errors import NotFound
from api.ingest.foreign.mapping import Mapping, from_table, to_table
from api.private_files import write_private

State = Literal[
    "receiving", "ready", "waiting", "running", "paused", "interrupted", "done", "failed",
    "undoing", "undone",
]  # fmt: skip
BUSY: Final = ("waiting", "running", "undoing")
_ID: Final = re.compile(r"[0-9a-f]{16}")


def harmless(cell: Any) -> Any:
    """Returns a cell that no spreadsheet reads as a formula."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


@dataclass(frozen=True, slots=True)
class Request:
    """What the user requests; written by the service. ``mapping``: from `to_table`, {} until it is
    guessed. ``unsure``: settings to check. ``goal``: what the job should do."""

    name: str
    size: int
    organization_id: str
    by: str
    created_ms: int
    mapping: dict[str, Any] = field(default_factory=dict[str, Any])
    unsure: dict[str, str] = field(default_factory=dict[str, str])
    goal: Literal["", "import", "undo"] = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The job's progress; written by the job. ``refused``: reason, device, count and sample of each
    cause. ``empty``: rows without a value, which aren't among those ``read``. ``created``: serial
    numbers of new devices, which were ready for readings at ``prepared_ms``; ``deleted``: those
    that an undo deleted. ``messages``: warnings to check."""

    state: State = "running"
    read: int = 0
    stored: int = 0
    repeated: int = 0
    refused: int = 0
    empty: int = 0
    bytes: int = 0
    removed: int = 0
    problem: str = ""
    causes: list[list[Any]] = field(default_factory=list[list[Any]])
    created: list[str] = field(default_factory=list[str])
    prepared_ms: int = 0
    deleted: list[str] = field(default_factory=list[str])
    messages: list[str] = field(default_factory=list[str])


class Paused(Exception):
    """The user has paused the import."""


@dataclass(frozen=True, slots=True)
class ImportFolder:
    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def file(self) -> Path:
        """Returns the uploaded file. It keeps its name, since a device may be named after it."""
        return self.path / "content" / Path(self.request().name).name

    @property
    def spans(self) -> Path:
        return self.path / "spans"

    @property
    def refused_rows(self) -> Path:
        """Returns the CSV file of refused rows, written by the job."""
        return self.path / "refused.csv"

    def request(self) -> Request:
        """Raises NotFound where the import was removed."""
        try:
            return Request(**json.loads((self.path / "request.json").read_text("utf-8")))
        except FileNotFoundError:
            raise NotFound("There is no such import.") from None

    def save(self, request: Request) -> None:
        write_private(self.path / "request.json", json.dumps(asdict(request)))

    def outcome(self) -> Outcome | None:
        try:
            return Outcome(**json.loads((self.path / "outcome.json").read_text("utf-8")))
        except FileNotFoundError:
            return None

    def report(self, outcome: Outcome) -> None:
        write_private(self.path / "outcome.json", json.dumps(asdict(outcome)))

    def restart(self) -> None:
        """Makes an undone import ready again."""
        self.save(replace(self.request(), goal=""))
        (self.path / "outcome.json").unlink(missing_ok=True)

    def mapping(self) -> Mapping:
        return from_table(self.request().mapping)

    def with_mapping(self, mapping: Mapping, unsure: dict[str, str]) -> None:
        self.save(replace(self.request(), mapping=to_table(mapping), unsure=unsure))

    # --- The job ---

    @property
    def pausing(self) -> bool:
        return (self.path / "pause").exists()

    def raise_if_pausing(self) -> None:
        if self.pausing:
            raise Paused

    def pause(self, wanted: bool) -> None:
        if wanted:
            (self.path / "pause").touch()
        else:
            (self.path / "pause").unlink(missing_ok=True)

    def locked(self) -> bool:
        """Whether a job is running in this folder."""
        try:
            file = os.open(self.path / "job.lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(file)

    def state(self, now_ms: int) -> State:
        request, outcome = self.request(), self.outcome()
        if outcome is None:
            received = self.file.stat().st_size if self.file.exists() else 0
            return "ready" if received == request.size else "receiving"
        if self.locked():
            return "undoing" if request.goal == "undo" else "running"
        if outcome.state == "waiting":
            begun_ms = int((self.path / "outcome.json").stat().st_mtime * 1000)
            return "waiting" if now_ms - begun_ms < STARTS_WITHIN_MS else "interrupted"
        return "interrupted" if outcome.state in BUSY else outcome.state


STARTS_WITHIN_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class ImportFolders:
    """Every import of an instance folder."""

    instance: Path

    @property
    def path(self) -> Path:
        return self.instance / "imports"

    def create(self, request: Request) -> ImportFolder:
        folder = ImportFolder(self.path / secrets.token_hex(8))
        (folder.path / "content").mkdir(mode=0o700, parents=True)
        folder.save(request)
        folder.file.touch(mode=0o600)
        return folder

    def any(self, id: str) -> ImportFolder:
        """Returns an import. Raises NotFound where there is none."""
        folder = ImportFolder(self.path / id)
        if not _ID.fullmatch(id) or not folder.path.is_dir():
            raise NotFound("There is no such import.")
        return folder

    def find(self, id: str, organization_id: str) -> ImportFolder:
        """Returns an import. Raises NotFound where there is none, or it belongs to another
        organization."""
        folder = self.any(id)
        if folder.request().organization_id != organization_id:
            raise NotFound("There is no such import.")
        return folder

    def all(self, organization_id: str) -> Iterator[ImportFolder]:
        """Yields imports, the latest first."""
        paths = sorted(self.path.glob("*/request.json"), key=lambda p: -p.stat().st_ctime)
        for path in paths:
            folder = ImportFolder(path.parent)
            if folder.request().organization_id == organization_id:
                yield folder

    def remove(self, folder: ImportFolder) -> None:
        shutil.rmtree(folder.path, ignore_errors=True)
