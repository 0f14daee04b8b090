"""Queries of a summary: one request for each device's days, then one for the uptime of up to fifty
devices in one day. Replies are cached, so that a page may load it in steps."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Final, Generic, NamedTuple, Protocol, TypeVar
from zoneinfo import ZoneInfo

from api.catalog import DAY, FLOW_AMOUNT, FLOW_RATE, Resolution
from api.client import Client, LatestEntry
from api.errors import Unavailable, WeirError
from api.metering import uptime
from api.metering.cadence import Cadence
from api.metering.cost import price_of
from api.metering.windows import Window, due_buckets, local_days
from api.timez import local_ordinal, zone_or_utc
from components import formatting
from components.concurrent_queries import (
    ONE_DEVICE_ERRORS,
    Deadline,
    LatestReplies,
    ServiceAccess,
    batches,
    latest,
)
from components.controls import failure
from components.directory_queries import (
    Directory,
    Meter,
    cadences,
    directory,
    without_disproved_dates,
)
from components.usage.sums import Day, DeviceUsage
from components.usage.url_state import MOST_DEVICES, UsageView

# --- The devices ---------------------------------------------------------------------------------

MOST_OFFERED: Final = 50


@dataclass(frozen=True, slots=True)
class Selection:
    """``matched``: the number of matching devices. ``meters``: these devices, or none if they are
    too many. ``price``: the organization's default, per gallon."""

    meters: tuple[Meter, ...]
    matched: int
    price: float | None
    groups: tuple[str, ...]

    @property
    def too_many(self) -> bool:
        return self.matched > MOST_DEVICES

    @property
    def words(self) -> str:
        """Why there is no summary; empty if there is one."""
        if self.too_many:
            return (
                f"{formatting.whole(self.matched)} devices match, and a summary covers at most"
                f" {MOST_DEVICES}. Narrow the search, choose a group or select devices."
            )
        return "" if self.matched else "No device matches."


def pick(access: ServiceAccess, view: UsageView, now_ms: int) -> Selection:
    """Raises a WeirError if the service can't list the devices."""
    active = directory(access, now_ms)
    matches = _chosen(access, view, active, now_ms) if view.devices else matching(active, view)
    meters = tuple(matches) if len(matches) <= MOST_DEVICES else ()
    return Selection(meters, len(matches), active.price, active.groups)


def _chosen(access: ServiceAccess, view: UsageView, active: Directory, now_ms: int) -> list[Meter]:
    """The devices chosen one by one, inactive ones too: their past use counts."""
    by_id = dict(active.by_id)
    if any(id not in by_id for id in view.devices):
        by_id = {**directory(access, now_ms, "false").by_id, **by_id}
    return [by_id[id] for id in view.devices if id in by_id]


def matching(active: Directory, view: UsageView) -> list[Meter]:
    sought = view.search.casefold()
    return [
        meter
        for meter in active.meters
        if sought in meter.sought and (not view.group or view.group in meter.groups)
    ]


def offered(access: ServiceAccess, sought: str, now_ms: int) -> list[Meter]:
    """The first devices that match a search, to choose from."""
    matches = matching(directory(access, now_ms), UsageView(search=" ".join(sought.split())))
    return sorted(matches, key=lambda meter: meter.label.casefold())[:MOST_OFFERED]


# --- Results in parts ----------------------------------------------------------------------------

PAGE_PATIENCE_S: Final = 1.5  # then the loaded part is shown, and the browser requests the rest
FILE_PATIENCE_S: Final = 120.0  # then it fails
FRESH_MS: Final = 60_000
MOST_CACHED: Final = 8  # a year of 200 devices is about 20 MB


class Progress(NamedTuple):
    """The progress: ``done`` of ``of``; equal if complete."""

    word: str
    done: int
    of: int

    @property
    def complete(self) -> bool:
        return self.done >= self.of

    @property
    def words(self) -> str:
        """What is still missing; empty if complete."""
        if self.complete:
            return ""
        return (
            f"Loading: {formatting.whole(self.done)} of {formatting.whole(self.of)} {self.word} …"
        )

    def must_be_complete(self) -> None:
        """For a file, which is complete or fails. Raises Unavailable."""
        if not self.complete:
            raise Unavailable(
                "The query takes too long for this many days: choose a shorter range."
            )


