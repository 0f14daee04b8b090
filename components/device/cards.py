"""The cards below a device's chart, as rows of a table, and the entries of the page's menus. A card
is its title, query, content and menu: one row here. Its drawing is in a module beside this one, its
files in `web/downloads`, its image in `web/images`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from dash import dcc, html
from dash.development.base_component import Component

from api.catalog import RAW
from api.metering.hourly_profile import WEEKS
from api.metering.register import settings_of
from api.timez import local_ordinal
from components import formatting, session
from components.controls import FORMATS, LINKS, PDF, Entry, Section, attributes, body, menu
from components.controls import of_card as card_images
from components.device import finding_list, queries, reading_cards, volume_cards
from components.device.kpi_cards import Question, When
from components.formatting import Clock, measures_water
from components.units import write_units
from components.url_state import BETWEEN, SHOWN, Shown, write_shown


class Export(NamedTuple):
    """A file of a card. ``name``: as in its address, ``/download/devices/<id>/<name>``. ``raw``:
    with every reading, whatever rows are shown."""

    heading: str
    name: str
    raw: bool = False


class CardRow(NamedTuple):
    """``draw`` makes the card's body and the note beside its title. ``image``: the name in the
    address of its image, "" without one; ``image_heading``: its heading in the menu. An
    ``optional`` card is hidden while it is empty."""

    id: str
    title: str
    draw: Callable[[Question], tuple[Sequence[Component], str]]
    exports: tuple[Export, ...]
    image: str = ""
    image_heading: str = ""
    when: When = When.STEADY
    paged: bool = False
    wide: bool = False
    water: bool = False
    optional: bool = False

    @property
    def failure_id(self) -> str:
        return f"{self.id}-trouble"

    @property
    def note_id(self) -> str:
        return f"{self.id}-note"

    @property
    def menu_id(self) -> str:
        return f"{self.id}-exports"


def _findings(query: Question) -> tuple[Sequence[Component], str]:
    findings = queries.findings(query.device_id).findings
    context = finding_list.FindingContext(
        queries.own_directory(query.meter), query.shown.units, query.tz, query.now_ms
    )
    return finding_list.listing(findings, context), finding_list.summary(findings)


def _days(query: Question) -> tuple[Sequence[Component], str]:
    end_ms, tz = queries.until(query.device_id, query.now_ms), query.tz
    gallons = queries.daily(query.device_id, tz, end_ms)
    days = volume_cards.days(gallons, tz, end_ms, under_way=end_ms == query.now_ms)
    note = f"{weeks(volume_cards.WEEKS, end_ms, query.now_ms, tz)}, days in {tz.key}"
    return volume_cards.day_bars(days, query.shown.units), note


def _hours(query: Question) -> tuple[Sequence[Component], str]:
    end_ms, tz = queries.until(query.device_id, query.now_ms), query.tz
    week, units = queries.weekly(query.device_id, tz, end_ms), query.shown.units
    note = f"mean {units.flow_name}, {weeks(WEEKS, end_ms, query.now_ms, tz)}"
    return volume_cards.heat_map(week, units), note


def _forecast(query: Question) -> tuple[Sequence[Component], str]:
    hours = queries.forecast(query.device_id)
    body = volume_cards.forecast_card(hours, query.shown.units, query.tz)
    href = session.site_path(f"/alerts/budgets?device={quote(query.meter.serial, safe='')}")
    budget = html.P(html.A("Set a monthly budget", href=href), className="quiet")
    return [*body, budget], volume_cards.forecast_note(hours)


def _rows(query: Question) -> tuple[Sequence[Component], str]:
    shown, tz = query.shown, query.tz
    page = queries.row_page(query.device_id, shown.resolution, shown.window, tz, query.page)
    note = f"{shown.resolution.label}, latest first, {tz.key}"
    others = queries.others_of(query.device_id, shown, page.rows, tz)
    spread = queries.spread_spans(query.device_id, page.rows)
    return reading_cards.row_table(page, tz, shown.units, others, shown.compare, spread), note


def _register(query: Question) -> tuple[Sequence[Component], str]:
    """The register's card; empty for a device without registers."""
    registers = queries.latest_registers(query.device_id)
    if not registers:
        return [], ""
    exchanges = settings_of(query.row.device.config, None).exchanges
    note = reading_cards.register_note(registers, exchanges, query.tz, query.now_ms)
    return reading_cards.register_card(registers, query.shown.units, query.tz), note


