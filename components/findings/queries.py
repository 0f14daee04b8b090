"""The view of the inbox, in its address and in the browser's query; and the queries of findings:
the inbox, one finding with its evidence, its dismissal.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from api.catalog import COARSEST_STORED, FLOW_AMOUNT, HOUR_MS, Metric
from api.client import Client, Judged
from api.client.finding_settings import FindingSettingValue
from api.client.findings import Finding, FindingDetail
from api.errors import BadRequest, NotOffered
from api.insight.finding_dismissal import NOT_A_PROBLEM
from api.insight.finding_evidence import COLUMNS
from api.insight.findings import KIND_BY_NAME, KINDS, SEVERITIES
from api.metering.units import words_in
from api.timez import floor_to, zone
from components import session
from components.charts.frames import frame
from components.concurrent_queries import ONE_DEVICE_ERRORS, Deadline, ServiceAccess
from components.controls import failure
from components.directory_queries import Directory, directory
from components.fleet.sparklines import Spark, spark
from components.ranges import Window
from components.units import Units, read_units, usual_units, write_units
from components.url_state import text_param, units_param, zone_param

# --- The view ------------------------------------------------------------------------------------


STATES: Final = {"open": "Open", "closed": "Closed", "dismissed": "Dismissed"}
LONGEST_TEXT: Final = 100
LAST_PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class FindingsView:
    """Empty ``kinds``, ``severity`` and ``group`` filter nothing. ``page`` counts from 1.
    ``finding``: the id of the one whose detail is shown."""

    state: str = "open"
    kinds: tuple[str, ...] = ()
    severity: str = ""
    group: str = ""
    page: int = 1
    finding: str = ""
    zone: str | None = None
    units: Units = field(default_factory=usual_units)

    @property
    def filtered(self) -> bool:
        return bool(self.kinds or self.severity or self.group)


def read_findings_view(query: Mapping[str, Any]) -> FindingsView:
    state, severity = text_param(query, "state"), text_param(query, "severity")
    kinds = text_param(query, "kind", 500).split(",")
    page = text_param(query, "page", 3)
    return FindingsView(
        state=state if state in STATES else "open",
        kinds=tuple(dict.fromkeys(kind for kind in kinds if kind in KIND_BY_NAME)),
        severity=severity if severity in SEVERITIES else "",
        group=text_param(query, "group", LONGEST_TEXT),
        page=min(LAST_PAGE, max(1, int(page))) if page.isascii() and page.isdigit() else 1,
        finding=text_param(query, "finding", LONGEST_TEXT),
        zone=zone_param(query),
        units=units_param(query),
    )


def write_findings_view(view: FindingsView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    return {
        "state": view.state if view.state != "open" else None,
        "kind": ",".join(view.kinds) or None,
        "severity": view.severity or None,
        "group": view.group or None,
        "page": str(view.page) if view.page > 1 else None,
        "finding": view.finding or None,
        "zone": view.zone,
        "units": write_units(view.units),
    }


# --- Queries -------------------------------------------------------------------------------------


PAGE: Final = 50
MOST_LISTED: Final = 1_000  # the interface's longest page
CHARTS_S: Final = 1.0
SPARK_MS: Final = 48 * HOUR_MS
HISTORY: Final = 5
_UTC: Final = zone("UTC")


@dataclass(frozen=True, slots=True)
class Inbox:
    """``listed``: the matching findings, worst first, at most `MOST_LISTED` of ``count``.
    ``states`` and ``kinds``: counts for each choice with the other filters unchanged.
    ``unchecked``: devices with readings that weren't checked yet, counted where none is open."""

    count: int
    listed: tuple[Finding, ...]
    states: Mapping[str, int]
    kinds: Mapping[str, int]
    devices: Directory
    unchecked: int = 0

    def shown(self, page: int) -> tuple[Finding, ...]:
        return self.listed[(page - 1) * PAGE : page * PAGE]

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.listed) // PAGE))


def inbox(access: ServiceAccess, view: FindingsView, now_ms: int) -> Inbox:
    """Raises a WeirError if the service fails."""
    client = access.client
    query = partial(
        client.findings,
        group=view.group or None,
        severities=[view.severity] if view.severity else (),
    )
    states = {
        state: query(kinds=view.kinds, states=[state], count_only=True).count for state in STATES
    }
    every = query(states=[view.state], limit=MOST_LISTED)
    if every.count <= MOST_LISTED:
        kinds = dict(Counter(each.kind for each in every.findings))
        listed = tuple(f for f in every.findings if not view.kinds or f.kind in view.kinds)
        waits = 0 if states["open"] else _unchecked(client, view.group)
        return Inbox(len(listed), listed, states, kinds, directory(access, now_ms), waits)
    counts = {
        kind.name: query(kinds=[kind.name], states=[view.state], count_only=True).count
        for kind in KINDS
    }
    page = query(kinds=view.kinds, states=[view.state], limit=MOST_LISTED) if view.kinds else every
    return Inbox(page.count, page.findings, states, counts, directory(access, now_ms))


