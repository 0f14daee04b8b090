"""Queries of the device page: KPIs, days, hours, rows. What a correction changes isn't cached."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import chain
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import (
    DAY,
    FLOW_AMOUNT,
    FLOW_RATE,
    LIMIT,
    ONE_MINUTE,
    QUALITY,
    RAW,
    TOTAL,
    Resolution,
)
from api.client import Client, DeviceStatus, Series
from api.errors import NotFound, NotOffered
from api.metering import cost, night_flow, uptime
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.cost import Price
from api.metering.hourly_profile import Week, resolution_of, week, window_of
from api.metering.windows import DEFAULT_SPAN, Window, before, due_buckets, whole_minutes
from api.timez import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    bucket_starts,
    ceil_to,
    day_start,
    floor_to,
    local_ordinal,
)
from components import formatting, session
from components.annotations.queries import Uptime, without_maintenance
from components.device import kpis, volume_cards
from components.device.chart_state import Shown
from components.device.kpis import Kpi, Usage
from components.device.row_table import PAGE, Page
from components.fleet.device_queries import Meter, cadences, measured, read_meter
from components.fleet.device_status import CurrentStatus
from components.fleet.queries import Deadline, ServiceAccess
from components.queries import find_device, last_seen_ms, pages
from components.ranges import widened

STATE_SPAN: Final = DEFAULT_SPAN  # the wall's usual window: both pages say the same state
CADENCE_S: Final = 0.4
DEVICE_TTL_S: Final = 60
SEEN_TTL_S: Final = 30
WEEK_TTL_S: Final = 900
LONG_SILENT_MS: Final = volume_cards.DAYS * DAY_MS

_VOLUME: Final = f"total_{FLOW_AMOUNT.name}"


def meter_of(identifier: str, now_ms: int) -> Meter:
    """Raises NotFound."""
    fields = session.remembered(
        f"meter:{identifier}",
        lambda client: asdict(read_meter(find_device(client, identifier, now_ms).device)),
        ttl_s=DEVICE_TTL_S,
    )
    return Meter(**{**fields, "groups": tuple(fields["groups"])})


def current_status(client: Client, row: DeviceStatus, now_ms: int) -> CurrentStatus:
    """The device's status in the last 24 hours, and its last reading however old that is. Raises a
    WeirError."""
    status = _from_row(row, now_ms)
    if status.seen_ms is None or status.flow is not None:
        return status
    at = status.seen_ms
    entries = client.latest([row.device.id], ["lastDatapoint"], from_ms=at, to_ms=at).entries
    last = entries[0].last_datapoint if entries else {}
    return status._replace(flow=last.get(FLOW_RATE))


def _from_row(row: DeviceStatus, now_ms: int) -> CurrentStatus:
    cadence = Cadence(round((row.cadence_s or 0) * 1000), row.event_driven)
    window = row.windows[STATE_SPAN.name]
    return CurrentStatus(
        as_of_ms=now_ms,
        cadence_ms=cadence.ms,
        seen_ms=row.last_seen_ms,
        actual=window.actual,
        expected=window.expected,
        bucket_ms=uptime.resolution_for(cadence).fixed_ms,
        quality_min=window.quality_min,
        quality_max=window.quality_max,
        flow=row.flow,
        event_driven=cadence.event_driven,
    )


def until(device_id: str, now_ms: int) -> int:
    """The end of the last weeks: now, or the last reading of a device that is long silent."""
    seen = session.remembered(
        f"seen:{device_id}",
        lambda client: last_seen_ms(client, device_id, now_ms),
        ttl_s=SEEN_TTL_S,
    )
    return now_ms if seen is None or now_ms - seen < LONG_SILENT_MS else int(seen)


def cadence_of(access: ServiceAccess, meter: Meter, now_ms: int) -> Cadence:
    """As the wall has it; of a device that is long silent, from the week before it fell silent."""
    end = until(meter.id, now_ms)
    if meter.cadence_ms is not None or end == now_ms:
        cadence_by_id = cadences(access, [meter], Deadline(CADENCE_S), now_ms)
        return cadence_by_id.get(meter.id, UNKNOWN)

    def load(client: Client) -> list[int]:
        return list(measured(client, meter.id, end) or UNKNOWN)  # what JSON can hold

    return Cadence(*session.remembered(f"cadence:{meter.id}:{end}", load, ttl_s=WEEK_TTL_S))


def uptime_and_quality(
    access: ServiceAccess, meter: Meter, shown: Shown, now_ms: int
) -> tuple[Kpi, Kpi]:
    """Uptime and quality."""
    resolution = uptime.resolution_for(cadence_of(access, meter, now_ms))
    begun = meter.installed_on_ms
    since_first = begun is None
    if begun is None:
        begun = first_reading_ms(meter.id, now_ms)
    due = due_buckets(shown.window, resolution, begun, now_ms)
    since_first = since_first and begun is not None and begun > shown.window.from_ms
    client, window = access.client, due or shown.window
    entries = client.latest(
        [meter.id],
        ["uptime"],
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        uptime_resolution=resolution,
    ).entries
    if not entries or due is None:
        return kpis.uptime(0, 0, resolution, shown), kpis.quality(None, None, None, 0, shown)
    entry = entries[0]
    counted = Uptime(entry.uptime_actual or 0, entry.uptime_expected or 0)
    counted = without_maintenance(client, meter.id, due, resolution, counted)
    up = kpis.uptime(counted.actual, counted.expected, resolution, shown)
    if counted.left_out_ms:
        left_out = formatting.duration(counted.left_out_ms)
        up = replace(up, note=f"{up.note} · {left_out} planned")
    if since_first:
        up = replace(up, note=f"{up.note} · since the first reading")
    least, most = quality_range(client, meter.id, due)
    mean = mean_quality(client, meter.id, due) if least is not None else None
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


def gallons(client: Client, device_id: str, shown: Shown, now_ms: int) -> float | None:
    """The volume of the window that is shown."""
    window = whole_minutes(shown.window, now_ms)
    return window_gallons(client, device_id, window) if window.length_ms >= MINUTE_MS else None


def usage(
    access: ServiceAccess, meter: Meter, shown: Shown, volume: float | None, now_ms: int
) -> Usage:
    """The window's ``volume``, and for comparison that of the one before where both have
    readings."""
    client = access.client
    window = whole_minutes(shown.window, now_ms)
    resolution = uptime.resolution_for(cadence_of(access, meter, now_ms))
    earlier = before(window)
    if volume is None or window.length_ms < 2 * resolution.fixed_ms:
        return Usage(volume)
    coverages = [coverage(client, meter.id, resolution, w) for w in (window, earlier)]
    if not uptime.comparable(*coverages):
        return Usage(volume, None, *coverages)
    return Usage(volume, window_gallons(client, meter.id, earlier), *coverages)


def price_of(meter: Meter) -> Price | None:
    """The marginal rate of its tariff, the device's own price, or the organization's; None where
    nothing says one."""
    fields = session.remembered(
        f"price:{meter.id}", lambda client: _price_fields(client, meter.id), ttl_s=DEVICE_TTL_S
    )
    if fields is not None:
        return Price(*fields) if fields else None
    default = None
    if meter.price is None:
        default = session.remembered("price", _default_price, ttl_s=DEVICE_TTL_S)
    return cost.price_of(meter.price, meter.currency, default)


def _price_fields(client: Client, device_id: str) -> list[Any] | None:
    """Empty: it has no price. None: the server is no Weir, which alone knows of tariffs."""
    try:
        price = client.status(device_id).price
    except (NotOffered, NotFound):
        return None
    return [price.per_gallon, price.currency, price.own, price.tariff] if price else []


def _default_price(client: Client) -> Any:
    prices = (each.default_cost_per_gallon for each in client.organizations())
    return next((price for price in prices if price is not None), None)


def nights(access: ServiceAccess, meter: Meter, tz: ZoneInfo, now_ms: int) -> night_flow.NightFlow:
    end = until(meter.id, now_ms)
    cadence, windows = cadence_of(access, meter, now_ms).ms, night_flow.nights(tz, end)
    flow = night_flow_of(access.client, meter.id, tz, cadence, end)
    too_seldom = night_flow.too_seldom(windows, cadence)
    return night_flow.NightFlow(windows[0], flow.last, flow.usual, too_seldom)


def daily(device_id: str, tz: ZoneInfo, now_ms: int) -> dict[int, float]:
    """Gallons of the last weeks' days, by their first instant."""
    return dict(volume_days(session.current_client(), device_id, tz, now_ms))


