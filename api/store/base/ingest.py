"""The interface for writing readings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from api.store.base.directory import Device
from api.store.base.series import Span

ReadingRow = tuple[
    int, int, float | None, float | None, float | None, float | None, float | None,
    float | None, float | None,
]  # fmt: skip
"""(device key, recorded_at in epoch ms, then the values in the order of catalog.METRICS)."""


class RegisterRow(NamedTuple):
    """A register as sent: (device key, recorded_at in epoch ms, total volume), and the quantities
    sent with it. ``unit`` '' means the unit of the device's settings."""

    device: int
    ts: int
    value: float
    unit: str = ""
    quality: float | None = None
    signal_strength: float | None = None
    network_rssi: float | None = None
    onboard_temperature: float | None = None


class Added(NamedTuple):
    """What was new: distinct readings, and registers with the reading derived from each."""

    readings: list[ReadingRow]
    registers: dict[RegisterRow, ReadingRow]


class RegisterEntry(NamedTuple):
    """A stored register as people read it, in ``unit``. ``gallons`` flowed since ``from_ms``, the
    time of the previous register; both are None for the first one. ``flags`` say what is unusual
    about that step (`api.metering.register.Flag`). ``fall`` is by how many gallons it went back;
    ``before`` is the previous register in gallons."""

    ts: int
    register: float
    unit: str
    from_ms: int | None
    gallons: float | None
    flags: tuple[str, ...]
    fall: float
    before: float | None = None


class Written(NamedTuple):
    """Counts of rows. ``stored``: new. ``repeated``: already stored, or twice in the batch.
    ``too_old``: refused, because raw readings of their time have been deleted."""

    stored: int
    repeated: int
    too_old: int = 0


SUSPICIOUS: Final = "suspicious"
"""The source of a `Refusal` that reports stored readings, which nobody refused."""


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
    """How far a file has been imported. ``digest`` identifies its content; ``position`` is the
    number of rows done. The counts are reported at the end."""

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
    """A device that sends readings without a timestamp. ``count`` of them got their arrival time,
    from ``first_ms`` to ``last_ms``."""

    organization_id: str
    serial_number: str
    count: int
    first_ms: int
    last_ms: int


ROWS_A_COMMIT: Final = 5_000  # written in about 50 ms: other writers wait only briefly
DISTRIBUTED_ROWS_A_COMMIT: Final = (
    20_000  # more on a cluster: a round trip to all shards costs the same for any number of rows
)


class Ingest(Protocol):
    """Writing readings. Only one process may write to a SQLite store at a time."""

    def write(
        self,
        rows: Sequence[ReadingRow],
        *,
        registers: Sequence[RegisterRow] = (),
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        """Stores readings, which may be late, unordered or repeated, in one transaction with their
        refusals, their progress and every affected rollup.

        A row equal to a stored one in device, instant and all values changes nothing. A different
        row at the same instant is another event (seq 0, 1, … in order of arrival).

        After the commit each rollup row equals a recomputation from raw readings. ``progress``
        comes with the counts of earlier batches; the store adds this one's stored and repeated
        rows.

        Readings are derived from ``registers`` in the same transaction, including those of
        neighbouring registers. The result doesn't depend on the order, grouping or repetition of
        registers. Of several registers at one instant, the largest counts.
        """
        ...

    def add(
        self,
        rows: Sequence[ReadingRow],
        *,
        registers: Sequence[RegisterRow] = (),
        refusals: Sequence[Refusal] = (),
        undated: Collection[Instant] = (),
        progress: Collection[Progress] = (),
    ) -> Added:
        """Stores readings like `write`. Rows at ``undated`` instants were sent without a timestamp:
        `TimeSeries.undated` returns these while their readings are kept.

        ``progress`` of the sources is saved in the same transaction.
        """
        ...

    def registers(
        self,
        device: Device,
        span: Span,
        *,
        limit: int,
        offset: int = 0,
        newest_first: bool = False,
    ) -> list[RegisterEntry]:
        """Returns a device's registers in the span, in order of time."""
        ...

    def count_registers(self, device: Device, span: Span) -> int: ...

    def count_beside_registers(self, device: Device, span: Span) -> int:
        """Counts the readings in the span that aren't derived from registers."""
        ...

    def register_falls(self, device: Device, from_ms: int) -> list[RegisterEntry]:
        """Returns the registers from an instant on that went back, in order of time."""
        ...

    def spread_spans(self, device: Device, span: Span) -> list[tuple[int, int]]:
        """Returns (after, up to) of the gaps between registers that overlap the span and over which
        a volume is spread; adjacent gaps as one."""
        ...

    def derive_again(self, device: Device) -> int:
        """Derives a device's readings from its registers again. Returns how many of them
        changed."""
        ...

    def rows_a_commit(self) -> int:
        """Returns the number of rows that one transaction should store: enough to be efficient, few
        enough that other writers wait only briefly. Raises Unavailable."""
        ...

    def clockless(self, organization_id: str | None = None) -> list[Clockless]:
        """Returns devices by organization, most readings first."""
        ...

    def progress(self, digest: str, organization_id: str) -> Progress | None: ...

    def suspicions(self, organization_id: str | None = None) -> list[RefusalSummary]:
        """Returns the reports of suspicious readings that were stored, newest first, without those
        from before a change of their device."""
        ...

    def refusals(self, organization_id: str | None = None) -> list[RefusalSummary]:
        """Returns refusals, newest first."""
        ...
