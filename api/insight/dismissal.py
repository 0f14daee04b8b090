""" "Not a problem": a finding is set aside, and that device's threshold of that kind rises."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from api.errors import Conflict
from api.insight.facts import OfOrganization, merged
from api.insight.findings import KIND_BY_NAME
from api.insight.findings.model import FACTOR
from api.store.base import AuditEntry, Device, FindingEntry, Scope, Store

STEP: Final = 1.5  # by which each dismissal raises the threshold
_ALIKE: Final = 1e-6


class Threshold(NamedTuple):
    """The factor by which a device's thresholds of a kind count."""

    kind: str
    before: float
    factor: float

    @property
    def words(self) -> str:
        label = KIND_BY_NAME[self.kind].label
        if abs(self.factor - 1) < _ALIKE:
            return f"{label}: this device's threshold is the usual one again."
        return f"{label}: this device's threshold is now {self.factor:.3g} times the usual one."


def dismissed(
    store: Store, scope: Scope, entry: FindingEntry, *, by: str, reason: str, at_ms: int
) -> tuple[FindingEntry, Threshold]:
    """Conflict where it is dismissed already."""
    if entry.finding.dismissed_ms is not None:
        raise Conflict("This finding is dismissed already.")
    before, _ = _factors(store, scope, entry)
    factor = min(before * STEP, FACTOR.most)
    said = replace(entry.finding, dismissed_ms=at_ms, dismissed_by=by, reason=reason)
    judged = entry._replace(finding=said)
    store.judge(scope, judged, factor, [_audit(scope, judged, "dismiss", by, at_ms, reason)])
    return judged, Threshold(said.kind, before, factor)


def restored(
    store: Store, scope: Scope, entry: FindingEntry, *, by: str, at_ms: int
) -> tuple[FindingEntry, Threshold]:
    """The undo. Conflict where it isn't dismissed."""
    if entry.finding.dismissed_ms is None:
        raise Conflict("This finding is not dismissed.")
    before, inherited = _factors(store, scope, entry)
    factor = max(before / STEP, inherited)
    own = None if factor - inherited < _ALIKE else factor
    said = replace(entry.finding, dismissed_ms=None, dismissed_by=None, reason=None)
    judged = entry._replace(finding=said)
    store.judge(scope, judged, own, [_audit(scope, judged, "restore", by, at_ms)])
    return judged, Threshold(said.kind, before, factor)


def _audit(
    scope: Scope, entry: FindingEntry, action: str, by: str, at_ms: int, reason: str = ""
) -> AuditEntry:
    said = entry.finding
    after = {"kind": said.kind, "device": entry.serial_number, "state": said.state}
    return AuditEntry(
        at_ms, scope.organization_id, by, "finding", action, said.id, after=after, reason=reason
    )


def _factors(store: Store, scope: Scope, entry: FindingEntry) -> tuple[float, float]:
    """(as it is, as it would be without the device's own)."""
    found = entry.finding
    device: Device = store.devices_by_key([found.key])[0]
    shared = OfOrganization.read(store, scope.organization_id)
    groups = store.groups_by_device([found.key]).get(found.key, [])
    without = {name: kinds for name, kinds in shared.settings.items() if name[0] != "device"}
    now, inherited = (
        merged(device, groups, layers).get(found.kind, {}).get(FACTOR.name, FACTOR.default)
        for layers in (shared.settings, without)
    )
    return now, inherited
