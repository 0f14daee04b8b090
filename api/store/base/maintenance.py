"""The interface for maintaining a store: schema, retention, replication, verification."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from api.store.base.directory import Device
from api.store.base.series import Span


class Verdict(NamedTuple):
    """Rollup rows compared with a recomputation from raw readings, and how many were wrong, missing
    or orphaned."""

    buckets: int
    wrong: int


class Retention(Protocol):
    """Rollups are kept forever; raw readings from an instant on, which only moves forward."""

    def raw_from_ms(self) -> int | None:
        """Returns the instant from which raw readings are kept; None if all are."""
        ...

    def has_raw(self, device: Device, span: Span) -> bool:
        """Whether all of the device's raw readings in the span are kept."""
        ...

    def prune(self, before_ms: int, *, pretend: bool = False) -> int:
        """Deletes raw readings before an instant on the hour, except for each device's last hour
        with readings. Returns the number deleted. Older readings are refused from then on. The call
        may be interrupted and repeated. Raises UserError if the instant is invalid.

        ``pretend`` only counts.
        """
        ...


class Replica(NamedTuple):
    """The state of a standby. ``lag_s``: how far its readings may be behind, None if unknown.
    ``receiving``: whether it is connected to its primary."""

    receiving: bool
    lag_s: float | None


class StoreFile(NamedTuple):
    """The file of an embedded store. ``inode``: of the file now at the path, None if missing.
    ``opened``: of the file that this process reads, None before its first read. ``written_s``: last
    write, epoch seconds. ``problem``: why it can't be written, "" if it can."""

    path: Path
    inode: int | None
    opened: int | None
    written_s: float | None
    problem: str = ""


class Upkeep(Protocol):
    def schema_version(self) -> int:
        """Returns the version of the existing schema. Raises StoreMissing if there is none."""
        ...

    def file(self) -> StoreFile | None:
        """Returns None if the store isn't a file."""
        ...

    def upgrade(self) -> tuple[int, int]:
        """Creates the store or brings its schema up to date. Returns (version before, version now).
        Raises UserError for a schema newer than this program."""
        ...

    def distribute(self, shards: int | None = None) -> list[str]:
        """Distributes the time series over the workers of a Citus cluster by device, in ``shards``
        parts (default: see `api.store.distribution`). Returns the names of the newly distributed
        tables. Raises UserError if the engine can't."""
        ...

    def partition(self) -> list[str]:
        """Partitions raw readings by month, so that old months can be dropped. Returns the
        partitions. Only possible before a store is distributed. Raises UserError if the engine
        can't."""
        ...

    def checkpoint(self) -> None:
        """Checkpoints an embedded store's WAL as far as readers allow, so that a plain copy of the
        file is recent. Raises Unavailable if the WAL was deleted, StoreDamaged if the file is
        damaged. Does nothing on a server."""
        ...

    def check_pages(self) -> list[str]:
        """Checks all pages of an embedded store's file. Returns the problems. If there are none, a
        mark of damage is removed. Raises UserError for a server."""
        ...

    def verify(self, *, repair: bool = False) -> Verdict: ...

    def replica(self) -> Replica | None:
        """Returns the state of replication if this is a standby; else None."""
        ...

    def check(self) -> None:
        """Raises Unavailable or StoreMissing if the store can't be used."""
        ...

    def close(self) -> None: ...
