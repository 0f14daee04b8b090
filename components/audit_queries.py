"""The filter of the audit log, as in the address, and its queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.client import Client
from api.client.annotations import AuditEntry, AuditPage
from api.timez import from_datetime
from components import session
from components.url_state import text_param

PAGE: Final = 100
UTC: Final = ZoneInfo("UTC")
KINDS: Final = (
    "key", "embed", "rule", "receiver", "silence", "alert", "note", "maintenance", "correction",
    "finding", "settings", "readings", "device", "group", "organization", "demo fleet", "budget",
    "tariff", "report",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The filter. Days are UTC, both included; "" means no limit."""

    kind: str = ""
    search: str = ""
    first: str = ""
    last: str = ""
    page: int = 1

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        return _day(self.first, 0), _day(self.last, 86_400_000 - 1)

    def query(self) -> dict[str, str]:
        params = {"kind": self.kind, "q": self.search, "from": self.first, "to": self.last}
        return {name: value for name, value in params.items() if value}


def read_filter(query: Mapping[str, Any]) -> AuditFilter:
    """The filter of an address; invalid values are ignored."""
    kind, page = text_param(query, "kind"), text_param(query, "page", 4)
    days = (text_param(query, name, 10) for name in ("from", "to"))
    first, last = (day if _day(day, 0) is not None else "" for day in days)
    number = int(page) if page.isascii() and page.isdigit() else 1
    return AuditFilter(
        kind if kind in KINDS else "", text_param(query, "q", 100), first, last, max(1, number)
    )


def _day(text: str, offset_ms: int) -> int | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC)) + offset_ms


# --- Queries -------------------------------------------------------------------------------------


BATCH = 1_000


def audit_page(filters: AuditFilter) -> AuditPage:
    """One page of entries. Raises Forbidden without the role of administrator."""
    first, last = filters.bounds
    return session.current_client().audit(
        kind=filters.kind, search=filters.search, from_ms=first, to_ms=last, limit=PAGE,
        offset=(filters.page - 1) * PAGE,
    )  # fmt: skip


def every_entry(client: Client, filters: AuditFilter) -> Iterator[tuple[AuditEntry, ...]]:
    """All matching entries, latest first, loaded in batches."""
    first, last = filters.bounds
    offset = 0
    while True:
        page = client.audit(
            kind=filters.kind, search=filters.search, from_ms=first, to_ms=last, limit=BATCH,
            offset=offset,
        )  # fmt: skip
        if page.entries:
            yield page.entries
        offset += len(page.entries)
        if not page.entries or offset >= page.count:
            return
