"""The audit log as a table, and its filter as in the address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final, cast
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from dash import dcc, html
from dash.development.base_component import Component

from api.client.annotations import AuditEntry
from api.timez import from_datetime, stamp
from components import session
from components.controls import Entry, Section, attributes, labelled, menu
from components.formatting import whole
from components.shell import AUDIT_PATH
from components.url_state import text_param

PATH: Final = AUDIT_PATH
PAGE: Final = 100
UTC: Final = ZoneInfo("UTC")
KINDS: Final = (
    "key", "embed", "rule", "receiver", "silence", "alert", "note", "maintenance", "correction",
    "finding", "settings", "readings", "device", "group", "organization", "demo fleet", "budget",
    "tariff", "report",
)  # fmt: skip
HEADS: Final = ("When (UTC)", "Who", "What", "Which", "Change", "Reason")
EMPTY: Final = "Nothing matches."
# Shown by other columns, or meaningless to readers.
IGNORED_FIELDS: Final = frozenset(
    ("id", "deviceId", "created", "createdBy", "changed", "changedBy", "reason", "text",
     "keyId", "organizationId", "revokedBy", "revokeReason")
)  # fmt: skip


class Ids(StrEnum):
    KIND = "audit-kind"
    SEARCH = "audit-search"
    FROM = "audit-from"
    TO = "audit-to"
    LIST = "audit-list"
    COUNT = "audit-count"
    MORE = "audit-more"
    FILES = "audit-files"


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


# --- The page ------------------------------------------------------------------------------------


def counted(count: int) -> str:
    return "1 entry" if count == 1 else f"{whole(count)} entries"


def heading(audit_filter: AuditFilter, count: int) -> Component:
    return html.Div(
        [
            html.H2("Audit log"),
            html.P(counted(count), id=Ids.COUNT, className="quiet", role="status"),
            html.Div(html.Span(files(audit_filter), id=Ids.FILES), className="fleet-right"),
        ],
        className="heading",
    )


def files(audit_filter: AuditFilter) -> Component:
    query = urlencode(audit_filter.query())
    entries = [
        Entry(label, ending, f"/download/audit{ending}{'?' if query else ''}{query}")
        for label, ending in (("CSV", ".csv"), ("Excel workbook", ".xlsx"))
    ]
    return menu("Export", [Section("All that match", tuple(entries))], name="Export the audit log")


def filters(audit_filter: AuditFilter) -> Component:
    return html.Div(
        [
            _typed(Ids.KIND, audit_filter.kind, "Kind: key, note, …", list="audit-kinds"),
            html.Datalist([html.Option(value=kind) for kind in KINDS], id="audit-kinds"),
            _typed(Ids.SEARCH, audit_filter.search, "Search who, which or reason"),
            _typed(Ids.FROM, audit_filter.first, "From: 2026-03-01"),
            _typed(Ids.TO, audit_filter.last, "To: 2026-03-31"),
        ],
        className="notes-filters",
        **labelled("Filter"),
        **attributes(role="search"),
    )


def _typed(id: str, value: str, hint: str, **more: Any) -> Component:
    return dcc.Input(
        id=id, type="search", value=value, placeholder=hint, className="search",
        autoComplete="off", debounce=0.3, **more,
    )  # fmt: skip


def table(entries: Sequence[AuditEntry]) -> list[Component]:
    if not entries:
        return [html.P(EMPTY, className="empty")]
    head = html.Tr([html.Th(name, scope="col") for name in HEADS])
    body = [_row(entry) for entry in entries]
    return [
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="rows audit-table"),
            className="annotation-scroll",
        )
    ]


def _row(entry: AuditEntry) -> Component:
    cells = (
        (stamp(entry.at_ms).replace("T", " ").removesuffix("Z"), "when"),
        (entry.author, "who"),
        (f"{entry.kind}: {entry.action}", "what"),
        (_which(entry), "which"),
    )
    return html.Tr(
        [
            *(
                html.Td(text, className=kind, **attributes(data_head=head))
                for (text, kind), head in zip(cells, HEADS, strict=False)
            ),
            html.Td(_changes(entry), className="changes", **attributes(data_head="Change")),
            html.Td(entry.reason, className="reason", **attributes(data_head="Reason")),
        ]
    )


def _which(entry: AuditEntry) -> list[Any]:
    """The name of the changed thing, if it has one, above its id."""
    state = entry.after or entry.before or {}
    name = state.get("name") or state.get("device")
    if not isinstance(name, str) or name == entry.subject:
        return [entry.subject]
    return [name, html.Div(entry.subject, className="quiet")]


def _changes(entry: AuditEntry) -> list[Component]:
    """The changed fields: before → after."""
    before, after = entry.before or {}, entry.after or {}
    names = [
        name
        for name in {**before, **after}
        if name not in IGNORED_FIELDS and before.get(name) != after.get(name)
    ]
    lines: list[Component] = []
    for name in names:
        was, now = before.get(name), after.get(name)
        if was is None and now in (None, "", [], False):
            continue
        parts: list[Component] = [html.Span(f"{_words(name)}: ", className="quiet")]
        if was is not None:
            parts.append(html.Del(_value(was)))
        if was is not None and now is not None:
            parts.append(html.Span(" → "))
        if now is not None:
            parts.append(html.Span(_value(now)))
        lines.append(html.Li(parts))
    return [html.Ul(lines, className="audit-changes")] if lines else []


def _words(name: str) -> str:
    """``allDevices`` → ``all devices``."""
    return re.sub(r"(?<=[a-z])[A-Z]", lambda match: f" {match[0].lower()}", name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value).items()
        return ", ".join(f"{name} {_value(each)}" for name, each in pairs)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def pages(audit_filter: AuditFilter, count: int) -> list[Component]:
    """Links to the previous and next page."""
    last = -(-count // PAGE)
    links = (
        (audit_filter.page - 1, "Later entries", audit_filter.page > 1),
        (audit_filter.page + 1, "Earlier entries", audit_filter.page < last),
    )
    return [
        html.A(
            label,
            href=session.site_path(f"{PATH}?{urlencode({**audit_filter.query(), 'page': page})}"),
            className="button",
        )
        for page, label, there in links
        if there
    ]