def weekly(device_id: str, tz: ZoneInfo, now_ms: int) -> Week:
    return weekly_profile(session.current_client(), device_id, tz, now_ms)


# --- The service's replies ------------------------------------------------------------------------


def window_gallons(client: Client, device_id: str, window: Window) -> float | None:
    """The volume of the minutes that start in the window; None without readings."""
    return _sum(_whole_hours_and_edges(client, device_id, window))


def quality_range(
    client: Client, device_id: str, window: Window
) -> tuple[float | None, float | None]:
    """The least and the most quality of the minutes that start in the window; None, None without
    readings."""
    parts = _whole_hours_and_edges(client, device_id, window)
    least, most = (_values(parts, f"{end}_{QUALITY.name}") for end in ("min", "max"))
    return min(least, default=None), max(most, default=None)


def _whole_hours_and_edges(client: Client, device_id: str, window: Window) -> list[Series]:
    """The interface sums whole hours; the rest of the window is asked for by minutes."""
    first, last = ceil_to(window.from_ms, HOUR_MS), floor_to(window.to_ms + 1, HOUR_MS)
    if first >= last:
        return [_minutes(client, device_id, window.from_ms, window.to_ms)]
    parts = [client.datapoints(device_id, TOTAL, from_ms=first, to_ms=last - 1)]
    if window.from_ms < first:
        parts.append(_minutes(client, device_id, window.from_ms, first - 1))
    if last <= window.to_ms:
        parts.append(_minutes(client, device_id, last, window.to_ms))
    return parts


