"""What every store promises. `tests/store` holds each implementation to these words.

Instants are epoch milliseconds (UTC). Buckets are aligned in UTC and named by their start. Reads
of the time series take a ``Device``, and a ``Device`` comes only from a ``Scope``: so there is no
way to a reading around the scope of a credential.

Errors: `Unavailable` (locked, out of reach, disk full), `StoreMissing` (no such store),
`UserError` where a write asks for what can't be (a serial number that is taken).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from api.catalog import METRICS, Aggregate, Metric, Resolution

# --- The directory -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grant:
    """The devices that a credential was granted: all of its organization's, or the union of
    groups (by name) and single devices (by UUID). Resolved when asked, never frozen into ids."""

    everything: bool = False
    groups: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose eyes a read uses. Every read of the directory passes one."""

    organization_id: str
    grant: Grant


@dataclass(frozen=True, slots=True)
class Organization:
    id: str
    name: str
    active: bool
    created_ms: int
    updated_ms: int
    default_cost_per_gallon: float | None = None
    account_organizations: dict[str, Any] | None = None
    subscriptions: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A device as the directory knows it. ``key`` is its number in the time series, never shown;
    ``id`` its UUID. ``config`` already carries ``reportingInterval`` where one is set; in a list of
    devices also ``groups``, the names of those that the scope's grant covers."""

    key: int
    id: str
    organization_id: str
    serial_number: str
    network_unique_identifier: str
    category: str
    label: str
    created_ms: int
    updated_ms: int
    installed_on_ms: int
    installed: bool
    active: bool
    cost_per_gallon: dict[str, Any]
    alerts_active: bool
    k_factor: dict[str, Any]
    time_zone: str
    model: str
    reseller_id: str | None = None
    distributor_id: str | None = None
    config: dict[str, Any] | None = None
    billing_subscriptions: tuple[str, ...] = ()
    reporting_interval_s: float | None = None


@dataclass(frozen=True, slots=True)
class DeviceQuery:
    """Which devices, in which order. ``order_by`` is a scalar Device field of the interface
    (``serialNumber``); text compares by code point, ties go by id, nulls come last in both
    directions. ``active`` None asks for both."""

    active: bool | None = True
    serial_number: str | None = None
    network_unique_identifier: str | None = None
    order_by: str = "label"
    descending: bool = False
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class NewDevice:
    """A device to create, or to update where the organization has one of that serial number.
    ``fields`` holds only what was said: interface names (``deviceTimeZone``) plus ``active`` and
    ``reportingInterval``, already validated. ``groups`` None leaves the groups alone."""

    serial_number: str
    fields: dict[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None


class Imported(NamedTuple):
    created: int
    updated: int


@dataclass(frozen=True, slots=True)
class Key:
    """A service API key without its secret: ``digest`` is the SHA-256 of the lower-case UUID.
    ``ingest``: it sends readings of the devices it was granted, and reads nothing."""

    key_id: str
    organization_id: str
    name: str
    digest: bytes
    grant: Grant
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    ingest: bool = False


class Directory(Protocol):
    """Organizations, devices, groups and keys."""

    def organization(self, organization_id: str) -> Organization | None: ...

    def organizations(self) -> list[Organization]:
        """All of them, by name; only the command line may ask so much."""
        ...

    def create_organization(
        self, name: str, *, organization_id: str | None = None, cost_per_gallon: float | None = None
    ) -> Organization:
        """A new organization; a new UUID unless an id is given. UserError where the id is taken."""
        ...

    def devices(self, scope: Scope, query: DeviceQuery) -> list[Device]: ...

    def count_devices(self, scope: Scope, query: DeviceQuery) -> int:
        """How many match, before limit and offset."""
        ...

    def resolve(self, scope: Scope, identifiers: Sequence[str]) -> list[Device | None]:
        """The device of each identifier, in order: by UUID (any case, active or not), else by
        serial number, else by networkUniqueIdentifier (these two among active devices). None for
        what is unknown, foreign, out of grant, or inactive and not asked for by UUID. One query."""
        ...

    def import_devices(self, organization_id: str, devices: Iterable[NewDevice]) -> Imported:
        """All of them or, with a UserError that names the culprit, none. Serial numbers and
        networkUniqueIdentifiers are unique among an organization's active devices."""
        ...

    def create_key(self, key: Key) -> None:
        """UserError where the grant names a device or group that the organization lacks."""
        ...

    def key(self, digest: bytes) -> Key | None: ...

    def named_key(self, key_id: str) -> Key | None: ...

    def keys(self) -> list[Key]: ...

    def revoke_key(self, key_id: str, at_ms: int) -> bool:
        """False where there is no such key. Revoking again changes nothing."""
        ...

    def ingest_keys(self, organization_id: str) -> dict[str, int]:
        """Every identifier a reading may name → ``key``, as `resolve` does (UUIDs lower case)."""
        ...


# --- Readings ------------------------------------------------------------------------------------

ReadingRow = tuple[
    int, int, float | None, float | None, float | None, float | None, float | None,
    float | None, float | None,
]  # fmt: skip
"""(device key, recorded_at in epoch ms, then the values in the order of catalog.METRICS)."""


class Written(NamedTuple):
    """``stored`` rows are new; ``repeated`` ones were there, or stood twice in the batch;
    ``too_old`` ones are from before the raw readings that are kept, and were refused."""

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
        self, rows: Sequence[ReadingRow], *, refusals: Sequence[Refusal] = ()
    ) -> list[ReadingRow]:
        """Take readings in as `write` does; the rows that are new by it, each once."""
        ...

    def progress(self, digest: str, organization_id: str) -> Progress | None: ...

    def refusals(self, organization_id: str | None = None) -> list[RefusalSummary]:
        """Newest first."""
        ...


