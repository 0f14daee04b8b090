"""Asking the interface for what a device's strip of numbers says."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_RATE, RAW
from api.client import Client
from api.metering import continuous_flow as continuous
from api.metering import cost, night_flow, uptime
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.cost import Price
from api.metering.windows import DEFAULT_SPAN, before, due_buckets, whole_minutes
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, floor_to, local_ordinal
from components import session
from components.clock import known_zone
from components.device import daily_volume, hourly_profile, kpis, volume
from components.device.chart_state import Shown
from components.device.kpis import Kpi, Usage
from components.fleet.cadence import cadences, measured
from components.fleet.device_status import Known
from components.fleet.meters import Meter, read_meter
from components.fleet.queries import Deadline, Desk
from components.fleet.status_cache import knowledge, refresh_page
from components.queries import find_device, last_seen_ms

STATE_SPAN: Final = DEFAULT_SPAN  # the wall's usual window: both pages say the same state
CADENCE_S: Final = 0.4
DEVICE_TTL_S: Final = 60
NIGHT_TTL_S: Final = 300
HOURS_TTL_S: Final = 60
DAYS_TTL_S: Final = 30
WEEK_TTL_S: Final = 900
LONG_SILENT_MS: Final = daily_volume.DAYS * DAY_MS


def meter_of(identifier: str, now_ms: int) -> Meter:
    """Raises NotFound."""
    told = session.remembered(
        f"meter:{identifier}",
        lambda client: asdict(read_meter(find_device(client, identifier, now_ms).device)),
        ttl_s=DEVICE_TTL_S,
    )
    return Meter(**{**told, "groups": tuple(told["groups"])})


def standing(desk: Desk, meter: Meter, now_ms: int) -> Known:
    """What is known of the device in the last 24 hours, and its last reading however old that is.
    Raises a WeirError."""
    refresh_page(desk, STATE_SPAN, [meter], now_ms)
    known = knowledge(desk, STATE_SPAN)[meter.id]
    if known.seen_ms is None or known.flow is not None:
        return known
    at = known.seen_ms
    entries = desk.client.latest([meter.id], ["lastDatapoint"], from_ms=at, to_ms=at).entries
    last = entries[0].last_datapoint if entries else {}
    return known._replace(flow=last.get(FLOW_RATE))


def until(device_id: str, now_ms: int) -> int:
    """Where the last weeks end: now, or with the last reading of a device that is long silent."""
    seen = session.remembered(
        f"seen:{device_id}",
        lambda client: last_seen_ms(client, device_id, now_ms),
        ttl_s=DAYS_TTL_S,
    )
    return now_ms if seen is None or now_ms - seen < LONG_SILENT_MS else int(seen)


def cadence_of(desk: Desk, meter: Meter, now_ms: int) -> Cadence:
    """As the wall has it; of a device that is long silent, from the week before it fell silent."""
    end = until(meter.id, now_ms)
    if meter.cadence_ms is not None or end == now_ms:
        known = cadences(desk, [meter], Deadline(CADENCE_S), now_ms)
        return known.get(meter.id, UNKNOWN)

    def ask(client: Client) -> Cadence:
        return measured(client, meter.id, end) or UNKNOWN

    return Cadence(*session.remembered(f"cadence:{meter.id}:{end}", ask, ttl_s=WEEK_TTL_S))


def heard(desk: Desk, meter: Meter, shown: Shown, now_ms: int) -> tuple[Kpi, Kpi]:
    """Uptime and quality."""
    resolution = uptime.resolution_for(cadence_of(desk, meter, now_ms))
    begun = meter.installed_on_ms
    since_first = begun is None
    if begun is None:
        begun = first_reading_ms(meter.id, now_ms)
    due = due_buckets(shown.window, resolution, begun, now_ms)
    since_first = since_first and begun is not None and begun > shown.window.from_ms
    client, asked = desk.client, due or shown.window
    entries = client.latest(
        [meter.id],
        ["uptime"],
        from_ms=asked.from_ms,
        to_ms=asked.to_ms,
        uptime_resolution=resolution,
    ).entries
    if not entries or due is None:
        return kpis.uptime(0, 0, resolution, shown), kpis.quality(None, None, None, 0, shown)
    entry = entries[0]
    up = kpis.uptime(entry.uptime_actual or 0, entry.uptime_expected or 0, resolution, shown)
    if since_first:
        up = replace(up, note=f"{up.note} · since the first reading")
    least, most = volume.quality_range(client, meter.id, due)
    mean = volume.mean_quality(client, meter.id, due) if least is not None else None
    return up, kpis.quality(least, most, mean, meter.quality_limit, shown)


def first_reading_ms(device_id: str, now_ms: int) -> int | None:
    """Since when a device without an installation date has been there; None if it never reported.
    What was before isn't counted as missing."""
    return session.remembered(
        f"first:{device_id}",
        lambda client: next(
            iter(client.datapoints(device_id, RAW, from_ms=0, to_ms=now_ms, limit=1).times_ms), None
        ),
        ttl_s=WEEK_TTL_S,
    )


