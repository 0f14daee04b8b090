"""Loads each device's volume of its day. The interface answers that for one device at a time, so a
large fleet is gone through little by little, and the sum says how many devices it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import DAY
from api.client import Client
from api.metering.usage import Day, day_of, hourly_sums, such_days, usual_by, usual_curve
from api.timez import MINUTE_MS
from components.clock import known_zone
from components.fleet.device_status import Known
from components.fleet.meters import Meter
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, Desk, turn

LEAST_FRESH_MS: Final = MINUTE_MS
PER_DEVICE_MS: Final = 90  # ten thousand devices are gone through in a quarter of an hour


class Volume(NamedTuple):
    """Gallons of the device's day so far, None where it has none to tell; and as of now what is
    usual, None where nothing is."""

    day: Day
    gallons: float | None
    usual: float | None


class _Kept(NamedTuple):
    asked_ms: int
    ordinal: int
    gallons: float | None


class _Curve(NamedTuple):
    ordinal: int
    sums: list[float] | None


def volumes(
    desk: Desk,
    zone: str | None,
    meters: Sequence[Meter],
    known: Mapping[str, Known],
    deadline: Deadline,
    now_ms: int,
) -> dict[str, Volume]:
    """By device id, of the devices whose volume of today is known, or known not to be. ``zone``
    None: each device's own day."""
    days = _days(zone, meters, now_ms)
    today = desk.memory.book(desk.principal, f"today:{zone or 'own'}", _Kept._make)
    usual = desk.memory.book(desk.principal, f"usual:{zone or 'own'}", _Curve._make)
    kept, curves = today.pull(), usual.pull()
    due = _due(meters, known, days, kept, now_ms)
    if due and today.sweeping.acquire(blocking=False):
        try:
            jobs = (partial(_ask, desk.client, id, days[id], curves.get(id), now_ms) for id in due)
            told = list(desk.answers(jobs, deadline))
        finally:
            today.sweeping.release()
        today.put({id: volume for id, volume, _ in told}, now_ms)
        usual.put({id: curve for id, _, curve in told if curve is not None}, now_ms)
    told = {
        m.id: _told(known.get(m.id), days[m.id], kept.get(m.id), curves.get(m.id)) for m in meters
    }
    return {id: volume for id, volume in told.items() if volume is not None}


def _told(known: Known | None, day: Day, kept: _Kept | None, curve: _Curve | None) -> Volume | None:
    """None while it isn't known. A device that wasn't heard of today has no volume to ask for."""
    if known is None:
        return None
    if not _heard(known, day):
        return Volume(day, None, None)
    return _volume(day, kept, curve) if kept is not None and kept.ordinal == day.ordinal else None


def _heard(known: Known, day: Day) -> bool:
    return known.seen_ms is not None and known.seen_ms >= day.start_ms


def _days(zone: str | None, meters: Iterable[Meter], now_ms: int) -> dict[str, Day]:
    by_zone: dict[str, Day] = {}
    days: dict[str, Day] = {}
    for meter in meters:
        name = zone or meter.time_zone
        if name not in by_zone:
            tz: ZoneInfo = known_zone(name)
            by_zone[name] = day_of(tz, now_ms)
        days[meter.id] = by_zone[name]
    return days


def _due(
    meters: Sequence[Meter],
    known: Mapping[str, Known],
    days: Mapping[str, Day],
    kept: Mapping[str, _Kept],
    now_ms: int,
) -> list[str]:
    """Devices that were heard of today and not asked about lately, the longest ago first. Those
    that have just grown old take turns."""
    fresh_ms = max(LEAST_FRESH_MS, PER_DEVICE_MS * len(meters))
    due: list[tuple[int, str]] = []
    late: list[tuple[int, str]] = []
    for meter in meters:
        told = known.get(meter.id)
        if told is None or not _heard(told, days[meter.id]):
            continue
        before = kept.get(meter.id) or _Kept(0, 0, None)
        age_ms = now_ms - before.asked_ms
        if before.ordinal != days[meter.id].ordinal or age_ms >= 2 * fresh_ms:
            due.append((before.asked_ms, meter.id))
        elif age_ms >= fresh_ms:
            late.append((before.asked_ms, meter.id))
    return [id for _, id in (*sorted(due), *turn(sorted(late), len(meters)))]


def _ask(
    client: Client, device_id: str, day: Day, curve: _Curve | None, now_ms: int
) -> tuple[str, _Kept, _Curve | None]:
    """Where a device can't be asked it has no volume: its tile says what is wrong with it."""
    try:
        gallons = _gallons(client, device_id, day, now_ms)
        if curve is not None and curve.ordinal == day.ordinal:
            return device_id, _Kept(now_ms, day.ordinal, gallons), None
        sums = _usual(client, device_id, day)
    except ONE_DEVICE_ERRORS:
        return device_id, _Kept(now_ms, day.ordinal, None), None
    return device_id, _Kept(now_ms, day.ordinal, gallons), _Curve(day.ordinal, sums)


def _gallons(client: Client, device_id: str, day: Day, now_ms: int) -> float | None:
    rows = client.datapoints(
        device_id, DAY, from_ms=day.start_ms, to_ms=now_ms, timezone=day.tz.key
    )
    totals = [v for v in rows.values("total_flow_amount") if v is not None]
    return sum(totals) if totals else None


def _usual(client: Client, device_id: str, day: Day) -> list[float] | None:
    return usual_curve(
        hourly_sums(
            client.datapoints(
                device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms
            ).pairs("total_flow_amount"),
            window,
            day.tz,
        )
        for window, resolution in such_days(day)
    )


def _volume(day: Day, kept: _Kept, curve: _Curve | None) -> Volume:
    sums = curve.sums if curve is not None and curve.ordinal == day.ordinal else None
    usual = usual_by(sums, day.wall_ms) if sums is not None else None
    return Volume(day, kept.gallons, usual)
