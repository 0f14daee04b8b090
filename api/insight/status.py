"""Computes the status of devices from their rollups.

A status is a pure function of a device, its readings and an instant. Values that change only by the
hour (the whole hours of each window, the cadence, the sums of the day and the month up to the hour)
are cached until the hour ends or a reading of an earlier hour arrives. The rest is a few short
ranges, read for many devices at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import uuid4
from zoneinfo import ZoneInfo

from api.catalog import (
    FLOW_RATE,
    FUTURE_TOLERANCE_MS,
    METRICS,
    NETWORK_RSSI,
    ONE_MINUTE,
    SIGNAL_STRENGTH,
    Resolution,
)
from api.insight.device_cadence import Cadences, cache
from api.insight.maintenance import maintenance_spans
from api.insight.tariffs import with_tariffs
from api.insight.usual_volume import UsualVolumes
from api.metering import status, uptime
from api.metering.cost import device_price, finite
from api.metering.install_date import disproving
from api.metering.maintenance import excused
from api.metering.status import DEFAULT_QUALITY_LIMIT, Activity, State
from api.metering.windows import DEFAULT_SPAN, SPANS, latest_buckets
from api.store.base import (
    Annotation,
    Device,
    Edge,
    LatestQuery,
    Span,
    Status,
    Store,
    WindowStatus,
)
from api.timez import (
    HOUR_MS,
    MINUTE_MS,
    bucket_starts,
    ceil_to,
    day_start,
    floor_to,
    local_ordinal,
    month_edges,
    zone_or_utc,
)

CHUNK: Final = 200  # devices read together
REFRESH_MS: Final = MINUTE_MS  # the largest age of a status while the writer keeps up
_JUDGED: Final = SPANS.index(DEFAULT_SPAN)
_FLOW, _SIGNAL, _RSSI = (
    1 + METRICS.index(metric) for metric in (FLOW_RATE, SIGNAL_STRENGTH, NETWORK_RSSI)
)
_NONE: Final = Edge(0, None, None, None)


class _Clock(NamedTuple):
    """The instants shared by a zone's devices: the current hour, local day and month."""

    tz: ZoneInfo
    hour_ms: int
    day_ms: int
    month_ms: int
    next_day_ms: int


class _Group(NamedTuple):
    """Devices whose readings can be read together."""

    resolution: Resolution
    clock: _Clock


@dataclass(frozen=True, slots=True)
class _Hours:
    """The whole hours of each window, and gallons of the local day and month up to the hour. Valid
    until the hour ends or an earlier hour gets a reading."""

    group: _Group
    windows: tuple[Edge, ...]
    day: float | None
    month: float | None


def clock_of(time_zone: str, now_ms: int) -> _Clock:
    tz = zone_or_utc(time_zone)
    today = local_ordinal(tz, now_ms)
    day_ms = day_start(tz, today)
    month_ms = max(edge for edge in month_edges(tz, now_ms, now_ms) if edge <= now_ms)
    return _Clock(tz, floor_to(now_ms, HOUR_MS), day_ms, month_ms, day_start(tz, today + 1))


