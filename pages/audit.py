"""The audit log, for administrators: every change, with filters, also as a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, cast
from urllib.parse import urlencode

from dash import Input, Output, callback, dcc, html, no_update, register_page
from dash.development.base_component import Component

from api.client.annotations import AuditEntry
from api.errors import Forbidden, NotOffered, WeirError
from api.timez import stamp
from components import html_json, session, shell
from components.audit_queries import KINDS, PAGE, AuditFilter, audit_page, read_filter
from components.controls import (
    Entry,
    Section,
    attributes,
    failed_page,
    failure,
    labelled,
    menu,
    message,
)
from components.formatting import whole
from components.html_json import as_nodes
from components.shell import ADMIN_PATH, AUDIT_PATH, admin_tabs

PATH: Final = AUDIT_PATH
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


register_page(__name__, path=PATH, title="Audit log · Weir")
NOT_YOURS = "The audit log is for administrators with a key for all devices."
NOT_OFFERED = "This dashboard shows another server’s devices, which keeps its own audit log."


def layout(**query: Any) -> Component:
    audit_filter = read_filter(query)
    try:
        page = audit_page(audit_filter)
    except NotOffered:
        return shell.frame(message("No audit log here", NOT_OFFERED), place=PATH)
    except Forbidden:
        return shell.frame(message("For administrators", NOT_YOURS), place=PATH)
    except WeirError as error:
        return shell.frame(failed_page("The audit log can’t be loaded", error, PATH), place=PATH)
    body = html.Section(
        [
            html_json.store(Ids.LIST),
            html.Div(table(page.entries), id=Ids.LIST, className="nodes"),
            html.Div(pages(audit_filter, page.count), id=Ids.MORE, className="audit-pages"),
        ],
        className="card wide annotation-card",
    )
    top = (html.H1("Administration"), admin_tabs(PATH), heading(audit_filter, page.count))
    return shell.frame(*top, filters(audit_filter), body, place=ADMIN_PATH)


@callback(
    html_json.output(Ids.LIST),
    Output(Ids.COUNT, "children"),
    Output(Ids.MORE, "children"),
    Output(Ids.FILES, "children"),
    Input(Ids.KIND, "value"),
    Input(Ids.SEARCH, "value"),
    Input(Ids.FROM, "value"),
    Input(Ids.TO, "value"),
    prevent_initial_call=True,
)
def filtered(kind: Any, search: Any, first: Any, last: Any) -> tuple[Any, ...]:
    """The log; on failure the last one stays."""
    audit_filter = read_filter({"kind": kind, "q": search, "from": first, "to": last})
    try:
        page = audit_page(audit_filter)
    except WeirError as error:
        return no_update, failure(error), no_update, no_update
    return (
        as_nodes(table(page.entries)),
        counted(page.count),
        pages(audit_filter, page.count),
        files(audit_filter),
    )


html_json.drawn(Ids.LIST)


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