class _Dated(Protocol):
    now_ms: int


T = TypeVar("T", bound=_Dated)


class PartialResults(Generic[T]):
    """The results of the last few views of one kind, of all principals; each as of one moment, and
    started again once that is a minute ago."""

    def __init__(self, name: str, begin: Callable[[int], T]) -> None:
        """``begin`` makes the initial results, as of a moment in ms."""
        self._name, self._begin = name, begin
        self._lock = Lock()

    def results(self, access: ServiceAccess, view: Hashable, now_ms: int) -> T:
        """The results to add to; the same for every query of that view with this credential."""
        key = (access.principal, view)
        with self._lock:
            shelf: OrderedDict[Hashable, T] = access.cache.get(self._name) or OrderedDict()
            results = shelf.pop(key, None)
            if results is None or now_ms - results.now_ms > FRESH_MS:
                results = self._begin(now_ms)
            shelf[key] = results
            while len(shelf) > MOST_CACHED:
                shelf.popitem(last=False)
            access.cache.put(self._name, shelf)
        return results


# --- The summary ---------------------------------------------------------------------------------

_TOTAL: Final = f"total_{FLOW_AMOUNT.name}"
_MOST: Final = f"max_{FLOW_RATE.name}"


class _Volume(NamedTuple):
    gallons: float | None
    most_flow: float | None


class _Group(NamedTuple):
    """Devices that share one request."""

    ordinal: int
    window: Window
    resolution: Resolution


_Question = tuple[_Group, tuple[str, ...]]


