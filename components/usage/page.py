"""The usage page: its frame, with controls that comparison and report share, and the reply to its
query. assets/usage.js fills and refreshes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, urlencode

from dash import dcc, html, no_update
from dash.development.base_component import Component

from api.errors import WeirError
from api.timez import local_ordinal, zone_or_utc
from components import formatting, html_json
from components.concurrent_queries import Deadline, ServiceAccess
from components.controls import (
    FORMATS,
    Entry,
    Section,
    attributes,
    body,
    labelled,
    menu,
    notice,
    search_field,
    segments,
    select,
    units_select,
    zone_select,
)
from components.fleet.wall import Total
from components.html_json import as_nodes
from components.usage import table
from components.usage.insight_queries import (
    balances_of,
    earlier,
    findings_of,
    month_ends,
    with_tariffs,
)
from components.usage.queries import PAGE_PATIENCE_S, Selection, gather, offered, pick
from components.usage.sections import (
    EARLIER,
    balance_section,
    earlier_total,
    findings_section,
    groups_section,
    month_total,
)
from components.usage.sums import DeviceUsage, ordered, totals
from components.usage.url_state import (
    BETWEEN,
    DEFAULT_RANGE,
    MOST_CHOSEN,
    MOST_COMPARED,
    RANGES,
    SORTS,
    UsageView,
    months,
    write_usage_view,
)

PATH = "/usage"


class Ids(StrEnum):
    """Ids, also used by assets/usage.js."""

    PAGE = "usage"
    QUESTION = "usage-question"
    ANSWER = "usage-answer"
    DRAWN = "usage-drawn"
    SEARCH = "usage-search"
    GROUP = "usage-group"
    CHOSEN = "usage-chosen"
    SOUGHT = "usage-sought"
    OFFERED = "usage-offered"
    DATES = "usage-dates"
    RANGE_WORDS = "usage-range"
    NOTICE = "usage-notice"
    SUMS = "usage-sums"
    TABLE = "usage-table"
    EXPORTS = "usage-exports"
    PROGRESS = "usage-progress"


SHEETS = (Ids.SUMS, Ids.TABLE, Ids.OFFERED)


def usage_page(view: UsageView, today: date) -> Component:
    return html.Div(
        [
            dcc.Store(id=Ids.QUESTION, data=write_usage_view(view)),
            dcc.Store(id=Ids.ANSWER),
            dcc.Store(id=Ids.DRAWN),
            *(html_json.store(id) for id in SHEETS),
            _heading(view, today),
            _which(view),
            notice(Ids.NOTICE),
            html.P(id=Ids.PROGRESS, className="usage-progress quiet", role="status"),
            html.Section(html.Dl(id=Ids.SUMS, className="card totals"), **labelled("Total")),
            html.Div(id=Ids.TABLE, className="card usage-card"),
        ],
        id=Ids.PAGE,
        **attributes(data_state="loading", data_summary=""),
    )


def usage_tools(view: UsageView) -> list[Component]:
    return [units_select(view.units), zone_select("Each device’s zone", view.zone)]


def _heading(view: UsageView, today: date) -> Component:
    return html.Div(
        [
            html.H1("Usage"),
            *ranges(Ids.PAGE, view, today, default=DEFAULT_RANGE),
            html.Span(id=Ids.RANGE_WORDS, className="quiet"),
        ],
        className="heading",
    )


def ranges(
    page: str,
    view: UsageView,
    today: date,
    *,
    default: str,
    more: Sequence[tuple[str, str]] = (),
) -> list[Component]:
    """The choice of days. ``page``: the prefix of the page's ids. ``more``: ranges that only this
    page offers."""
    listed = [*RANGES.items(), *more]
    named = any(view.range == name for name, _ in listed)
    chosen = view.range if named else "custom" if BETWEEN in view.range else ""
    return [
        segments(
            "Range",
            "range",
            [*listed, ("custom", "Custom")],
            chosen=chosen,
            default=default,
        ),
        select("Month", "range", [("", "Another month"), *months(today)], chosen=view.range),
        html.Form(
            id=f"{page}-dates", className="usage-dates", hidden=True, **labelled("Two dates")
        ),
    ]


def _which(view: UsageView) -> Component:
    return html.Div(
        [
            search_field(Ids.SEARCH, "Search devices", value=view.search),
            html.Span(id=Ids.GROUP),
            chooser(Ids.PAGE),
            html.Span(id=Ids.CHOSEN, className="quiet"),
            html.Div(
                [
                    select(
                        "Sort",
                        "sort",
                        [(name, f"Sort: {label}") for name, label in SORTS.items()],
                        chosen=view.sort,
                    ),
                    menu("Export", (), name="Export this summary", body_id=Ids.EXPORTS),
                ],
                className="fleet-right",
            ),
        ],
        className="heading usage-which",
    )


def chooser(page: str) -> Component:
    """The choice of single devices. ``page``: the prefix of the page's ids."""
    return html.Details(
        [
            html.Summary("Choose devices", className="button"),
            html.Div(
                [
                    search_field(f"{page}-sought", "Find devices to choose", hint="Find a device"),
                    html.P(f"Up to {MOST_CHOSEN}, one by one.", className="menu-heading"),
                    html.Div(id=f"{page}-offered", className="offered"),
                ],
                className="menu-body",
            ),
        ],
        className="menu chooser",
    )


