"""Mains against their sub-meters, in the days of a summary: unaccounted-for water."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from dash import html
from dash.development.base_component import Component

from api.client.balance import Balance, MeteredVolume
from components import formatting, session
from components.controls import labelled
from components.units import Units

HEADS = ("Main in", "Sub-meters out", "Unaccounted for", "Share", "Hours compared")


def section(balances: Sequence[Balance], units: Units, *, kind: str = "usage") -> list[Component]:
    """Each main with its sub-meters; nothing where there are none. ``kind``: the table's class."""
    if not balances:
        return []
    rows = [row for balance in balances for row in _rows(balance, units)]
    heads = [html.Th(head, scope="col", className="number") for head in HEADS]
    return [
        html.H2("Mains and sub-meters"),
        html.P(_note(balances), className="quiet"),
        html.Div(
            html.Table(
                [html.Thead(html.Tr([html.Th("Main", scope="col"), *heads])), html.Tbody(rows)],
                className=f"{kind} balance",
                **labelled("Mains and sub-meters"),
            ),
            className="usage-scroll" if kind == "usage" else "report-scroll",
            role="region",
            tabIndex=0,
            **labelled("Mains and sub-meters: table, scrollable"),
        ),
    ]


def _note(balances: Sequence[Balance]) -> str:
    complete = all(balance.compared == balance.hours for balance in balances)
    note = "Volumes over the hours in which each of the meters has at least 90% of its readings"
    return f"{note}: every hour of the range." if complete else f"{note}."


def _rows(balance: Balance, units: Units) -> list[Component]:
    difference, share = balance.difference, balance.share
    compared = f"{formatting.whole(balance.compared)} of {formatting.whole(balance.hours)} h"
    cells = (
        units.volume(balance.main.gallons),
        units.volume(balance.outlet),
        units.volume(difference),
        formatting.NOTHING if share is None else f"{formatting.exact(100 * share, 1)}%",
        compared,
    )
    return [
        _row(balance.main, cells),
        *(_row(each, ("", units.volume(each.gallons), "", "", "")) for each in balance.sub_meters),
    ]


def _row(meter: MeteredVolume, cells: Sequence[str]) -> Component:
    """``cells`` of a sub-meter, which stands below its main, begin with an empty one."""
    href = session.site_path(f"/devices/{quote(meter.device_id, safe='')}")
    serial = html.Span(meter.serial_number, className="quiet")
    name = html.Span([html.A(meter.label, href=href), serial], className="named")
    return html.Tr(
        [
            html.Th(html.Div(name, className="who"), scope="row"),
            *(html.Td(cell, className="number") for cell in cells),
        ],
        className="" if cells[0] else "sub-meter",
    )
