"""The interface for device statuses, and for the devices whose status is due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from api.catalog import Resolution
from api.store.base.directory import Device, Scope

NOTICE_RANK: Final = 2  # of a finding's severity; below it lie those that need attention


class WindowStatus(NamedTuple):
    """Observed and expected buckets, least and greatest quality of one window."""

    actual: int = 0
    expected: int = 0
    quality_min: float | None = None
    quality_max: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """One device's status. ``windows``: in the order of `api.metering.windows.SPANS`. ``flow``: the
    last reading's rate if it is current (gal/min), likewise ``signal_strength`` and
    ``network_rssi`` (dBm). Volumes: gallons of the device's local day and month so far. ``price``
    None: the organization's. ``updated_ms``: of the device row that was used. ``due_ms``: when the
    status may change without a reading."""

    key: int
    as_of_ms: int
    updated_ms: int
    due_ms: int
    state: str
    seen_ms: int | None
    cadence_ms: int
    event_driven: bool
    bucket_ms: int
    flow: float | None
    windows: tuple[WindowStatus, ...]
    volume_today: float | None
    volume_month: float | None
    volume_usual: float | None
    price: float | None
    currency: str
    searched: str
    signal_strength: float | None = None
    network_rssi: float | None = None


class Due(NamedTuple):
    """A device with new readings from ``from_ms`` on; ``seq`` changes when more arrive."""

    key: int
    from_ms: int
    seq: int


@dataclass(frozen=True, slots=True)
class StatusQuery:
    """A selection of devices and its order. ``text``: part of a label, serial number or network id,
    in any case. ``states`` empty: every active device. ``order_by``: a name of
    `api.store.sql.insight.ORDERS`; nulls come last in both directions, ties by label and id."""

    text: str = ""
    states: Collection[str] = ()
    group: str | None = None
    kind: str | None = None
    order_by: str = "worst"
    descending: bool = False
    limit: int = 100
    offset: int = 0


class StatusEntry(NamedTuple):
    """``status`` None: not computed yet. ``findings``: the kinds of open findings."""

    device: Device
    status: Status | None
    findings: tuple[str, ...]


class Cost(NamedTuple):
    currency: str
    amount: float


class UsualToday(NamedTuple):
    """Of the ``devices`` that have a usual volume: gallons of today so far, and usual by now."""

    devices: int
    volume: float
    usual: float


@dataclass(frozen=True, slots=True)
class StatusSummary:
    """Counts and sums over active devices; ``evaluated`` of them have a row. ``flow``,
    ``volume_today`` and ``costs`` exclude ``sub_meters`` devices, whose water another of the
    devices has measured. ``flowing`` and ``quiet`` have a current reading, above zero or of zero.
    ``uptimes``: durations (ms) of the observed and expected buckets in each of `SPANS`.
    ``as_of_ms``: of the oldest row."""

    devices: int
    sub_meters: int
    states: dict[str, int]
    flow: float | None
    volume_today: float | None
    costs: tuple[Cost, ...]
    findings: dict[str, int]
    as_of_ms: int | None
    evaluated: int
    flowing: int
    quiet: int
    uptimes: tuple[tuple[int, int], ...]
    alarming: int
    usual: UsualToday


@dataclass(frozen=True, slots=True)
class Attention:
    """The open findings that need attention, critical ones and warnings: devices by kind, and what
    they cost a day; and the devices by kind of the notices. ``unchecked`` devices have readings
    that wait to be checked, ``checked_ms`` is up to when all are checked (None: nothing waits)."""

    kinds: dict[str, int]
    costs: tuple[Cost, ...]
    notices: dict[str, int]
    unchecked: int
    checked_ms: int | None


class FlowRow(NamedTuple):
    """A bucket's mean, least and greatest rate in gal/min; None where they don't fit a double."""

    start_ms: int
    mean: float | None
    least: float | None
    greatest: float | None


class Edge(NamedTuple):
    """Some of a device's buckets: how many have readings, least and greatest quality, gallons."""

    buckets: int
    quality_min: float | None
    quality_max: float | None
    gallons: float | None


class Insight(Protocol):
    """The service's reads take a scope; those of the writer process don't."""

    def statuses(self, scope: Scope, query: StatusQuery) -> list[StatusEntry]: ...

    def count_statuses(self, scope: Scope, query: StatusQuery) -> int: ...

    def status_of(self, scope: Scope, device: Device) -> StatusEntry: ...

    def statuses_of(self, scope: Scope, devices: Sequence[Device]) -> list[StatusEntry]: ...

    def summarize(self, scope: Scope, query: StatusQuery) -> StatusSummary:
        """Over the devices that match the query's text, group and kind, in any state."""
        ...

    def attention(self, scope: Scope, query: StatusQuery, before_ms: int) -> Attention:
        """Of the same devices. Readings wait from when on they weren't checked since
        ``before_ms``."""
        ...

    def flow_rows(
        self, devices: Sequence[Device], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[FlowRow]]:
        """By device key, the buckets that start in [low, high), ascending."""
        ...

    def cell_counts(
        self, devices: Sequence[Device], counted: Resolution, cell_ms: int, low: int, high: int
    ) -> dict[int, dict[int, int]]:
        """By device key: how many buckets of ``counted`` hold a reading in each cell from ``low``
        on, by the cell's number."""
        ...

    # --- For the process that writes ---

    def due_by_reading(self, limit: int) -> list[Due]: ...

    def due_by_time(self, now_ms: int, limit: int) -> list[int]:
        """Keys of the devices whose status is due or missing, or that were changed since."""
        ...

    def devices_by_key(self, keys: Sequence[int]) -> list[Device]: ...

    def due_of(self, keys: Sequence[int]) -> list[Due]:
        """Of these devices, those with readings that their status doesn't include yet."""
        ...

    def device_keys(self, organization_id: str | None = None) -> list[int]:
        """All devices, including inactive ones."""
        ...

    def status_rows(self, keys: Sequence[int]) -> dict[int, Status]: ...

    def save_statuses(self, rows: Sequence[Status], done: Sequence[Due], maker: str) -> None:
        """Save statuses in one transaction. A device with newer readings than its ``done`` entry
        stays due. ``maker``: the process that maintains them."""
        ...

    def made_by_others(self, keys: Sequence[int], maker: str) -> list[int]:
        """Of these devices, those whose status was saved by another maker."""
        ...

    def edges(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int, closed_ms: int
    ) -> dict[int, Edge]:
        """By device key, of the buckets that start in [low, high). ``buckets`` excludes those from
        ``closed_ms`` on. Devices without a bucket are left out."""
        ...

    def whole_hours(
        self, keys: Sequence[int], counted: Resolution, lows: Sequence[int], high: int
    ) -> dict[int, list[Edge]]:
        """By device key, for each of ``lows``: the whole hours in [low, high), with their number of
        buckets of the ``counted`` resolution."""
        ...

    def gallons(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[tuple[int, float | None]]]:
        """By device key, (start, gallons) of the buckets that start in [low, high)."""
        ...

    def first_hour(self, key: int) -> int | None:
        """The start of the first hour with a reading."""
        ...

    def last_hour(self, key: int, before_ms: int) -> int | None:
        """The start of the last hour with a reading that starts before that instant."""
        ...

    def instants(self, key: int, low: int, high: int) -> list[int]:
        """The instants of readings in [low, high), ascending."""
        ...
