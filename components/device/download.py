"""The address of a device's rows as a file: /download/devices/<id>/rows.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Final
from urllib.parse import quote, urlencode

from werkzeug.wrappers import Response

from api.catalog import RAW, RESOLUTION_BY_NAME, TOTAL, Resolution
from api.client import Client
from api.errors import ServiceError, WeirError
from api.timez import now_ms
from components import session
from components.clock import known_zone
from components.device.export import Order, file_name, lines
from components.device.shown import Shown, write_shown
from components.directory import find_device
from components.parts import failure
from components.ranges import Window, widened
from components.units import UNITS_BY_NAME, US
from components.view import read_window

ROUTE: Final = "/download/devices/<path:device_id>/rows.csv"


def address(device_id: str, shown: Shown, resolution: Resolution) -> str:
    said = {**write_shown(replace(shown, resolution=resolution)), "asked": None}
    query = urlencode({name: value for name, value in said.items() if value})
    return f"/download/devices/{quote(device_id, safe='')}/rows.csv?{query}"


def download(device_id: str) -> Response:
    """The view function: streams, whatever the number of rows."""
    said, client = session.asked(), session.current_client()
    try:
        order = read_order(client, device_id, said)
        parts = lines(client, order)
        first = next(parts)  # what may go wrong goes wrong before anything is said
    except ValueError as error:
        return _plain(400, str(error))
    except WeirError as error:
        status = error.status if isinstance(error, ServiceError) else 502
        return _plain(status, failure(error))
    disposition = f'attachment; filename="{file_name(order)}"'
    return Response(
        _encoded(chain([first], parts)),
        content_type="text/csv; charset=utf-8; header=present",
        headers={"Content-Disposition": disposition},
    )


def read_order(client: Client, device_id: str, said: Mapping[str, str]) -> Order:
    """Raises ValueError for what can't be understood, NotFound for what may not be seen."""
    window = read_window(said.get("from", ""), said.get("to", ""))
    resolution = RESOLUTION_BY_NAME.get(said.get("resolution", RAW.name))
    if window is None:
        raise ValueError("from and to must be two instants, the earlier first.")
    if resolution is None or resolution is TOTAL:
        raise ValueError("resolution must be raw, 1min, 5min, 10min, 1hour, day or month.")
    device = find_device(client, device_id, now_ms()).device
    tz = known_zone(said.get("zone"), device.time_zone)
    reach: Window = window if resolution is RAW else widened(window, tz, resolution)
    units = UNITS_BY_NAME.get(said.get("units", ""), US)
    return Order(device.id, device.serial_number, resolution, reach, tz, units)


def _encoded(parts: Iterator[str]) -> Iterator[bytes]:
    for part in parts:
        yield part.encode()


def _plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, mimetype="text/plain")
