"""The rows of the list: from the status that a Weir server stores, otherwise from the device
list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from api.catalog import INSIGHT_LIMIT
from api.client import Client
from api.client.status import DeviceStatus, StatusPage
from api.errors import NotOffered
from api.metering.status import State
from components import formatting, session
from components.devices.columns import COLUMN_BY_NAME, COLUMNS, Context
from components.devices.url_state import Listing, Question
from components.status_queries import ONLY_WITH_WEIR, SHOWN, bare_page

PATH: Final = "/devices"
GROUPS_TTL_S: Final = 60
PAGE_ROWS: Final = INSIGHT_LIMIT.maximum or 1_000
Row = dict[str, Any]


class Rows(NamedTuple):
    """``total``: the number of rows in the whole list. ``remark``: what this server can't do."""

    rows: list[Row]
    total: int
    remark: str = ""


def rows(client: Client, question: Question, now_ms: int) -> Rows:
    """The rows of the grid's request. Raises a WeirError if the service fails."""
    page, remark = statuses(client, question, now_ms)
    context = Context(question.listing.units, question.listing.zone, now_ms)
    return Rows([_row(row, context) for row in page.rows], page.count, remark)


def statuses(client: Client, question: Question, now_ms: int) -> tuple[StatusPage, str]:
    """One page of statuses, and what this server can't do."""
    listing = question.listing
    try:
        page = client.statuses(
            search=listing.search,
            states=listing.states,
            group=listing.group,
            kind=listing.kind,
            order_by=COLUMN_BY_NAME[listing.sort].order,
            descending=listing.descending,
            limit=question.many,
            offset=question.first,
        )
    except NotOffered:
        page = bare_page(
            client,
            now_ms,
            active=listing.active,
            search=listing.search,
            order_by=listing.sort,
            descending=listing.descending,
            limit=question.many,
            offset=question.first,
        )
        return page, ONLY_WITH_WEIR
    return page, ""


def every_row(client: Client, listing: Listing, now_ms: int) -> Iterator[DeviceStatus]:
    """The whole list, page by page. If the list changes meanwhile, a device that moves between
    pages may be left out, but never occurs twice."""
    seen: set[str] = set()
    first = 0
    while True:
        page, _ = statuses(client, Question(listing, first, PAGE_ROWS), now_ms)
        for row in page.rows:
            if row.device.id not in seen:
                seen.add(row.device.id)
                yield row
        first += PAGE_ROWS
        if first >= page.count or not page.rows:
            return


def group_names() -> list[str]:
    """The groups to choose from; none if the service doesn't respond."""
    return session.remembered("groups", _groups, ttl_s=GROUPS_TTL_S)


def _groups(client: Client) -> list[str]:
    try:
        return list(client.groups())
    except NotOffered:
        return []


# --- Rows ----------------------------------------------------------------------------------------


def _row(row: DeviceStatus, context: Context) -> Row:
    """The device's values by the names of the grid's columns; ``low`` names those that need
    attention."""
    device, seen_ms = row.device, row.last_seen_ms
    state = SHOWN[State(row.state)]
    seen = ("", "")
    if seen_ms is not None:
        at = formatting.moment(seen_ms, context.clock(row, seen_ms), seconds=True)
        seen = (formatting.ago(seen_ms, context.now_ms), at)
    return {
        "id": device.id,
        "href": session.site_path(f"{PATH}/{quote(device.id, safe='')}"),
        "label": device.label,
        "serial": device.serial_number,
        "state": {"name": state.name, "shape": state.shape, "word": state.word,
                  "seen": seen[0], "seen_at": seen[1]},
        "low": [column.name for column in COLUMNS if column.low and column.low(row)],
        **{column.name: column.text(row, context) for column in COLUMNS if column.text},
    }  # fmt: skip
