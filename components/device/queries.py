"""Queries of the device page. What a correction changes isn't cached."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import (
    FLOW_RATE,
    INSIGHT_LIMIT,
    RAW,
    Resolution,
)
from api.client import Client, DeviceStatus, Finding, FindingPage, Series
from api.client.registers import Register
from api.errors import NotFound, NotOffered
from api.insight.findings.model import ENABLED
from api.metering import cost, night_flow, uptime
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.cost import Price
from api.metering.forecast import ForecastHour
from api.metering.hourly_profile import Week
from api.metering.register import Flag
from api.metering.windows import Window, before, due_buckets, whole_minutes
from api.timez import (
    DAY_MS,
    MINUTE_MS,
)
from components import chart_query, formatting, session
from components.annotations.queries import Uptime, without_maintenance
from components.chart_query import Drawn, Subject
from components.comparison_queries import compared_rows
from components.concurrent_queries import Deadline, ServiceAccess
from components.device import kpis, volume_cards
from components.device.kpis import Kpi, Usage
from components.device.reading_cards import PAGE_ROWS, REGISTER_STEPS, RowPage
from components.directory_queries import Directory, Meter, cadences, measured, read_meter
from components.finding_text import origin
from components.queries import (
    DeviceLookup,
    coverage,
    find_device,
    is_there,
    last_seen_ms,
    mean_quality,
    night_flow_of,
    quality_range,
    usual_interval_s,
    volume_days,
    weekly_profile,
    window_gallons,
)
from components.ranges import widened
from components.status_queries import CurrentStatus, status_of_row
from components.url_state import Shown, View

CADENCE_S: Final = 0.4
DEVICE_TTL_S: Final = 60
SEEN_TTL_S: Final = 30
WEEK_TTL_S: Final = 900
MOST_FINDINGS: Final = 100
MOST_PAGES: Final = 5  # of registers, in the time of the rows shown
LONG_SILENT_MS: Final = volume_cards.DAYS * DAY_MS


def lookup(identifier: str, now_ms: int) -> tuple[DeviceLookup, Subject]:
    """The device and the subject of its chart. Raises NotFound."""
    client = session.current_client()
    result = find_device(client, identifier, now_ms)
    return result, Subject.of(result, usual_interval_s(client, result))


def exists(identifier: str, now_ms: int) -> bool:
    """Whether the device is in the reader's scope, by one small request."""
    return is_there(session.current_client(), identifier, now_ms)


def draw(subject: Subject, view: View, now_ms: int) -> Drawn:
    return chart_query.draw(session.current_client(), subject, view, now_ms)


def meter_of(identifier: str, now_ms: int) -> Meter:
    """The device with its cached facts. Raises NotFound."""
    fields = session.remembered(
        f"meter:{identifier}",
        lambda client: asdict(read_meter(find_device(client, identifier, now_ms).device)),
        ttl_s=DEVICE_TTL_S,
    )
    return Meter(**{**fields, "groups": tuple(fields["groups"])})


def current_status(client: Client, row: DeviceStatus, now_ms: int) -> CurrentStatus:
    """The device's status in the last 24 hours, with its last reading of any age. Raises a
    WeirError."""
    status = status_of_row(row, now_ms)
    if status.seen_ms is None or status.flow is not None:
        return status
    at = status.seen_ms
    entries = client.latest([row.device.id], ["lastDatapoint"], from_ms=at, to_ms=at).entries
    last = entries[0].last_datapoint if entries else {}
    return status._replace(flow=last.get(FLOW_RATE))


def until(device_id: str, now_ms: int) -> int:
    """The end of the last weeks: now, or the last reading of a device that has been silent for
    long."""
    seen = session.remembered(
        f"seen:{device_id}",
        lambda client: last_seen_ms(client, device_id, now_ms),
        ttl_s=SEEN_TTL_S,
    )
    return now_ms if seen is None or now_ms - seen < LONG_SILENT_MS else int(seen)


def cadence_of(access: ServiceAccess, meter: Meter, now_ms: int) -> Cadence:
    """The cadence, as on the wall; for a device that has been silent for long, that of the week
    before its last reading."""
    end = until(meter.id, now_ms)
    if meter.cadence_ms is not None or end == now_ms:
        cadence_by_id = cadences(access, [meter], Deadline(CADENCE_S), now_ms)
        return cadence_by_id.get(meter.id, UNKNOWN)

    def load(client: Client) -> list[int]:
        return list(measured(client, meter.id, end) or UNKNOWN)  # types that JSON has

    return Cadence(*session.remembered(f"cadence:{meter.id}:{end}", load, ttl_s=WEEK_TTL_S))


def uptime_and_quality(
    access: ServiceAccess, meter: Meter, shown: Shown, now_ms: int
) -> tuple[Kpi, Kpi]:
    """The uptime and the quality of the shown window."""
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
    """The first reading of a device without an installation date; None if it never reported.
    Earlier buckets aren't expected."""
    return session.remembered(
        f"first:{device_id}",
        lambda client: next(
            iter(client.datapoints(device_id, RAW, from_ms=0, to_ms=now_ms, limit=1).times_ms), None
        ),
        ttl_s=WEEK_TTL_S,
    )


def gallons(client: Client, device_id: str, shown: Shown, now_ms: int) -> float | None:
    """The gallons of the shown window."""
    window = whole_minutes(shown.window, now_ms)
    return window_gallons(client, device_id, window) if window.length_ms >= MINUTE_MS else None


def usage(
    access: ServiceAccess, meter: Meter, shown: Shown, volume: float | None, now_ms: int
) -> Usage:
    """The window's ``volume``, and that of the previous window if both have readings."""
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
    """The marginal rate of its tariff, the device's own price, or the organization's; None without
    any."""
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
    """Empty: there is no price. None: the server isn't a Weir server, so it has no tariffs."""
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
    """Gallons of the last weeks' local days, by their first instant."""
    return dict(volume_days(session.current_client(), device_id, tz, now_ms, volume_cards.DAYS))