class Statuses:
    """Computes statuses. One per process; not thread-safe."""

    def __init__(self, store: Store) -> None:
        self.maker = uuid4().hex
        self._store = store
        self._hours: dict[int, _Hours] = {}
        self._cadences = Cadences(store)
        self._usual = UsualVolumes(store)

    def forget(self, key: int, from_ms: int, now_ms: int) -> None:
        """Drops cached hours that new readings from ``from_ms`` on may change."""
        if from_ms < floor_to(now_ms, HOUR_MS):
            self._forget(key)
        self._usual.forget(key, from_ms, now_ms)

    def _forget(self, key: int) -> None:
        self._hours.pop(key, None)
        self._cadences.forget(key)

    def rows(self, devices: Sequence[Device], now_ms: int) -> list[Status]:
        for some in _chunks(devices):
            for key in self._store.made_by_others([each.key for each in some], self.maker):
                self._forget(key)  # it may include readings of earlier hours
        clocks: dict[str, _Clock] = {}
        groups: defaultdict[_Group, list[Device]] = defaultdict(list)
        for device in devices:
            name = device.time_zone
            if name not in clocks:
                clocks[name] = clock_of(name, now_ms)
            resolution = uptime.resolution_for(self._cadences.of(device, now_ms))
            groups[_Group(resolution, clocks[name])].append(device)
        made: list[Status] = []
        for group, members in groups.items():
            for some in _chunks(members):
                made += self._chunk(group, some, now_ms)
        return with_tariffs(self._store, devices, made, now_ms)

    # --- Values that change by the hour ---

    def _fill_hours(self, group: _Group, devices: Sequence[Device]) -> dict[int, _Hours]:
        cached = {d.key: self._hours.get(d.key) for d in devices}
        missing = [key for key, hours in cached.items() if hours is None or hours.group != group]
        clock, resolution = group.clock, group.resolution
        day, month = (ceil_to(at, HOUR_MS) for at in (clock.day_ms, clock.month_ms))
        lows = [*(_first_hour(span.length_ms, group) for span in SPANS), day, month]
        counted = self._store.whole_hours(missing, resolution, lows, clock.hour_ms)
        odd = self._odd_starts(missing, clock)
        for key in missing:
            edges = counted.get(key, [_NONE] * len(lows))
            *windows, today, this_month = edges
            before_day, before_month = (part.get(key) for part in odd)
            hours = _Hours(
                group,
                tuple(windows),
                _plus(today.gallons, before_day),
                _plus(this_month.gallons, before_month),
            )
            cache(self._hours, key, hours)
            cached[key] = hours
        return {key: hours for key, hours in cached.items() if hours is not None}

    def _odd_starts(
        self, keys: Sequence[int], clock: _Clock
    ) -> tuple[dict[int, float | None], dict[int, float | None]]:
        """Returns the gallons from the start of the day, or month, to the next whole hour, if zones
        are off the whole hour."""
        day, month = (
            {
                key: edge.gallons
                for key, edge in self._store.edges(
                    keys, ONE_MINUTE, at, min(ceil_to(at, HOUR_MS), clock.hour_ms), 0
                ).items()
            }
            for at in (clock.day_ms, clock.month_ms)
        )
        return day, month

    # --- Values that change by the reading ---

    def _chunk(self, group: _Group, devices: Sequence[Device], now_ms: int) -> list[Status]:
        keys = [device.key for device in devices]
        resolution, clock = group.resolution, group.clock
        hours = self._fill_hours(group, devices)
        edge_ms = floor_to(now_ms, resolution.fixed_ms)
        head = self._store.edges(keys, resolution, clock.hour_ms, now_ms + 1, edge_ms)
        tails = [
            self._store.edges(
                keys,
                resolution,
                edge_ms - span.length_ms,
                _first_hour(span.length_ms, group),
                edge_ms,
            )
            for span in SPANS
        ]
        flowed, flowed_month = self._flowed(keys, group, head, now_ms)
        span = Span(None, now_ms + FUTURE_TOLERANCE_MS)
        planned = self._store.maintenance_of(keys)
        last = self._store.latest(devices, LatestQuery(span, None, None, last=True))
        usual = self._usual.by_now(keys, clock.tz, now_ms)
        made: list[Status] = []
        for device in devices:
            key, whole_hours = device.key, hours[device.key]
            parts = [
                (tail.get(key, _NONE), whole, head.get(key, _NONE))
                for tail, whole in zip(tails, whole_hours.windows, strict=True)
            ]
            volumes = (
                _plus(whole_hours.day, flowed.get(key, _NONE).gallons),
                _plus(whole_hours.month, flowed_month.get(key, _NONE).gallons),
                usual.get(key),
            )
            spans = _maintained(planned.get(key, ()), now_ms)
            made.append(self._row(device, group, parts, volumes, last[key].last, spans, now_ms))
        return made

    def _flowed(
        self, keys: Sequence[int], group: _Group, head: Mapping[int, Edge], now_ms: int
    ) -> tuple[Mapping[int, Edge], Mapping[int, Edge]]:
        """Returns the minutes since the hour began, of the local day and of the local month.
        ``head``: those of the group's resolution."""
        clock = group.clock
        since_ms = max(clock.hour_ms, clock.day_ms)  # a local day may begin within the hour
        within_day = since_ms == clock.hour_ms
        of_day = (
            head
            if group.resolution is ONE_MINUTE and within_day
            else self._store.edges(keys, ONE_MINUTE, since_ms, now_ms + 1, 0)
        )
        if clock.month_ms <= clock.hour_ms and within_day:
            return of_day, of_day
        month_ms = max(clock.hour_ms, clock.month_ms)
        return of_day, self._store.edges(keys, ONE_MINUTE, month_ms, now_ms + 1, 0)

    def _row(
        self,
        device: Device,
        group: _Group,
        parts: Sequence[tuple[Edge, ...]],
        volumes: tuple[float | None, float | None, float | None],
        last: Sequence[float | None] | None,
        maintained: Sequence[tuple[int, int]],
        now_ms: int,
    ) -> Status:
        cadence = self._cadences.of(device, now_ms)
        seen_ms = None if last is None or last[0] is None else int(last[0])
        windows = self._windows(device, group.resolution, parts, maintained, now_ms)
        judged = windows[_JUDGED]
        activity = Activity(cadence, seen_ms, judged.actual, judged.expected, judged.quality_min)
        state = status.state_of(activity, _quality_limit(device), now_ms, active=device.active)
        price, currency = device_price(device.cost_per_gallon)
        fresh = status.is_fresh(seen_ms, cadence, now_ms) and last is not None
        return Status(
            key=device.key,
            as_of_ms=now_ms,
            updated_ms=device.updated_ms,
            due_ms=_due_ms(state, activity, group, now_ms),
            state=state,
            seen_ms=seen_ms,
            cadence_ms=cadence.ms,
            event_driven=cadence.event_driven,
            bucket_ms=group.resolution.fixed_ms,
            flow=last[_FLOW] if fresh and last is not None else None,
            signal_strength=last[_SIGNAL] if fresh and last is not None else None,
            network_rssi=last[_RSSI] if fresh and last is not None else None,
            windows=windows,
            volume_today=volumes[0],
            volume_month=volumes[1],
            volume_usual=volumes[2],
            price=price,
            currency=currency,
            searched=_searched(device),
        )

    def _windows(
        self,
        device: Device,
        resolution: Resolution,
        parts: Sequence[tuple[Edge, ...]],
        maintained: Sequence[tuple[int, int]],
        now_ms: int,
    ) -> tuple[WindowStatus, ...]:
        install_ms = self._install_date(device, now_ms)
        return tuple(
            self._window(device, resolution, index, part, install_ms, maintained, now_ms)
            for index, part in enumerate(parts)
        )

    def _install_date(self, device: Device, now_ms: int) -> int | None:
        """Returns the install date; None if it is before all windows, or disproved by readings."""
        at = device.installed_on_ms
        if at <= now_ms - SPANS[-1].length_ms - HOUR_MS:
            return None
        window = disproving(at)
        first = self._store.first_hour(device.key) if window is not None else None
        return at if window is None or first is None or first > window.to_ms else None

    def _window(
        self,
        device: Device,
        resolution: Resolution,
        index: int,
        parts: tuple[Edge, ...],
        install_ms: int | None,
        maintained: Sequence[tuple[int, int]],
        now_ms: int,
    ) -> WindowStatus:
        due = latest_buckets(SPANS[index], resolution, install_ms, now_ms)
        lows = [part.quality_min for part in parts if part.quality_min is not None]
        highs = [part.quality_max for part in parts if part.quality_max is not None]
        quality = (min(lows, default=None), max(highs, default=None))
        if due is None:
            return WindowStatus(0, 0, *quality)
        expected = bucket_starts(due.from_ms, due.to_ms, resolution.fixed_ms)
        actual = sum(part.buckets for part in parts)
        if install_ms is not None and due.length_ms < SPANS[index].length_ms:
            actual = self._store.count(device, resolution, Span(due.from_ms, due.to_ms))
        length_ms = resolution.fixed_ms
        for start, end in excused(maintained, due.from_ms, due.to_ms, length_ms):
            expected -= bucket_starts(start, end - 1, length_ms)
            actual -= self._store.count(device, resolution, Span(start, end - 1))
        return WindowStatus(min(actual, expected), expected, *quality)


