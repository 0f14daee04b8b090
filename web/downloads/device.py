"""A device's files: /download/devices/<id>/rows, days and hours, as .csv and .xlsx."""

from __future__ import annotations

from collections.abc import Mapping

from api.catalog import DAY, RAW, RESOLUTION_BY_NAME, TOTAL, Resolution
from api.client import Device
from api.timez import day_start, local_ordinal, now_ms
from components.clock import known_zone
from components.device import daily_volume, hourly_profile, queries
from components.fleet.queries import Desk
from components.queries import find_device
from components.ranges import Window, widened
from components.url_params import said_units
from components.url_state import read_window
from web.downloads.device_tables import Order, hours, rows
from web.downloads.table import Table


def rows_file(desk: Desk, said: Mapping[str, str], device_id: str) -> Table:
    """A window's rows: ``from``, ``to``, ``resolution`` (raw unless said), ``zone``, ``units``.
    Raises ValueError for what can't be understood, NotFound for what may not be seen."""
    window = read_window(said.get("from", ""), said.get("to", ""))
    resolution = RESOLUTION_BY_NAME.get(said.get("resolution", RAW.name))
    if window is None:
        raise ValueError("from and to must be two instants, the earlier first.")
    if resolution is None or resolution is TOTAL:
        raise ValueError("resolution must be raw, 1min, 5min, 10min, 1hour, day or month.")
    device = find_device(desk.client, device_id, now_ms()).device
    order = _order(device, resolution, window, said)
    return rows(desk.client, order)


def days_file(desk: Desk, said: Mapping[str, str], device_id: str) -> Table:
    """The days of the card below the chart: ``zone``, ``units``."""
    device = find_device(desk.client, device_id, now_ms()).device
    end, tz = queries.until(device.id, now_ms()), known_zone(said.get("zone"), device.time_zone)
    first = day_start(tz, local_ordinal(tz, end) - daily_volume.DAYS + 1)
    return rows(desk.client, _order(device, DAY, Window(first, end), said))


def hours_file(desk: Desk, said: Mapping[str, str], device_id: str) -> Table:
    """The hours of the week of the heat map: ``zone``, ``units``."""
    device = find_device(desk.client, device_id, now_ms()).device
    end, tz = queries.until(device.id, now_ms()), known_zone(said.get("zone"), device.time_zone)
    order = _order(device, RAW, hourly_profile.window_of(tz, end), said)
    return hours(order, queries.weekly(device.id, tz, end))


def _order(
    device: Device, resolution: Resolution, window: Window, said: Mapping[str, str]
) -> Order:
    tz = known_zone(said.get("zone"), device.time_zone)
    reach = window if resolution is RAW else widened(window, tz, resolution)
    return Order(device.id, device.serial_number, resolution, reach, tz, said_units(said))
