"""A summary as the page shows it: sums, the table by device, and one device's days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Final
from urllib.parse import quote, urlencode

from dash import html, no_update
from dash.development.base_component import Component

from api.errors import WeirError
from api.metering.cost import money
from api.timez import DAY_MS, HOUR_MS, local_ordinal
from components import formatting, session
from components.clock import EPOCH_DAY, day_text, known_zone
from components.controls import attributes, labelled
from components.fleet.queries import Deadline, Desk
from components.fleet.totals import Total, percent
from components.html_json import sheet
from components.menu import Entry, Section, body
from components.units import Units
from components.usage.queries import PAGE_PATIENCE_S, Selection, gather, offered, pick
from components.usage.sums import Day, DeviceUsage, Totals, ordered, totals
from components.usage.url_state import UsageView, write_usage_view

SORTED_BY = {"Device": "label", "Volume": "volume", "Uptime": "uptime"}
WAYS = {"label": "ascending", "volume": "descending", "uptime": "ascending"}
HEADS = ("Volume", "Cost", "Mean flow", "Max flow", "Uptime", "Days with data")


def sums(totals: Totals, units: Units) -> list[Total]:
    """What stands above the table."""
    costs = " + ".join(money(cost, currency) for currency, cost in sorted(totals.costs.items()))
    flow = units.flow(totals.most_flow)
    return [
        Total("volume", "Volume", units.volume(totals.gallons), _of_devices(totals)),
        Total("cost", "Cost", costs or formatting.NOTHING, _priced(totals)),
        Total("daily", "A day", units.volume(totals.daily), "per device, on days with data"),
        Total("flow", "Max flow", f"{flow} {units.flow_unit}", "of one device"),
        Total("uptime", "Uptime", percent(totals.uptime), "mean of the devices’"),
        Total("most", "Most used", units.volume(totals.most), totals.most_by),
    ]


def _of_devices(totals: Totals) -> str:
    if totals.told == totals.devices:
        return f"of {formatting.plural(totals.devices, 'device')}"
    return f"of {formatting.whole(totals.told)} of {formatting.plural(totals.devices, 'device')}"


def _priced(totals: Totals) -> str:
    if totals.priced == totals.told:
        return "volume × price"
    if not totals.priced:
        return "no price is known"
    return f"{formatting.whole(totals.priced)} of {formatting.whole(totals.told)} have a price"


def sums_strip(told: Sequence[Total]) -> list[Component]:
    return [
        html.Div(
            [
                html.Dt(total.label),
                html.Dd(total.value, className="total-value"),
                html.Dd(total.note, className="total-note"),
            ],
            className="total",
        )
        for total in told
    ]


def table(usages: Sequence[DeviceUsage], view: UsageView) -> Component:
    heads = [_head("Device", view), *(_head(name, view, "number") for name in HEADS)]
    rows = [row for usage in usages for row in _rows(usage, view)]
    return html.Div(
        html.Table(
            [html.Thead(html.Tr(heads)), html.Tbody(rows)],
            className="usage",
            **labelled("Usage by device"),
        ),
        className="usage-scroll",
        role="region",
        tabIndex=0,
        **labelled("The table, to scroll sideways"),
    )


def _head(name: str, view: UsageView, kind: str = "") -> Component:
    """A button where the table can be sorted by it; the one it is sorted by says which way."""
    sort = SORTED_BY.get(name)
    if sort is None:
        return html.Th(name, scope="col", className=kind)
    ways = {"ascending": "▴", "descending": "▾"}
    way = WAYS[sort] if view.sort == sort else "none"
    sign = html.Span(f" {ways.get(way, '')}", **attributes(aria_hidden="true"))
    button = html.Button(
        [name, sign],
        type="button",
        className="sorts",
        **attributes(data_set="sort", data_value=sort),
    )
    return html.Th(button, scope="col", className=kind, **attributes(aria_sort=way))


def _rows(usage: DeviceUsage, view: UsageView) -> list[Component]:
    opened = usage.meter.id == view.opened
    rows = [_device(usage, view, opened=opened)]
    if opened:
        rows += [_day(usage, day, view.units) for day in reversed(usage.days)]
    return rows


def _device(usage: DeviceUsage, view: UsageView, *, opened: bool) -> Component:
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
    cells = (*amounts(usage, usage, view.units), days_words(usage))
    return html.Tr([head, *number_cells(cells)], className="opened" if opened else "")


def _day(usage: DeviceUsage, day: Day, units: Units) -> Component:
    cells = (*amounts(usage, day, units), length_words(day))
    head = html.Th(day_text(day.ordinal - EPOCH_DAY), scope="row")
    return html.Tr([head, *number_cells(cells)], className="day-row")


def number_cells(cells: Sequence[str]) -> list[Component]:
    return [html.Td(cell, className="number") for cell in cells]


def amounts(usage: DeviceUsage, of: DeviceUsage | Day, units: Units) -> tuple[str, ...]:
    """Volume, cost, mean flow, max flow and uptime of one of the device's days, or of all."""
    return (
        units.volume(of.gallons),
        cost_words(usage, of.gallons),
        flow_words(of.mean_flow, units),
        flow_words(of.most_flow, units),
        percent(of.uptime),
    )


