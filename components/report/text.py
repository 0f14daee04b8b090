"""The texts of a report above its tables: titles, ranges, a device's numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.metering.cost import money, rate
from api.metering.night_flow import FROM_HOUR, TO_HOUR
from api.timez import HOUR_MS
from components import formatting, theme
from components.device.kpis import seldom_words
from components.fleet.wall import Total
from components.formatting import Clock, percent
from components.report.queries import Detail, Report, ReportView
from components.units import Units
from components.usage.sections import month_total
from components.usage.sums import DeviceUsage
from components.usage.table import date_words, flow_words

KIND = "Water use report"


def title(report: Report, view: ReportView) -> str:
    """The label of a single device, otherwise a description of the devices."""
    if len(report.picked.meters) == 1:
        return report.picked.meters[0].label
    if view.usage.devices:
        return formatting.plural(len(report.picked.meters), "device")
    if view.usage.group and not view.usage.search:
        return view.usage.group
    return view.usage.search or "All devices"


def ends(usages: Sequence[DeviceUsage]) -> tuple[int, int] | None:
    """The first and the last day of any device; None if no day has begun."""
    days = [(each.days[0].ordinal, each.days[-1].ordinal) for each in usages if each.days]
    return (min(day for day, _ in days), max(day for _, day in days)) if days else None


def range_words(usages: Sequence[DeviceUsage]) -> str:
    """``1 Oct 2026 – 31 Oct 2026``."""
    dates = ends(usages)
    if dates is None:
        return "in the future"
    first, last = dates
    return date_words(first) if first == last else f"{date_words(first)} – {date_words(last)}"


def facts(report: Report, view: ReportView, organization: str) -> list[tuple[str, str]]:
    """(name, value) rows under the title."""
    dates = ends(report.usages)
    days = f" · {formatting.plural(dates[1] - dates[0] + 1, 'day')}" if dates else ""
    zones = {each.tz.key for each in report.usages}
    zone = view.usage.zone or (zones.pop() if len(zones) == 1 else "each device’s own")
    rows = [("Range", range_words(report.usages) + days), ("Time zone", zone)]
    if len(report.picked.meters) == 1:
        meter = report.picked.meters[0]
        rows += [("Serial number", meter.serial), ("Model", meter.model)]
        rows += [("Network id", meter.network_id), ("Groups", ", ".join(meter.groups))]
    else:
        rows.append(("Devices", formatting.whole(len(report.picked.meters))))
    rows += [("Organization", organization), ("Units", view.usage.units.label)]
    rows.append(("Created", made(report, view)))
    return [(name, value) for name, value in rows if value]


def made(report: Report, view: ReportView) -> str:
    """The time of its making, in the report's zone, otherwise in the first device's."""
    if not report.usages:
        return ""
    return formatting.moment(
        report.now_ms, Clock(report.usages[0].tz, report.now_ms, report.now_ms)
    )


# --- One device's numbers ------------------------------------------------------------------------


def numbers(usage: DeviceUsage, detail: Detail, units: Units) -> list[Total]:
    days = len(usage.with_data)
    return [
        Total("volume", "Volume", units.volume(usage.gallons), _per_day(usage, units)),
        _cost(usage, units),
        Total(
            "mean",
            "Mean flow",
            flow_words(usage.mean_flow, units),
            f"over {formatting.plural(days, 'day')}",
        ),
        Total("max", "Max flow", flow_words(usage.most_flow, units), "highest reading"),
        _uptime(usage),
        _quality(usage, detail),
        _night(usage, detail, units),
        *_month(detail, units),
    ]


def _month(detail: Detail, units: Units) -> list[Total]:
    total = month_total([detail.month] if detail.month else [], units)
    return [] if total is None else [total]


def _per_day(usage: DeviceUsage, units: Units) -> str:
    if usage.gallons is None:
        return "no readings with volume"
    return f"{units.volume(usage.gallons / len(usage.with_data))} a day"


def _cost(usage: DeviceUsage, units: Units) -> Total:
    price = usage.price
    if price is None:
        return Total("cost", "Cost", formatting.NOTHING, "no price set")
    cost = usage.cost()
    if price.tariff:
        value = formatting.NOTHING if cost is None else money(cost, price.currency)
        return Total("cost", "Cost", value, f"tariff {price.tariff}")
    per_unit = rate(price.per_gallon / units.volume_factor, price.currency)
    value = formatting.NOTHING if cost is None else money(cost, price.currency)
    return Total("cost", "Cost", value, f"{per_unit} / {units.volume_unit}")


def _uptime(usage: DeviceUsage) -> Total:
    days = f"data on {len(usage.with_data)} of {formatting.plural(len(usage.days), 'day')}"
    return Total("uptime", "Uptime", percent(usage.uptime), days)


def _quality(usage: DeviceUsage, detail: Detail) -> Total:
    worst, best, mean = detail.quality_min, detail.quality_max, detail.quality_mean
    if worst is None or best is None:
        return Total("quality", "Quality", formatting.NOTHING, "no readings with quality")
    note = f"mean {mean:.0f}" if mean is not None else ""
    if worst < usage.meter.quality_limit:
        limit = f"limit {formatting.number(usage.meter.quality_limit)}"
        note = " · ".join(part for part in (note, limit) if part)
    return Total("quality", "Quality", formatting.span(round(worst), round(best)), note)


def _night(usage: DeviceUsage, detail: Detail, units: Units) -> Total:
    """The last night of the range against the two weeks before it."""
    label = f"Night flow, {FROM_HOUR:02}–{TO_HOUR:02}"
    flow = detail.nights
    if flow is None:
        return Total("night", label, formatting.NOTHING, "no readings")
    clock = Clock(usage.tz, flow.night.to_ms - HOUR_MS, flow.night.to_ms)
    date = formatting.date_of(flow.night.to_ms, clock).rpartition(" ")[0]
    if flow.last is None:
        note = seldom_words(flow) or f"{date}: too few readings"
        return Total("night", label, formatting.NOTHING, note)
    usual = f"usual {units.flow(flow.usual)}" if flow.usual is not None else "usual unknown"
    return Total("night", label, flow_words(flow.last, units), f"{date}, {usual}")


# --- Head, foot and page numbers, as CSS ---------------------------------------------------------

_BOX: Final = f"font:10px {theme.FONT};color:{theme.LIGHT.ink_2}"


def page_rules(title: str, range: str, paper: str = "") -> str:
    """The CSS of header, footer and page numbers. Without a ``paper`` the reader chooses one when
    printing."""
    boxes = {
        "top-left": _css(title),
        "top-right": _css(range),
        "bottom-left": _css("Weir"),
        "bottom-right": 'counter(page) " / " counter(pages)',
    }
    rules = "".join(f"@{place}{{content:{content};{_BOX}}}" for place, content in boxes.items())
    return f"@page{{{f'size:{paper};' if paper else ''}margin:13mm 14mm 12mm;{rules}}}"


def _css(text: str) -> str:
    """Any text as a string of CSS."""
    return '"' + "".join(c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in text) + '"'
