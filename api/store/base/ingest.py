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
    """A register as sent: (device key, recorded_at in epoch ms, volume since ever), and the
    quantities that came beside it. ``unit`` '': the one of the device's settings."""

    device: int
    ts: int
    value: float
    unit: str = ""
    quality: float | None = None
    signal_strength: float | None = None
    network_rssi: float | None = None
    onboard_temperature: float | None = None


class Added(NamedTuple):
    """What was new: readings, each once, and registers with the reading that each became."""

    readings: list[ReadingRow]
    registers: dict[RegisterRow, ReadingRow]


class RegisterEntry(NamedTuple):
    """A stored register as people read it, in ``unit``. ``gallons`` since ``from_ms``, the register
    before it; both None for the first one. ``flags``: what is unusual of that step, see
    `api.metering.register.Flag`. ``fall``: gallons by which it went back; ``before``: the register
    before it, in gallons."""

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
        registers: Sequence[RegisterRow] = (),
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        """Store readings, which may be late, unordered or repeated, in one transaction with their
        refusals, their progress and every touched rollup.

        A row equal in device, instant and all values to a stored one changes nothing; a
        different row at the same instant is another event (seq 0, 1, … in order of arrival).
        After the commit each rollup row equals a recomputation from raw. ``progress`` arrives with
        the counts of earlier batches; the store adds this one's stored and repeated.

        Of ``registers`` the readings are derived, in the same transaction, also those of their
        neighbours: whatever the order, the split and the repetition of registers, the readings are
        the same. Of several registers at one instant the largest counts.
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
        """Store readings as `write` does. Rows at ``undated`` instants
        came without a timestamp: `TimeSeries.undated` returns these while their readings are kept.
        ``progress`` of the sources is saved in the same transaction."""
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
        """A device's registers in the span, in order of time."""
        ...

    def count_registers(self, device: Device, span: Span) -> int: ...

    def count_beside_registers(self, device: Device, span: Span) -> int:
        """The readings in the span that aren't derived from registers."""
        ...

    def register_falls(self, device: Device, from_ms: int) -> list[RegisterEntry]:
        """The registers from an instant on that went back, in order of time."""
        ...

    def derive_again(self, device: Device) -> int:
        """Derive a device's readings from its registers once more; how many of them changed."""
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