# --- The reply to a query ------------------------------------------------------------------------


FILES: Final = (("by-device", "By device"), ("by-day", "By device and day"))


def answer(access: ServiceAccess, view: UsageView, now_ms: int) -> dict[str, Any]:
    """Raises a WeirError if the whole service fails."""
    picked = pick(access, view, now_ms)
    summary = gather(access, picked.meters, view, picked.price, Deadline(PAGE_PATIENCE_S), now_ms)
    whole = summary.progress.complete
    usages = with_tariffs(access, summary.usages, view) if whole else summary.usages
    usages = ordered(usages, view.sort)
    today = local_ordinal(zone_or_utc(view.zone), now_ms)
    first, last = view.dates(today)
    return {
        "empty": picked.words,
        "sums": as_nodes(table.sums_strip(_sums(access, usages, picked, view, whole=whole)))
        if usages
        else [],
        "table": as_nodes(_table(access, usages, picked, view, now_ms, whole=whole))
        if usages
        else [],
        "progress": summary.progress.words,
        "complete": summary.progress.complete,
        "range": table.range_words(view, today),
        "dates": [table.iso(first), table.iso(max(first, last))],
        "chosen": _chosen(picked, view),
        "groups": list(picked.groups),
        "moves": view.moves,
    }


def _sums(
    access: ServiceAccess,
    usages: Sequence[DeviceUsage],
    picked: Selection,
    view: UsageView,
    *,
    whole: bool,
) -> list[Total]:
    """The totals; with the forecast of the month and the comparison once all devices are loaded."""
    made = list(table.sums(totals(usages, len(picked.meters)), view.units))
    if not whole:
        return made
    month = month_total(month_ends(access, usages), view.units)
    before = [(months, earlier(access, usages, months)) for months, _ in EARLIER]
    made += [month] if month is not None else []
    return made + [
        earlier_total(n, comparison, view.units)
        for n, comparison in before
        if comparison is not None
    ]


def _table(
    access: ServiceAccess,
    usages: Sequence[DeviceUsage],
    picked: Selection,
    view: UsageView,
    now_ms: int,
    *,
    whole: bool,
) -> list[Component]:
    """The table; with groups, balances of mains and findings once all devices are loaded."""
    made = [table.table(usages, view)]
    if whole:
        made += groups_section(usages, view.units)
        made += balance_section(balances_of(access, usages, now_ms), view.units)
        made += findings_section(findings_of(access, usages), usages, picked.price, view)
    return made


def _chosen(picked: Selection, view: UsageView) -> str:
    if view.devices:
        return f"{formatting.whole(picked.matched)} selected"
    return formatting.plural(picked.matched, "device")


def choices(access: ServiceAccess, sought: str, chosen: Sequence[str], now_ms: int) -> Any:
    """The devices that match a search, to choose from; no update if they can't be listed."""
    try:
        meters = offered(access, sought, now_ms)
    except WeirError:
        return no_update
    return as_nodes(table.choices(meters, chosen))


def files(view: UsageView) -> list[Any]:
    """The body of the menu."""
    params = {k: v for k, v in write_usage_view(view).items() if v and k != "open"}
    query = urlencode(params)
    sections = [
        Section(
            heading,
            tuple(
                Entry(label, f".{kind}", f"/download/usage/{what}.{kind}?{query}")
                for kind, label in FORMATS
            ),
        )
        for what, heading in FILES
    ]
    here = urlencode({**params, "range": view.range})  # a report has another default
    report = Entry("Report …", "to print", f"/report?{here}")
    scheduled = Entry("Scheduled report …", "by e-mail", "/alerts/budgets?report=new")
    plans = Entry("Budgets and tariffs …", "", "/alerts/budgets")
    made = [*sections, Section("As a document", (report, scheduled)), Section("Money", (plans,))]
    if compared := _compared(view):
        made.append(Section("Side by side", (Entry("Compare …", "", compared),)))
    return body(made)


def _compared(view: UsageView) -> str:
    """The address of the compare page with the same devices, or with the group; "" if it can't show
    them."""
    items = [f"device:{id}" for id in view.devices]
    if not items and view.group and not view.search:
        items = [f"group:{quote(view.group, safe='')}"]
    if not 0 < len(items) <= MOST_COMPARED:
        return ""
    params = {"items": ",".join(items), "range": view.range}
    return f"/compare?{urlencode(params)}"
