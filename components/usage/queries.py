"""Asking the interface for a summary: one question a device for its days, then one for the uptime
of up to fifty devices in one day. What was asked is kept, so that a page may ask in instalments."""

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
from api.timez import local_ordinal
from components import formatting
from components.clock import known_zone
from components.controls import failure
from components.fleet.device_queries import (
    Directory,
    Meter,
    cadences,
    directory,
    without_disproved_dates,
)
from components.fleet.queries import (
    ONE_DEVICE_ERRORS,
    Answered,
    Deadline,
    ServiceAccess,
    batches,
    latest,
)
from components.usage.sums import Day, DeviceUsage
from components.usage.url_state import MOST_DEVICES, UsageView

# --- Which devices -------------------------------------------------------------------------------

MOST_OFFERED: Final = 50
MOST_FINDINGS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Selection:
    """``found`` counts what matches; ``meters`` are these, or none where they are too many.
    ``price`` is the organization's default per gallon."""

    meters: tuple[Meter, ...]
    found: int
    price: float | None
    groups: tuple[str, ...]

    @property
    def too_many(self) -> bool:
        return self.found > MOST_DEVICES

    @property
    def words(self) -> str:
        """Why there is no summary; empty where there is one."""
        if self.too_many:
            return (
                f"{formatting.whole(self.found)} devices match, and a summary covers at most"
                f" {MOST_DEVICES}. Narrow the search, choose a group or select devices."
            )
        return "" if self.found else "No device matches."


def pick(access: ServiceAccess, view: UsageView, now_ms: int) -> Selection:
    """Raises a WeirError where the service can't list the devices."""
    active = directory(access, now_ms)
    found = _chosen(access, view, active, now_ms) if view.devices else matching(active, view)
    meters = tuple(found) if len(found) <= MOST_DEVICES else ()
    return Selection(meters, len(found), active.price, active.groups)


def _chosen(access: ServiceAccess, view: UsageView, active: Directory, now_ms: int) -> list[Meter]:
    """Inactive ones as well: what they used, they used."""
    known = dict(active.by_id)
    if any(id not in known for id in view.devices):
        known = {**directory(access, now_ms, "false").by_id, **known}
    return [known[id] for id in view.devices if id in known]


def matching(active: Directory, view: UsageView) -> list[Meter]:
    sought = view.search.casefold()
    return [
        meter
        for meter in active.meters
        if sought in meter.sought and (not view.group or view.group in meter.groups)
    ]


def offered(access: ServiceAccess, sought: str, now_ms: int) -> list[Meter]:
    """The first devices that a search finds, to choose from."""
    found = matching(directory(access, now_ms), UsageView(search=" ".join(sought.split())))
    return sorted(found, key=lambda meter: meter.label.casefold())[:MOST_OFFERED]


# --- Results in parts ----------------------------------------------------------------------------

PAGE_PATIENCE_S: Final = 1.5  # then what is there is shown, and the browser asks for the rest
FILE_PATIENCE_S: Final = 120.0  # then it is given up
FRESH_MS: Final = 60_000
MOST_KEPT: Final = 8  # a year of 200 devices is some 20 MB


class Progress(NamedTuple):
    """How far it is: ``done`` of ``of``; equal when all is there."""

    word: str
    done: int
    of: int

    @property
    def complete(self) -> bool:
        return self.done >= self.of

    @property
    def words(self) -> str:
        """What is being asked for; empty when all is there."""
        if self.complete:
            return ""
        return (
            f"Loading: {formatting.whole(self.done)} of {formatting.whole(self.of)} {self.word} …"
        )

    def must_be_complete(self) -> None:
        """Of a file, which is whole or not at all. Raises Unavailable."""
        if not self.complete:
            raise Unavailable(
                "The query takes too long for this many days: choose a shorter range."
            )


class _Dated(Protocol):
    now_ms: int


T = TypeVar("T", bound=_Dated)


class PartialResults(Generic[T]):
    """The last few views of one kind, whoever's they are; each as of one moment, and begun anew
    once that is a minute ago."""

    def __init__(self, name: str, begin: Callable[[int], T]) -> None:
        """``begin`` makes what is known at first, as of a moment in ms."""
        self._name, self._begin = name, begin
        self._lock = Lock()

    def known(self, access: ServiceAccess, view: Hashable, now_ms: int) -> T:
        """The one to add to; the same for every query of that view with this credential."""
        key = (access.principal, view)
        with self._lock:
            shelf: OrderedDict[Hashable, T] = access.cache.get(self._name) or OrderedDict()
            known = shelf.pop(key, None)
            if known is None or now_ms - known.now_ms > FRESH_MS:
                known = self._begin(now_ms)
            shelf[key] = known
            while len(shelf) > MOST_KEPT:
                shelf.popitem(last=False)
            access.cache.put(self._name, shelf)
        return known


# --- The summary ---------------------------------------------------------------------------------

_TOTAL: Final = f"total_{FLOW_AMOUNT.name}"
_MOST: Final = f"max_{FLOW_RATE.name}"


class _Volume(NamedTuple):
    gallons: float | None
    most_flow: float | None


class _Group(NamedTuple):
    """What devices share that one question can ask for together."""

    ordinal: int
    window: Window
    resolution: Resolution


_Question = tuple[_Group, tuple[str, ...]]


