"""The device list's filters, order and columns, in the address and in the grid's requests; and its
rows, from the status that a Weir server stores, otherwise from the device list.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from api.catalog import INSIGHT_LIMIT, ORDERS
from api.client import ActiveFilter, Client
from api.client.status import DeviceStatus, StatusPage
from api.errors import NotOffered
from api.insight.findings import KIND_BY_NAME
from api.metering.status import State
from components import formatting, session
from components.devices.columns import COLUMN_BY_NAME, COLUMNS, USUAL, Context
from components.status_queries import ONLY_WITH_WEIR, SHOWN, bare_page
from components.units import Units, usual_units, write_units
from components.url_state import units_param, zone_param

# --- The view ------------------------------------------------------------------------------------


BLOCK: Final = 100  # rows that the grid requests at once
LONGEST_SEARCH: Final = 100
LONGEST_GROUP: Final = 200
MOST_ROWS: Final = 10_000_000
_ACTIVE: Final = tuple(state.value for state in State if state is not State.INACTIVE)
# A choice's label, and the states that it lists, by its name.
STATUSES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "active": ("Active", ()),
    "reporting": ("Reporting", (State.REPORTING,)),
    "degraded": ("Degraded", (State.DEGRADED,)),
    "silent": ("Silent", (State.SILENT,)),
    "no-data": ("No data", (State.NO_DATA,)),
    "inactive": ("Inactive", (State.INACTIVE,)),
    "all": ("All, inactive too", (*_ACTIVE, State.INACTIVE)),
}
SORTS: Final = tuple(column.name for column in COLUMNS if column.order)


@dataclass(frozen=True, slots=True)
class Listing:
    """``search``: a part of the label, serial number or network id. ``kind``: of a finding that
    must be open. ``columns``: in the order of COLUMNS."""

    status: str = "active"
    search: str = ""
    sort: str = SORTS[0]
    order: str = ORDERS[0]
    group: str = ""
    kind: str = ""
    columns: tuple[str, ...] = USUAL
    units: Units = field(default_factory=usual_units)
    zone: str | None = None

    @property
    def states(self) -> tuple[str, ...]:
        return STATUSES[self.status][1]

    @property
    def active(self) -> ActiveFilter:
        """Whether active devices are listed, for a server without states."""
        return {"inactive": "false", "all": "null"}.get(self.status, "true")  # pyright: ignore[reportReturnType]

    @property
    def descending(self) -> bool:
        return self.order == "desc"

    @property
    def filtered(self) -> bool:
        """Whether a filter leaves devices out."""
        return bool(self.search or self.group or self.kind) or self.status not in ("active", "all")


@dataclass(frozen=True, slots=True)
class Question:
    """The rows from ``first`` (counted from 0) to ``first + many`` of a list."""

    listing: Listing = field(default_factory=Listing)
    first: int = 0
    many: int = BLOCK


def read_listing(query: Mapping[str, Any]) -> Listing:
    """From the query of an address: ``status``, ``q``, ``group``, ``kind``, ``sort``, ``order``,
    ``columns``, ``units``, ``zone``."""
    usual = Listing()
    return Listing(
        status=_one_of(query.get("status"), STATUSES, usual.status),
        search=_text(query.get("q"), LONGEST_SEARCH),
        sort=_one_of(query.get("sort"), SORTS, usual.sort),
        order=_one_of(query.get("order"), ORDERS, usual.order),
        group=_text(query.get("group"), LONGEST_GROUP),
        kind=_one_of(query.get("kind"), KIND_BY_NAME, usual.kind),
        columns=_columns(query.get("columns")),
        units=units_param(query),
        zone=zone_param(query),
    )


def write_listing(listing: Listing) -> dict[str, str | None]:
    """The list's parameters in an address; None for defaults."""
    usual = Listing()
    return {
        "status": listing.status if listing.status != usual.status else None,
        "q": listing.search or None,
        "group": listing.group or None,
        "kind": listing.kind or None,
        "sort": listing.sort if listing.sort != usual.sort else None,
        "order": listing.order if listing.order != usual.order else None,
        "columns": ",".join(listing.columns) or "label"
        if listing.columns != usual.columns
        else None,
        "units": write_units(listing.units),
        "zone": listing.zone,
    }


CONTEXT: Final = ("status", "q", "group", "kind", "units", "zone")
"""The context that the grid sends with each request; columns and sort are the grid's own."""


def read_request(request: Mapping[str, Any]) -> Question:
    """From the grid's ``getRowsRequest``: rows and sort are its own, the rest is in its
    ``context``."""
    context = request.get("context")
    params = dict(context) if isinstance(context, Mapping) else {}
    first = _count(request.get("startRow"), 0)
    many = _count(request.get("endRow"), first + BLOCK) - first
    return Question(
        listing=read_listing(params | _sorted(request.get("sortModel"))),
        first=first,
        many=many if 0 < many <= BLOCK else BLOCK,
    )


def _sorted(model: Any) -> dict[str, Any]:
    """The first column of a sort model. The grid sorts by one; the service breaks ties."""
    first = model[0] if isinstance(model, list) and model else None
    if not isinstance(first, Mapping):
        return {}
    return {"sort": first.get("colId"), "order": first.get("sort")}


def _columns(value: Any) -> tuple[str, ...]:
    """The named columns, and those that are always shown."""
    if not isinstance(value, str) or not value:
        return USUAL
    named = set(value.split(","))
    if not named & COLUMN_BY_NAME.keys():
        return USUAL
    return tuple(c.name for c in COLUMNS if c.name in named and not c.fixed)


def _count(value: Any, usual: int) -> int:
    return value if type(value) is int and 0 <= value <= MOST_ROWS else usual


def _one_of(value: Any, allowed: Container[str], usual: str) -> str:
    return value if isinstance(value, str) and value in allowed else usual


def _text(value: Any, longest: int) -> str:
    return " ".join(value[:longest].split()) if isinstance(value, str) else ""


# --- Texts around the list -----------------------------------------------------------------------


def list_texts(listing: Listing, total: int) -> dict[str, Any]:
    """``count_text``: read out by screen readers when it changes. ``empty``: the reason for an
    empty list; ``filtered``: whether a filter is part of that reason."""
    return {
        "count_text": _count_text(listing, total),
        "empty": "" if total else _empty(listing),
        "filtered": listing.filtered,
    }


def _noun(listing: Listing, count: int = 1) -> str:
    noun = "device" if count == 1 else "devices"
    if listing.status == "all":
        return noun
    if listing.status == "no-data":
        return f"{noun} without data"
    return f"{STATUSES[listing.status][0].lower()} {noun}"


def _count_text(listing: Listing, total: int) -> str:
    verb = ("matches" if total == 1 else "match") if listing.search else ""
    return f"{formatting.whole(total)} {_noun(listing, total)} {verb}".strip()


def _empty(listing: Listing) -> str:
    noun = _noun(listing)
    of = f" in {listing.group}" if listing.group else ""
    if listing.kind:
        of += f" has an open finding “{KIND_BY_NAME[listing.kind].label}”"
    if listing.search:
        return f"No {noun}{of} matches “{listing.search}”."
    if of or listing.states:
        return f"No {noun}{of}."
    return f"No {noun} yet, or none that you have access to."


# --- The rows ------------------------------------------------------------------------------------


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
