"""Queries of a report: the summary of use, then the quality and nights of each device. Replies are
cached, so that a page may load it in steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from api.client import Finding, MonthEnd
from api.client.annotations import Annotation
from api.client.balance import Balance
from api.errors import BadRequest
from api.metering.cadence import UNKNOWN
from api.metering.night_flow import NightFlow
from api.metering.windows import Window
from components.annotations.queries import within
from components.fleet.device_queries import cadences
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, ServiceAccess
from components.queries import findings_in, mean_quality, night_flow_of, quality_range
from components.report.url_state import ReportView, refusal
from components.usage.insight_queries import (
    balances_of,
    month_end_of,
    under_way,
    with_tariffs,
)
from components.usage.queries import (
    FILE_PATIENCE_S,
    PartialResults,
    Progress,
    Selection,
    gather,
    pick,
)
from components.usage.sums import DeviceUsage, ordered


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