def days_words(usage: DeviceUsage) -> str:
    return f"{len(usage.told)} of {len(usage.days)}"


def length_words(day: Day) -> str:
    """What is particular about a day: it isn't over, or hasn't 24 hours."""
    length = day.end_ms - day.start_ms
    if day.elapsed_ms < length:
        return "so far"
    return "" if length == DAY_MS else f"{formatting.number(length / HOUR_MS)} h"


def flow_words(gallons_per_minute: float | None, units: Units) -> str:
    if gallons_per_minute is None:
        return formatting.NOTHING
    return f"{units.flow(gallons_per_minute)} {units.flow_unit}"


def cost_words(usage: DeviceUsage, gallons: float | None) -> str:
    cost = usage.cost(gallons)
    if cost is None or usage.price is None:
        return formatting.NOTHING
    return money(cost, usage.price.currency)


def range_words(view: UsageView, today: int) -> str:
    """``1 Nov – 21 Nov 2026``, in the days of the devices or of one zone."""
    first, last = view.dates(today)
    if first > last:
        return "no day of it has begun"
    zone = view.zone or "each device’s zone"
    cut = " · the last 366 days of the range" if view.cut else ""
    return f"{date_words(first)} – {date_words(last)} · days in {zone}{cut}"


def date_words(ordinal: int) -> str:
    return day_text(ordinal - EPOCH_DAY).partition(" ")[2]


def iso(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


def choice_buttons(offered: Sequence[Any], chosen: Sequence[str]) -> list[Component]:
    """Devices to choose from, as buttons that are pressed or not."""
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


# --- What the callbacks return --------------------------------------------------------------------


FILES: Final = (("by-device", "By device"), ("by-day", "By device and day"))
FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))


def answer(desk: Desk, view: UsageView, now_ms: int) -> dict[str, Any]:
    """Raises a WeirError where the service as a whole can't answer."""
    picked = pick(desk, view, now_ms)
    summary = gather(desk, picked.meters, view, picked.price, Deadline(PAGE_PATIENCE_S), now_ms)
    usages = ordered(summary.usages, view.sort)
    today = local_ordinal(known_zone(view.zone), now_ms)
    first, last = view.dates(today)
    return {
        "empty": picked.words,
        "sums": sheet(sums_strip(sums(totals(usages), view.units))) if usages else [],
        "table": sheet(table(usages, view)) if usages else [],
        "progress": summary.progress.words,
        "complete": summary.progress.complete,
        "range": range_words(view, today),
        "dates": [iso(first), iso(max(first, last))],
        "chosen": _chosen(picked, view),
        "groups": list(picked.groups),
        "moves": view.moves,
    }


def _chosen(picked: Selection, view: UsageView) -> str:
    if view.devices:
        return f"{formatting.whole(picked.found)} chosen"
    return formatting.plural(picked.found, "device")


def choices(desk: Desk, sought: str, chosen: Sequence[str], now_ms: int) -> Any:
    """The devices that a search finds, to choose from; no change where they can't be listed."""
    try:
        found = offered(desk, sought, now_ms)
    except WeirError:
        return no_update
    return sheet(choice_buttons(found, chosen))


def files(view: UsageView) -> list[Any]:
    """The body of the menu."""
    told = {k: v for k, v in write_usage_view(view).items() if v and k != "open"}
    said = urlencode(told)
    sections = [
        Section(
            heading,
            tuple(
                Entry(label, f".{kind}", f"/download/usage/{what}.{kind}?{said}")
                for kind, label in FORMATS
            ),
        )
        for what, heading in FILES
    ]
    here = urlencode({**told, "range": view.range})  # a report's usual one is another
    report = Entry("Report …", "to print", f"/report?{here}")
    return body([*sections, Section("As a document", (report,))])
