"""The entries of the device page's export menus, as rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Final
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from dash.development.base_component import Component

from api.catalog import RAW
from api.timez import local_ordinal
from components.device.cards import Card
from components.device.chart_state import Shown, write_shown
from components.menu import LINKS, PDF, Entry, Section, body, of_card
from components.units import US
from components.url_state import BETWEEN

ROOT: Final = "/download/devices"
FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))


# Drawn by the browser itself, as the chart stands there: assets/image.js. A PDF is the server's.
IMAGES: Final = Section(
    "Image of this chart",
    (Entry("PNG", ".png", deed="image-png"), Entry("SVG", ".svg", deed="image-svg"), PDF),
)


def of_chart(device_id: str, shown: Shown, tz: ZoneInfo) -> list[Section]:
    sections = [IMAGES, LINKS, *of_rows(device_id, shown)]
    return [*sections, Section("These days", (report(device_id, shown, tz),))]


def report(device_id: str, shown: Shown, tz: ZoneInfo) -> Entry:
    """Of the days of ``tz`` that are shown, a part of one as a whole."""
    days = (date.fromordinal(local_ordinal(tz, at)).isoformat() for at in shown.window)
    said = {
        "devices": device_id,
        "range": BETWEEN.join(days),
        "zone": shown.zone,
        "units": shown.units.name if shown.units is not US else None,
    }
    query = urlencode({name: text for name, text in said.items() if text})
    return Entry("Report …", "to print", href=f"/report?{query}")


def of_rows(device_id: str, shown: Shown) -> list[Section]:
    """The very rows behind the chart, and all readings of its range."""
    raw = replace(shown, resolution=RAW)
    sections = [_files("Raw readings", device_id, "rows", raw)]
    if shown.resolution is not RAW:
        heading = f"Rows shown · {shown.resolution.label}"
        sections.insert(0, _files(heading, device_id, "rows", shown))
    return sections


def of_days(device_id: str, shown: Shown) -> list[Section]:
    images = of_card("Image of these days", "days")
    return [images, _files("These days", device_id, "days", shown)]


def of_hours(device_id: str, shown: Shown) -> list[Section]:
    images = of_card("Image of these hours", "heat")
    return [images, _files("These hours of the week", device_id, "hours", shown)]


BY_CARD: Final[Mapping[Card, Callable[[str, Shown], list[Section]]]] = {
    Card.DAYS: of_days,
    Card.HEAT: of_hours,
    Card.ROWS: of_rows,
}


def offered(device_id: str, shown: Shown, tz: ZoneInfo) -> list[list[Component]]:
    """The bodies of the menus: the chart's, then each card's. ``tz`` is the zone shown."""
    told = (of_chart(device_id, shown, tz), *(BY_CARD[card](device_id, shown) for card in Card))
    return [body(sections) for sections in told]


def _files(heading: str, device_id: str, what: str, shown: Shown) -> Section:
    said = urlencode({k: v for k, v in write_shown(shown).items() if v is not None})
    path = f"{ROOT}/{quote(device_id, safe='')}/{what}"
    return Section(
        heading,
        tuple(Entry(label, f".{kind}", f"{path}.{kind}?{said}") for kind, label in FORMATS),
    )