@dataclass(slots=True)
class _Cached:
    """The loaded part of one view, all as of ``now_ms``."""

    now_ms: int
    volumes: dict[str, dict[int, _Volume]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    uptimes: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    done: set[_Question] = field(default_factory=set)


_SHELF: Final = PartialResults("usage", _Cached)


@dataclass(frozen=True, slots=True)
class Summary:
    """The loaded devices; all of them if ``progress`` is complete."""

    usages: tuple[DeviceUsage, ...]
    progress: Progress
    now_ms: int


def gather(
    access: ServiceAccess,
    meters: Sequence[Meter],
    view: UsageView,
    price: float | None,
    deadline: Deadline,
    now_ms: int,
) -> Summary:
    """As much as the deadline allows, added to what is cached for that view. Raises a WeirError if
    the whole service fails."""
    ids = tuple(sorted(meter.id for meter in meters))
    cached = _SHELF.results(access, (view.range, view.zone, ids), now_ms)
    progress = _volumes(access, meters, view, cached, deadline)
    if progress.complete:
        progress = _uptimes(access, meters, view, cached, deadline)
    usages = tuple(
        _usage(meter, view, price, cached)
        for meter in meters
        if meter.id in cached.volumes or meter.id in cached.failures
    )
    return Summary(usages, progress, cached.now_ms)


def zone_of(meter: Meter, view: UsageView) -> ZoneInfo:
    return zone_or_utc(view.zone, meter.time_zone)


def days_of(meter: Meter, view: UsageView, now_ms: int) -> Iterator[tuple[int, Window]]:
    """The view's days in the device's zone or the chosen one, except those that the zone
    skipped."""
    tz = zone_of(meter, view)
    return local_days(tz, *view.dates(local_ordinal(tz, now_ms)))


# --- Volumes -------------------------------------------------------------------------------------


def _volumes(
    access: ServiceAccess,
    meters: Sequence[Meter],
    view: UsageView,
    cached: _Cached,
    deadline: Deadline,
) -> Progress:
    left = [m for m in meters if m.id not in cached.volumes and m.id not in cached.failures]
    jobs = (partial(_volume, access.client, meter, view, cached.now_ms) for meter in left)
    failed: dict[str, WeirError] = {}
    for id, result in access.run_all(jobs, deadline):
        if isinstance(result, WeirError):
            failed[id] = result
        else:
            cached.volumes[id] = result
    for error in failed.values():
        if not cached.volumes:
            raise error  # if all fail, the service fails
    cached.failures |= {id: failure(error) for id, error in failed.items()}
    done = sum(1 for m in meters if m.id in cached.volumes or m.id in cached.failures)
    return Progress("devices", done, len(meters))


def _volume(
    client: Client, meter: Meter, view: UsageView, now_ms: int
) -> tuple[str, dict[int, _Volume] | WeirError]:
    windows = list(days_of(meter, view, now_ms))
    if not windows:
        return meter.id, {}
    try:
        rows = client.datapoints(
            meter.id,
            DAY,
            from_ms=windows[0][1].from_ms,
            to_ms=min(windows[-1][1].to_ms, now_ms),
            timezone=zone_of(meter, view).key,
            metrics=(FLOW_AMOUNT, FLOW_RATE),
        )
    except ONE_DEVICE_ERRORS as error:
        return meter.id, error
    by_start = {
        start: _Volume(gallons, most)
        for start, gallons, most in zip(
            rows.times_ms, rows.values(_TOTAL), rows.values(_MOST), strict=True
        )
    }
    return meter.id, {o: by_start[w.from_ms] for o, w in windows if w.from_ms in by_start}


# --- Uptime --------------------------------------------------------------------------------------


def _uptimes(
    access: ServiceAccess,
    meters: Sequence[Meter],
    view: UsageView,
    cached: _Cached,
    deadline: Deadline,
) -> Progress:
    """Returns the number of devices with a reply; 0 while even their number is unknown."""
    good = [meter for meter in meters if meter.id in cached.volumes]
    if not good:
        return Progress("uptimes", 0, 0)
    by_id = cadences(access, good, deadline, cached.now_ms)
    if len(by_id) < len(good):
        return Progress("devices’ cadence", len(by_id), len(good))
    since = min(day.from_ms for meter in good for _, day in days_of(meter, view, cached.now_ms))
    good = without_disproved_dates(access, good, since, deadline, cached.now_ms)
    questions = _questions(good, view, cached, by_id)
    jobs = (partial(_uptime, access.client, q) for q in questions if q not in cached.done)
    for question, replies in access.run_all(jobs, deadline):
        _record(cached, question, replies)
    return Progress("uptimes", sum(q in cached.done for q in questions), len(questions))


def _questions(
    meters: Sequence[Meter], view: UsageView, cached: _Cached, cadence_by_id: Mapping[str, Cadence]
) -> list[_Question]:
    groups: defaultdict[_Group, list[str]] = defaultdict(list)
    for meter in meters:
        resolution = uptime.resolution_for(cadence_by_id[meter.id])
        since = meter.installed_on_ms
        for ordinal, window in days_of(meter, view, cached.now_ms):
            due = due_buckets(window, resolution, since, cached.now_ms)
            if due is not None:
                groups[_Group(ordinal, due, resolution)].append(meter.id)
    return [(group, tuple(ids)) for group, all in groups.items() for ids in batches(all)]


def _uptime(client: Client, question: _Question) -> tuple[_Question, LatestReplies]:
    group, ids = question
    return question, latest(client, ids, ("uptime",), group.window, group.resolution)


def _record(cached: _Cached, question: _Question, replies: LatestReplies) -> None:
    group, ids = question
    for id in ids:
        entry = replies.get(id)
        if isinstance(entry, LatestEntry):
            expected = entry.uptime_expected or 0
            cached.uptimes[id, group.ordinal] = (min(entry.uptime_actual or 0, expected), expected)
    cached.done.add(question)


# --- Together ------------------------------------------------------------------------------------


def _usage(meter: Meter, view: UsageView, price: float | None, cached: _Cached) -> DeviceUsage:
    volumes = cached.volumes.get(meter.id, {})
    days = tuple(
        Day(
            ordinal,
            window.from_ms,
            window.to_ms + 1,
            max(0, min(window.to_ms + 1, cached.now_ms) - window.from_ms),
            *volumes.get(ordinal, (None, None)),
            *cached.uptimes.get((meter.id, ordinal), (0, 0)),
        )
        for ordinal, window in days_of(meter, view, cached.now_ms)
    )
    return DeviceUsage(
        meter,
        zone_of(meter, view),
        days,
        price_of(meter.price, meter.currency, price),
        cached.failures.get(meter.id, ""),
    )
