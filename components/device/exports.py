"""What the menus of a device's page offer of what it shows, as rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote, urlencode

from dash.development.base_component import Component

from api.catalog import RAW
from components.device.below import Card
from components.device.shown import Shown, write_shown
from components.images.offer import LINKS, PDF
from components.menu import Entry, Section, body

ROOT: Final = "/download/devices"
FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))


# Drawn by the browser itself, as the chart stands there: assets/image.js. A PDF is the server's.
IMAGES: Final = Section(
    "Image of this chart",
    (Entry("PNG", ".png", deed="image-png"), Entry("SVG", ".svg", deed="image-svg"), PDF),
)


def of_chart(device_id: str, shown: Shown) -> list[Section]:
    return [IMAGES, LINKS, *of_rows(device_id, shown)]


def of_rows(device_id: str, shown: Shown) -> list[Section]:
    """The very rows behind the chart, and all readings of its range."""
    raw = replace(shown, resolution=RAW)
    sections = [_files("Raw readings", device_id, "rows", raw)]
    if shown.resolution is not RAW:
        heading = f"Rows shown · {shown.resolution.label}"
        sections.insert(0, _files(heading, device_id, "rows", shown))
    return sections


def of_days(device_id: str, shown: Shown) -> list[Section]:
    return [_files("These days", device_id, "days", shown)]


def of_hours(device_id: str, shown: Shown) -> list[Section]:
    return [_files("These hours of the week", device_id, "hours", shown)]


BY_CARD: Final[Mapping[Card, Callable[[str, Shown], list[Section]]]] = {
    Card.DAYS: of_days,
    Card.HEAT: of_hours,
    Card.ROWS: of_rows,
}


def offered(device_id: str, shown: Shown) -> list[list[Component]]:
    """The bodies of the menus: the chart's, then each card's."""
    told = (of_chart(device_id, shown), *(BY_CARD[card](device_id, shown) for card in Card))
    return [body(sections) for sections in told]


def _files(heading: str, device_id: str, what: str, shown: Shown) -> Section:
    said = urlencode({k: v for k, v in write_shown(shown).items() if v is not None})
    path = f"{ROOT}/{quote(device_id, safe='')}/{what}"
    return Section(
        heading,
        tuple(Entry(label, f".{kind}", f"{path}.{kind}?{said}") for kind, label in FORMATS),
    )
