"""Queries of the device page for what Weir's own interface knows of a device: findings, what is
coming, what its rows are compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import INSIGHT_LIMIT
from api.client import DeviceStatus, Finding, FindingPage, Series
from api.client.registers import Register
from api.errors import NotFound, NotOffered
from api.insight.findings.model import ENABLED
from api.metering.forecast import ForecastHour
from api.metering.register import Flag
from components import session
from components.comparison_queries import compared_rows
from components.device import kpis
from components.device.chart_state import Shown
from components.device.queries import price_of
from components.device.register_card import STEPS
from components.findings.settings import origin
from components.fleet.device_queries import Directory, Meter
from components.ranges import Window

MOST_FINDINGS: Final = 100
MOST_PAGES: Final = 5  # of registers, in the time of the rows shown


def findings(device_id: str, *, states: Collection[str] = ()) -> FindingPage:
    """The device's latest findings; none where the server keeps none."""
    try:
        return session.current_client().findings(
            device=device_id, states=states, limit=MOST_FINDINGS
        )
    except NotFound:
        return FindingPage(0, ())


def open_findings(row: DeviceStatus) -> Sequence[Finding]:
    """Those of the device whose status that is, worst first; asked for only where there are any."""
    return findings(row.device.id, states=("open",)).findings if row.findings else ()


def leak(device_id: str) -> kpis.Leak | None:
    """None where the server is no Weir."""
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
    """What the texts of findings need to know of this device."""
    price = price_of(meter)
    default = None if price is None else price.per_gallon
    return Directory(0, (meter,), {meter.id: meter}, default, meter.groups)


def forecast(device_id: str) -> Sequence[ForecastHour]:
    """The coming week from the hour under way on; empty where the server is no Weir."""
    try:
        return session.current_client().forecast(device_id)
    except NotOffered:
        return ()


def latest_registers(device_id: str) -> Sequence[Register]:
    """The latest first; empty where there are none, or the server is no Weir."""
    try:
        page = session.current_client().registers(device_id, limit=STEPS, newest_first=True)
    except NotOffered:
        return ()
    return page.registers


def spread_spans(device_id: str, rows: Series) -> list[tuple[int, int]]:
    """The gaps (after, up to) in the time of these rows over which a register's volume is spread;
    none of days and months, most of which have some."""
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
    """None where the server is no Weir."""
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
    """What the water of a window cost by the device's tariff; None where that isn't known."""
    client = session.current_client()
    costs = client.costs([meter.id], from_ms=window.from_ms, to_ms=window.to_ms)
    return costs[meter.id].total if meter.id in costs else None


def others_of(device_id: str, shown: Shown, rows: Series, tz: ZoneInfo) -> dict[int, float]:
    """Start of a row → the gallons that it is compared with; none where the server can't say."""
    try:
        return compared_rows(
            session.current_client(), device_id, shown.compare, rows.resolution, rows.times_ms, tz
        )
    except (NotOffered, NotFound):
        return {}


def dismiss(finding_id: str, judgement: str) -> str:
    """What it changed, in words."""
    return session.current_client().dismiss_finding(finding_id, judgement=judgement).words


def restore(finding_id: str) -> str:
    return session.current_client().restore_finding(finding_id).words
