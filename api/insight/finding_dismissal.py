"""Dismisses findings, with the effect of each judgement on its device and kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from api.errors import BadRequest, Conflict, ParameterProblem
from api.insight.finding_inputs import OfOrganization, merged
from api.insight.findings import KIND_BY_NAME
from api.insight.findings.model import FACTOR, NORMAL_FROM
from api.store.base import AuditEntry, Device, FindingEntry, FindingRow, Scope, Store

STEP: Final = 1.5  # factor by which a dismissal raises the threshold
_ALIKE: Final = 1e-6


class Judgement(NamedTuple):
    """A reason for dismissing a finding. ``effect``: ``raise`` the device's threshold of that kind,
    take the finding as the new ``normal``, or change ``nothing``."""

    name: str
    label: str
    effect: Literal["raise", "normal", "nothing"]


NOT_A_PROBLEM: Final = Judgement("not-a-problem", "Not a problem", "raise")
NEW_NORMAL: Final = Judgement("new-normal", "Take as the new normal", "normal")
JUDGEMENTS: Final = (
    NOT_A_PROBLEM,
    Judgement("meant-to-run", "Meant to run", "raise"),
    Judgement("being-repaired", "Known, being repaired", "nothing"),
    NEW_NORMAL,
)
JUDGEMENT_BY_NAME: Final = {judgement.name: judgement for judgement in JUDGEMENTS}


def judgements_of(kind: str) -> list[Judgement]:
    """Returns the judgements with which a finding of that kind can be dismissed."""
    learns = NORMAL_FROM in KIND_BY_NAME[kind].settings
    return [each for each in JUDGEMENTS if learns or each is not NEW_NORMAL]


class Threshold(NamedTuple):
    """The factor on a device's thresholds of a kind, before and after."""

    kind: str
    before: float
    factor: float
    judgement: str
    taken_back: bool = False

    @property
    def words(self) -> str:
        label = KIND_BY_NAME[self.kind].label
        effect = JUDGEMENT_BY_NAME[self.judgement].effect
        if effect == "normal":
            if self.taken_back:
                return f"{label}: judged by what was usual before again."
            return f"{label}: what flows since it began is this device's new normal."
        if effect == "nothing":
            return f"{label}: this device's threshold stays as it is."
        if abs(self.factor - 1) < _ALIKE:
            return f"{label}: this device's threshold is the usual one again."
        return f"{label}: this device's threshold is now {self.factor:.3g} times the usual one."


def dismissed(
    store: Store,
    scope: Scope,
    entry: FindingEntry,
    *,
    by: str,
    reason: str,
    at_ms: int,
    judgement: Judgement = NOT_A_PROBLEM,
) -> tuple[FindingEntry, Threshold]:
    """Dismisses a finding. Raises Conflict if it already is; BadRequest for a new normal of a
    finding that is over or whose kind doesn't learn."""
    finding = entry.finding
    if finding.dismissed_ms is not None:
        raise Conflict("This finding is dismissed already.")
    if judgement.effect == "normal":
        _must_learn(finding)
    before, _ = _factors(store, scope, entry)
    factor = min(before * STEP, FACTOR.most) if judgement.effect == "raise" else before
    settings: Mapping[str, float | None] = {
        "raise": {FACTOR.name: factor},
        "normal": {NORMAL_FROM.name: float(max(at_ms, finding.opened_ms))},
        "nothing": {},
    }[judgement.effect]
    row = replace(
        finding, dismissed_ms=at_ms, dismissed_by=by, reason=reason, judgement=judgement.name
    )
    judged = entry._replace(finding=row)
    audit = _audit(scope, judged, judgement.name, by, at_ms, reason)
    store.judge(scope, judged, settings, [audit])
    return judged, Threshold(finding.kind, before, factor, judgement.name)


def _must_learn(finding: FindingRow) -> None:
    label = KIND_BY_NAME[finding.kind].label
    if NEW_NORMAL not in judgements_of(finding.kind):
        why = f"{label} isn't judged by what is usual, so it has no new normal."
    elif finding.end_ms is not None:
        why = "This finding is over: only an open one can become the new normal."
    else:
        return
    raise BadRequest("", errors=(ParameterProblem("as", why),))


def restored(
    store: Store, scope: Scope, entry: FindingEntry, *, by: str, at_ms: int
) -> tuple[FindingEntry, Threshold]:
    """Undoes a dismissal. Raises Conflict if there is none."""
    finding = entry.finding
    if finding.dismissed_ms is None:
        raise Conflict("This finding is not dismissed.")
    judgement = JUDGEMENT_BY_NAME.get(finding.judgement or "", NOT_A_PROBLEM)
    before, inherited = _factors(store, scope, entry)
    factor, settings = before, dict[str, float | None]()
    if judgement.effect == "raise":
        factor = max(before / STEP, inherited)
        settings = {FACTOR.name: None if factor - inherited < _ALIKE else factor}
    elif judgement.effect == "normal":
        settings = {NORMAL_FROM.name: None}
    row = replace(finding, dismissed_ms=None, dismissed_by=None, reason=None, judgement=None)
    judged = entry._replace(finding=row)
    store.judge(scope, judged, settings, [_audit(scope, judged, "restore", by, at_ms)])
    return judged, Threshold(finding.kind, before, factor, judgement.name, taken_back=True)


def _audit(
    scope: Scope, entry: FindingEntry, action: str, by: str, at_ms: int, reason: str = ""
) -> AuditEntry:
    finding = entry.finding
    after = {"kind": finding.kind, "device": entry.serial_number, "state": finding.state}
    return AuditEntry(
        at_ms, scope.organization_id, by, "finding", action, finding.id, after=after, reason=reason
    )


def _factors(store: Store, scope: Scope, entry: FindingEntry) -> tuple[float, float]:
    """Returns (the factor now, the factor without the device's own setting)."""
    finding = entry.finding
    device: Device = store.devices_by_key([finding.key])[0]
    shared = OfOrganization.read(store, scope.organization_id)
    groups = store.groups_by_device([finding.key]).get(finding.key, [])
    without = {name: kinds for name, kinds in shared.settings.items() if name[0] != "device"}
    now, inherited = (
        merged(device, groups, layers).get(finding.kind, {}).get(FACTOR.name, FACTOR.default)
        for layers in (shared.settings, without)
    )
    return now, inherited
