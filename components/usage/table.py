"""A summary on its page: totals, the table by device, and one device's days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

from dash import html
from dash.development.base_component import Component

from api.metering.cost import money
from api.timez import DAY_MS, EPOCH_DAY, HOUR_MS
from components import formatting, session
from components.controls import attributes, labelled
from components.fleet.wall import Total
from components.formatting import day_text, percent
from components.units import Scale, Units
from components.usage.sums import Day, DeviceUsage, Totals
from components.usage.url_state import UsageView

SORTED_BY = {
    "Device": "label",
    "Volume": "volume",
    "Cost": "cost",
    "Mean flow": "mean-flow",
    "Max flow": "max-flow",
    "Uptime": "uptime",
    "Days with data": "days",
}
ASCENDING = ("label", "uptime", "days")
HEADS = tuple(SORTED_BY)[1:]


def sums(totals: Totals, units: Units) -> list[Total]:
    """The totals above the table."""
    costs = " + ".join(money(cost, currency) for currency, cost in sorted(totals.costs.items()))
    flow = units.flow(totals.most_flow)
    return [
        _whole(totals, "volume", "Volume", units.volume(totals.gallons), _of_devices(totals)),
        _whole(totals, "cost", "Cost", costs or formatting.NOTHING, _priced(totals)),
        Total("daily", "Per day", units.volume(totals.daily), "per device, on days with data"),
        Total("flow", "Max flow", f"{flow} {units.flow_unit}", "of one device"),
        Total("uptime", "Uptime", percent(totals.uptime), "mean of all devices"),
        Total("most", "Most used", units.volume(totals.most), totals.most_by),
    ]


def _whole(totals: Totals, name: str, label: str, value: str, note: str) -> Total:
    """A total, shown as one only if no device is missing from it."""
    if not totals.waiting:
        return Total(name, label, value, note)
    part = f"{formatting.whole(totals.with_data)} of {formatting.plural(totals.devices, 'device')}"
    note = f"{value} in {part}" if totals.with_data else ""
    return Total(name, label, formatting.NOTHING, note)


def _of_devices(totals: Totals) -> str:
    part = "" if totals.with_data == totals.devices else f"{formatting.whole(totals.with_data)} of "
    note = f"of {part}{formatting.plural(totals.devices, 'device')}"
    if not totals.sub_meters:
        return note
    return f"{note}, {formatting.plural(totals.sub_meters, 'sub-meter')} not counted twice"


def _priced(totals: Totals) -> str:
    if totals.priced == totals.with_data:
        return tariff_words(totals.tariffs) or "volume × price"
    if not totals.priced:
        return "no price set"
    return f"{formatting.whole(totals.priced)} of {formatting.whole(totals.with_data)} have a price"


def tariff_words(names: Sequence[str]) -> str:
    """``tariff City 2026``; the number of several; "" without any."""
    if len(names) > 1:
        return f"by {formatting.plural(len(names), 'tariff')}: {', '.join(names)}"
    return f"tariff {names[0]}" if names else ""


def sums_strip(shown_totals: Sequence[Total]) -> list[Component]:
    return [
        html.Div(
            [
                html.Dt(total.label),
                html.Dd(total.value, className="total-value"),
                html.Dd(total.note, className="total-note"),
            ],
            className="total",
        )
        for total in shown_totals
    ]


def table(usages: Sequence[DeviceUsage], view: UsageView) -> Component:
    heads = [_head("Device", view), *(_head(name, view, "number") for name in HEADS)]
    parts = [(usage, part) for usage in usages for part in (usage, *_opened_days(usage, view))]
    cells = amounts(parts, view.units)
    top = max((usage.gallons or 0.0 for usage in usages), default=0.0)
    rows: list[Component] = []
    for (usage, part), texts in zip(parts, cells, strict=True):
        rows.append(_row(usage, part, texts, view, top))
        if part is usage and usage.meter.id == view.opened and usage.with_data:
            rows.append(_calendar_row(usage, view.units))
    return html.Div(
        html.Table(
            [html.Thead(html.Tr(heads)), html.Tbody(rows)],
            className="usage",
            **labelled("Usage by device"),
        ),
        className="usage-scroll",
        role="region",
        tabIndex=0,
        **labelled("Table, scrollable"),
    )


def _head(name: str, view: UsageView, kind: str = "") -> Component:
    """A button that sorts the table, with the direction on the sorted column."""
    sort = SORTED_BY[name]
    ways = {"ascending": "▴", "descending": "▾"}
    way = "none"
    if view.sort == sort:
        way = "ascending" if sort in ASCENDING else "descending"
    sign = html.Span(f" {ways.get(way, '')}", **attributes(aria_hidden="true"))
    button = html.Button(
        [name, sign],
        type="button",
        className="sorts",
        **attributes(data_set="sort", data_value=sort),
    )
    return html.Th(button, scope="col", className=kind, **attributes(aria_sort=way))


def _opened_days(usage: DeviceUsage, view: UsageView) -> Iterable[Day]:
    return reversed(usage.days) if usage.meter.id == view.opened else ()


def _row(
    usage: DeviceUsage, part: DeviceUsage | Day, texts: tuple[str, ...], view: UsageView, top: float
) -> Component:
    if isinstance(part, Day):
        head = html.Th(day_text(part.ordinal - EPOCH_DAY), scope="row")
        return html.Tr([head, *number_cells((*texts, length_words(part)))], className="day-row")
    return _device(usage, texts, top, opened=usage.meter.id == view.opened)


def _device(usage: DeviceUsage, texts: tuple[str, ...], top: float, *, opened: bool) -> Component:
    button = html.Button(
        html.Span("▾" if opened else "▸", **attributes(aria_hidden="true")),
        type="button",
        className="unfold",
        **attributes(data_open=usage.meter.id, aria_expanded="true" if opened else "false"),
        **labelled(f"Days of {usage.meter.label}"),
    )
    href = session.site_path(f"/devices/{quote(usage.meter.id, safe='')}")
    name = html.A(usage.meter.label, href=href)
    serial = html.Span(f"{usage.meter.serial} · {usage.tz.key}", className="quiet")
    named = html.Span([name, serial], className="named")
    head = html.Th(html.Div([button, named], className="who"), scope="row")
    if usage.failure:
        return html.Tr([head, html.Td(usage.failure, colSpan=len(HEADS), className="trouble")])
    volume, *others = number_cells((*texts, days_words(usage)))
    volume.children = [html.Span(texts[0]), _bar(usage.gallons, top)]
    return html.Tr([head, volume, *others], className="opened" if opened else "")


def _bar(gallons: float | None, top: float) -> Component:
    """A bar for the share of the largest volume."""
    width = 100 * max(0.0, gallons or 0.0) / top if top > 0 else 0.0
    bar = html.Span(style={"width": f"{width:.1f}%"})
    return html.Span(bar, className="volume-bar", **attributes(aria_hidden="true"))


def _calendar_row(usage: DeviceUsage, units: Units) -> Component:
    """The days as a calendar: a column for each week from Monday to Sunday, the largest volume
    darkest."""
    top = max(0.0, *(day.gallons or 0.0 for day in usage.days)) or 1.0
    blank = (usage.days[0].ordinal - 1) % 7  # ordinal 1 is a Monday
    cells = [html.Span(className="blank")] * blank + [_cell(day, top, units) for day in usage.days]
    most = max(usage.with_data, key=lambda day: day.gallons or 0.0)
    words = f"Volume by day, the most on {date_words(most.ordinal)}: {units.volume(most.gallons)}"
    calendar = html.Div(cells, className="calendar", role="img", **labelled(words))
    note = html.Span(words, className="quiet")
    return html.Tr(html.Td([calendar, note], colSpan=len(HEADS) + 1), className="day-row")


def _cell(day: Day, top: float, units: Units) -> Component:
    volume = "no data" if day.gallons is None else units.volume(day.gallons)
    name = f"{day_text(day.ordinal - EPOCH_DAY)}: {volume} {length_words(day)}".strip()
    if day.gallons is None:
        return html.Span(className="none", title=name)
    share = round(12 + 88 * max(0.0, day.gallons) / top)
    colour = f"color-mix(in srgb, var(--accent) {share}%, var(--bg))"
    return html.Span(title=name, style={"background": colour})


def number_cells(cells: Sequence[str]) -> list[Component]:
    return [html.Td(cell, className="number") for cell in cells]


def amounts(
    parts: Sequence[tuple[DeviceUsage, DeviceUsage | Day]], units: Units
) -> list[tuple[str, ...]]:
    """Volume, cost, mean flow, max flow and uptime of each device, or of each of its days. Each
    column has one unit and one number of decimals."""
    volume = Scale(units.volume_unit, units.volume_factor)
    flow = Scale(units.flow_unit, units.flow_factor)
    columns = (
        _column([of.gallons for _, of in parts], volume),
        [cost_words(usage, of) for usage, of in parts],
        _column([of.mean_flow for _, of in parts], flow),
        _column([of.most_flow for _, of in parts], flow),
        [percent(of.uptime) for _, of in parts],
    )
    return list(zip(*columns, strict=True))


def _column(values: Sequence[float | None], scale: Scale) -> list[str]:
    scaled = [None if value is None else scale.of(value) for value in values]
    places = formatting.decimals(scaled)
    return [
        formatting.NOTHING if v is None else f"{formatting.exact(v, places)} {scale.unit}"
        for v in scaled
    ]


def days_words(usage: DeviceUsage) -> str:
    return f"{len(usage.with_data)} of {len(usage.days)}"


def length_words(day: Day) -> str:
    """The remark on a day that isn't over or doesn't have 24 hours."""
    length = day.end_ms - day.start_ms
    if day.elapsed_ms < length:
        return "so far"
    return "" if length == DAY_MS else f"{formatting.number(length / HOUR_MS)} h"


def flow_words(gallons_per_minute: float | None, units: Units) -> str:
    if gallons_per_minute is None:
        return formatting.NOTHING
    return f"{units.flow(gallons_per_minute)} {units.flow_unit}"


def cost_words(usage: DeviceUsage, of: DeviceUsage | Day) -> str:
    cost = usage.cost(of if isinstance(of, Day) else None)
    if cost is None or usage.price is None:
        return formatting.NOTHING
    return money(cost, usage.price.currency)


def range_words(view: UsageView, today: int) -> str:
    """``1 Nov – 21 Nov 2026``, in each device's days or those of one zone."""
    first, last = view.dates(today)
    if first > last:
        return "in the future"
    zone = view.zone or "each device’s zone"
    cut = " · the last 366 days of the range" if view.cut else ""
    return f"{date_words(first)} – {date_words(last)} · days in {zone}{cut}"


def date_words(ordinal: int) -> str:
    return day_text(ordinal - EPOCH_DAY).partition(" ")[2]


def iso(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


def choices(offered: Sequence[Any], chosen: Sequence[str]) -> list[Component]:
    """Devices to choose from, as toggle buttons."""
    if not offered:
        return [html.P("No device matches.", className="quiet")]
    return [
        html.Button(
            [html.Span(meter.label), html.Span(meter.serial, className="quiet")],
            type="button",
            className="menu-entry",
            **attributes(
                data_pick=meter.id, aria_pressed="true" if meter.id in chosen else "false"
            ),
        )
        for meter in offered
    ]