@dataclass(slots=True)
class _Kept:
    """What is known so far of one view, all of it as of ``now_ms``."""

    now_ms: int
    volumes: dict[str, dict[int, _Volume]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    heard: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    asked: set[_Question] = field(default_factory=set)


_SHELF: Final = PartialResults("usage", _Kept)


@dataclass(frozen=True, slots=True)
class Summary:
    """The devices as far as they are known: all of them once ``progress`` is complete."""

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
    """As much as the deadline allows, on top of what is known of that view already. Raises a
    WeirError where the service as a whole can't answer."""
    ids = tuple(sorted(meter.id for meter in meters))
    kept = _SHELF.known(access, (view.range, view.zone, ids), now_ms)
    progress = _volumes(access, meters, view, kept, deadline)
    if progress.complete:
        progress = _uptimes(access, meters, view, kept, deadline)
    usages = tuple(
        _usage(meter, view, price, kept)
        for meter in meters
        if meter.id in kept.volumes or meter.id in kept.failures
    )
    return Summary(usages, progress, kept.now_ms)


def zone_of(meter: Meter, view: UsageView) -> ZoneInfo:
    return known_zone(view.zone, meter.time_zone)


def days_of(meter: Meter, view: UsageView, now_ms: int) -> Iterator[tuple[int, Window]]:
    """The view's days in the device's zone or the chosen one, but those that the zone skipped."""
    tz = zone_of(meter, view)
    return local_days(tz, *view.dates(local_ordinal(tz, now_ms)))


# --- Volumes -------------------------------------------------------------------------------------


def _volumes(
    access: ServiceAccess, meters: Sequence[Meter], view: UsageView, kept: _Kept, deadline: Deadline
) -> Progress:
    left = [m for m in meters if m.id not in kept.volumes and m.id not in kept.failures]
    jobs = (partial(_volume, access.client, meter, view, kept.now_ms) for meter in left)
    failed: dict[str, WeirError] = {}
    for id, told in access.run_all(jobs, deadline):
        if isinstance(told, WeirError):
            failed[id] = told
        else:
            kept.volumes[id] = told
    for error in failed.values():
        if not kept.volumes:
            raise error  # of nothing but failures: it is the service that fails
    kept.failures |= {id: failure(error) for id, error in failed.items()}
    done = sum(1 for m in meters if m.id in kept.volumes or m.id in kept.failures)
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
    access: ServiceAccess, meters: Sequence[Meter], view: UsageView, kept: _Kept, deadline: Deadline
) -> Progress:
    """Of what answered; where it can't be told at all yet, of no question is any done."""
    good = [meter for meter in meters if meter.id in kept.volumes]
    if not good:
        return Progress("uptimes", 0, 0)
    known = cadences(access, good, deadline, kept.now_ms)
    if len(known) < len(good):
        return Progress("devices’ cadence", len(known), len(good))
    since = min(day.from_ms for meter in good for _, day in days_of(meter, view, kept.now_ms))
    good = without_disproved_dates(access, good, since, deadline, kept.now_ms)
    questions = _questions(good, view, kept, known)
    jobs = (partial(_uptime, access.client, q) for q in questions if q not in kept.asked)
    for question, answered in access.run_all(jobs, deadline):
        _learn(kept, question, answered)
    return Progress("uptimes", sum(q in kept.asked for q in questions), len(questions))


def _questions(
    meters: Sequence[Meter], view: UsageView, kept: _Kept, known: Mapping[str, Cadence]
) -> list[_Question]:
    groups: defaultdict[_Group, list[str]] = defaultdict(list)
    for meter in meters:
        resolution = uptime.resolution_for(known[meter.id])
        since = meter.installed_on_ms
        for ordinal, window in days_of(meter, view, kept.now_ms):
            asked = due_buckets(window, resolution, since, kept.now_ms)
            if asked is not None:
                groups[_Group(ordinal, asked, resolution)].append(meter.id)
    return [(group, tuple(ids)) for group, all in groups.items() for ids in batches(all)]


def _uptime(client: Client, question: _Question) -> tuple[_Question, Answered]:
    group, ids = question
    return question, latest(client, ids, ("uptime",), group.window, group.resolution)


def _learn(kept: _Kept, question: _Question, answered: Answered) -> None:
    group, ids = question
    for id in ids:
        told = answered.get(id)
        if isinstance(told, LatestEntry):
            expected = told.uptime_expected or 0
            kept.heard[id, group.ordinal] = (min(told.uptime_actual or 0, expected), expected)
    kept.asked.add(question)


# --- Together ------------------------------------------------------------------------------------


def _usage(meter: Meter, view: UsageView, price: float | None, kept: _Kept) -> DeviceUsage:
    told = kept.volumes.get(meter.id, {})
    days = tuple(
        Day(
            ordinal,
            window.from_ms,
            window.to_ms + 1,
            max(0, min(window.to_ms + 1, kept.now_ms) - window.from_ms),
            *told.get(ordinal, (None, None)),
            *kept.heard.get((meter.id, ordinal), (0, 0)),
        )
        for ordinal, window in days_of(meter, view, kept.now_ms)
    )
    return DeviceUsage(
        meter,
        zone_of(meter, view),
        days,
        price_of(meter.price, meter.currency, price),
        kept.failures.get(meter.id, ""),
    )