CARDS: Final = (
    CardRow(
        finding_list.CARD,
        "Findings",
        _findings,
        (Export("All findings of this device", "findings"),),
        wide=True,
    ),
    CardRow(
        "device-days",
        volume_cards.DAYS_TITLE,
        _days,
        (Export("These days", "days"),),
        when=When.HOURLY,
        image="days",
        image_heading="Image of these days",
        water=True,
    ),
    CardRow(
        "device-heat",
        volume_cards.WEEK_TITLE,
        _hours,
        (Export("These hours of the week", "hours"),),
        when=When.HOURLY,
        image="heat",
        image_heading="Image of these hours",
        water=True,
    ),
    CardRow(
        "device-forecast",
        volume_cards.FORECAST_TITLE,
        _forecast,
        (Export("These hours", "forecast"),),
        when=When.HOURLY,
        wide=True,
    ),
    CardRow(
        "device-rows",
        "Rows",
        _rows,
        (Export("Rows shown", "rows"), Export("Raw readings", "rows", raw=True)),
        when=When.RANGE,
        paged=True,
        wide=True,
    ),
    CardRow(
        reading_cards.REGISTER_CARD,
        reading_cards.REGISTER_TITLE,
        _register,
        (Export("All registers", "registers"),),
        wide=True,
        water=True,
        optional=True,
    ),
)


def below(category: str) -> Component:
    """The cards. Those of volumes stay hidden for a device that measures no water."""
    water = measures_water(category)
    stores = (finding_list.DEED, finding_list.DONE)
    return html.Div(
        [
            html.P(id=finding_list.OUTCOME, className="wide finding-outcome", role="status"),
            *(_card(row, hidden=row.water and not water) for row in CARDS),
            *(dcc.Store(id=store) for store in stores),
        ],
        className="below",
    )


def _card(row: CardRow, *, hidden: bool) -> Component:
    heading = f"{row.id}-title"
    return html.Section(
        [
            html.Div(
                [
                    html.H2(row.title, id=heading),
                    html.Span(id=row.note_id),
                    menu(
                        "Export",
                        (),
                        name=f"Export: {row.title}",
                        body_id=row.menu_id,
                        kind="push",
                    ),
                ],
                className="card-head",
            ),
            html.P(id=row.failure_id, className="card-trouble"),
            html.Div(id=row.id, className="nodes"),
        ],
        className=" ".join(("card", *(["wide"] * row.wide), *(["optional-card"] * row.optional))),
        hidden=hidden,
        **attributes(aria_labelledby=heading),
    )


def weeks(count: int, end_ms: int, now_ms: int, tz: ZoneInfo) -> str:
    """``last 6 weeks``; ``6 weeks to 31 Mar 2013`` for a device that has been silent for long."""
    if end_ms == now_ms:
        return f"last {count} weeks"
    return f"{count} weeks to {formatting.date_of(end_ms, Clock(tz, end_ms, end_ms))}"


# --- Menus ----------------------------------------------------------------------------------------


DOWNLOADS: Final = "/download/devices"
ROWS_FILE: Final = "rows"  # the file that can have notes
CHART_MENU: Final = "chart-exports"  # the body of the chart's own menu


# Drawn by the browser from the chart on screen: assets/image.js. The server makes the PDF.
CHART_IMAGES: Final = Section(
    "Image of this chart",
    (Entry("PNG", ".png", deed="image-png"), Entry("SVG", ".svg", deed="image-svg"), PDF),
)


def menu_of_chart(device_id: str, shown: Shown, tz: ZoneInfo) -> list[Section]:
    rows = next(row for row in CARDS if row.paged)
    sections = [CHART_IMAGES, LINKS, *menu_of_card(rows, device_id, shown)]
    return [*sections, Section("These days", (report_entry(device_id, shown, tz),))]


def report_entry(device_id: str, shown: Shown, tz: ZoneInfo) -> Entry:
    """The link to a report of the shown local days of ``tz``, in full."""
    days = (date.fromordinal(local_ordinal(tz, at)).isoformat() for at in shown.window)
    params = {
        "devices": device_id,
        "range": BETWEEN.join(days),
        "zone": shown.zone,
        "units": write_units(shown.units),
    }
    query = urlencode({name: text for name, text in params.items() if text})
    return Entry("Report …", "to print", href=f"/report?{query}")


def menu_of_card(row: CardRow, device_id: str, shown: Shown) -> list[Section]:
    """The card's image and its files."""
    images = [card_images(row.image_heading, row.image)] if row.image else []
    return [*images, *_exports(row.exports, device_id, shown)]


def _exports(exports: Sequence[Export], device_id: str, shown: Shown) -> list[Section]:
    """The files of a card. With raw readings shown, the file of the shown rows equals that of raw
    readings, so only the latter is listed."""
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


def menus(device_id: str, shown: Shown, tz: ZoneInfo) -> list[list[Component]]:
    """The bodies of the menus: the chart's, then each card's. ``tz``: the zone shown."""
    entries = (
        menu_of_chart(device_id, shown, tz),
        *(menu_of_card(row, device_id, shown) for row in CARDS),
    )
    return [body(sections) for sections in entries]


def _files(heading: str, device_id: str, what: str, shown: Shown) -> Section:
    query = urlencode({k: v for k, v in write_shown(shown).items() if v is not None})
    path = f"{DOWNLOADS}/{quote(device_id, safe='')}/{what}"
    entries = [Entry(label, f".{kind}", f"{path}.{kind}?{query}") for kind, label in FORMATS]
    if what == ROWS_FILE:
        entries.append(Entry("CSV with notes", ".csv", f"{path}.csv?{query}&notes={SHOWN}"))
    return Section(heading, tuple(entries))
