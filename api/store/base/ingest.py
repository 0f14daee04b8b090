"""The interface for writing readings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

ReadingRow = tuple[
    int, int, float | None, float | None, float | None, float | None, float | None,
    float | None, float | None,
]  # fmt: skip
"""(device key, recorded_at in epoch ms, then the values in the order of catalog.METRICS)."""


class Written(NamedTuple):
    """Counts of rows. ``stored``: new. ``repeated``: already stored, or twice in the batch.
    ``too_old``: refused, because raw readings of their time have been deleted."""

    stored: int
    repeated: int
    too_old: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why readings were refused. One row per (organization, source, reason, device), with a count
    and a sample, so that a device that sends invalid data for days takes one row."""

    organization_id: str
    source: str
    reason: str
    device: str
    sample: str
    at_ms: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class RefusalSummary:
    organization_id: str
    source: str
    reason: str
    device: str
    count: int
    first_seen_ms: int
    last_seen_ms: int
    sample: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file has been imported. ``digest``: of its content. ``position``: rows done. The
    counts are reported at the end."""

    digest: str
    organization_id: str
    position: int = 0
    stored: int = 0
    repeated: int = 0
    refused: int = 0
    complete: bool = False


Instant = tuple[int, int]
"""(device key, epoch ms)"""


@dataclass(frozen=True, slots=True)
class Clockless:
    """A device that sends readings without a timestamp. ``count`` of them got the time of their
    arrival, from ``first_ms`` to ``last_ms``."""

    organization_id: str
    serial_number: str
    count: int
    first_ms: int
    last_ms: int


ROWS_A_COMMIT: Final = 5_000  # about 50 ms, so that other writers wait only briefly
DISTRIBUTED_ROWS_A_COMMIT: Final = (
    20_000  # a round trip to all shards costs the same for any number of rows
)


class Ingest(Protocol):
    """Writing readings. Only one process may write to a SQLite store at a time."""

    def write(
        self,
        rows: Sequence[ReadingRow],
        *,
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        """Store readings, which may be late, unordered or repeated, in one transaction with their
        refusals, their progress and every touched rollup.

        A row equal in device, instant and all values to a stored one changes nothing; a
        different row at the same instant is another event (seq 0, 1, … in order of arrival).
        After the commit each rollup row equals a recomputation from raw. ``progress`` arrives with
        the counts of earlier batches; the store adds this one's stored and repeated.
        """
        ...

    def add(
        self,
        rows: Sequence[ReadingRow],
        *,
        refusals: Sequence[Refusal] = (),
        undated: Collection[Instant] = (),
        progress: Collection[Progress] = (),
    ) -> list[ReadingRow]:
        """Store readings as `write` does; the new rows, each once. Rows at ``undated`` instants
        came without a timestamp: `TimeSeries.undated` returns these while their readings are kept.
        ``progress`` of the sources is saved in the same transaction."""
        ...

    def rows_a_commit(self) -> int:
        """The most rows that one transaction should store: enough to be efficient, few enough that
        other writers wait only briefly. Raises Unavailable."""
        ...

    def clockless(self, organization_id: str | None = None) -> list[Clockless]:
        """By organization, most readings first."""
        ...

    def progress(self, digest: str, organization_id: str) -> Progress | None: ...

    def refusals(self, organization_id: str | None = None) -> list[RefusalSummary]:
        """Newest first."""
        ...