def _unchecked(client: Client, group: str) -> int:
    try:
        return client.status_summary(group=group).unchecked
    except NotOffered:
        return 0


def metric_of(kind: str) -> Metric:
    """The metric on a chart of that kind."""
    return COLUMNS[kind].metric if kind in COLUMNS else FLOW_AMOUNT


def small_charts(
    access: ServiceAccess, findings: Sequence[Finding], now_ms: int
) -> dict[str, Spark]:
    """The last 48 hours of each finding's device, by finding id, as far as they load within a
    second. They are cached until their last hour is over."""
    hour = floor_to(now_ms, HOUR_MS)
    wanted = {(each.device_id, metric_of(each.kind)) for each in findings}
    drawn: dict[tuple[str, str], Spark] = {}
    jobs = []
    for device_id, metric in wanted:
        cached: tuple[int, Spark] | None = access.cache.get(_key(access, device_id, metric))
        if cached is not None and cached[0] == hour:
            drawn[device_id, metric.name] = cached[1]
        else:
            jobs.append(partial(_small_chart, access.client, device_id, metric, now_ms))
    for device_id, metric, line in access.run_all(jobs, Deadline(CHARTS_S)):
        if line is not None:
            drawn[device_id, metric.name] = line
            access.cache.put(_key(access, device_id, metric), (hour, line))
    lines = {each.id: drawn.get((each.device_id, metric_of(each.kind).name)) for each in findings}
    return {id: line for id, line in lines.items() if line is not None}


def _key(access: ServiceAccess, device_id: str, metric: Metric) -> tuple[str, ...]:
    return (access.principal, "finding-line", device_id, metric.name)


def spark_window(now_ms: int) -> Window:
    end = floor_to(now_ms, HOUR_MS) + HOUR_MS
    return Window(end - SPARK_MS, end)


def _small_chart(
    client: Client, device_id: str, metric: Metric, now_ms: int
) -> tuple[str, Metric, Spark | None]:
    window = spark_window(now_ms)
    try:
        rows = client.datapoints(
            device_id,
            COARSEST_STORED,
            from_ms=window.from_ms,
            to_ms=now_ms,
            metrics=(metric,),
        )
    except ONE_DEVICE_ERRORS:
        return device_id, metric, None
    framed = frame(rows, metric, window, tz=_UTC, cadence_ms=HOUR_MS, until_ms=now_ms)
    return device_id, metric, spark(framed, window, HOUR_MS)


@dataclass(frozen=True, slots=True)
class One:
    """A finding with its evidence, and the latest other ones of its kind on its device."""

    detail: FindingDetail
    earlier: tuple[Finding, ...]
    devices: Directory


def one(access: ServiceAccess, finding_id: str, now_ms: int) -> One:
    """Raises NotFound or another WeirError."""
    detail = access.client.finding(finding_id)
    finding = detail.finding
    others = access.client.findings(
        device=finding.device_id, kinds=[finding.kind], limit=100
    ).findings
    before = (f for f in others if f.id != finding.id and f.start_ms < finding.start_ms)
    latest = sorted(before, key=lambda f: -f.start_ms)[:HISTORY]
    return One(detail, tuple(latest), directory(access, now_ms))


def judge(finding_id: str, action: str, reason: str, judgement: str) -> Judged:
    """Dismiss a finding (``action`` "dismiss") as ``judgement`` ("" for not a problem), or undo its
    dismissal. Raises a WeirError."""
    client = session.current_client()
    if action == "dismiss":
        return client.dismiss_finding(finding_id, reason, judgement or NOT_A_PROBLEM.name)
    return client.restore_finding(finding_id)


# --- Settings ------------------------------------------------------------------------------------


def settings(device: str, group: str) -> tuple[FindingSettingValue, ...]:
    return session.current_client().finding_settings(device=device or None, group=group or None)


def change_settings(
    kind: str, values: Mapping[str, Any], device: str, group: str
) -> tuple[FindingSettingValue, ...]:
    """The values are as typed: the service refuses those that aren't numbers."""
    return session.current_client().change_finding_settings(
        kind, values, device=device or None, group=group or None
    )


def typed_values(kind: str, values: Mapping[str, Any], units: str) -> dict[str, Any]:
    """The values in the service's units. ``units``: the name of those that they were typed in."""
    rows = KIND_BY_NAME[kind].all_settings if kind in KIND_BY_NAME else ()
    unit_of = {each.name: each.unit for each in rows}
    chosen = read_units(units)
    return {
        name: chosen.shown(unit_of.get(name, "")).stored_text(value)
        if isinstance(value, str)
        else value
        for name, value in values.items()
    }


def problem(kind: str, error: BadRequest) -> str:
    """The problem with the typed values, with the names on screen."""
    finding_kind = KIND_BY_NAME.get(kind)
    labels = (
        {setting.name: setting.label for setting in finding_kind.all_settings}
        if finding_kind
        else {}
    )
    each = [f"{labels.get(e.parameter, e.parameter)} {e.detail}." for e in error.errors]
    return words_in(" ".join(each), usual_units().name) or failure(error)
