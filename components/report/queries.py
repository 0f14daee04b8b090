"""The view of a report, in its address and in the browser's query; and its queries: the summary of
use, then the quality and nights of each device. Replies are cached, so that a page may load it in
steps.

A page ignores invalid values, as every page does. A file is read strictly: on paper a wrong report
looks like a right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

from api.client import Finding, MonthEnd
from api.client.annotations import Annotation
from api.client.balance import Balance
from api.errors import BadRequest
from api.metering.cadence import UNKNOWN
from api.metering.night_flow import NightFlow
from api.metering.windows import Window
from components import formatting
from components.annotations.queries import within
from components.concurrent_queries import ONE_DEVICE_ERRORS, Deadline, ServiceAccess
from components.directory_queries import cadences
from components.image_query import READING, Pairs, Rule, checked, one_of
from components.queries import findings_in, mean_quality, night_flow_of, quality_range
from components.url_state import COMPARISONS, DEFAULT_TAB, TAB_BY_NAME, Tab, text_param
from components.usage.insight_queries import balances_of, month_end_of, under_way, with_tariffs
from components.usage.queries import (
    FILE_PATIENCE_S,
    PartialResults,
    Progress,
    Selection,
    gather,
    pick,
)
from components.usage.sums import DeviceUsage, ordered
from components.usage.url_state import (
    LONGEST_TEXT,
    MOST_CHOSEN,
    RANGES,
    UsageView,
    range_of,
    read_usage_view,
    write_usage_view,
)

# --- The view ------------------------------------------------------------------------------------


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


# --- Queries -------------------------------------------------------------------------------------


class Detail(NamedTuple):
    """Of the range: lowest, highest and mean quality, the nights up to its end, its findings,
    notes, maintenance and corrections, and the forecast of the month if its last day is today. None
    without readings, or if the service doesn't respond."""

    quality_min: float | None = None
    quality_max: float | None = None
    quality_mean: float | None = None
    nights: NightFlow | None = None
    findings: tuple[Finding, ...] = ()
    month: MonthEnd | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """``usages``: as far as they are loaded, with ``details`` by device id; complete if
    ``progress`` is. ``trouble``: why there is no report. ``days``: the largest number for a
    device."""

    picked: Selection
    usages: tuple[DeviceUsage, ...]
    details: Mapping[str, Detail]
    progress: Progress
    now_ms: int
    trouble: str = ""
    balances: tuple[Balance, ...] = ()


@dataclass(slots=True)
class _Cached:
    now_ms: int
    details: dict[str, Detail] = field(default_factory=dict)


_SHELF: Final = PartialResults("report", _Cached)


def load_part(access: ServiceAccess, view: ReportView, deadline: Deadline, now_ms: int) -> Report:
    """As much as the deadline allows, added to what is cached for that view. Raises a WeirError if
    the whole service fails."""
    picked = pick(access, view.usage, now_ms)
    trouble = refusal(picked.matched, view.usage.length)
    if trouble:
        return Report(picked, (), {}, Progress("devices", 0, 0), now_ms, trouble)
    summary = gather(access, picked.meters, view.usage, picked.price, deadline, now_ms)
    done = summary.progress.complete
    charged = with_tariffs(access, summary.usages, view.usage) if done else summary.usages
    usages = tuple(ordered(charged, "label"))
    if not summary.progress.complete:
        return Report(picked, usages, {}, summary.progress, summary.now_ms)
    details = _details(access, usages, view, deadline, summary.now_ms)
    expected = sum(1 for each in usages if not each.failure)
    progress = Progress("devices’ nights", len(details), expected)
    balances = balances_of(access, usages, summary.now_ms) if progress.complete else ()
    return Report(picked, usages, details, progress, summary.now_ms, balances=balances)


def load_report(access: ServiceAccess, view: ReportView, now_ms: int) -> Report:
    """The complete report, for a file. Raises BadRequest for an invalid one, Unavailable if it
    takes too long, and what the service raises."""
    report = load_part(access, view, Deadline(FILE_PATIENCE_S), now_ms)
    if report.trouble:
        raise BadRequest(report.trouble)
    report.progress.must_be_complete()
    return report


def window_of(usage: DeviceUsage) -> Window:
    """The span of all its days, including the whole of today."""
    return Window(usage.days[0].start_ms, usage.days[-1].end_ms - 1)


# --- Details -------------------------------------------------------------------------------------


def _details(
    access: ServiceAccess,
    usages: Sequence[DeviceUsage],
    view: ReportView,
    deadline: Deadline,
    now_ms: int,
) -> dict[str, Detail]:
    good = [each for each in usages if not each.failure]
    ids = tuple(each.meter.id for each in good)
    cached = _SHELF.results(access, (view.usage.range, view.usage.zone, ids), now_ms)
    cadence_by_id = cadences(access, [each.meter for each in good], deadline, now_ms)
    jobs: Iterator[partial[tuple[str, Detail]]] = (
        partial(_detail, access, each, cadence_by_id.get(each.meter.id, UNKNOWN).ms, now_ms)
        for each in good
        if each.meter.id not in cached.details
    )
    cached.details.update(access.run_all(jobs, deadline))
    return {each.meter.id: cached.details[each.meter.id] for each in good
            if each.meter.id in cached.details}  # fmt: skip


def _detail(
    access: ServiceAccess, usage: DeviceUsage, cadence_ms: int, now_ms: int
) -> tuple[str, Detail]:
    """The details of one device; None if its requests fail: its days are shown anyway."""
    id = usage.meter.id
    if not usage.with_data:
        return id, Detail()
    window = window_of(usage)
    window = Window(window.from_ms, min(window.to_ms, now_ms))
    try:
        worst, best = quality_range(access.client, id, window)
        mean = mean_quality(access.client, id, window) if worst is not None else None
        flow = night_flow_of(access.client, id, usage.tz, cadence_ms, window.to_ms + 1)
        findings = findings_in(access.client, id, window)
        month = month_end_of(access.client, id) if under_way(usage) else None
        noted = within(access.client, id, window)
    except ONE_DEVICE_ERRORS:
        return id, Detail()
    noted.sort(key=lambda each: each.from_ms)
    return id, Detail(worst, best, mean, flow, findings, month, tuple(noted))
