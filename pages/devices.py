"""The list of devices."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc, html, register_page
from dash.development.base_component import Component

from api.client import Client, Device, DevicePage
from api.errors import WeirError
from components import session, shell, words
from components.clock import Clock, known_zone
from components.listing import COLUMNS, PAGE_SIZE, STATUSES, Column, Listing, pages, read_listing
from components.markup import attributes, labelled
from components.parts import failed_page

PATH = "/devices"
register_page(__name__, path=PATH, title="Devices · Weir")


class Ids(StrEnum):
    SEARCH = "devices-search"
    FOUND = "devices-found"


def layout(**said: Any) -> Component:
    listing = read_listing(said)
    try:
        page = _ask(session.current_client(), listing)
        inactive = _inactive_ids(listing)
    except WeirError as error:
        return shell.frame(
            failed_page("The devices can't be listed", error, PATH + listing.address()),
            place=PATH,
        )
    return shell.frame(
        _heading(listing, page),
        _table(listing, page, inactive) if page.devices else _nothing(listing, page),
        place=PATH,
    )


def _ask(client: Client, listing: Listing) -> DevicePage:
    return client.devices(
        active=listing.active,
        limit=PAGE_SIZE,
        offset=listing.offset,
        order_by=listing.sort,
        order=listing.order,
    )


def _inactive_ids(listing: Listing) -> frozenset[str]:
    """Which devices are inactive. A Device doesn't say it: the list's filter does, so a list of
    both needs the other question."""
    if listing.status == "active":
        return frozenset()
    return frozenset(session.remembered("inactive", _ask_inactive))


def _ask_inactive(client: Client) -> list[str]:
    return [device.id for device in client.devices(active="false").devices]


# --- Parts ---------------------------------------------------------------------------------------


def _heading(listing: Listing, page: DevicePage) -> Component:
    statuses = [
        dcc.Link(
            name.capitalize(),
            href=PATH + listing.address(status=name, page=1),
            className="segment current" if name == listing.status else "segment",
        )
        for name in STATUSES
    ]
    search = dcc.Input(
        id=Ids.SEARCH, type="search", placeholder="Search this page", className="search"
    )
    return html.Div(
        [
            html.H1("Devices"),
            html.Div(statuses, className="segments", role="group", **labelled("Status")),
            html.Div([search], **labelled("Search"), role="search"),
            html.Span(id=Ids.FOUND, className="quiet", role="status"),
            _pager(listing, page),
        ],
        className="heading",
    )


def _pager(listing: Listing, page: DevicePage) -> Component:
    first = min(listing.offset + 1, page.total)
    last = min(listing.offset + len(page.devices), page.total)
    return html.Nav(
        [
            html.Span(f"{words.whole(first)}–{words.whole(last)} of {words.whole(page.total)}"),
            _turn("‹", "Previous page", listing, listing.page - 1, page.total),
            _turn("›", "Next page", listing, listing.page + 1, page.total),
        ],
        className="pager",
        **labelled("Pages"),
    )


def _turn(sign: str, name: str, listing: Listing, number: int, total: int) -> Component:
    if not 1 <= number <= pages(total):
        return html.Span(sign, className="button icon disabled", **attributes(aria_hidden="true"))
    href = PATH + listing.address(page=number)
    return dcc.Link(sign, href=href, className="button icon", title=name)


def _table(listing: Listing, page: DevicePage, inactive: frozenset[str]) -> Component:
    head = html.Tr([*(_header(listing, column) for column in COLUMNS), html.Th("Status")])
    body = [_row(device, active=device.id not in inactive) for device in page.devices]
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(body)], className="list"), className="card"
    )


def _header(listing: Listing, column: Column) -> Component:
    sorted_so = listing.sort == column.field
    arrow = {"asc": " ↑", "desc": " ↓"}[listing.order] if sorted_so else ""
    order = {"asc": "ascending", "desc": "descending"}[listing.order] if sorted_so else "none"
    link = dcc.Link(column.label + arrow, href=PATH + listing.sorted_by(column.field))
    return html.Th(link, scope="col", **attributes(aria_sort=order))


def _row(device: Device, *, active: bool) -> Component:
    name = dcc.Link(device.label, href=f"{PATH}/{device.id}", className="name")
    cells = (
        html.Th([name, html.Span(device.serial_number, className="quiet")], scope="row"),
        html.Td(device.network_unique_identifier),
        html.Td(device.category),
        html.Td(device.model),
        html.Td(device.time_zone),
        html.Td(_installed(device)),
        html.Td(_status(active=active)),
    )
    return html.Tr(cells, **attributes(data_row=""))


def _installed(device: Device) -> str:
    if device.installed_on_ms is None or not device.installed:
        return words.NOTHING
    at = device.installed_on_ms
    return words.date_of(at, Clock(known_zone(device.time_zone), at, at))


def _status(*, active: bool) -> Component:
    kind, word = ("ok", "Active") if active else ("off", "Inactive")
    return html.Span(word, className=f"state {kind}")


def _nothing(listing: Listing, page: DevicePage) -> Component:
    """Why the list is empty: beyond its end, or no such device in the key's scope."""
    if page.total:
        return html.P("The list ends before this page.", className="card empty")
    which = "" if listing.status == "all" else f"{listing.status} "
    return html.P(f"This key sees no {which}device.", className="card empty")


clientside_callback(
    ClientsideFunction("list", "search"),
    Output(Ids.FOUND, "children"),
    Input(Ids.SEARCH, "value"),
)