def weekly(device_id: str, tz: ZoneInfo, now_ms: int) -> Week:
    return weekly_profile(session.current_client(), device_id, tz, now_ms)


def row_page(
    device_id: str,
    resolution: Resolution,
    window: Window,
    tz: ZoneInfo,
    number: int,
) -> RowPage:
    """Page 1 has the latest rows; a page beyond the last is the last."""
    client = session.current_client()
    reach = window if resolution is RAW else widened(window, tz, resolution)
    total = client.count(device_id, resolution, from_ms=reach.from_ms, to_ms=reach.to_ms)
    number = max(1, min(number, -(-total // PAGE_ROWS)))
    end = total - (number - 1) * PAGE_ROWS
    start = max(0, end - PAGE_ROWS)
    rows = client.datapoints(
        device_id,
        resolution,
        from_ms=reach.from_ms,
        to_ms=reach.to_ms,
        limit=max(1, end - start),
        offset=start,
        timezone=tz.key if resolution.calendar else None,
    )
    return RowPage(rows, number, total)


# --- What only a Weir server has ------------------------------------------------------------------


def findings(device_id: str, *, states: Collection[str] = ()) -> FindingPage:
    """The device's latest findings; none from a server without findings."""
    try:
        return session.current_client().findings(
            device=device_id, states=states, limit=MOST_FINDINGS
        )
    except NotFound:
        return FindingPage(0, ())


def open_findings(row: DeviceStatus) -> Sequence[Finding]:
    """The open findings of a status's device, worst first; loaded only if there are any."""
    return findings(row.device.id, states=("open",)).findings if row.findings else ()


def leak(device_id: str) -> kpis.Leak | None:
    """The device's leak and whether leaks are looked for; None if the server isn't a Weir
    server."""
    client = session.current_client()
    try:
        leaks = client.findings(device=device_id, kinds=[kpis.LEAK], limit=MOST_FINDINGS).findings
        settings = client.finding_settings(device=device_id)
    except (NotOffered, NotFound):
        return None
    running = sorted(leaks, key=lambda each: (each.end_ms is not None, -each.start_ms))
    off = next(
        (s for s in settings if (s.kind, s.key) == (kpis.LEAK, ENABLED.name) and not s.value), None
    )
    return kpis.Leak(running[0] if running else None, "" if off is None else origin(off).lower())


def own_directory(meter: Meter) -> Directory:
    """The device's facts for the texts of findings."""
    price = price_of(meter)
    default = None if price is None else price.per_gallon
    return Directory(0, (meter,), {meter.id: meter}, default, meter.groups)


def forecast(device_id: str) -> Sequence[ForecastHour]:
    """The coming week from the current hour on; empty if the server isn't a Weir server."""
    try:
        return session.current_client().forecast(device_id)
    except NotOffered:
        return ()


def latest_registers(device_id: str) -> Sequence[Register]:
    """The latest first; empty without registers, or if the server isn't a Weir server."""
    try:
        page = session.current_client().registers(
            device_id, limit=REGISTER_STEPS, newest_first=True
        )
    except NotOffered:
        return ()
    return page.registers


def spread_spans(device_id: str, rows: Series) -> list[tuple[int, int]]:
    """The spans (after, up to), in the time of these rows, over which a register's volume is
    spread; none for days and months, most of which have some."""
    if not len(rows) or rows.resolution.calendar:
        return []
    from_ms, last_ms = rows.times_ms[0], rows.times_ms[-1]
    spans: list[tuple[int, int]] = []
    for _ in range(MOST_PAGES):
        try:
            page = session.current_client().registers(
                device_id, from_ms=from_ms, limit=INSIGHT_LIMIT.maximum or 0
            )
        except NotOffered:
            return []
        for each in page.registers:
            if each.since_ms is not None and Flag.SPREAD in each.flags:
                spans.append((each.since_ms, each.recorded_ms))
        if len(page.registers) == page.count or page.registers[-1].recorded_ms > last_ms:
            break
        from_ms = page.registers[-1].recorded_ms + 1
    return spans


def month_end(device_id: str) -> kpis.MonthEnd | None:
    """The forecast of the month; None if the server isn't a Weir server."""
    try:
        reply = session.current_client().month_end(device_id)
    except NotOffered:
        return None
    cost = reply.cost.expected if reply.cost else None
    volume = reply.volume
    return kpis.MonthEnd(
        volume.so_far,
        volume.expected,
        volume.interval,
        cost,
        reply.currency,
        reply.tariff,
        reply.budgets,
    )


def charge(meter: Meter, window: Window) -> float | None:
    """The cost of the window's water by the device's tariff; None if unknown."""
    client = session.current_client()
    costs = client.costs([meter.id], from_ms=window.from_ms, to_ms=window.to_ms)
    return costs[meter.id].total if meter.id in costs else None


def others_of(device_id: str, shown: Shown, rows: Series, tz: ZoneInfo) -> dict[int, float]:
    """Start of a row → the gallons it is compared with; empty if the service doesn't respond."""
    try:
        return compared_rows(
            session.current_client(), device_id, shown.compare, rows.resolution, rows.times_ms, tz
        )
    except (NotOffered, NotFound):
        return {}


def dismiss(finding_id: str, judgement: str) -> str:
    """Dismisses a finding; returns the effect as a sentence."""
    return session.current_client().dismiss_finding(finding_id, judgement=judgement).words


def restore(finding_id: str) -> str:
    return session.current_client().restore_finding(finding_id).words