def gallons(meter: Meter, shown: Shown, now_ms: int) -> float | None:
    """The window's volume, asked for once by all of a page that want it."""
    window = whole_minutes(shown.window, now_ms)
    if window.length_ms < MINUTE_MS:
        return None
    end = floor_to(window.to_ms, MINUTE_MS)
    return session.remembered(
        f"gallons:{meter.id}:{window.from_ms}:{end}",
        lambda client: volume.gallons(client, meter.id, window),
    )


def usage(desk: Desk, meter: Meter, shown: Shown, now_ms: int) -> Usage:
    """The window's volume, and for comparison that of the one before where both were heard."""
    client = desk.client
    window = whole_minutes(shown.window, now_ms)
    told = gallons(meter, shown, now_ms)
    resolution = uptime.resolution_for(cadence_of(desk, meter, now_ms))
    earlier = before(window)
    if told is None or window.length_ms < 2 * resolution.fixed_ms:
        return Usage(told)
    heard = [volume.coverage(client, meter.id, resolution, w) for w in (window, earlier)]
    if not uptime.comparable(*heard):
        return Usage(told, None, *heard)
    return Usage(told, volume.gallons(client, meter.id, earlier), *heard)


def price_of(meter: Meter) -> Price | None:
    """The device's own, else the organization's; None where neither says one."""
    default = None
    if meter.price is None:
        default = session.remembered("price", _default_price, ttl_s=DEVICE_TTL_S)
    return cost.price_of(meter.price, meter.currency, default)


def _default_price(client: Client) -> Any:
    prices = (each.default_cost_per_gallon for each in client.organizations())
    return next((price for price in prices if price is not None), None)


def nights(desk: Desk, meter: Meter, tz: ZoneInfo, now_ms: int) -> night_flow.NightFlow:
    end = until(meter.id, now_ms)
    cadence, found = cadence_of(desk, meter, now_ms).ms, night_flow.nights(tz, end)

    def ask(client: Client) -> list[float | None]:
        flow = volume.nights(client, meter.id, tz, cadence, end)
        return [flow.last, flow.usual]

    question = f"night:{meter.id}:{tz.key}:{found[0].to_ms}"
    last, usual = session.remembered(question, ask, ttl_s=NIGHT_TTL_S)
    return night_flow.NightFlow(found[0], last, usual, night_flow.too_seldom(found, cadence))


def continuous_flow(meter: Meter, now_ms: int) -> continuous.Finding:
    end = until(meter.id, now_ms)
    told = session.remembered(
        f"hours:{meter.id}:{end // HOUR_MS}",
        lambda client: volume.hours(client, meter.id, end),
        ttl_s=HOURS_TTL_S,
    )
    return continuous.find(told, meter.least_gal)


def daily(device_id: str, tz: ZoneInfo, now_ms: int) -> dict[int, float]:
    """Gallons of the last weeks' days, by their first instant."""
    today = local_ordinal(tz, now_ms)
    told = session.remembered(
        f"days:{device_id}:{tz.key}:{today}",
        lambda client: daily_volume.ask(client, device_id, tz, now_ms),
        ttl_s=DAYS_TTL_S,
    )
    return {start: gallons for start, gallons in told}


def weekly(device_id: str, tz: ZoneInfo, now_ms: int) -> hourly_profile.Week:
    return session.remembered(
        f"heat:{device_id}:{tz.key}:{now_ms // DAY_MS}",
        lambda client: hourly_profile.ask(client, device_id, tz, now_ms),
        ttl_s=WEEK_TTL_S,
    )


def zone_of(meter: Meter, shown: Shown) -> ZoneInfo:
    return known_zone(shown.zone, meter.time_zone)