# --- Reads of the time series --------------------------------------------------------------------


class Span(NamedTuple):
    """Inclusive bounds on recorded_at or on a bucket's start; None is an open side."""

    from_ms: int | None = None
    to_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter: a column, an SQL operator of the catalog, a finite value. A null never matches.
    Over raw rows an Aggregate means its metric's plain value."""

    column: Metric | Aggregate
    operator: str
    value: float


Where = tuple[Condition, ...]
Row = tuple[Any, ...]


class Piece(NamedTuple):
    """The source rows of one calendar bucket, or of a whole range, aggregated.

    ``values`` follow catalog.AGGREGATES: total_, min_ and max_ exact, avg_ the unweighted mean of
    the source rows' values; avg_flow_rate is None here, since it is a total over covered minutes,
    which the domain knows. ``first_ms`` and ``last_ms`` are the first and last source row's start.
    """

    start_ms: int
    first_ms: int
    last_ms: int
    values: Row


@dataclass(frozen=True, slots=True)
class LatestQuestion:
    """For each device: ``uptime`` and ``quality`` are the resolutions to count buckets in and to
    take quality from (the latter may be RAW); None where not asked."""

    span: Span
    uptime: Resolution | None = None
    quality: Resolution | None = None
    last: bool = False


class LatestFound(NamedTuple):
    """``last`` is (recorded_at ms, then the values in the order of catalog.METRICS)."""

    observed: int = 0
    quality_min: float | None = None
    quality_max: float | None = None
    last: Row | None = None


class TimeSeries(Protocol):
    """Reads. Rows come ascending in time (raw: then by seq); conditions are ANDed. A sum or mean
    that doesn't fit a double is None."""

    def count(
        self,
        device: Device,
        resolution: Resolution,
        span: Span,
        where: Where = (),
        *,
        at_most: int | None = None,
    ) -> int:
        """Rows of a raw or stored resolution. With ``at_most`` the count may stop there: any
        answer ≥ at_most then means "at least so many". Without conditions it is a sum of the
        hourly counters and two edges, whatever the length of the span."""
        ...

    def rows(
        self,
        device: Device,
        resolution: Resolution,
        span: Span,
        where: Where = (),
        *,
        limit: int,
        offset: int = 0,
        metrics: Collection[Metric] = METRICS,
    ) -> list[Row]:
        """Raw: (recorded_at ms, *METRICS). Stored: (bucket start ms, *AGGREGATES), avg_ being the
        mean over the bucket's raw rows. ``metrics``: the values of these alone, in order."""
        ...

    def bounds(
        self, device: Device, resolution: Resolution, span: Span, where: Where = ()
    ) -> tuple[int, int] | None:
        """First and last row's instant in the span, None where there is no row."""
        ...

    def pieces(
        self,
        device: Device,
        source: Resolution,
        span: Span,
        edges: Sequence[int],
        where: Where = (),
    ) -> list[Piece]:
        """The raw or stored source's rows that match, grouped by ascending ``edges`` (one group
        from each edge up to the next: n + 1 edges for n); groups without a row are left out."""
        ...

    def latest(self, devices: Sequence[Device], question: LatestQuestion) -> dict[int, LatestFound]:
        """By device key; every device asked for is there. A single query for all of them."""
        ...


# --- Keeping it ----------------------------------------------------------------------------------


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
    was last written to, in epoch seconds."""

    path: Path
    inode: int | None
    opened: int | None
    written_s: float | None


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

    def distribute(self, shards: int) -> list[str]:
        """Spread the time series over the workers of a Citus cluster, in ``shards`` parts by
        device, with what it holds; the names of the tables that weren't spread before. UserError
        where the engine can't."""
        ...

    def partition(self) -> list[str]:
        """Lay raw readings in parts of a month from now on, so that old ones can be dropped whole;
        the parts. Before a store is distributed, if at all. UserError where the engine can't."""
        ...

    def verify(self, *, repair: bool = False) -> Verdict: ...

    def replica(self) -> Replica | None:
        """How this store follows its primary; None where it follows none."""
        ...

    def check(self) -> None:
        """Quietly return where the store can answer; else Unavailable or StoreMissing."""
        ...

    def close(self) -> None: ...


class Store(Directory, Ingest, TimeSeries, Retention, Upkeep, Protocol):
    """Everything together. `api.store.open.open_store(url)` returns one."""
