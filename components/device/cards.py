"""The cards below a device's chart, as rows: volume by day, typical week, the rows themselves. A
card is its title, its query, its content and its menu: one row here, its drawing in a file beside
this one, its files in `web/downloads`, its image in `web/images`. Each card loads, fails and is
empty on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from dash import dcc, html
from dash.development.base_component import Component

from api.metering.hourly_profile import WEEKS
from components import formatting
from components.clock import Clock
from components.controls import attributes
from components.device import (
    daily_volume,
    finding_list,
    forecast_card,
    hourly_profile,
    insight_queries,
    queries,
    row_table,
)
from components.device.kpi_rows import Question, When
from components.formatting import measures_water
from components.menu import menu


class Export(NamedTuple):
    """A file of a card: ``name`` is that of its address, ``/download/devices/<id>/<name>``. With
    ``raw`` it holds every reading, whatever rows are shown."""

    heading: str
    name: str
    raw: bool = False


class CardRow(NamedTuple):
    """``draw`` makes the card's body and the note beside its title. ``image`` is its name in the
    address of its image, "" where it has none; ``image_heading`` is over it in the menu.
    """

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
    findings = insight_queries.findings(query.device_id).findings
    context = finding_list.FindingContext(
        insight_queries.own_directory(query.meter), query.shown.units, query.tz, query.now_ms
    )
    return finding_list.listing(findings, context), finding_list.summary(findings)


def _days(query: Question) -> tuple[Sequence[Component], str]:
    end_ms, tz = queries.until(query.device_id, query.now_ms), query.tz
    gallons = queries.daily(query.device_id, tz, end_ms)
    days = daily_volume.days(gallons, tz, end_ms, under_way=end_ms == query.now_ms)
    note = f"{weeks(daily_volume.WEEKS, end_ms, query.now_ms, tz)}, days in {tz.key}"
    return daily_volume.bars(days, query.shown.units), note


def _hours(query: Question) -> tuple[Sequence[Component], str]:
    end_ms, tz = queries.until(query.device_id, query.now_ms), query.tz
    week, units = queries.weekly(query.device_id, tz, end_ms), query.shown.units
    note = f"mean {units.flow_name}, {weeks(WEEKS, end_ms, query.now_ms, tz)}"
    return hourly_profile.heat_map(week, units), note


def _forecast(query: Question) -> tuple[Sequence[Component], str]:
    hours = insight_queries.forecast(query.device_id)
    body = forecast_card.forecast_card(hours, query.shown.units, query.tz)
    return body, forecast_card.note(hours)


def _rows(query: Question) -> tuple[Sequence[Component], str]:
    shown, tz = query.shown, query.tz
    page = queries.row_page(query.device_id, shown.resolution, shown.window, tz, query.page)
    note = f"{shown.resolution.label}, latest first, {tz.key}"
    others = insight_queries.others_of(query.device_id, shown, page.rows, tz)
    return row_table.table(page, tz, shown.units, others, shown.compare), note


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
        daily_volume.TITLE,
        _days,
        (Export("These days", "days"),),
        when=When.HOURLY,
        image="days",
        image_heading="Image of these days",
        water=True,
    ),
    CardRow(
        "device-heat",
        hourly_profile.TITLE,
        _hours,
        (Export("These hours of the week", "hours"),),
        when=When.HOURLY,
        image="heat",
        image_heading="Image of these hours",
        water=True,
    ),
    CardRow(
        "device-forecast",
        forecast_card.TITLE,
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
)


def below(category: str) -> Component:
    """Cards of volumes stay hidden for a device that measures no water."""
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
            html.Div(id=row.id, className="sheet"),
        ],
        className="card wide" if row.wide else "card",
        hidden=hidden,
        **attributes(aria_labelledby=heading),
    )


def weeks(count: int, end_ms: int, now_ms: int, tz: ZoneInfo) -> str:
    """``last 6 weeks``; of a device that is long silent ``6 weeks to 31 Mar 2013``."""
    if end_ms == now_ms:
        return f"last {count} weeks"
    return f"{count} weeks to {formatting.date_of(end_ms, Clock(tz, end_ms, end_ms))}"
