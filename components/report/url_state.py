"""The view of a report, in its address and in the browser's query.

A page ignores invalid values, as every page does. A file is read strictly: on paper a wrong report
looks like a right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from components import formatting
from components.image_query import READING, Pairs, Rule, checked, one_of
from components.url_state import COMPARISONS, DEFAULT_TAB, TAB_BY_NAME, Tab, text_param
from components.usage.url_state import (
    LONGEST_TEXT,
    MOST_CHOSEN,
    RANGES,
    UsageView,
    range_of,
    read_usage_view,
    write_usage_view,
)

PATH: Final = "/report"
DEFAULT_RANGE: Final = "last-month"
MOST_DEVICES: Final = MOST_CHOSEN
MOST_DAYS: Final = 3_700  # of all devices together: ten for a year, fifty for ten weeks
PAPERS: Final = {"a4": "A4", "letter": "Letter"}
DEFAULT_PAPER: Final = "a4"


@dataclass(frozen=True, slots=True)
class ReportView:
    """``usage``: devices, days, zone and units. ``tab`` None: each device's default chart.
    ``compare``: a name of `COMPARISONS` for the charts, or ""."""

    usage: UsageView
    tab: Tab | None = None
    paper: str = DEFAULT_PAPER
    compare: str = ""


def read_report_view(params: Mapping[str, Any]) -> ReportView:
    """Invalid values are ignored."""
    usage = read_usage_view({**params, "sort": "label", "open": None})
    if range_of(str(params.get("range", ""))) is None:
        usage = replace(usage, range=DEFAULT_RANGE)
    paper = params.get("paper")
    return ReportView(
        usage,
        TAB_BY_NAME.get(str(params.get("metric"))),
        paper if isinstance(paper, str) and paper in PAPERS else DEFAULT_PAPER,
        compare if (compare := text_param(params, "compare")) in COMPARISONS else "",
    )


def write_report_view(view: ReportView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    params = write_usage_view(view.usage)
    range = view.usage.range
    return {
        "range": range if range != DEFAULT_RANGE else None,
        **{name: params[name] for name in ("zone", "units", "devices", "q", "group")},
        "metric": view.tab.name if view.tab and view.tab is not DEFAULT_TAB else None,
        "compare": view.compare or None,
        "paper": view.paper if view.paper != DEFAULT_PAPER else None,
    }


def refusal(devices: int, days: int) -> str:
    """Why that many devices and days are too large for a report; empty if they aren't."""
    if not devices:
        return "No device matches."
    if devices > MOST_DEVICES:
        return (
            f"{formatting.whole(devices)} devices match, and a report covers at most"
            f" {MOST_DEVICES}. Choose a group, narrow the search or select devices."
        )
    if devices * days > MOST_DAYS:
        return (
            f"{formatting.whole(devices)} devices × {formatting.whole(days)} days are"
            f" {formatting.whole(devices * days)} rows, and a report covers at most"
            f" {formatting.whole(MOST_DAYS)}. Choose fewer devices or a shorter range."
        )
    return ""


# --- Strictly ------------------------------------------------------------------------------------

_RANGE: Final = (
    f"must be one of {', '.join(RANGES)}, a number of days (90d), a month (2026-10) or two dates"
    " (2026-10-01..2026-10-15)"
)


def _short(text: str) -> bool:
    return len(text) <= LONGEST_TEXT


def _few(text: str) -> bool:
    return 0 < len([id for id in text.split(",") if id]) <= MOST_DEVICES


RULES: Final[Mapping[str, Rule]] = {
    **READING,
    "range": Rule(lambda text: range_of(text) is not None, _RANGE),
    "devices": Rule(_few, f"must be 1 to {MOST_DEVICES} ids, separated by commas"),
    "q": Rule(_short, f"must be at most {LONGEST_TEXT} characters"),
    "group": Rule(_short, f"must be at most {LONGEST_TEXT} characters"),
    "metric": one_of(TAB_BY_NAME),
    "compare": one_of(COMPARISONS),
    "paper": one_of(PAPERS),
}


def checked_report_view(pairs: Pairs, more: Mapping[str, Rule] | None = None) -> ReportView:
    """Raises BadRequest that names every parameter that is unknown, repeated or invalid. ``more``:
    other allowed parameters."""
    return read_report_view(checked(pairs, {**RULES, **(more or {})}))


def param_of(pairs: Iterable[tuple[str, str]], name: str) -> str:
    return next((text for each, text in pairs if each == name), "")
