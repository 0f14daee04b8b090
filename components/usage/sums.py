"""A device's days and their sums. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.metering import uptime
from api.metering.cost import Price
from api.timez import MINUTE_MS
from components.directory_queries import Meter


@dataclass(frozen=True, slots=True)
class Day:
    """A local day, as far as it is over: ``elapsed_ms``. ``gallons`` and ``most_flow`` are None
    without readings. ``expected`` and ``observed``: buckets at the device's own cadence."""

    ordinal: int
    start_ms: int
    end_ms: int
    elapsed_ms: int
    gallons: float | None = None
    most_flow: float | None = None
    observed: int = 0
    expected: int = 0

    @property
    def mean_flow(self) -> float | None:
        """Gallons a minute over the whole day: the volume by time, not the mean of readings."""
        return _flow(self.gallons, self.elapsed_ms)

    @property
    def uptime(self) -> float | None:
        return uptime.share(self.observed, self.expected)


def _flow(gallons: float | None, elapsed_ms: int) -> float | None:
    return gallons * MINUTE_MS / elapsed_ms if gallons is not None and elapsed_ms > 0 else None


@dataclass(frozen=True, slots=True)
class DeviceUsage:
    """``price`` None: unknown, so there is no cost. ``charges``: the cost of each day by its
    ordinal, by a tariff. ``failure``: why there is no result for this device."""

    meter: Meter
    tz: ZoneInfo
    days: tuple[Day, ...]
    price: Price | None = None
    failure: str = ""
    charges: Mapping[int, float] | None = None

    @property
    def with_data(self) -> list[Day]:
        return [day for day in self.days if day.gallons is not None]

    @property
    def gallons(self) -> float | None:
        return sum(day.gallons or 0.0 for day in self.with_data) if self.with_data else None

    @property
    def mean_flow(self) -> float | None:
        """Over the days with readings."""
        return _flow(self.gallons, sum(day.elapsed_ms for day in self.with_data))

    @property
    def most_flow(self) -> float | None:
        return max((d.most_flow for d in self.days if d.most_flow is not None), default=None)

    @property
    def observed(self) -> int:
        return sum(day.observed for day in self.days)

    @property
    def expected(self) -> int:
        return sum(day.expected for day in self.days)

    @property
    def uptime(self) -> float | None:
        return uptime.share(self.observed, self.expected)

    def cost(self, day: Day | None = None) -> float | None:
        """The cost of one day, or of all."""
        gallons = self.gallons if day is None else day.gallons
        if self.price is None or gallons is None:
            return None
        if self.charges is None:
            return self.price.cost(gallons)
        if day is not None:
            return self.charges.get(day.ordinal)
        return sum(self.charges.values()) if self.charges else None


@dataclass(frozen=True, slots=True)
class Totals:
    """``devices``: the counted ones. ``sub_meters``: left out, since another of the devices
    measures their water too. ``waiting``: devices not in the totals, since the service hasn't
    replied for them (yet).

    ``costs``: by currency, of the ``priced`` devices that have a volume. ``tariffs``: the names of
    those in use. ``daily``: a device's mean volume a day with data. ``uptime``: the mean over
    devices, each with equal weight. ``most``: the highest flow in gal/min, of the device labelled
    ``most_by``.
    """

    devices: int
    sub_meters: int
    with_data: int
    waiting: int
    gallons: float | None
    daily: float | None
    costs: Mapping[str, float]
    priced: int
    tariffs: tuple[str, ...]
    most_flow: float | None
    uptime: float | None
    most: float | None
    most_by: str


def counted(usages: Sequence[DeviceUsage]) -> list[DeviceUsage]:
    """The usages whose water no other of them measures too."""
    serials = {each.meter.serial for each in usages}
    return [each for each in usages if serials.isdisjoint(each.meter.upstream)]


def totals(usages: Sequence[DeviceUsage], devices: int | None = None) -> Totals:
    """``devices``: their total number, if ``usages`` aren't complete yet."""
    devices = len(usages) if devices is None else devices
    summed = counted(usages)
    failed = sum(bool(each.failure) for each in summed)
    with_data = [each for each in summed if each.gallons is not None]
    ups = [up for each in usages if (up := each.uptime) is not None]
    gallons = sum(each.gallons or 0.0 for each in with_data) if with_data else None
    days = sum(len(each.with_data) for each in with_data)
    most = max(with_data, key=lambda each: each.gallons or 0.0, default=None)
    return Totals(
        devices=devices - (len(usages) - len(summed)),
        sub_meters=len(usages) - len(summed),
        with_data=len(with_data),
        waiting=devices - len(usages) + failed,
        gallons=gallons,
        daily=gallons / days if gallons is not None and days else None,
        costs=_costs(with_data),
        priced=sum(each.price is not None for each in with_data),
        tariffs=tuple(sorted({p.tariff for each in with_data if (p := each.price) and p.tariff})),
        most_flow=max((f for each in with_data if (f := each.most_flow) is not None), default=None),
        uptime=sum(ups) / len(ups) if ups else None,
        most=most.gallons if most else None,
        most_by=most.meter.label if most else "",
    )


def _costs(usages: Sequence[DeviceUsage]) -> dict[str, float]:
    """By currency."""
    sums: defaultdict[str, float] = defaultdict(float)
    for each in usages:
        cost = each.cost()
        if each.price is not None and cost is not None:
            sums[each.price.currency] += cost
    return dict(sums)


_LAST: Final = float("inf")


def _descending(value: float | None) -> float:
    return _LAST if value is None else -value


_ORDERS: Final[Mapping[str, Callable[[DeviceUsage], Any]]] = {
    "volume": lambda each: _descending(each.gallons),
    "cost": lambda each: _descending(each.cost()),
    "mean-flow": lambda each: _descending(each.mean_flow),
    "max-flow": lambda each: _descending(each.most_flow),
    "uptime": lambda each: _LAST if each.uptime is None else each.uptime,
    "days": lambda each: len(each.with_data),
    "label": lambda each: 0,
}


def ordered(usages: Iterable[DeviceUsage], sort: str) -> list[DeviceUsage]:
    """Sorted; ties by label."""
    by_label = sorted(usages, key=lambda each: (each.meter.label.casefold(), each.meter.serial))
    return sorted(by_label, key=_ORDERS[sort])
