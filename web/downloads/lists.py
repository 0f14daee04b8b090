"""Lists as files: devices, the fleet's states, findings, alerts, the audit log, a comparison.

A list is its columns, each with the value that it takes from an item, and the items in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from operator import attrgetter
from typing import Any, Final

import orjson

from api.catalog import FLOW_AMOUNT, FLOW_RATE, Metric
from api.client.expectations import Volumes
from api.client.fields import Json
from api.client.findings import Finding
from api.client.status import DeviceStatus, WindowStatus
from api.insight.findings import KIND_BY_NAME
from api.metering import uptime
from api.metering.cost import device_price
from api.metering.status import State
from api.metering.units import words_in
from api.timez import HOUR_MS, now_ms, stamp, zone_or_utc
from components import finding_text
from components.alerts.queries import every_alert
from components.audit_queries import every_entry, read_filter
from components.compare.queries import compared, shared_attributes
from components.concurrent_queries import ServiceAccess
from components.devices.columns import day, groups_of, parent_of
from components.devices.queries import every_row, read_listing
from components.directory_queries import Directory, directory
from components.findings.queries import FindingsView, read_findings_view
from components.fleet.queries import every_device, read_fleet_view
from components.formatting import measures_water
from components.queries import find_device
from components.ranges import Window
from components.status_queries import shown
from components.units import Scale, Units
from components.url_state import text_param, units_param
from components.usage.url_state import checked_compare_view
from web.downloads.device import number_of
from web.downloads.table import Column, Kind, Table, in_parts
from web.responses import file_stem, of_window

Query = Mapping[str, str]
Value = Callable[[Any], object]
"""What a column takes from an item of its list."""

_FINDINGS_AT_ONCE: Final = 1_000


def _list(
    name: str, title: str, columns: list[tuple[Column, Value]], items: Iterator[Any]
) -> Table:
    rows = ([value(item) for _, value in columns] for item in items)
    return Table(name, title, [column for column, _ in columns], in_parts(rows))


def _text(name: str, width: int = 14, of: Value | str = "") -> tuple[Column, Value]:
    """An empty text is an empty cell."""
    value = attrgetter(of or name) if isinstance(of, str) else of
    return Column(name, Kind.TEXT, width=width), lambda item: value(item) or None


def _instant(name: str, of: Value | str) -> tuple[Column, Value]:
    return Column(name, Kind.INSTANT, width=20), attrgetter(of) if isinstance(of, str) else of


def _number(name: str, of: Value | str = "") -> tuple[Column, Value]:
    return Column(name), attrgetter(of or name) if isinstance(of, str) else of


def _measured(name: str, metric: Metric, units: Units, of: Value | str) -> tuple[Column, Value]:
    value = attrgetter(of) if isinstance(of, str) else of
    return number_of(name, metric, units), value


def _now() -> str:
    return stamp(now_ms()).replace(":", "")


def _percent(actual: int, expected: int) -> float | None:
    """Never rounded up to a hundred."""
    share = uptime.share(actual, expected)
    return None if share is None else math.floor(share * 1e5) / 1e3


# --- Devices -------------------------------------------------------------------------------------


def devices_file(access: ServiceAccess, query: Query) -> Table:
    """The list of devices, every one of its view with all that its columns can show: ``status``,
    ``q``, ``group``, ``kind``, ``sort``, ``order``, ``units``."""
    listing = read_listing(query)

    def water(name: str) -> Value:
        value = attrgetter(name)
        return lambda row: value(row) if measures_water(row.device.category) else None

    columns = [
        _text("serial_number", 18, "device.serial_number"),
        _text("label", 28, "device.label"),
        _text("network_unique_identifier", 20, "device.network_unique_identifier"),
        _text("category", of="device.category"),
        _text("model", of="device.model"),
        _text("time_zone", 20, "device.time_zone"),
        _instant(
            "installed_utc",
            lambda row: row.device.installed_on_ms if row.device.installed else None,
        ),
        _text("status", of=lambda row: "inactive" if row.state == State.INACTIVE else "active"),
        _text("state"),
        _text("findings", 28, lambda row: ", ".join(row.findings)),
        _instant("last_seen_utc", "last_seen_ms"),
        _measured("flow_now", FLOW_RATE, listing.units, water("flow")),
        _number("uptime_24h (percent)", lambda row: _percent(day(row).actual, day(row).expected)),
        _number("intervals_heard", lambda row: day(row).actual),
        _number("intervals_expected", lambda row: day(row).expected),
        _number("min_quality_24h (percent)", lambda row: day(row).quality_min),
        _number("max_quality_24h (percent)", lambda row: day(row).quality_max),
        _measured("volume_today", FLOW_AMOUNT, listing.units, water("volume_today")),
        _measured("volume_month", FLOW_AMOUNT, listing.units, water("volume_month")),
        _number("signal_strength (dBm)", "signal_strength"),
        _number("network_rssi (dBm)", "network_rssi"),
        _text("main", 18, parent_of),
        _text("groups", 28, lambda row: ", ".join(groups_of(row.device.config))),
        _text("id", 38, "device.id"),
    ]
    rows = iter(every_row(access.client, listing, now_ms()))
    return _list(file_stem("devices", listing.status, _now()), "Devices", columns, rows)


def states_file(access: ServiceAccess, query: Query) -> Table:
    """The states of the wall, every device of its view: ``window``, ``q``, ``status``, ``group``,
    ``finding``, ``sort``, ``zone``, ``units``. Raises NotOffered where the server keeps none."""
    view = read_fleet_view(query)

    def window(row: DeviceStatus) -> WindowStatus:
        return row.windows[view.span.name]

    def finding(name: str) -> Value:
        return lambda row: getattr(row.finding, name) if row.finding else None

    def zone(row: DeviceStatus) -> Any:
        return zone_or_utc(view.zone, row.device.time_zone)

    def currency(row: DeviceStatus) -> str | None:
        priced = row.finding and row.finding.cost_per_day is not None
        return device_price(row.device.cost_per_gallon)[1] if priced else None

    def labels(row: DeviceStatus) -> str:
        return ", ".join(KIND_BY_NAME[name].label for name in row.findings if name in KIND_BY_NAME)

    columns = [
        _text("serial_number", 18, "device.serial_number"),
        _text("label", 28, "device.label"),
        _text("network_unique_identifier", 20, "device.network_unique_identifier"),
        _text("state", of=lambda row: shown(row).word),
        _text("findings", 24, labels),
        _text("finding_severity", of=finding("severity")),
        _number("finding_cost_per_day", finding("cost_per_day")),
        _text("currency", of=currency),
        _instant("last_seen_utc", "last_seen_ms"),
        _text(
            "last_seen_local",
            26,
            lambda row: None if row.last_seen_ms is None else stamp(row.last_seen_ms, zone(row)),
        ),
        _text("time_zone", 20, lambda row: zone(row).key),
        _number(
            "uptime (percent)",
            lambda row: _percent(window(row).actual, window(row).expected),
        ),
        _number("intervals_heard", lambda row: window(row).actual),
        _number("intervals_expected", lambda row: window(row).expected),
        _number("min_quality (percent)", lambda row: window(row).quality_min),
        _number("max_quality (percent)", lambda row: window(row).quality_max),
        _measured("flow_rate_now", FLOW_RATE, view.units, "flow"),
        _measured("volume_today", FLOW_AMOUNT, view.units, "volume_today"),
        _measured("volume_this_month", FLOW_AMOUNT, view.units, "volume_month"),
    ]
    rows = list(every_device(access.client, view))  # refused before a file is begun
    name = file_stem("fleet", view.span.name, _now())
    return _list(name, f"Fleet, {view.span.label}", columns, iter(rows))


# --- Findings and alerts -------------------------------------------------------------------------


def findings_file(access: ServiceAccess, query: Query) -> Table:
    """The findings of a view, worst first."""
    view, devices = read_findings_view(query), directory(access, now_ms())
    findings = _every_finding(access, view)
    return _findings(file_stem("findings", view.state, _now()), findings, devices, view.units)


def device_findings_file(access: ServiceAccess, query: Query, device_id: str) -> Table:
    """All findings of one device, worst first. Raises NotFound."""
    now = now_ms()
    device = find_device(access.client, device_id, now).device
    active, inactive = (directory(access, now, which) for which in ("true", "false"))
    devices = active if device.id in active.by_id else inactive
    findings = _every_finding(access, FindingsView(state=""), device.id)
    name = file_stem(device.serial_number, "findings")
    return _findings(name, findings, devices, units_param(query))


def _findings(name: str, findings: Iterator[Finding], devices: Directory, units: Units) -> Table:
    def currency(each: Finding) -> str | None:
        return finding_text.currency(each, devices) if each.cost_per_day is not None else None

    columns = [
        _text("severity"),
        _text("kind", 18),
        _text("state"),
        _text("serial_number", 18),
        _text("label", 28, lambda each: finding_text.label(each, devices)),
        _text("group", 18, lambda each: finding_text.group(each, devices)),
        _instant("start_utc", "start_ms"),
        _instant("end_utc", "end_ms"),
        _instant("known_since_utc", "opened_ms"),
        _number("value", lambda each: _in_units(each.value, each.unit, units)),
        _text("unit", of=lambda each: _unit_in(each.unit, units)),
        _number("usual", lambda each: _in_units(each.usual, _usual_unit(each), units)),
        _measured("volume", FLOW_AMOUNT, units, "gallons"),
        _number("cost_per_day"),
        _text("currency", of=currency),
        _text("words", 60, lambda each: finding_text.sentence(each, units)),
        _text("id", 38),
    ]
    return _list(name, "Findings", columns, findings)


def _scale(unit: str, units: Units) -> Scale:
    """One unit of volume, and one of rate, for a whole file."""
    return units.scale(FLOW_RATE if unit == "gal/min" else FLOW_AMOUNT, 1000.0)


def _in_units(value: float | None, unit: str, units: Units) -> float | None:
    if value is None or not unit.startswith("gal"):
        return value
    return _scale(unit, units).of(value)


def _unit_in(unit: str, units: Units) -> str:
    """``m3/h`` for ``gal/h``."""
    if not unit.startswith("gal"):
        return unit
    name = _scale(unit, units).unit.replace("³", "3")
    return name if unit == "gal/min" else name + unit.removeprefix("gal")


def _usual_unit(finding: Finding) -> str:
    return "gal" if finding.unit == "days" else finding.unit


def _every_finding(
    access: ServiceAccess, view: FindingsView, device_id: str | None = None
) -> Iterator[Finding]:
    offset = 0
    while True:
        page = access.client.findings(
            device=device_id,
            group=view.group or None,
            kinds=view.kinds,
            severities=[view.severity] if view.severity else (),
            states=[view.state] if view.state else (),
            limit=_FINDINGS_AT_ONCE,
            offset=offset,
        )
        yield from page.findings
        offset += len(page.findings)
        if not page.findings or offset >= page.count:
            return


def alerts_file(access: ServiceAccess, query: Query) -> Table:
    """Those that fire, then those resolved, latest first. ``group``: only its devices'."""
    units = units_param(query)
    columns = [
        _text("state"),
        _text("severity"),
        _text("kind", 18),
        _text("serial_number", 18),
        _text("label", 28),
        _text("rule", 28, "rule_name"),
        _instant("start_utc", "start_ms"),
        _instant("fired_utc", "fired_ms"),
        _instant("end_utc", "ended_ms"),
        _text("sent", 28, "outcome"),
        _instant("acknowledged_utc", "acknowledged_ms"),
        _text("acknowledged_by", 28),
        _text("acknowledged_text", 40),
        _number("value", lambda each: _in_units(each.value, each.unit, units)),
        _text("unit", of=lambda each: _unit_in(each.unit, units)),
        _number("cost_per_day"),
        _text("words", 60, lambda each: words_in(each.words, units.name)),
        _text("id", 38),
    ]
    pages = every_alert(access.client, text_param(query, "group", 100))
    alerts = (each for page in pages for each in page)
    return _list(file_stem("alerts", _now()), "Alerts", columns, alerts)


