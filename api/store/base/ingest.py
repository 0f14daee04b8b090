"""How readings are written, and what becomes of each, as every store promises it."""

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
    """``stored`` rows are new; ``repeated`` ones were there, or stood twice in the batch;
    ``too_old`` ones are from before the oldest raw reading that is kept, and were refused."""

    stored: int
    repeated: int
    too_old: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a reading was not accepted. Kept per (organization, source, reason, device) with a count
    and one sample, so that a device that sends rubbish for days takes one row."""

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
    """How far a file, named by its content's ``digest``, has been taken in: ``position`` rows are
    behind; the counts are what the command reports at the end."""

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
    """A device that sent readings without an instant: ``count`` of them are of when they came, the
    first and the last of that moment."""

    organization_id: str
    serial_number: str
    count: int
    first_ms: int
    last_ms: int


ROWS_A_COMMIT: Final = 5_000  # some 50 ms, so that nobody waits long
DISTRIBUTED_ROWS_A_COMMIT: Final = 20_000  # each round to all shards costs the same, however many


class Ingest(Protocol):
    """The one way in. Exactly one process writes to a SQLite store at a time."""

    def write(
        self,
        rows: Sequence[ReadingRow],
        *,
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        """Take readings in, any order, late, shuffled or repeated, in one transaction: rows,
        refusals, progress and every touched rollup, or nothing.

        A row equal in device, instant and all values to one that is there changes nothing; a
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
        """Take readings in as `write` does; the rows that are new by it, each once. Those at the
        ``undated`` instants said none: `TimeSeries.undated` will tell, for as long as raw readings
        are kept. ``progress`` of their sources is kept in the same transaction."""
        ...

    def rows_a_commit(self) -> int:
        """How many rows one transaction should take at most where more wait, so that it pays and
        nobody waits long. Raises Unavailable."""
        ...

    def clockless(self, organization_id: str | None = None) -> list[Clockless]:
        """By organization, most readings first."""
        ...

    def progress(self, digest: str, organization_id: str) -> Progress | None: ...

    def refusals(self, organization_id: str | None = None) -> list[RefusalSummary]:
        """Newest first."""
        ...