def _minutes(client: Client, device_id: str, from_ms: int, to_ms: int) -> Series:
    return client.datapoints(device_id, ONE_MINUTE, from_ms=from_ms, to_ms=to_ms)


def _values(parts: list[Series], column: str) -> list[float]:
    return [v for part in parts for v in part.columns.get(column, ()) if v is not None]


def _sum(parts: list[Series]) -> float | None:
    values = _values(parts, _VOLUME)
    return sum(values) if values else None


def mean_quality(client: Client, device_id: str, window: Window) -> float | None:
    """The mean of the hours' means, as the interface has it."""
    total = client.datapoints(device_id, TOTAL, from_ms=window.from_ms, to_ms=window.to_ms)
    return next(iter(total.columns.get(f"avg_{QUALITY.name}", ())), None)


def coverage(client: Client, device_id: str, resolution: Resolution, window: Window) -> float:
    """The share of the window's buckets that hold a reading."""
    expected = bucket_starts(window.from_ms, window.to_ms, resolution.fixed_ms)
    count = client.count(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return uptime.share(count, expected) or 0.0


def night_flow_of(
    client: Client, device_id: str, tz: ZoneInfo, cadence_ms: int, now_ms: int
) -> night_flow.NightFlow:
    """Of the last nights that are over."""
    windows = night_flow.nights(tz, now_ms)
    window, resolution = night_flow.rows_of(windows, cadence_ms)
    rows = client.datapoints(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return night_flow.night_flow(dict(rows.pairs(_VOLUME)), windows, rows.resolution, cadence_ms)


def volume_days(
    client: Client, device_id: str, tz: ZoneInfo, now_ms: int
) -> list[tuple[int, float]]:
    """(first instant, gallons) of the last weeks' local days that have readings."""
    first = day_start(tz, local_ordinal(tz, now_ms) - volume_cards.DAYS + 1)
    rows = client.datapoints(device_id, DAY, from_ms=first, to_ms=now_ms, timezone=tz.key)
    return [(start, gallons) for start, gallons in rows.pairs(_VOLUME) if gallons is not None]


def weekly_profile(client: Client, device_id: str, tz: ZoneInfo, now_ms: int) -> Week:
    """The mean flow of each hour of the local week."""
    window = window_of(tz, now_ms)
    resolution = resolution_of(tz, window)
    parts = pages(client, device_id, resolution, window, limit=LIMIT.maximum or 0)
    return week(chain.from_iterable(part.pairs(_VOLUME) for part in parts), tz, window)


def row_page(
    device_id: str,
    resolution: Resolution,
    window: Window,
    tz: ZoneInfo,
    number: int,
) -> Page:
    """Page 1 holds the latest rows; beyond the last page comes the last."""
    client = session.current_client()
    reach = window if resolution is RAW else widened(window, tz, resolution)
    total = client.count(device_id, resolution, from_ms=reach.from_ms, to_ms=reach.to_ms)
    number = max(1, min(number, -(-total // PAGE)))
    end = total - (number - 1) * PAGE
    start = max(0, end - PAGE)
    rows = client.datapoints(
        device_id,
        resolution,
        from_ms=reach.from_ms,
        to_ms=reach.to_ms,
        limit=max(1, end - start),
        offset=start,
        timezone=tz.key if resolution.calendar else None,
    )
    return Page(rows, number, total)