def _maintained(planned: Sequence[Annotation], now_ms: int) -> list[tuple[int, int]]:
    """Returns the part that the windows may overlap."""
    if not planned:
        return []
    return maintenance_spans(planned, now_ms - SPANS[-1].length_ms - HOUR_MS, now_ms)


def _first_hour(length_ms: int, group: _Group) -> int:
    """Returns the first whole hour of a window of that length, for the current hour."""
    whole = group.resolution.fixed_ms >= HOUR_MS
    return group.clock.hour_ms - length_ms + (0 if whole else HOUR_MS)


def _quality_limit(device: Device) -> float:
    limit = finite((device.config or {}).get("qualityLimit"))
    return DEFAULT_QUALITY_LIMIT if limit is None else limit


def _searched(device: Device) -> str:
    names = (device.label, device.serial_number, device.network_unique_identifier)
    return "\n".join(names).casefold()


def _due_ms(state: State, activity: Activity, group: _Group, now_ms: int) -> int:
    """Returns when the status may change without another reading."""
    bucket_ms = group.resolution.fixed_ms
    edge_ms = floor_to(now_ms, bucket_ms) + bucket_ms
    due = [now_ms + REFRESH_MS, group.clock.next_day_ms]
    if activity.seen_ms is not None and state in (State.REPORTING, State.DEGRADED):
        due.append(activity.seen_ms + status.silent_after_ms(activity.cadence.expected_ms) + 1)
        if state is State.DEGRADED or bucket_ms > REFRESH_MS:
            due.append(edge_ms)
        else:  # each bucket that ends empty lowers the observed count by at most one
            spare = int(activity.observed - uptime.UPTIME_LIMIT * activity.expected)
            due.append(edge_ms + max(0, spare) * bucket_ms)
    return max(min(due), now_ms + 1)


def _plus(*parts: float | None) -> float | None:
    present = [part for part in parts if part is not None]
    return sum(present) if present else None


def _chunks(devices: Sequence[Device]) -> Iterator[Sequence[Device]]:
    for start in range(0, len(devices), CHUNK):
        yield devices[start : start + CHUNK]
