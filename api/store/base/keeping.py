"""What keeps a store: its schema, its age, its copies, its check, as every store promises."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from api.store.base.directory import Device
from api.store.base.series import Span


class Verdict(NamedTuple):
    """Rollup rows compared with a recomputation from raw, and how many were wrong, missing or
    orphaned."""

    buckets: int
    wrong: int


class Retention(Protocol):
    """Rollups are kept for good; raw readings from an instant on, which only rises."""

    def raw_from_ms(self) -> int | None:
        """From when on raw readings are kept; None where all are."""
        ...

    def has_raw(self, device: Device, span: Span) -> bool:
        """Whether none of the device's raw readings in the span was let go."""
        ...

    def prune(self, before_ms: int, *, pretend: bool = False) -> int:
        """Let go of the raw readings before an instant on the hour, but for each device's last
        hour with readings; how many. Readings from before it are refused from then on. May be
        interrupted and called again. UserError where the instant can't be.

        ``pretend`` only counts."""
        ...


class Replica(NamedTuple):
    """A store that is another's copy: ``lag_s`` is how far its readings may be behind, None where
    it can't tell; ``receiving``, whether it hears from its primary."""

    receiving: bool
    lag_s: float | None


class StoreFile(NamedTuple):
    """Where an embedded store lies. ``inode`` is the file's that has the name now, None where none
    has; ``opened`` the one that this process reads, None before it has read. ``written_s``: when it
    was last written to, in epoch seconds. ``trouble`` is why nothing may be written to it now, ""
    where something may."""

    path: Path
    inode: int | None
    opened: int | None
    written_s: float | None
    trouble: str = ""


class Upkeep(Protocol):
    def schema_version(self) -> int:
        """The number of the schema that is there. StoreMissing where none is."""
        ...

    def file(self) -> StoreFile | None:
        """None where the store is no file."""
        ...

    def upgrade(self) -> tuple[int, int]:
        """Create the store or bring its schema up to date: (version before, version now).
        Refuses a schema newer than this code with a UserError."""
        ...

    def distribute(self, shards: int | None = None) -> list[str]:
        """Spread the time series over the workers of a Citus cluster, in ``shards`` parts by
        device or four for each worker, with what it holds; the names of the tables that weren't
        spread before. UserError where the engine can't."""
        ...

    def partition(self) -> list[str]:
        """Lay raw readings in parts of a month from now on, so that old ones can be dropped whole;
        the parts. Before a store is distributed, if at all. UserError where the engine can't."""
        ...

    def checkpoint(self) -> None:
        """Write what lies in an embedded store's log back into its file, as far as no reader holds
        it up, so that a plain copy of the file has it. Raises Unavailable where the log is gone,
        and StoreDamaged where the file is damaged. A server does so by itself."""
        ...

    def check_pages(self) -> list[str]:
        """What is wrong with the pages of an embedded store's file, all of which are read. Where
        nothing is, a file that was found damaged is written to again. UserError for a server."""
        ...

    def verify(self, *, repair: bool = False) -> Verdict: ...

    def replica(self) -> Replica | None:
        """How this store follows its primary; None where it follows none."""
        ...

    def check(self) -> None:
        """Quietly return where the store can answer; else Unavailable or StoreMissing."""
        ...

    def close(self) -> None: ...
