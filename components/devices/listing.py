"""Which devices a list shows, in which order and with which columns: in the address, and as the
grid asks for rows.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.catalog import ORDERS
from api.client import ActiveFilter
from api.insight.findings import KIND_BY_NAME
from api.metering.status import State
from components import formatting
from components.devices.columns import COLUMN_BY_NAME, COLUMNS, USUAL
from components.units import US, Units
from components.url_state import units_param, zone_param

BLOCK: Final = 100  # rows that the grid asks for at once
LONGEST_SEARCH: Final = 100
LONGEST_GROUP: Final = 200
MOST_ROWS: Final = 10_000_000
_ACTIVE: Final = tuple(state.value for state in State if state is not State.INACTIVE)
# By name of a choice its label and the states that it lists.
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
    """``search`` is what label, serial number or network id must contain, ``kind`` a finding that
    must be open; ``columns`` in the order of COLUMNS."""

    status: str = "active"
    search: str = ""
    sort: str = SORTS[0]
    order: str = ORDERS[0]
    group: str = ""
    kind: str = ""
    columns: tuple[str, ...] = USUAL
    units: Units = US
    zone: str | None = None

    @property
    def states(self) -> tuple[str, ...]:
        return STATUSES[self.status][1]

    @property
    def active(self) -> ActiveFilter:
        """For a server that knows no states."""
        return {"inactive": "false", "all": "null"}.get(self.status, "true")  # pyright: ignore[reportReturnType]

    @property
    def descending(self) -> bool:
        return self.order == "desc"

    @property
    def filtered(self) -> bool:
        """Whether the reader's own choice leaves devices out."""
        return bool(self.search or self.group or self.kind) or self.status not in ("active", "all")


@dataclass(frozen=True, slots=True)
class Question:
    """The rows ``first`` (from 0) up to ``first + many`` of a list."""

    listing: Listing = field(default_factory=Listing)
    first: int = 0
    many: int = BLOCK


def read_listing(query: Mapping[str, Any]) -> Listing:
    """From an address' query: ``status``, ``q``, ``group``, ``kind``, ``sort``, ``order``,
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
    """The part of a list that an address holds; None for what is usual."""
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
        "units": listing.units.name if listing.units is not US else None,
        "zone": listing.zone,
    }


CONTEXT: Final = ("status", "q", "group", "kind", "units", "zone")
"""What the grid hands on with each question; columns and sort are its own."""


def read_request(request: Mapping[str, Any]) -> Question:
    """From the grid's ``getRowsRequest``: rows and sorted column are its own, the rest stands in
    its ``context``."""
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
    """The first column of a sort model. The grid lists one and knows no tie: the service does."""
    first = model[0] if isinstance(model, list) and model else None
    if not isinstance(first, Mapping):
        return {}
    return {"sort": first.get("colId"), "order": first.get("sort")}


def _columns(value: Any) -> tuple[str, ...]:
    """Those that are named, and those that are always there."""
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
    """``found`` is read out when it changes; ``empty`` is the reason where there is no row, and
    ``filtered`` whether the reader's own choice is part of it."""
    return {
        "found": _count_text(listing, total),
        "empty": "" if total else _empty(listing),
        "filtered": listing.filtered,
    }


def _which(listing: Listing) -> str:
    if listing.status == "all":
        return ""
    return f"{STATUSES[listing.status][0].lower()} " if listing.status != "no-data" else "unheard "


def _count_text(listing: Listing, total: int) -> str:
    noun = "device" if total == 1 else "devices"
    verb = ("matches" if total == 1 else "match") if listing.search else ""
    return f"{formatting.whole(total)} {_which(listing)}{noun} {verb}".strip()


def _empty(listing: Listing) -> str:
    which = _which(listing)
    of = f" in {listing.group}" if listing.group else ""
    if listing.kind:
        of += f" has an open finding “{KIND_BY_NAME[listing.kind].label}”"
    if listing.search:
        return f"No {which}device{of} matches “{listing.search}”."
    if of:
        return f"No {which}device{of}."
    return f"You don’t have access to any {which}device."
