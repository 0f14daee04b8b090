"""The entries of the device page's export menus, as rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from dash.development.base_component import Component

from api.catalog import RAW
from api.timez import local_ordinal
from components.device.cards import CARDS, CardRow, Export
from components.device.chart_state import Shown, write_shown
from components.menu import LINKS, PDF, Entry, Section, body
from components.menu import of_card as card_images
from components.units import US
from components.url_state import BETWEEN, SHOWN

ROOT: Final = "/download/devices"
ROWS: Final = "rows"  # the file that can have notes
CHART_MENU: Final = "chart-exports"  # the body of the chart's own menu
FORMATS: Final = (("csv", "CSV"), ("xlsx", "Excel workbook"))


# Drawn by the browser itself, as the chart stands there: assets/image.js. A PDF is the server's.
IMAGES: Final = Section(
    "Image of this chart",
    (Entry("PNG", ".png", deed="image-png"), Entry("SVG", ".svg", deed="image-svg"), PDF),
)


def of_chart(device_id: str, shown: Shown, tz: ZoneInfo) -> list[Section]:
    rows = next(row for row in CARDS if row.paged)
    sections = [IMAGES, LINKS, *of_card(rows, device_id, shown)]
    return [*sections, Section("These days", (report(device_id, shown, tz),))]


def report(device_id: str, shown: Shown, tz: ZoneInfo) -> Entry:
    """Of the days of ``tz`` that are shown, a part of one as a whole."""
    days = (date.fromordinal(local_ordinal(tz, at)).isoformat() for at in shown.window)
    params = {
        "devices": device_id,
        "range": BETWEEN.join(days),
        "zone": shown.zone,
        "units": shown.units.name if shown.units is not US else None,
    }
    query = urlencode({name: text for name, text in params.items() if text})
    return Entry("Report …", "to print", href=f"/report?{query}")


def of_card(row: CardRow, device_id: str, shown: Shown) -> list[Section]:
    """The card's image and its files."""
    images = [card_images(row.image_heading, row.image)] if row.image else []
    return [*images, *_exports(row.exports, device_id, shown)]


def _exports(exports: Sequence[Export], device_id: str, shown: Shown) -> list[Section]:
    """A file of what is shown and one of raw readings are the same where raw readings are shown:
    then there is the latter alone."""
    is_raw = shown.resolution is RAW
    both = any(export.raw for export in exports)
    return [
        _files(_heading(export, shown, both=both), device_id, export.name, _as(export, shown))
        for export in exports
        if export.raw or not (both and is_raw)
    ]


def _heading(export: Export, shown: Shown, *, both: bool) -> str:
    return (
        f"{export.heading} · {shown.resolution.label}"
        if both and not export.raw
        else (export.heading)
    )


def _as(export: Export, shown: Shown) -> Shown:
    return replace(shown, resolution=RAW) if export.raw else shown


def offered(device_id: str, shown: Shown, tz: ZoneInfo) -> list[list[Component]]:
    """The bodies of the menus: the chart's, then each card's. ``tz`` is the zone shown."""
    menus = (of_chart(device_id, shown, tz), *(of_card(row, device_id, shown) for row in CARDS))
    return [body(sections) for sections in menus]


def _files(heading: str, device_id: str, what: str, shown: Shown) -> Section:
    query = urlencode({k: v for k, v in write_shown(shown).items() if v is not None})
    path = f"{ROOT}/{quote(device_id, safe='')}/{what}"
    entries = [Entry(label, f".{kind}", f"{path}.{kind}?{query}") for kind, label in FORMATS]
    if what == ROWS:
        entries.append(Entry("CSV with notes", ".csv", f"{path}.csv?{query}&notes={SHOWN}"))
    return Section(heading, tuple(entries))
