"""Which devices a list shows, in which order: in the address, and as the grid asks for rows.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.catalog import ORDERS
from api.client import ActiveFilter
from components import formatting

BLOCK: Final = 100  # rows that the grid asks for at once
LONGEST_SEARCH: Final = 100
MOST_ROWS: Final = 10_000_000
STATUSES: Final[Mapping[str, ActiveFilter]] = {"active": "true", "inactive": "false", "all": "null"}
# The grid's columns that have an order: fields of the interface's Device.
SORTS: Final = (
    "label",
    "networkUniqueIdentifier",
    "category",
    "model",
    "deviceTimeZone",
    "installedOn",
)


@dataclass(frozen=True, slots=True)
class Listing:
    """``search`` is what label, serial number or network id must contain."""

    status: str = "active"
    search: str = ""
    sort: str = SORTS[0]
    order: str = ORDERS[0]

    @property
    def active(self) -> ActiveFilter:
        return STATUSES[self.status]

    @property
    def descending(self) -> bool:
        return self.order == "desc"


@dataclass(frozen=True, slots=True)
class Question:
    """The rows ``first`` (from 0) up to ``first + many`` of a list."""

    listing: Listing = field(default_factory=Listing)
    first: int = 0
    many: int = BLOCK


def read_listing(said: Mapping[str, Any]) -> Listing:
    """From an address' query: ``status``, ``q``, ``sort``, ``order``."""
    usual, search = Listing(), said.get("q")
    return Listing(
        status=_one_of(said.get("status"), STATUSES, usual.status),
        search=" ".join(search[:LONGEST_SEARCH].split()) if isinstance(search, str) else "",
        sort=_one_of(said.get("sort"), SORTS, usual.sort),
        order=_one_of(said.get("order"), ORDERS, usual.order),
    )


def write_listing(listing: Listing) -> dict[str, str | None]:
    """The part of a list that an address holds; None for what is usual."""
    usual = Listing()
    return {
        "status": listing.status if listing.status != usual.status else None,
        "q": listing.search or None,
        "sort": listing.sort if listing.sort != usual.sort else None,
        "order": listing.order if listing.order != usual.order else None,
    }


def read_request(request: Mapping[str, Any]) -> Question:
    """From the grid's ``getRowsRequest``: rows and sorted column are its own, status and search
    stand in its ``context``."""
    context = request.get("context")
    said = dict(context) if isinstance(context, Mapping) else {}
    first = _count(request.get("startRow"), 0)
    many = _count(request.get("endRow"), first + BLOCK) - first
    return Question(
        listing=read_listing(said | _sorted(request.get("sortModel"))),
        first=first,
        many=many if 0 < many <= BLOCK else BLOCK,
    )


def _sorted(model: Any) -> dict[str, Any]:
    """The first column of a sort model. The grid lists one and knows no tie: the service does."""
    first = model[0] if isinstance(model, list) and model else None
    if not isinstance(first, Mapping):
        return {}
    return {"sort": first.get("colId"), "order": first.get("sort")}


def _count(value: Any, usual: int) -> int:
    return value if type(value) is int and 0 <= value <= MOST_ROWS else usual


def _one_of(value: Any, allowed: Container[str], usual: str) -> str:
    return value if isinstance(value, str) and value in allowed else usual


# --- Texts around the list -----------------------------------------------------------------------


def told(listing: Listing, total: int) -> dict[str, Any]:
    """``found`` is read out when it changes; ``empty`` is the reason where there is no row, and
    ``filtered`` whether the reader's own choice is part of it."""
    return {
        "found": _found(listing, total),
        "empty": "" if total else _empty(listing),
        "filtered": bool(listing.search) or listing.status == "inactive",
    }


def _found(listing: Listing, total: int) -> str:
    which = "" if listing.status == "all" else f"{listing.status} "
    noun = "device" if total == 1 else "devices"
    verb = ("matches" if total == 1 else "match") if listing.search else ""
    return f"{formatting.whole(total)} {which}{noun} {verb}".strip()


def _empty(listing: Listing) -> str:
    which = "" if listing.status == "all" else f"{listing.status} "
    if listing.search:
        return f"No {which}device matches “{listing.search}”."
    return f"You don’t have access to any {which}device."
