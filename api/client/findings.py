"""Findings as typed values, and the client's methods for them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.catalog import INSIGHT_PREFIX
from api.client.fields import (
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    needed_instant,
    needed_number,
    number,
    path_of,
    span_params,
    text,
    whole,
)
from api.client.request_protocol import Requests

_PATH: Final = f"{INSIGHT_PREFIX}/findings"


@dataclass(frozen=True, slots=True)
class Finding:
    """A span with a problem. ``state`` is open, closed or dismissed; ``value`` and ``usual`` are in
    ``unit``; ``cost_per_day`` is in the currency of the device's price."""

    id: str
    device_id: str
    serial_number: str
    kind: str
    severity: str
    state: str
    start_ms: int
    end_ms: int | None
    opened_ms: int
    value: float
    unit: str
    usual: float | None
    gallons: float | None
    cost_per_day: float | None
    words: str


@dataclass(frozen=True, slots=True)
class FindingPage:
    """``count`` is the number of matches, ignoring limit and offset."""

    count: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class FindingDetail:
    """``series``: (start of the bucket, value) of ``metric``, such as total_flow_amount, around the
    finding. ``dismissed_ms`` is None where it isn't dismissed."""

    finding: Finding
    offers_new_normal: bool
    dismissed_ms: int | None
    dismissed_by: str | None
    judgement: str | None
    reason: str | None
    resolution: str
    metric: str
    unit: str
    from_ms: int
    to_ms: int
    series: tuple[tuple[int, float | None], ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding after its dismissal, or after the dismissal was undone. ``factor`` is the factor on
    the device's threshold of its kind now; ``words`` describes it."""

    finding: Finding
    before: float
    factor: float
    words: str


class FindingMethods(Requests, Protocol):
    """The part of `Client` for findings."""

    def findings(
        self,
        *,
        device: str | None = None,
        group: str | None = None,
        kinds: Collection[str] = (),
        severities: Collection[str] = (),
        states: Collection[str] = (),
        from_ms: int | None = None,
        to_ms: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        count_only: bool = False,
    ) -> FindingPage:
        """Returns findings, worst first. Empty collections select everything."""
        params: dict[str, str | list[str]] = {}
        several = {"kind": kinds, "severity": severities, "state": states}
        params |= {name: sorted(some) for name, some in several.items() if some}
        one = {"device": device, "group": group, "limit": limit, "offset": offset or None}
        params |= {name: str(value) for name, value in one.items() if value is not None}
        params |= span_params(from_ms, to_ms)
        if count_only:
            params["count"] = "true"
        body = an_object(self._fetch(_PATH, params), "answer")
        return FindingPage(
            whole(body, "count"), tuple(map(finding, a_list(body.get("data"), "data")))
        )

    def finding(self, finding_id: str) -> FindingDetail:
        return _detail(self._fetch(_one(finding_id), {}))

    def dismiss_finding(
        self, finding_id: str, reason: str = "", judgement: str = "not-a-problem"
    ) -> Judged:
        """``judgement``: see `api.insight.finding_dismissal`. Raises Conflict where the finding is
        already dismissed."""
        body = {"as": judgement, "reason": reason}
        return _judged(self._send("POST", f"{_one(finding_id)}/dismiss", body))

    def restore_finding(self, finding_id: str) -> Judged:
        """Undoes a dismissal. Raises Conflict where there is none."""
        return _judged(self._send("POST", f"{_one(finding_id)}/restore", {}))


def _one(finding_id: str) -> str:
    return path_of(_PATH, finding_id)


def finding(body: Any) -> Finding:
    fields = an_object(body, "finding")
    return Finding(
        id=text(fields, "id"),
        device_id=text(fields, "deviceId"),
        serial_number=text(fields, "serialNumber"),
        kind=text(fields, "kind"),
        severity=text(fields, "severity"),
        state=text(fields, "state"),
        start_ms=needed_instant(fields, "start"),
        end_ms=instant(fields, "end"),
        opened_ms=needed_instant(fields, "openedAt"),
        value=needed_number(fields, "value"),
        unit=text(fields, "unit"),
        usual=number(fields, "usual"),
        gallons=number(fields, "gallons"),
        cost_per_day=number(fields, "costPerDay"),
        words=text(fields, "words"),
    )


def _detail(body: Any) -> FindingDetail:
    fields = an_object(body, "finding")
    judged, evidence = (
        maybe_object(fields, "dismissed"),
        an_object(fields.get("evidence"), "evidence"),
    )
    rows = (an_object(row, "row") for row in a_list(evidence.get("data"), "data"))
    return FindingDetail(
        finding=finding(fields),
        offers_new_normal=fields.get("offersNewNormal") is True,
        dismissed_ms=instant(judged, "at"),
        dismissed_by=maybe_text(judged, "by"),
        judgement=maybe_text(judged, "as"),
        reason=maybe_text(judged, "reason"),
        resolution=text(evidence, "resolution"),
        metric=text(evidence, "metric"),
        unit=text(evidence, "unit"),
        from_ms=needed_instant(evidence, "from"),
        to_ms=needed_instant(evidence, "to"),
        series=tuple((needed_instant(row, "bucket_start"), number(row, "value")) for row in rows),
    )


def _judged(body: Any) -> Judged:
    fields = an_object(body, "answer")
    threshold = an_object(fields.get("threshold"), "threshold")
    return Judged(
        finding(fields.get("finding")),
        needed_number(threshold, "before"),
        needed_number(threshold, "factor"),
        text(threshold, "words"),
    )
