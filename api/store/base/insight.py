"""The interface for device statuses, and for the devices whose status is due."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from api.catalog import Resolution
from api.store.base.directory import Device, Scope

NOTICE_RANK: Final = 2  # rank of a finding's severity; those below it need attention


class WindowStatus(NamedTuple):
    """Observed and expected buckets, and lowest and highest quality, of one window."""

    actual: int = 0
    expected: int = 0
    quality_min: float | None = None
    quality_max: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """One device's status.

    ``windows`` are in the order of `api.metering.windows.SPANS`. ``flow`` (gal/min),
    ``signal_strength`` and ``network_rssi`` (dBm) are the last reading's values if it is current.
    Volumes are gallons of the device's local day and month so far. ``price`` None means the
    organization's price. ``updated_ms`` is that of the device row used. ``due_ms`` is when the
    status may change without a reading.
    """

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
    """A device with new readings from ``from_ms`` on. ``seq`` changes when more arrive."""

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
    """``status`` None: not computed yet. ``findings`` are the kinds of open findings."""

    device: Device
    status: Status | None
    findings: tuple[str, ...]


class Cost(NamedTuple):
    currency: str
    amount: float


class UsualToday(NamedTuple):
    """Gallons of today so far and the usual gallons by now, for the ``devices`` that have a usual
    volume."""

    devices: int
    volume: float
    usual: float


@dataclass(frozen=True, slots=True)
class StatusSummary:
    """Counts and sums over active devices; ``evaluated`` of them have a status.

    ``flow``, ``volume_today`` and ``costs`` exclude ``sub_meters`` devices, whose water another of
    the devices has measured. ``flowing`` and ``quiet`` devices have a current reading above zero or
    of zero. ``uptimes`` are the durations (ms) of observed and expected buckets in each of `SPANS`.
    ``as_of_ms`` is that of the oldest status.
    """

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
    """Open critical findings and warnings: the number of devices by kind, and their cost a day; and
    the number of devices by kind of the notices. ``unchecked`` devices have readings that haven't
    been evaluated; ``checked_ms`` is the time up to which all are evaluated (None: nothing
    waits)."""

    kinds: dict[str, int]
    costs: tuple[Cost, ...]
    notices: dict[str, int]
    unchecked: int
    checked_ms: int | None


class FlowRow(NamedTuple):
    """A bucket's mean, lowest and highest rate in gal/min; None where one doesn't fit a double."""

    start_ms: int
    mean: float | None
    least: float | None
    greatest: float | None


class Edge(NamedTuple):
    """Some of a device's buckets: how many have readings, lowest and highest quality, gallons."""

    buckets: int
    quality_min: float | None
    quality_max: float | None
    gallons: float | None


class Insight(Protocol):
    """Reads by the service take a scope; reads by the writer process don't."""

    def statuses(self, scope: Scope, query: StatusQuery) -> list[StatusEntry]: ...

    def count_statuses(self, scope: Scope, query: StatusQuery) -> int: ...

    def status_of(self, scope: Scope, device: Device) -> StatusEntry: ...

    def statuses_of(self, scope: Scope, devices: Sequence[Device]) -> list[StatusEntry]: ...

    def summarize(self, scope: Scope, query: StatusQuery) -> StatusSummary:
        """Summarizes the devices that match the query's text, group and kind, in any state."""
        ...

    def attention(self, scope: Scope, query: StatusQuery, before_ms: int) -> Attention:
        """Summarizes open findings of the same devices. Devices evaluated since ``before_ms`` don't
        count as unchecked."""
        ...

    def flow_rows(
        self, devices: Sequence[Device], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[FlowRow]]:
        """Returns, by device key, the buckets that start in [low, high), ascending."""
        ...

    def cell_counts(
        self, devices: Sequence[Device], counted: Resolution, cell_ms: int, low: int, high: int
    ) -> dict[int, dict[int, int]]:
        """Returns, by device key, how many buckets of ``counted`` hold a reading in each cell from
        ``low`` on, by the cell's index."""
        ...

    # --- For the writer process ---

    def due_by_reading(self, limit: int) -> list[Due]: ...

    def due_by_time(self, now_ms: int, limit: int) -> list[int]:
        """Returns the keys of devices whose status is due or missing, or that were changed
        since."""
        ...

    def devices_by_key(self, keys: Sequence[int]) -> list[Device]: ...

    def due_of(self, keys: Sequence[int]) -> list[Due]:
        """Returns those of these devices with readings that their status doesn't include yet."""
        ...

    def device_keys(self, organization_id: str | None = None) -> list[int]:
        """Returns all devices, including inactive ones."""
        ...

    def status_rows(self, keys: Sequence[int]) -> dict[int, Status]: ...

    def save_statuses(self, rows: Sequence[Status], done: Sequence[Due], maker: str) -> None:
        """Saves statuses in one transaction. A device with newer readings than its ``done`` entry
        stays due. ``maker`` names the process that maintains them."""
        ...

    def made_by_others(self, keys: Sequence[int], maker: str) -> list[int]:
        """Returns those of these devices whose status was saved by another maker."""
        ...

    def edges(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int, closed_ms: int
    ) -> dict[int, Edge]:
        """Summarizes, by device key, the buckets that start in [low, high). ``buckets`` excludes
        those from ``closed_ms`` on. Devices without a bucket are left out."""
        ...

    def whole_hours(
        self, keys: Sequence[int], counted: Resolution, lows: Sequence[int], high: int
    ) -> dict[int, list[Edge]]:
        """Summarizes, by device key and for each of ``lows``, the whole hours in [low, high), with
        their number of buckets of the ``counted`` resolution."""
        ...

    def gallons(
        self, keys: Sequence[int], resolution: Resolution, low: int, high: int
    ) -> dict[int, list[tuple[int, float | None]]]:
        """Returns, by device key, (start, gallons) of the buckets that start in [low, high)."""
        ...

    def first_hour(self, key: int) -> int | None:
        """Returns the start of the first hour with a reading."""
        ...

    def last_hour(self, key: int, before_ms: int) -> int | None:
        """Returns the start of the last hour with a reading that starts before that instant."""
        ...

    def instants(self, key: int, low: int, high: int) -> list[int]:
        """Returns the instants of readings in [low, high), ascending."""
        ...
