"""The cards below the chart: volume by day, typical week, rows as a table and as files. Each card
loads, fails and is empty on its own."""

from __future__ import annotations

from enum import StrEnum
from zoneinfo import ZoneInfo

from dash import dcc, html
from dash.development.base_component import Component

from components import formatting, html_json
from components.clock import Clock
from components.controls import attributes
from components.device import daily_volume, hourly_profile
from components.menu import menu


class Card(StrEnum):
    """The cards; each is the id of its body."""

    DAYS = "device-days"
    HEAT = "device-heat"
    ROWS = "device-rows"

    @property
    def trouble(self) -> str:
        return f"{self.value}-trouble"

    @property
    def note(self) -> str:
        return f"{self.value}-note"

    @property
    def exports(self) -> str:
        return f"{self.value}-exports"


ROWS_PAGE = "device-rows-page"


def below() -> Component:
    return html.Div(
        [
            _card(Card.DAYS, daily_volume.TITLE),
            _card(Card.HEAT, hourly_profile.TITLE),
            _card(Card.ROWS, "Rows", kind="wide"),
            dcc.Store(id=ROWS_PAGE, data=1),
        ],
        className="below",
    )


def _card(card: Card, title: str, *, kind: str = "") -> Component:
    heading = f"{card.value}-title"
    return html.Section(
        [
            html.Div(
                [
                    html.H2(title, id=heading),
                    html.Span(id=card.note),
                    menu(
                        "Export",
                        (),
                        name=f"Export: {title}",
                        body_id=card.exports,
                        kind="push",
                    ),
                ],
                className="card-head",
            ),
            html.P(id=card.trouble, className="card-trouble"),
            html_json.told(card),
            html_json.told(card.exports),
            html.Div(id=card.value, className="sheet"),
        ],
        className=f"card {kind}".strip(),
        **attributes(aria_labelledby=heading),
    )


def weeks(count: int, end_ms: int, now_ms: int, tz: ZoneInfo) -> str:
    """``last 6 weeks``; of a device that is long silent ``6 weeks to 31 Mar 2013``."""
    if end_ms == now_ms:
        return f"last {count} weeks"
    return f"{count} weeks to {formatting.date_of(end_ms, Clock(tz, end_ms, end_ms))}"
