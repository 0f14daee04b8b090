"""A list of devices: what is asked, and how its order and pages stand in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from urllib.parse import urlencode

from api.catalog import ORDERS
from api.client import ActiveFilter

PAGE_SIZE: Final = 50
STATUSES: Final[Mapping[str, ActiveFilter]] = {"active": "true", "inactive": "false", "all": "null"}
_LAST_PAGE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """``field`` is the Device field of the interface that the list is ordered by."""

    field: str
    label: str


COLUMNS: Final = (
    Column("label", "Device"),
    Column("networkUniqueIdentifier", "Network id"),
    Column("category", "Category"),
    Column("model", "Model"),
    Column("deviceTimeZone", "Time zone"),
    Column("installedOn", "Installed"),
)
_FIELDS: Final = frozenset(column.field for column in COLUMNS)


@dataclass(frozen=True, slots=True)
class Listing:
    status: str = "active"
    sort: str = "label"
    order: str = "asc"
    page: int = 1

    @property
    def active(self) -> ActiveFilter:
        return STATUSES[self.status]

    @property
    def offset(self) -> int:
        return (self.page - 1) * PAGE_SIZE

    def address(self, **changes: Any) -> str:
        """The address of this list with changes; what is usual isn't said."""
        changed = replace(self, **changes)
        usual = Listing()
        said = {
            name: getattr(changed, name)
            for name in ("status", "sort", "order", "page")
            if getattr(changed, name) != getattr(usual, name)
        }
        return f"?{urlencode(said)}" if said else "?"

    def sorted_by(self, field: str) -> str:
        """The address of this list by another column, or the other way round by the same."""
        turned = field == self.sort and self.order == "asc"
        return self.address(sort=field, order="desc" if turned else "asc", page=1)


def read_listing(said: Mapping[str, Any]) -> Listing:
    """From an address' query; what can't be understood counts as not said."""
    usual = Listing()
    page = str(said.get("page", ""))
    return Listing(
        status=_one_of(said.get("status"), STATUSES, usual.status),
        sort=_one_of(said.get("sort"), _FIELDS, usual.sort),
        order=_one_of(said.get("order"), ORDERS, usual.order),
        page=min(int(page), _LAST_PAGE) if page.isascii() and page.isdigit() and int(page) else 1,
    )


def _one_of(value: Any, allowed: Any, usual: str) -> str:
    return cast(str, value) if isinstance(value, str) and value in allowed else usual


def pages(total: int) -> int:
    return max(1, -(-total // PAGE_SIZE))