def audit_file(access: ServiceAccess, query: Query) -> Table:
    """All entries that match, latest first. Raises Forbidden for those who may not see them."""

    def state(json: Json | None) -> str | None:
        return None if json is None else orjson.dumps(dict(json)).decode()

    columns = [
        _instant("at_utc", "at_ms"),
        _text("author", 28),
        _text("kind"),
        _text("action"),
        _text("subject", 38),
        _text("reason", 40),
        _text("before", 60, lambda entry: state(entry.before)),
        _text("after", 60, lambda entry: state(entry.after)),
    ]
    access.client.audit(limit=1)  # refused before a file is begun
    entries = (each for page in every_entry(access.client, read_filter(query)) for each in page)
    return _list(file_stem("audit", _now()), "Audit log", columns, entries)


# --- Comparison ----------------------------------------------------------------------------------


def compare_file(access: ServiceAccess, query: Query) -> Table:
    """One row per device or group and bucket: its volume, with its attributes. Raises ValueError
    where nothing is chosen, BadRequest for the address, and what the service raises."""
    view = checked_compare_view(query.items())
    result = compared(access, view, now_ms())
    volumes = result.volumes
    if volumes is None or not volumes.edges_ms:
        raise ValueError("There is nothing to compare: choose devices or groups, and days so far.")
    attributes = shared_attributes(volumes)
    columns = [
        Column("kind", Kind.TEXT),
        Column("label", Kind.TEXT, width=28),
        Column("serial_number", Kind.TEXT, width=18),
        Column("time_utc", Kind.INSTANT, width=20),
        Column(f"time_local ({result.tz.key})", Kind.INSTANT, tz=result.tz, width=26),
        Column("hours"),
        number_of("volume", FLOW_AMOUNT, view.days.units),
        *(Column(name) for name in attributes),
    ]
    first, last = volumes.edges_ms[0], volumes.edges_ms[-1]
    name = file_stem("compare", *of_window(Window(first, last - 1)))
    return Table(name, "Comparison", columns, in_parts(_volumes(volumes, attributes)))


def _volumes(volumes: Volumes, attributes: list[str]) -> Iterator[list[object]]:
    for item in volumes.items:
        names = [item.item.partition(":")[0], item.label, item.serial_number or None]
        shared = [item.attributes.get(name) for name in attributes]
        for (start, end), gallons in zip(pairwise(volumes.edges_ms), item.volumes, strict=True):
            yield [*names, start, start, (end - start) / HOUR_MS, gallons, *shared]
